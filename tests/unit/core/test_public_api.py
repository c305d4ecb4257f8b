"""The package's front door."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import imarena

ROOT = Path(__file__).parents[3]


def test_every_public_name_is_there() -> None:
    for name in dir(imarena):
        assert getattr(imarena, name) is not None


def test_importing_loads_nothing_heavy() -> None:
    """Speed is measured in benchmarks; here: no module that would cost it is loaded."""
    code = "import imarena, sys; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "scipy", "numba", "polars", "pyarrow", "pandas", "torch", "sqlalchemy", "pydantic", "cv2", "PIL"}
    assert heavy.isdisjoint(loaded)


def test_three_lines_rank_a_table() -> None:
    board = imarena.rank({"left": ["a", "b", "a"], "right": ["b", "c", "c"], "winner": ["left", "right", "tie"]})
    assert {standing.model for standing in board.models} == {"a", "b", "c"}


def imports_in_docs() -> list[tuple[str, str, str]]:
    """File, module and name of every import from imarena in a Python block of the documentation."""
    blocks = [
        (path.name, block)
        for path in [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
        for block in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    ]
    return [
        (file, str(node.module), alias.name)
        for file, block in blocks
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "imarena"
        for alias in node.names
    ]


def test_names_that_the_documentation_imports_exist() -> None:
    imports = imports_in_docs()
    assert len(imports) > 20
    assert [one for one in imports if not hasattr(import_module(one[1]), one[2])] == []
