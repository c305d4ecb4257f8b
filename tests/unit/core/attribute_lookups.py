"""Finds `getattr`, `hasattr` and `isinstance` calls on judges and editors in source files, by their syntax trees."""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LOOKUPS = ("getattr", "hasattr")
_NAMED = re.compile(r"(?:^|_)(?:judges?|editors?|agents?|listers?|minds?|plugins?)$")
"""What judges, editors and the parts of an agent are called in this code."""
ALLOWED = {
    "core/plugins.py": "plug-ins are adapted here, and only here",
}
"""Files that may look for attributes although they import the type of a judge or an editor."""
ALLOWED_SUBJECTS = {"self", "later"}
"""First arguments that are fine in such files: fields of the module's own dataclasses, by name."""
_TYPED = re.compile(r"\b(?:Judge|Editor|Wired|PluginJudge|PluginEditor|Agent|BestOf)\b")


_CONCRETE = re.compile(r"(?:Judge|Editor|Chat|Agent|BestOf|Planner|Mind)$")
"""What classes of judges and editors, their clients and the parts of an agent are called."""
OWN_ROOMS = ("judges/", "editors/", "agent/", "workflows/wiring/", "core/plugins.py")
"""Where the classes of judges and editors may be told apart: in their own rooms, and where they are made."""


@dataclass(frozen=True)
class Lookup:
    """One call: where it stands, its first argument, and whether that is a judge or an editor."""

    file: str
    line: int
    subject: str
    on_port: bool
    """The first argument is a judge or an editor, as far as names, annotations and assignments show."""
    near_port: bool
    """The module imports the type of a judge or an editor."""

    @property
    def wrong(self) -> bool:
        """Is it on a judge or an editor, or in a module that handles them and on something not allowed there?"""
        if self.file in ALLOWED:
            return False
        return self.on_port or (self.near_port and self.subject not in ALLOWED_SUBJECTS)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: on `{self.subject}`"


def lookups_in(root: Path) -> list[Lookup]:
    """All lookups in the Python files below a folder."""
    return [
        found
        for path in sorted(root.rglob("*.py"))
        for found in lookups(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix())
    ]


def class_checks_in(root: Path) -> list[str]:
    """All `isinstance` calls outside `OWN_ROOMS` that ask for a class of judges or editors: file, line and class."""
    return [
        f"{file}:{found}"
        for path in sorted(root.rglob("*.py"))
        if not (file := path.relative_to(root).as_posix()).startswith(OWN_ROOMS)
        for found in class_checks(path.read_text(encoding="utf-8"))
    ]


def class_checks(source: str) -> Iterator[str]:
    """Lines and classes of such calls, and of `match` cases, in one source text."""
    for node in ast.walk(ast.parse(source)):
        asked: ast.AST | None = None
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass") and len(node.args) > 1:
            asked = node.args[1]
        elif isinstance(node, ast.MatchClass):
            asked = node.cls
        elif isinstance(node, ast.Compare) and ast.unparse(node.left).startswith("type("):
            asked = node.comparators[0]
        for part in ast.walk(asked) if asked is not None else ():
            name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
            if _CONCRETE.search(name):
                yield f"{part.lineno}: {name}"  # type: ignore[attr-defined]


def lookups(source: str, file: str = "<text>") -> Iterator[Lookup]:
    """All lookups in one source text."""
    tree = ast.parse(source)
    known = _aliases(tree)
    near = any(
        _TYPED.fullmatch(alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LOOKUPS and node.args:
            subject = node.args[0]
            yield Lookup(file, node.lineno, ast.unparse(subject), _is_port(subject, known), near)


def _is_port(node: ast.expr, known: set[str]) -> bool:
    """Is an expression a judge or an editor? Lists of them, and what is chosen from such a list, count too."""
    if isinstance(node, ast.Name):
        return node.id in known or bool(_NAMED.search(node.id))
    if isinstance(node, ast.Attribute):
        return node.attr in known or bool(_NAMED.search(node.attr))
    if isinstance(node, ast.Subscript | ast.Starred):
        return _is_port(node.value, known)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(_is_port(one, known) for one in node.elts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr" and node.args:
        return _is_port(node.args[0], known)  # what is found on a judge is a part of it
    return False


def _aliases(tree: ast.AST) -> set[str]:
    """Names that are annotated with a type of a judge or an editor, or that one is assigned to."""
    known: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None and _TYPED.search(ast.unparse(node.annotation)):
            known.add(node.arg)
        if isinstance(node, ast.AnnAssign) and _TYPED.search(ast.unparse(node.annotation)):
            known |= set(_targets(node.target))
    while True:  # an alias of an alias
        more = {name for value, target in _assigned(tree) if _is_port(value, known) for name in _targets(target)}
        if more <= known:
            return known
        known |= more


def _assigned(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((node.value, target) for target in node.targets)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            if node.value is not None:
                yield node.value, node.target
        elif isinstance(node, ast.For | ast.comprehension):
            yield node.iter, node.target


def _targets(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id


if __name__ == "__main__":  # python tests/unit/core/attribute_lookups.py src/imarena
    everything = lookups_in(Path(sys.argv[1]))
    ports = [one for one in everything if one.wrong]
    print(*ports, sep="\n")  # noqa: T201
    files = len({one.file for one in ports})
    print(f"{len(everything)} lookups, {len(ports)} of them on judges or editors, in {files} files")  # noqa: T201
