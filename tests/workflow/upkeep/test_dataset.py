"""`imarena dataset`: a data set that was imported by mistake goes, everything else stays."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from imarena.core import UserError
from imarena.core.records import Item, Output
from imarena.storage import Workspace, list_datasets, open_workspace, remove_dataset
from imarena.workflows.serving import Leaderboards
from imarena.workflows.views import read_watermarks
from tests import samples
from tests.command import Imarena, run_to_step


def folder(root: Path, name: str, first: int = 0) -> None:
    """A folder of two editors' outputs for two items."""
    for editor in ("old", "new"):
        (root / name / editor).mkdir(parents=True)
        for number, key in enumerate(("cat", "fig")):
            (root / name / editor / f"{key}.png").write_bytes(samples.png(first + 2 * number + len(editor)))


@pytest.fixture
def arena(imarena: Imarena, tmp_path: Path) -> Path:
    """A workspace with two data sets."""
    folder(tmp_path, "good")
    folder(tmp_path, "wrong", 100)
    imarena("init", "arena")
    for name in ("good", "wrong"):
        imarena("-w", "arena", "import", "table", name)
    return tmp_path / "arena"


def test_remove_needs_yes_and_leaves_the_rest(imarena: Imarena, arena: Path) -> None:
    assert "Would remove 2 items and 4 outputs" in imarena("-w", "arena", "dataset", "remove", "wrong").out
    assert [each["name"] for each in imarena("-w", "arena", "--json", "dataset", "list").json["datasets"]] == [
        "good", "wrong",
    ]  # fmt: skip
    ended = imarena("-w", "arena", "dataset", "remove", "wrong", "--yes")
    assert "Removed 2 items and 4 outputs" in ended.out
    assert "imarena -w arena gc --yes" in ended.out
    listed = imarena("-w", "arena", "dataset", "list").out
    assert "good" in listed
    assert "wrong" not in listed
    assert "Removed: 2 images" in imarena("-w", "arena", "gc", "--yes", "--grace-s", "0").out
    assert imarena("-w", "arena", "--json", "verify", "--deep").json["clean"] is True
    again = imarena("-w", "arena", "--json", "import", "table", "wrong").json
    assert again["new"]["Item"] == 2
    assert again["new"]["Output"] == 4


def test_what_depends_on_it_is_named(imarena: Imarena, arena: Path) -> None:
    imarena("-w", "arena", "battle", "--judge", "builtin", "--datasets", "wrong", code=3)  # refused: no instruction
    ended = imarena("-w", "arena", "dataset", "remove", "wrong", "--yes", code=2)
    assert "cannot be removed: 4 judgments depend on it" in ended.err
    imarena("-w", "arena", "edit", "--studio", "-e", "studio-exact", "-i", "photo-cat")
    studio = imarena("-w", "arena", "--json", "dataset", "list").json["datasets"][1]["name"]
    assert "1 attempt of `edit` depends on it" in imarena("-w", "arena", "dataset", "remove", studio, code=2).err


def test_an_unknown_name_gets_a_suggestion(imarena: Imarena, arena: Path) -> None:
    ended = imarena("-w", "arena", "dataset", "remove", "wrng", code=2)
    assert "There is no data set 'wrng'." in ended.err
    assert "Did you mean 'wrong'?" in ended.err


def test_a_workspace_without_items_names_the_next_step(imarena: Imarena) -> None:
    imarena("init", "empty")
    assert "imarena -w empty import FORMAT PATH" in imarena("-w", "empty", "dataset", "list").out


def test_killed_at_every_step_it_is_all_or_nothing(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    words = ["dataset", "remove", "wrong", "--yes"]
    shutil.copytree(arena, tmp_path / "whole")
    ended = run_to_step(0, "-w", tmp_path / "whole", *words, folder=tmp_path)
    steps = json.loads(ended.err.splitlines()[-1])["steps"]
    for step in range(max(1, steps - 8), steps + 1):
        root = tmp_path / f"killed-{step}"
        shutil.copytree(arena, root)
        assert run_to_step(step, "-w", root, *words, folder=tmp_path).code == -signal.SIGKILL
        with open_workspace(root) as workspace:
            counts = {each.name: (each.items, each.outputs) for each in list_datasets(workspace)}
            assert counts in ({"good": (2, 4), "wrong": (2, 4)}, {"good": (2, 4)})
        assert imarena("-w", root, "--json", "verify").json["clean"] is True


def test_caches_see_that_row_numbers_were_given_again(any_workspace: Workspace) -> None:
    """SQLite numbers new rows after the last one that is left, so that numbers alone hide the change."""
    workspace = any_workspace
    first, second = samples.item("a", dataset="good"), samples.item("b", dataset="wrong")
    workspace.store.add([first, second, samples.output(first), samples.output(second)])
    boards = Leaderboards(workspace)
    assert list(boards.snapshot().view.entries.item_id) == [first.item_id, second.item_id]
    before = read_watermarks(workspace)
    remove_dataset(workspace, "wrong", remove=True)
    third = samples.item("c", dataset="next")
    workspace.store.add([third, samples.output(third)])
    assert read_watermarks(workspace) != before
    assert list(boards.snapshot().view.entries.item_id) == [first.item_id, third.item_id]
    assert workspace.store.count(Item) == {(): 2}
    assert workspace.store.count(Output) == {(): 2}
    with pytest.raises(UserError, match="no data set 'wrong'"):
        remove_dataset(workspace, "wrong", remove=True)
