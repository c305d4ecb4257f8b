"""The package's front door."""

import subprocess
import sys

import imarena


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
