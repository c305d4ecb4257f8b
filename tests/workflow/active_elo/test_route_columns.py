"""What routing keeps of a workspace: the cache is never old, versions of a judge never mix, dimensions stay apart."""

from pathlib import Path

import numpy as np
import pytest

from imarena.core.errors import UserError
from imarena.core.notices import sentences
from imarena.core.records import Item, Judgment, Origin, Outcome, Output, Rater, Turn, Vote
from imarena.ranking import Options
from imarena.storage import Workspace
from imarena.workflows.active_elo.planning import calibrate_judge
from imarena.workflows.boards.weighted.boards import keep_placeable, setting_board
from imarena.workflows.boards.weighted.calibrations import (
    CalibrationOptions,
    calibration_for,
    stale_calibration_notices,
)
from imarena.workflows.boards.weighted.vote_data import VoteData, read_vote_data


def scored(workspace: Workspace, outputs: list[Output], score: float, version: str = "1") -> None:
    workspace.store.add(
        Judgment(
            work_id=f"{version}-{one.output_id}", judge="robot", judge_version=version, item_id=one.item_id,
            left_id=one.output_id, score=score + n,
        )
        for n, one in enumerate(outputs)
    )  # fmt: skip


def filled(workspace: Workspace, editors: str = "ab", n: int = 3) -> list[Output]:
    items = [Item(dataset="d", key=str(k), turns=(Turn(instruction="x"),), topic="t") for k in range(n)]
    outputs = [
        Output(item_id=item.item_id, editor=editor, origin=Origin(source="s", row=f"{item.key}{editor}"))
        for item in items
        for editor in editors
    ]
    workspace.store.add(items)
    workspace.store.add(outputs)
    scored(workspace, outputs, 100.0)
    return outputs


def cached(workspace: Workspace) -> list[Path]:
    return [path for path in (workspace.root / "cache").rglob("*") if path.is_file()]


def same(one: VoteData, other: VoteData) -> bool:
    return bool(np.array_equal(one.pool.scores, other.pool.scores, equal_nan=True)) and one.unit == other.unit


def test_a_second_reading_comes_from_the_cache_and_is_the_same(any_workspace: Workspace) -> None:
    filled(any_workspace)
    first = read_vote_data(any_workspace, None)
    kept = cached(any_workspace)
    assert len(kept) == 1
    assert same(first, read_vote_data(any_workspace, None))
    assert cached(any_workspace) == kept
    kept[0].write_bytes(b"cut short")
    assert same(first, read_vote_data(any_workspace, None))


def test_new_outputs_and_scores_are_seen_at_once(workspace: Workspace) -> None:
    filled(workspace)
    assert read_vote_data(workspace, None).pool.models == ("a", "b")
    filled(workspace, "abc")
    found = read_vote_data(workspace, None)
    assert found.pool.models == ("a", "b", "c")
    assert np.isfinite(found.pool.scores).all()


def test_a_model_without_scores_is_told(workspace: Workspace) -> None:
    outputs = filled(workspace)
    new = [Output(item_id=o.item_id, editor="z", origin=Origin(source="s", row=o.item_id)) for o in outputs[::2]]
    workspace.store.add(new)
    found = read_vote_data(workspace, None)
    assert np.isnan(found.pool.scores[:, 2]).all()
    assert any("scored no output of z" in text for text in sentences(found.notices))
    board = setting_board(workspace, found, "judge", Options(rounds=20, matrices=False))
    assert [standing.model for standing in board.models] == ["b", "a"]
    assert any("because they have no score: z" in text for text in board.warnings)


def test_a_model_without_scores_is_placed_by_its_votes(workspace: Workspace) -> None:
    outputs = filled(workspace, "abz")
    new = [Output(item_id=o.item_id, editor="c", origin=Origin(source="s", row=o.item_id)) for o in outputs[::3]]
    late = [Output(item_id=o.item_id, editor="d", origin=Origin(source="s", row=f"d{o.item_id}")) for o in outputs[::3]]
    workspace.store.add([*new, *late])
    workspace.store.add([Rater(rater_id="ann")])
    workspace.store.add(
        Vote(rater_id="ann", item_id=one.item_id, left_id=one.output_id, right_id=other.output_id,
             preference=Outcome.LEFT, idempotency_key=one.output_id)
        for one, other in zip(late, outputs[2::3], strict=True)
    )  # fmt: skip
    found = keep_placeable(read_vote_data(workspace, None))
    assert found.pool.models == ("a", "b", "d", "z")
    assert found.unplaced == ("c",)
    models = found.pool.models
    sides = {(models[found.pool.left[p]], models[found.pool.right[p]]) for p in found.votes.pair}
    assert sides == {("d", "z")}
    board = setting_board(workspace, read_vote_data(workspace, None), "corrected", Options(rounds=20, matrices=False))
    assert {standing.model for standing in board.models} == {"a", "b", "d", "z"}
    for name, ranked, told in (("judge", "abz", "no score: c, d"), ("human", "dz", "no vote: a, b, c")):
        board = setting_board(workspace, read_vote_data(workspace, None), name, Options(rounds=20, matrices=False))
        assert {standing.model for standing in board.models} == set(ranked)
        assert any(told in text for text in board.warnings)


def test_the_newest_version_of_a_judge_counts_and_earlier_scores_are_reported(any_workspace: Workspace) -> None:
    outputs = filled(any_workspace)
    assert not read_vote_data(any_workspace, None).notices
    scored(any_workspace, outputs[:2], 700.0, "2")
    found = read_vote_data(any_workspace, None)
    assert sorted(found.pool.scores[np.isfinite(found.pool.scores)]) == [700.0, 701.0]
    assert dict(found.versions) == {"2": 2}
    assert [(notice.code, notice.values["scores"]) for notice in found.notices] == [("earlier_scores", 6)]
    scored(any_workspace, outputs[2:], 800.0, "2")
    assert read_vote_data(any_workspace, None).versions == {"2": 6}


def test_a_calibration_of_an_older_version_is_told(workspace: Workspace) -> None:
    outputs = filled(workspace, n=60)
    workspace.store.add([Rater(rater_id="ann")])
    for n in range(60):
        left, right = outputs[2 * n], outputs[2 * n + 1]
        workspace.store.add(
            [
                Vote(rater_id="ann", item_id=left.item_id, left_id=left.output_id, right_id=right.output_id,
                     preference=Outcome.LEFT, idempotency_key=str(n)),
            ]
        )  # fmt: skip
    with pytest.raises(UserError, match="same score gap"):
        calibrate_judge(workspace, None, CalibrationOptions(rounds=0))
    scored(workspace, outputs[::3], 500.0, "2")
    scored(workspace, outputs[1::3] + outputs[2::3], 500.0, "2")
    calibrate_judge(workspace, None, CalibrationOptions(rounds=0))
    record = calibration_for(workspace, "robot")
    assert stale_calibration_notices(record, {"2": 120}) == ()
    (notice,) = stale_calibration_notices(record, {"3": 1})
    named = (notice.code, notice.values["calibrated"], notice.values["scored"])
    assert named == ("calibration_stale", ["2"], ["3"])


def test_votes_on_one_dimension_are_no_votes_on_the_whole(workspace: Workspace) -> None:
    outputs = filled(workspace)
    workspace.store.add([Rater(rater_id="ann")])
    for n, dimension in enumerate(("overall", "visual_quality")):
        left, right = outputs[0], outputs[1]
        vote = Vote(rater_id="ann", item_id=left.item_id, left_id=left.output_id, right_id=right.output_id,
                    preference=Outcome.LEFT, idempotency_key=str(n), dimension=dimension)  # fmt: skip
        workspace.store.add([vote])
    assert len(read_vote_data(workspace, None).votes) == 1
    assert len(read_vote_data(workspace, None, dimension="visual_quality", scored_on="overall").votes) == 1
