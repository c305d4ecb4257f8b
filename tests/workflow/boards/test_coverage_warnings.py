"""A board says which models were asked for less than the others, and whose outputs nobody judged yet."""

from itertools import combinations
from pathlib import Path
from typing import Any

from imarena.core.records import Item, Judgment, Outcome, Output, Rater, Status
from imarena.storage import Workspace, init_workspace
from imarena.workflows.boards import BoardQuery, Boards, all_boards
from imarena.workflows.views import View
from tests.command import Imarena
from tests.samples import item, judgment, kept, output, vote


def _with_pixels(workspace: Workspace, of: Item, editor: str, seed: int) -> Output:
    return Output(item_id=of.item_id, editor=editor, image=kept(workspace, seed))


def _values(workspace: Workspace, code: str, query: BoardQuery | None = None) -> list[Any]:
    """The models that a notice of a board names; of the default board without a query."""
    board = Boards(View(workspace)).board(query or BoardQuery())
    return [notice.values["models"] for notice in board.ranking.notices if notice.code == code]


def _score(of: Output, score: float) -> Judgment:
    return judgment(of, None, f"work_{of.output_id}").model_copy(update={"score": score})


def test_a_model_that_was_not_asked_on_some_items_is_named(workspace: Workspace) -> None:
    items = [item(f"i{number}") for number in range(3)]
    made = [output(one, editor) for one in items for editor in ("old", "other")] + [output(items[0], "new")]
    workspace.store.add([*items, *made, *(_score(one, len(one.editor or "")) for one in made)])
    assert _values(workspace, "fewer_items") == [{"new": [1, 3]}]
    codes = {notice.code for notice in all_boards(Boards(View(workspace)))[0].ranking.notices}
    assert "fewer_items" in codes


def test_a_model_that_gave_no_output_at_all_is_named(workspace: Workspace) -> None:
    one = item("i")
    made = [output(one, "old"), output(one, "other")]
    refused = Output(item_id=one.item_id, editor="shy", status=Status.REFUSED)
    workspace.store.add([one, *made, refused, *(_score(each, 1) for each in made)])
    assert _values(workspace, "no_outputs") == [{"shy": {"refused": 1}}]


def test_outputs_that_nobody_judged_yet_are_counted(workspace: Workspace) -> None:
    items = [item(f"i{number}") for number in range(4)]
    old = [_with_pixels(workspace, one, "old", 2 * number) for number, one in enumerate(items)]
    new = [_with_pixels(workspace, one, "new", 2 * number + 1) for number, one in enumerate(items)]
    workspace.store.add([*items, *old, *new, *(_score(one, 1) for one in old), *(_score(one, 2) for one in new[:3])])
    assert _values(workspace, "outputs_not_judged") == [{"new": [1, 4]}]
    workspace.store.add([_score(new[3], 2)])
    assert _values(workspace, "outputs_not_judged") == []


def test_a_vote_is_no_judgment(workspace: Workspace) -> None:
    items, rater = [item(f"i{number}") for number in range(4)], Rater(rater_id="ann", role="rater")
    old = [_with_pixels(workspace, one, "old", 2 * number) for number, one in enumerate(items)]
    new = [_with_pixels(workspace, one, "new", 2 * number + 1) for number, one in enumerate(items)]
    workspace.store.add([*items, *old, *new, rater, *(_score(one, 1) for one in (*old, *new[:3]))])
    workspace.store.add([vote(rater, old[3], new[3], key="only")])
    assert _values(workspace, "outputs_not_judged", BoardQuery(source="all")) == [{"new": [1, 4]}]


def test_a_collection_of_compared_pairs_misses_nothing(imarena: Imarena, tmp_path: Path) -> None:
    """As in EditReward-Bench: each item has the two outputs that were compared, by design."""
    rater = Rater(rater_id="r")
    names = ("alpha", "beta", "gamma", "delta")
    with init_workspace(tmp_path / "w") as made:
        made.store.add([rater])
        for number, (left, right) in enumerate([*combinations(names, 2)] * 6):
            one = item(f"k{number}")
            sides = [output(one, left), output(one, right)]
            made.store.add([one, *sides, vote(rater, *sides, key=str(number), preference=Outcome.LEFT)])
    board = imarena("-w", "w", "--json", "rank").json
    assert not board["excluded"].get("missing_output")
    assert {one["coverage"] for one in board["models"]} == {1.0}
    printed = imarena("-w", "w", "rank")
    assert "--missing loss" not in printed.out + printed.err
    assert "left out" not in printed.out
