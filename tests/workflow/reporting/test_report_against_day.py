"""`imarena report --against DAY`: the board of the verdicts before a day beside that of all verdicts."""

import math
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from imarena.core import UserError
from imarena.core.records import Item, Judgment, Origin, Output, Rater, Turn, Vote
from imarena.storage import Workspace, init_workspace
from imarena.workflows.boards import BoardQuery, Boards
from imarena.workflows.reporting.changes import BoardChanges, ModelChange, _section, changes_section
from imarena.workflows.views import View
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.services import Stage

DAY = "2026-11-01"
BEFORE = datetime(2026, 10, 31, 23, 59, 59, tzinfo=UTC)
AFTER = datetime(2026, 11, 1, 0, 0, 0, tzinfo=UTC)
HALF = 200 * math.log10(3)
"""Three wins to one put one editor this far above the mean, and the other as far below."""


Fought = tuple[Item, list[Output], bool]


def add_battles(workspace: Workspace, first: int, wins: int, losses: int, when: datetime) -> list[Fought]:
    """Battles of `new` and `old` on items of their own, and whether `new` won."""
    made: list[Fought] = []
    for number in range(first, first + wins + losses):
        item = Item(dataset="d", key=f"i{number}", turns=(Turn(instruction="make it red"),), created_at=when)
        workspace.store.add([item])
        sides = [
            Output(
                item_id=item.item_id, editor=editor, created_at=when,
                origin=Origin(source="d", file_sha256="0" * 64, row=f"{number}{editor}"),
            )
            for editor in ("new", "old")
        ]  # fmt: skip
        workspace.store.add(sides)
        made.append((item, sides, number < first + wins))
    workspace.store.add([verdict(*fought, when) for fought in made])
    return made


def verdict(item: Item, sides: list[Output], won: bool, when: datetime, version: str = "1") -> Judgment:
    return Judgment(
        work_id=f"{version}{item.item_id}", judge="robot", judge_version=version, run_id="r", item_id=item.item_id,
        left_id=sides[0].output_id, right_id=sides[1].output_id, order="both", created_at=when,
        preference="left" if won else "right",
    )  # fmt: skip


def changes(root: Path) -> tuple[str, dict[str, list[str]]]:
    """The section about changes in the report that report.md asks for, here with its text beside it; its rows by editor."""
    folder = {"-w arena": f"-w {root.name}", "later.html": "out --gallery 0"}
    Stage(root.parent, folder).run(blocks_of("report.md", __file__))
    text = (root.parent / "out" / "report.md").read_text(encoding="utf-8")
    part = text[text.index(f"## What changed since {DAY}") + 3 :].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if re.match(r"\| (new|old) \|", line)]
    return part, {row[0]: row for row in rows}


def close_to(text: str, value: float) -> bool:
    return abs(float(text) - value) <= 0.51


def test_a_day_before_the_first_verdict_is_an_error_that_names_that_day(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "w") as workspace:
        add_battles(workspace, 0, 6, 2, BEFORE)
        boards = Boards(View(workspace))
        query = BoardQuery()
        with pytest.raises(UserError, match="no vote or judgment from 2026-10-29 or earlier") as error:
            changes_section(boards, boards.board(query), query, "2026-10-30")
    assert "The first is from 2026-10-31." in str(error.value)


@pytest.mark.slow
def test_items_of_later_days_move_the_board(tmp_path: Path) -> None:
    """Six wins to two before the day, two to six from the day on: the lead is gone, and the judge did not cause it."""
    with init_workspace(tmp_path / "w") as workspace:
        add_battles(workspace, 0, 6, 2, BEFORE)
        add_battles(workspace, 8, 2, 6, AFTER)
    part, rows = changes(tmp_path / "w")
    for editor, sign in (("new", 1), ("old", -1)):
        _, _, _, was, now, change, _, _, by_judge, rest = rows[editor]
        assert close_to(was, 1000 + sign * HALF)
        assert close_to(now, 1000)
        assert close_to(change, -sign * HALF)
        assert close_to(by_judge, 0)
        assert close_to(rest, -sign * HALF)
    assert (rows["new"][1], rows["old"][1]) == ("1", "2")
    assert "8 pairs of outputs have a verdict on both boards; 0 (0.0%) changed." in part
    assert "The judge changed" not in part


@pytest.mark.slow
def test_new_verdicts_on_the_same_outputs_are_the_judge(tmp_path: Path) -> None:
    """The second version of the judge, asked after the day, exchanges six wins to two for two to six."""
    with init_workspace(tmp_path / "w") as workspace:
        made = add_battles(workspace, 0, 6, 2, BEFORE)
        workspace.store.add([verdict(item, sides, not won, AFTER, version="2") for item, sides, won in made])
    part, rows = changes(tmp_path / "w")
    for editor, sign in (("new", 1), ("old", -1)):
        _, _, _, was, now, change, _, _, by_judge, rest = rows[editor]
        assert close_to(was, 1000 + sign * HALF)
        assert close_to(now, 1000 - sign * HALF)
        assert abs(float(change) + 2 * sign * HALF) < 1
        assert abs(float(by_judge) - float(change)) <= 1
        assert close_to(rest, 0)
    assert "8 pairs of outputs have a verdict on both boards; 8 (100.0%) changed." in part
    assert "The judge changed: robot version 1 became robot version 2." in part


def add_votes(workspace: Workspace, fought: list[Fought], raters: range, when: datetime, *, against: int = 0) -> None:
    """Each rater votes on each pair: the first `against` for the side that lost, the others for the side that won."""
    workspace.store.add([
        Vote(
            rater_id=f"r{rater}", item_id=item.item_id, left_id=sides[0].output_id, right_id=sides[1].output_id,
            preference="left" if won != (rater < against) else "right", created_at=when,
            idempotency_key=f"{rater}{item.item_id}",
        )
        for item, sides, won in fought for rater in raters
    ])  # fmt: skip


def half_gap(wins: int, losses: int) -> float:
    return 200 * math.log10(wins / losses)


@pytest.mark.parametrize("later_items", [0, 8])
def test_more_votes_on_the_same_outputs_are_the_raters(tmp_path: Path, later_items: int) -> None:
    """Ten more votes per pair for the side that led two to one: no preferred side changes. New items: `old` wins."""
    with init_workspace(tmp_path / "w") as workspace:
        workspace.store.add([Rater(rater_id=f"r{number}") for number in range(13)])
        made = add_battles(workspace, 0, 9, 3, BEFORE)
        add_votes(workspace, made, range(3), BEFORE, against=1)
        add_votes(workspace, made, range(3, 13), AFTER)
        add_votes(workspace, add_battles(workspace, 12, 0, later_items, AFTER), range(13), AFTER)
        query, boards = BoardQuery(source="human", notes=False), Boards(View(workspace))
        section = changes_section(boards, boards.board(query), query, DAY)
    (table,) = section.tables
    by_raters = half_gap(9 * 12 + 3, 9 + 3 * 12) - half_gap(9 * 2 + 3, 9 + 3 * 2)
    change = half_gap(9 * 12 + 3, 9 + 3 * 12 + 13 * later_items) - half_gap(9 * 2 + 3, 9 + 3 * 2)
    assert [column.title for column in table.columns][-2:] == ["by the raters", "by outputs and items"]
    rows: dict[Any, Any] = {row[0]: row for row in table.rows}
    for editor, sign in (("new", 1), ("old", -1)):
        assert rows[editor][5] == pytest.approx(sign * change, abs=0.01)
        assert rows[editor][-2] == round(sign * by_raters)
        assert rows[editor][-2] + rows[editor][-1] == round(rows[editor][5]), "the parts add up"
    assert (rows["new"][-1] == 0) == (later_items == 0)
    said = " ".join(section.points)
    assert "12 pairs of outputs have a verdict on both boards; 0 (0.0%) changed." in said
    assert "Both boards have verdicts on 24 outputs: 36 verdicts on the old board, 156 on the new one." in said
    assert "The judge" not in said


def test_votes_on_other_pairs_of_the_same_outputs_are_the_raters(tmp_path: Path) -> None:
    """Three outputs per item that all have votes; later the third pair of each item is voted on for the first time."""
    with init_workspace(tmp_path / "w") as workspace:
        workspace.store.add([Rater(rater_id="ann")])
        for number in range(6):
            item = Item(dataset="d", key=f"i{number}", turns=(Turn(instruction="make it red"),), created_at=BEFORE)
            made = {
                editor: Output(
                    item_id=item.item_id, editor=editor, created_at=BEFORE,
                    origin=Origin(source="d", file_sha256="0" * 64, row=f"{number}{editor}"),
                )
                for editor in "abc"
            }  # fmt: skip
            workspace.store.add([item])
            workspace.store.add(list(made.values()))
            for left, right, when in (("a", "b", BEFORE), ("b", "c", BEFORE), ("a", "c", AFTER)):
                workspace.store.add([
                    Vote(
                        rater_id="ann", item_id=item.item_id, left_id=made[left].output_id,
                        right_id=made[right].output_id, preference="left" if number % 3 else "right", created_at=when,
                        idempotency_key=f"{number}{left}{right}",
                    )
                ])  # fmt: skip
        query, boards = BoardQuery(source="human", notes=False), Boards(View(workspace))
        (table,) = changes_section(boards, boards.board(query), query, DAY).tables
    rows: list[Any] = list(table.rows)
    assert any(abs(row[5]) > 1 for row in rows)
    assert [row[-2:] for row in rows] == [(round(row[5]), 0) for row in rows]


def test_editors_without_intervals_are_not_counted_as_unmoved() -> None:
    def model(name: str, half_width: float | None) -> ModelChange:
        return ModelChange(name, 1000, 1400, 2, 1, half_width, None)

    def points(*models: ModelChange) -> tuple[str, ...]:
        return _section(BoardChanges("w", models, (), (), 0, 0, 0, (0, 0), "the judge", ())).points

    unknown = points(model("a", None), model("b", None))
    assert unknown[0] == "For 2 editors a board has no interval: whether they moved is not known."
    mixed = points(model("a", 50), model("b", None))
    assert mixed[0] == "1 of 1 editor with intervals moved by more than chance: a +400."
    assert points(model("a", 50), model("b", 500))[0] == "1 of 2 editors moved by more than chance: a +400."
