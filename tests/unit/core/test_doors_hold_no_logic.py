"""Doors (the command line and the web routes) hold no logic: no SQL, no tables, no numerical work."""

import ast
from collections.abc import Iterator
from pathlib import Path

import imarena

ROOT = Path(imarena.__file__).parent
DOORS = ("cli", "web")
FORBIDDEN_ROOTS = ("sqlalchemy", "alembic", "numpy", "scipy", "numba", "pyarrow")
FORBIDDEN_STORAGE = {"schema", "leases", "access", "migrate", "reading", "writing", "from_row", "to_row", "Store"}
"""What the storage room offers to workflows for queries. `Workspace`, `open_workspace` and frozen rows are fine."""
FORBIDDEN_ATTRIBUTES = {"engine", "connection", "execute"}
ALLOWED: dict[str, str] = {}
"""File and reason; there is no such file now."""


def wrong_lines(source: str) -> Iterator[tuple[int, str]]:
    """Line and what is wrong with it, for each import or attribute that a door must not use."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name.partition(".")[0] in FORBIDDEN_ROOTS or name.name.startswith("imarena.storage."):
                    yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module.partition(".")[0] in FORBIDDEN_ROOTS or node.module.startswith("imarena.storage."):
                yield node.lineno, node.module
            elif node.module == "imarena.storage":
                for name in node.names:
                    if name.name in FORBIDDEN_STORAGE:
                        yield node.lineno, f"imarena.storage.{name.name}"
        elif isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_ATTRIBUTES:
            yield node.lineno, f".{node.attr}"


def test_no_door_has_queries_or_numerical_work() -> None:
    files = sorted(path for door in DOORS for path in (ROOT / door).rglob("*.py"))
    assert len(files) > 50
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in files
        if path.relative_to(ROOT).as_posix() not in ALLOWED
        for line, what in wrong_lines(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_the_check_finds_what_it_looks_for() -> None:
    source = (
        "import numpy as np\n"
        "from sqlalchemy.exc import TimeoutError\n"
        "from imarena.storage import Workspace, access\n"
        "from imarena.storage.schema import votes\n"
        "import imarena.storage.leases\n"
        "rows = workspace.store.engine\n"
        "from imarena.storage import open_workspace\n"
    )
    assert [line for line, _ in wrong_lines(source)] == [1, 2, 3, 4, 5, 6]
