"""The shape of the repository: sizes, tests that follow the source, import cycles, front doors, one meaning per name."""

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.core.source_tree import OWN_DOORS, ROOT, Import, SourceTree, cycles, room_of

MOST_LINES = 400
MOST_MODULES = 30
MOST_LINES_OF_A_FUNCTION = 60
OPTIONS_ALONE = "for its options alone"
TREES = ("src", "tests", "benchmarks", "tools", "web")
CODE = {".py", ".pyi", ".ts", ".tsx", ".js", ".css", ".html"}
"""What has at most `MOST_LINES` lines. Not YAML, JSON and CSV: lists of words, editors or figures are data, not code."""
MODULES = {".py", ".ts", ".tsx", ".js"}
MADE = {"node_modules", "static", "schema.ts", "__pycache__"}
"""Names of what npm installs and builds."""
WHOLE = {"cross_cutting", "golden", "fuzz"}
"""Folders of `tests` about the package as a whole; all others mirror the source."""
NAMES_ITS_PARTS = {
    ("imarena.core", "imarena.core.notices", "imarena.core.records"): "records and notices use core's ids and plurals",
    ("imarena.web", "imarena.web.routes"): "the application lists its routes, which use its types",
}
"""Packages that import each other; inside them, modules do not."""
MODULE_DOORS = {
    "imarena.core.errors": "what plug-ins import, as the guides tell",
    "imarena.core.protocols": "what plug-ins import, as the guides tell",
    "imarena.editors.failure_modes": "short names that say nothing without the module's",
    "imarena.judges.health": "short names that say nothing without the module's",
    "imarena.ranking.kernels": "compiled on import: only loaded where it is called",
    "imarena.reports.active_tables": "one function for each table, chosen by name",
    "imarena.reports.rank_tables": "one function for each table, chosen by name",
    "imarena.storage.access": "queries on one subject, called as access.NAME",
    "imarena.storage.leases": "queries on one subject, called as leases.NAME",
    "imarena.storage.membership": "queries on one subject, called as membership.NAME",
    "imarena.storage.migrate": "short names that say nothing without the module's",
    "imarena.storage.schema": "the tables: workflows write their own queries",
    "imarena.workflows.serving.explorer": "short names that say nothing without the module's",
}
"""Modules that their room offers whole, each with the reason. Of all others a room offers names."""
CONVENTIONS = {
    "command": "each command of the terminal, by the loader in cli/app.py",
    "make": "each maker of a judge or an editor, by a registry",
    "make_edit": "each maker that both edits and generates, by a registry",
    "make_generate": "each maker that both edits and generates, by a registry",
    "read": "each reader of a format, by a registry",
    "write": "each writer of a format, by a registry",
    "main": "each module that can be run by itself",
}
"""Names that many modules define because a registry or Python looks for them."""
DOORS_TO_PEOPLE = ("imarena.cli.", "imarena.web.routes.")
"""A command or a route may have the name of the workflow that it calls."""
UNTYPED = {
    "storage.codec.to_row": "a row for SQLAlchemy, whose columns depend on the kind of record",
    "storage.column_cache.ColumnCache.metadata": "the JSON that a caller stored with the columns",
    "storage.judge_variants.JudgeVariant.row": "a row for SQLAlchemy",
    "vision.local_models.load_pretrained": "arguments of transformers",
    "vision.pretrained.qwen_chat.QwenChat.images": "inputs of a model of transformers",
    "workflows.views.questions.stored_answers": "values of columns, by name",
    "workflows.views.questions.unanswered": "values of columns, by name",
    "workflows.views.questions.unanswered_questions": "values of columns, by name",
}
"""Public functions with dictionaries or parameters without types, each with the reason."""
HEAVY = {"torch", "numpy", "scipy", "sqlalchemy", "pydantic", "numba", "polars", "pyarrow", "cv2", "PIL", "ray"}


@pytest.fixture(scope="module")
def source() -> SourceTree:
    return SourceTree(ROOT / "src")


@pytest.fixture(scope="module")
def outside(source: SourceTree) -> list[Import]:
    """What tests and benchmarks import."""
    return list(_imports_outside(source))


@pytest.fixture(scope="module")
def code() -> list[Path]:
    """Every file of code in the repository that a person writes, relative to its root."""
    found = [path.relative_to(ROOT) for tree in TREES for path in (ROOT / tree).rglob("*") if path.suffix in CODE]
    return [path for path in found if MADE.isdisjoint(path.parts)]


def test_no_file_is_too_long(code: list[Path]) -> None:
    """Migrations are data: they repeat tables as these were at one version."""
    assert len(code) > 1500
    lines = {path.as_posix(): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in code}
    assert not {path: n for path, n in lines.items() if n > MOST_LINES and "/migrations/versions/" not in path}


def test_no_function_is_too_long_without_a_reason(source: SourceTree) -> None:
    """The reason is a comment above it. Where options alone make it long, what it does with them is short."""
    long = {
        f"{module}.{node.name}": (node, lines)
        for module, tree in source.trees.items()
        if ".migrations." not in module
        for lines in [source.files[module].read_text(encoding="utf-8").split("\n")]
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _length(node) > MOST_LINES_OF_A_FUNCTION
    }
    assert [name for name, (node, lines) in long.items() if not _reason_above(node, lines)] == []
    of_options = {name: node for name, (node, lines) in long.items() if OPTIONS_ALONE in _reason_above(node, lines)}
    assert of_options
    assert [name for name, node in of_options.items() if _length_of_body(node) > MOST_LINES_OF_A_FUNCTION] == []


def test_no_folder_holds_too_many_modules(code: list[Path]) -> None:
    found = Counter(path.parent.as_posix() for path in code if path.suffix in MODULES)
    assert {path.split("/")[0] for path in found} == set(TREES)
    assert len(found) > 150
    assert not {folder: n for folder, n in found.items() if n > MOST_MODULES}


def test_tests_follow_the_source() -> None:
    """Each folder with tests has the name and place of what it tests, and each package of workflows has tests."""
    source, pages = ROOT / "src/imarena", ROOT / "web/src/pages"
    mirrors = {
        "unit": (source,),
        "contract": (source, source / "workflows"),
        "workflow": (source / "workflows",),
        "web/browser": (pages, source),
        "web": (source / "web",),
    }
    folders = {path.parent.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(folders) > 50
    assert {folder.split("/")[0] for folder in folders} == {"unit", "contract", "workflow", "web", *WHOLE}
    for folder in sorted(folders):
        kind = next((kind for kind in mirrors if f"{folder}/".startswith(f"{kind}/")), None)
        if kind is not None:
            below = folder[len(kind) + 1 :]
            assert any((mirrored / below).is_dir() for mirrored in mirrors[kind]), f"tests/{folder} mirrors no folder"
    packages = {path.parent.name for path in (source / "workflows").glob("*/__init__.py")}
    assert packages <= {folder.removeprefix("workflow/") for folder in folders}


def test_nothing_imports_in_a_circle(source: SourceTree) -> None:
    """Imports in functions count, and so do those behind doors: the edge goes to the module that the stub names."""
    assert sum(map(len, source.graph.values())) > 1000
    assert cycles(source.graph) == []
    with_types = source.graph_of(source.imports)
    assert cycles(with_types) == []


def test_packages_do_not_import_in_a_circle(source: SourceTree) -> None:
    packages: dict[str, set[str]] = defaultdict(set)
    for module, imported in source.graph.items():
        if module != "imarena":  # the front door of all
            packages[source.package_of(module)] |= {source.package_of(other) for other in imported}
    assert {tuple(cycle) for cycle in cycles(packages)} == set(NAMES_ITS_PARTS)


def test_a_circle_is_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_other_rooms_are_entered_through_their_doors(source: SourceTree) -> None:
    allowed = {*OWN_DOORS, *MODULE_DOORS}
    wrong = [
        f"{found.by}:{found.line}: {found.source} is inside {room_of(found.home)}"
        for found in source.imports
        if found.by != "imarena" and room_of(found.by) != room_of(found.home)
        if found.source != room_of(found.home) and found.source not in allowed
        if f"{found.source}.{found.name}" != room_of(found.home)  # a room that is imported whole: its names are checked
    ]
    assert not wrong


def test_a_module_is_offered_whole_for_a_reason(source: SourceTree) -> None:
    whole = {
        f"{package}.{name}"
        for package in source.doors
        for name in re.findall(
            r"^from \. import (\w+)", source.files[package].with_suffix(".pyi").read_text(), re.MULTILINE
        )
    }
    assert whole == set(MODULE_DOORS), "list names in the stub, or the module in MODULE_DOORS"


def test_every_name_asked_for_at_a_door_is_listed(source: SourceTree, outside: list[Import]) -> None:
    asked = [(found.by, found.source, found.name) for found in [*source.imports, *outside]]
    wrong = [
        (by, package, name)
        for by, package, name in asked
        if package in source.doors and package != "imarena" and name is not None
        if name not in source.doors[package] and f"{package}.{name}" not in source.files
    ]
    assert not wrong


def test_every_listed_name_exists(source: SourceTree) -> None:
    wrong = [
        (package, name, home)
        for package, names in source.doors.items()
        for name, home in names.items()
        if home != f"{package}.{name}" and name not in source.defined[source.home(package, name)]
    ]
    assert not wrong


def test_no_door_lists_a_name_that_nobody_uses(source: SourceTree, outside: list[Import]) -> None:
    """The package's own door is for its users: all of it may be unused here."""
    used = {
        pair
        for found in source.imports
        if room_of(found.by) != room_of(found.home) or found.by == "imarena"
        for pair in _uses(found.source, found.name)
    }
    used |= {pair for found in outside for pair in _uses(found.source, found.name)}
    used |= {(room_of(home), name) for name, home in source.doors["imarena"].items()}
    docs = "\n".join(path.read_text() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    wrong = [
        (package, name)
        for package, names in source.doors.items()
        if package != "imarena"
        for name in names
        if (package, name) not in used and not _documented(docs, package, name)
    ]
    assert not wrong


def test_one_public_name_means_one_thing(source: SourceTree) -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for module, name, node in source.public_definitions():
        if not (module.startswith(DOORS_TO_PEOPLE) and _is_registered(node)):
            homes[name].append(module)
    assert not {name: found for name, found in homes.items() if len(found) > 1 and name not in CONVENTIONS}
    assert all(len(homes[name]) > 1 for name in CONVENTIONS), "a convention that only one module follows is none"


def test_what_crosses_rooms_is_typed(source: SourceTree) -> None:
    """A public result is a frozen type, not a dictionary; a public function has no parameters without a type."""
    listed = {(source.home(package, name), name) for package, names in source.doors.items() for name in names}
    found = set()
    for module, name, node in source.public_definitions():
        if (module, name) in listed:
            found |= {f"{module.removeprefix('imarena.')}.{where}" for where in _untyped(name, node)}
    assert found == set(UNTYPED), "give it a frozen type, or a reason in UNTYPED"


def test_an_untyped_result_is_found() -> None:
    texts = (
        "def f() -> dict[str, Any]: ...",
        "def f() -> Iterator[dict[str, Any]]: ...",
        "def f(**asked: Any) -> int: ...",
        "class f:\n    def g(self) -> list[dict[str, Any]]: ...",
    )
    for text in texts:
        (node,) = ast.parse(text).body
        assert isinstance(node, ast.ClassDef | ast.FunctionDef)
        assert list(_untyped("f", node))


def test_one_type_name_means_one_type(source: SourceTree) -> None:
    """Aliases too. Options of two commands may share a name (both have a `Seed`), but not with anything else."""
    homes: dict[str, list[str]] = defaultdict(list)
    options: dict[str, set[str]] = defaultdict(set)
    for module, name, node in source.type_names():
        if module.startswith("imarena.cli.") and _is_option(node):
            options[name].add(module)
        else:
            homes[name].append(module)
    assert len(homes) > 1000
    assert len(options) > 50
    repeated = {name: [*homes[name], *options[name]] for name in homes if len(homes[name]) + bool(options[name]) > 1}
    assert not repeated


def test_the_same_option_is_written_once(source: SourceTree) -> None:
    """An alias of an option that several commands have is in one module, such as `cli/options.py`."""
    written: dict[str, list[str]] = defaultdict(list)
    for module, name, node in source.type_names():
        if module.startswith("imarena.cli.") and isinstance(node, ast.Assign) and _is_option(node):
            written[ast.unparse(node.value)].append(f"{module}.{name}")
    assert not {option: found for option, found in written.items() if len(found) > 1}


def test_a_name_at_two_doors_is_one_thing(source: SourceTree) -> None:
    for name, homes in source.door_names().items():
        assert len(set(homes.values())) == 1, (name, homes)


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import imarena, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "imarena.core.version" in loaded
    assert HEAVY.isdisjoint(loaded)


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _length_of_body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines below the parameters and the documentation."""
    begin = node.body[1].lineno if ast.get_docstring(node) is not None else node.body[0].lineno
    return (node.end_lineno or begin) - begin + 1


def _reason_above(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """The comment directly above a function and its decorators; empty if there is none."""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    above = lines[first - 2].strip() if first > 1 else ""
    return above.removeprefix("#").strip() if above.startswith("#") else ""


def _untyped(name: str, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The functions of a public name that return dictionaries without types, or that take anything by name."""
    if isinstance(node, ast.ClassDef):
        methods = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
        for one in methods:
            if not one.name.startswith("_") and one.name != "to_json":
                yield from (f"{name}.{where}" for where in _untyped(one.name, one))
        return
    returned = "" if node.returns is None else ast.unparse(node.returns)
    taken = node.args.kwarg.annotation if node.args.kwarg is not None else None
    if "dict[str, Any]" in returned or (taken is not None and ast.unparse(taken) == "Any"):
        yield name


def _imports_outside(source: SourceTree) -> Iterator[Import]:
    for folder in ("tests", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            if "imarena" in text:
                yield from source.imports_in(path.relative_to(ROOT).as_posix(), ast.parse(text))


def _uses(package: str, name: str | None) -> Iterator[tuple[str, str]]:
    """The names at doors that one import uses: the name itself, or the module that it reaches into."""
    if name is not None:
        yield package, name
    above, _, last = package.rpartition(".")
    yield above, last


def _documented(docs: str, package: str, name: str) -> bool:
    return any(name in line for line in docs.split("\n") if f"from {package} import" in line)


def _is_registered(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Is it a command of typer or the handler of a route: a function with a decorator, which nobody calls by name?"""
    return not isinstance(node, ast.ClassDef) and any(isinstance(one, ast.Call) for one in node.decorator_list)


def _is_option(node: ast.AST) -> bool:
    """Is it ``Annotated[..., typer.Option(...)]``, or an argument: what a command takes, which nobody else names?"""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Subscript):
        return False
    return any(
        ast.unparse(one.func) in ("typer.Option", "typer.Argument")
        for one in ast.walk(node.value)
        if isinstance(one, ast.Call)
    )
