"""Boards that weigh people against a judge are grouped by the label that was asked for, or not at all."""

from itertools import combinations
from pathlib import Path
from typing import Any

from imarena.core.records import Item, Judgment, Outcome, Output, Rater, Record, Turn, Vote
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import picture_of

EDITORS = ("a", "b", "c")
RANK = ("--json", "rank", "--method", "corrected", "--interval", "none", "--by")


def arena(folder: Path, families: tuple[str | None, ...]) -> Path:
    """12 items of the tasks `add` and `remove`, with these families in turn; scores and a vote on every pair."""
    with init_workspace(folder) as workspace:
        records: list[Record] = [Rater(rater_id="ann")]
        for n in range(12):
            task, family = ("add", "remove")[n % 2], families[n % len(families)]
            item = Item(dataset="d", key=f"i{n}", turns=(Turn(instruction="edit"),), task=task, family=family)
            made = [
                Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"{n}{editor}"))
                for editor in EDITORS
            ]
            records += [item, *made]
            for place, output in enumerate(made):
                about: dict[str, Any] = {"item_id": item.item_id, "left_id": output.output_id}
                records.append(Judgment(work_id=output.output_id, judge="robot", score=5.0 - place, **about))
            for left, right in combinations(made, 2):
                about = {"item_id": item.item_id, "left_id": left.output_id, "right_id": right.output_id}
                said = Outcome.LEFT if (n + len(records)) % 3 else Outcome.RIGHT
                key = f"{left.output_id}{right.output_id}"
                records.append(Vote(rater_id="ann", preference=said, idempotency_key=key, **about))
        assert not workspace.store.add(records).conflicts
    return folder


def test_without_families_there_is_no_board_by_family(imarena: Imarena, tmp_path: Path) -> None:
    root = arena(tmp_path / "a", (None,))
    ended = imarena("-w", root, *RANK, "family", code=2)
    assert "No item has a family." in ended.err
    assert "Group by one of: task." in ended.err
    assert "No item has a family." in imarena("-w", root, "route", "rerank", "--by-family", code=2).err
    found = imarena("-w", root, *RANK, "task").json["boards"]
    assert [board["scope"] for board in found] == [{"task": "add"}, {"task": "remove"}]


def test_items_without_a_family_are_on_no_board_and_counted(imarena: Imarena, tmp_path: Path) -> None:
    root = arena(tmp_path / "a", ("object", "scene", None))
    found = imarena("-w", root, *RANK, "family").json["boards"]
    assert [board["scope"] for board in found] == [{"family": "object"}, {"family": "scene"}]
    assert [board["n_battles"] for board in found] == [12, 12]
    for board in found:
        assert {"code": "unnamed_group", "values": {"by": "family", "battles": 12}} in board["notices"]
