"""A view of an earlier day: what counted then, though it was replaced, taken back or excluded since."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from imarena.core.records import Exclusion, Item, Judgment, Origin, Output, Rater, Turn, Vote
from imarena.storage import Workspace, init_workspace
from imarena.storage.database import writing
from imarena.storage.membership import add_exclusion
from imarena.workflows.boards import BoardQuery, Boards
from imarena.workflows.views import View

THEN, LATER = datetime(2026, 1, 31, 23, 59, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
DAY = "2026-01-31"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "w")


@pytest.fixture
def sides(workspace: Workspace) -> tuple[Output, Output]:
    item = Item(dataset="d", key="i", turns=(Turn(instruction="make it red"),), created_at=THEN)
    made = [
        Output(
            item_id=item.item_id, editor=editor, created_at=THEN,
            origin=Origin(source="d", file_sha256="0" * 64, row=editor),
        )
        for editor in ("new", "old")
    ]  # fmt: skip
    workspace.store.add([item, *made])
    return made[0], made[1]


def judgment(sides: tuple[Output, Output], preference: str, when: datetime, **more: str) -> Judgment:
    return Judgment(
        work_id="w", judge="robot", judge_version="1", run_id="r", item_id=sides[0].item_id, order="both",
        left_id=sides[0].output_id, right_id=sides[1].output_id, created_at=when, preference=preference, **more,
    )  # fmt: skip


def vote(sides: tuple[Output, Output], rater: str, preference: str | None, when: datetime, **more: object) -> Vote:
    return Vote(
        rater_id=rater, item_id=sides[0].item_id, left_id=sides[0].output_id, right_id=sides[1].output_id,
        created_at=when, preference=preference, idempotency_key=f"{rater}{when}", **more,
    )  # fmt: skip


def wins(workspace: Workspace, until: str | None, source: str) -> dict[str, float]:
    board = Boards(View(workspace, until=until)).board(BoardQuery(judge="robot" if source == "judge" else None))
    return {one.model: one.wins for one in board.ranking.models}


def test_a_judgment_that_was_read_again_later_counts_on_the_day_before(
    workspace: Workspace, sides: tuple[Output, Output]
) -> None:
    first = judgment(sides, "left", THEN)
    again = judgment(sides, "right", LATER, parser_version="2", supersedes=first.judgment_id)
    workspace.store.add([first])
    workspace.store.add([again])
    assert wins(workspace, None, "judge") == {"old": 1, "new": 0}
    assert wins(workspace, DAY, "judge") == {"new": 1, "old": 0}
    assert wins(workspace, "2026-02-01", "judge") == {"old": 1, "new": 0}


def test_votes_count_that_were_replaced_or_taken_back_or_excluded_later(
    workspace: Workspace, sides: tuple[Output, Output]
) -> None:
    workspace.store.add([Rater(rater_id=name) for name in ("ann", "bob", "cat", "dan")])
    first = {rater: vote(sides, rater, "left", THEN) for rater in ("ann", "bob", "cat")}
    workspace.store.add([*first.values(), vote(sides, "dan", "right", THEN)])
    workspace.store.add([vote(sides, "ann", "right", LATER, supersedes=first["ann"].vote_id)])
    workspace.store.add([vote(sides, "bob", None, LATER, supersedes=first["bob"].vote_id, retracted=True)])
    with writing(workspace.store.engine) as connection:
        add_exclusion(connection, Exclusion(rater_id="cat", reason="speed", created_at=LATER))
    assert wins(workspace, None, "people") == {"old": 2, "new": 0}
    assert wins(workspace, DAY, "people") == {"new": 3, "old": 1}
