"""The source as syntax trees: its modules, the names at each front door, and who imports what. Nothing is imported."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
OWN_DOORS = ("imarena.core.records", "imarena.core.notices", "imarena.reports.tables")
"""Packages inside a room that other rooms import by their own name."""
CAMEL_CASE = re.compile(r"[A-Z]\w*[a-z]\w*")


@dataclass(frozen=True)
class Import:
    """One imported name. `home` is the module that it comes from, behind a front door too."""

    by: str
    line: int
    source: str
    """The module or package as it is written."""
    name: str | None
    """None: the module itself is imported."""
    home: str
    types_only: bool = False
    """Under TYPE_CHECKING: it is never run."""


def room_of(module: str) -> str:
    """``imarena.judges`` for any module of judges; a package of workflows is a room of its own."""
    parts = module.split(".")
    return ".".join(parts[:3] if parts[1:2] == ["workflows"] else parts[:2])


@dataclass(frozen=True)
class SourceTree:
    """All modules below a folder that holds the package."""

    folder: Path

    @cached_property
    def files(self) -> dict[str, Path]:
        """Module name to file."""
        found = {}
        for path in sorted(self.folder.glob("imarena/**/*.py")):
            name = ".".join(path.relative_to(self.folder).with_suffix("").parts).removesuffix(".__init__")
            found[name] = path
        return found

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        return {name: ast.parse(path.read_text()) for name, path in self.files.items()}

    @cached_property
    def doors(self) -> dict[str, dict[str, str]]:
        """Package to the names in its ``__init__.pyi``, each with the module that it comes from."""
        found: dict[str, dict[str, str]] = {}
        for package, path in self.files.items():
            stub = path.with_suffix(".pyi")
            if path.name != "__init__.py" or not stub.exists():
                continue
            for node in ast.parse(stub.read_text()).body:
                if not isinstance(node, ast.ImportFrom):
                    continue
                source = f"{package}.{node.module}" if node.module else package
                for alias in node.names:
                    module = f"{source}.{alias.name}" if f"{source}.{alias.name}" in self.files else source
                    found.setdefault(package, {})[alias.asname or alias.name] = module
        return found

    @cached_property
    def defined(self) -> dict[str, set[str]]:
        """Module to every name that it binds at its top level."""
        return {module: set(_bound(tree.body)) for module, tree in self.trees.items()}

    @cached_property
    def imports(self) -> list[Import]:
        """Every import of the package by itself, in functions and under TYPE_CHECKING too."""
        return [found for module in self.trees for found in self.imports_in(module, self.trees[module])]

    def imports_in(self, module: str, tree: ast.Module) -> Iterator[Import]:
        """The imports of this package that a syntax tree makes."""
        for node, types in _statements(tree.body):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] == "imarena":
                        yield Import(module, node.lineno, alias.name, None, alias.name, types)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "imarena":
                assert node.module
                for alias in node.names:
                    home = self.home(node.module, alias.name)
                    yield Import(module, node.lineno, node.module, alias.name, home, types)
                    if f"{node.module}.{alias.name}" in self.doors:
                        yield from self._attributes(module, tree, alias, home)

    def _attributes(self, module: str, tree: ast.Module, alias: ast.alias, package: str) -> Iterator[Import]:
        """What is taken from a package that was imported whole: ``images.crop``."""
        called = alias.asname or alias.name
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == called:
                yield Import(module, node.lineno, package, node.attr, self.home(package, node.attr))

    def home(self, source: str, name: str) -> str:
        """The module that a name comes from: through doors, however many, or a module of the package."""
        listed = self.doors.get(source, {}).get(name)
        if listed is not None and listed != source:
            return listed if f"{source}.{name}" == listed else self.home(listed, name)
        return f"{source}.{name}" if f"{source}.{name}" in self.files else source

    @cached_property
    def graph(self) -> dict[str, set[str]]:
        """Module to the modules that it imports when it is run."""
        return self.graph_of([found for found in self.imports if not found.types_only])

    def graph_of(self, imports: Sequence[Import]) -> dict[str, set[str]]:
        """Module to the modules that it imports, doors left out."""
        edges: dict[str, set[str]] = {module: set() for module in self.files}
        for found in imports:
            if found.home != found.by:
                edges[found.by].add(found.home)
        return edges

    def package_of(self, module: str) -> str:
        """The package that a module is in; a package itself is its own."""
        return module if self.files[module].name == "__init__.py" else module.rpartition(".")[0]

    def public_definitions(self) -> Iterator[tuple[str, str, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Module, name and node of each public class or function, migrations left out."""
        for module, tree in self.trees.items():
            if ".migrations." in module:
                continue
            for node in tree.body:
                kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
                if isinstance(node, kinds) and not node.name.startswith("_"):
                    yield module, node.name, node

    def type_names(self) -> Iterator[tuple[str, str, ast.AST]]:
        """Module, name and node of each public class or alias of a type in CamelCase: ``Slot = tuple[str, int]``,
        ``type Slot = ...``, a ``NewType``, a ``TypeVar``, an ``Annotated``. Migrations are left out.
        """
        for module, tree in self.trees.items():
            if ".migrations." in module:
                continue
            for name, node in _bindings(tree.body):
                if CAMEL_CASE.fullmatch(name):
                    yield module, name, node

    def door_names(self) -> dict[str, dict[str, str]]:
        """Each name at a front door: the doors that list it, each with the module that the name comes from."""
        names: dict[str, dict[str, str]] = {}
        for package, listed in self.doors.items():
            for name in listed:
                names.setdefault(name, {})[package] = self.home(package, name)
        return names


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Sets of modules that import each other (strongly connected components of more than one, after Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for other in sorted(graph.get(module, ())):
            if other not in number:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], number[other])
        if low[module] == number[module]:
            start = stack.index(module)
            component = stack[start:]
            del stack[start:]
            if len(component) > 1:
                found.append(sorted(component))

    for module in graph:
        if module not in number:
            visit(module)
    return found


def _statements(body: Sequence[ast.AST], types: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every statement, however deep, and whether it stands under TYPE_CHECKING. Expressions are left alone: faster."""
    for node in body:
        yield node, types
        inside = types or (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING")
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, part, None)
            if isinstance(inner, list):
                yield from _statements(inner, inside)


def _bindings(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Names of classes and of assignments at the top level, under `if` and `try` too. Imports bind nothing new."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from ((name.id, node) for name in ast.walk(target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.If | ast.Try):
            yield from _bindings([*node.body, *node.orelse])
        elif type(node).__name__ == "TypeAlias":
            yield node.name.id, node  # type: ignore[attr-defined]


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.If | ast.Try):
            yield from _bound([*node.body, *node.orelse])
            if isinstance(node, ast.Try):
                yield from _bound([inner for handler in node.handlers for inner in handler.body])
        elif type(node).__name__ == "TypeAlias":
            yield node.name.id  # type: ignore[attr-defined]
