"""EdiVal's benchmark and scores are the same wherever they are computed."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Evidence, Item, Judgment
from imarena.storage import open_workspace
from tests.command import ROOT, Imarena
from tests.small_data.small_chains import make_chains

PHOTOGRAPH = ROOT / "src" / "imarena" / "studio" / "photographs" / "coffee.jpg"
ELSEWHERE = ("processes", pytest.param("ray", marks=pytest.mark.ray))


@pytest.fixture
def chains(tmp_path: Path) -> Path:
    """A workspace of chains, and a copy of it."""
    make_chains(tmp_path / "here")
    shutil.copytree(tmp_path / "here", tmp_path / "elsewhere")
    return tmp_path


def scores(root: Path) -> set[tuple[Any, ...]]:
    with open_workspace(root) as workspace:
        made = list(workspace.store.records(Judgment))
        evidence = {(one.image_sha256, one.kind, one.tool, str(one.value)) for one in workspace.store.records(Evidence)}
    assert made
    return {(one.work_id, one.status, one.score, str(one.scores)) for one in made} | evidence


def scenes(root: Path) -> list[Any]:
    with open_workspace(root) as workspace:
        items = [(item.item_id, item.turns, str(item.provenance)) for item in workspace.store.records(Item)]
        return [*items, *((one.tool, one.status, str(one.value)) for one in workspace.store.records(Evidence))]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ELSEWHERE)
def test_scores_are_those_of_one_process(chains: Path, kind: str) -> None:
    run, what = (
        Imarena(chains),
        ("edival", "score", "-d", "chains", "-e", "odd", "--limit", "1", "-o", "dimension=overall"),
    )
    run("-w", "here", *what, "--executor", "threads", code=None)
    run("-w", "elsewhere", *what, "--executor", kind, code=None)
    assert scores(chains / "elsewhere") == scores(chains / "here")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ELSEWHERE)
def test_a_benchmark_is_that_of_one_process(tmp_path: Path, kind: str) -> None:
    run = Imarena(tmp_path)
    (tmp_path / "images").mkdir()
    shutil.copy(PHOTOGRAPH, tmp_path / "images")
    for root, executor in (("here", "threads"), ("elsewhere", kind)):
        run("-w", root, "init")
        run("-w", root, "edival", "build", "images", "--executor", executor)
    assert scenes(tmp_path / "elsewhere") == scenes(tmp_path / "here") != []


def test_an_unknown_executor_is_reported(tmp_path: Path) -> None:
    run = Imarena(tmp_path)
    run("-w", "a", "init")
    assert (
        "There is no executor called 'magic'"
        in run("-w", "a", "edival", "build", ".", "--executor", "magic", code=2).err
    )
