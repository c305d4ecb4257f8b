"""Routing: calibration, plan, assignments and boards rest on the same votes and scores."""

import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from tests.command import Imarena
from tests.cross_cutting.every_reader.conftest import Asked
from tests.cross_cutting.every_reader.test_boards import standings
from tests.cross_cutting.every_reader.truth import EARLIER, PURPOSES, Row, Truth

JUDGE = "score-judge"


def shown(truth: Truth) -> set[str]:
    """Outputs that routing shows: first samples of named models, single turn."""
    return {
        output for output, row in truth.outputs.items()
        if row["editor"] and row["mode"] == "single" and row["status"] == "ok" and not row["sample"]
    }  # fmt: skip


def work(truth: Truth) -> list[Row]:
    """The votes about the whole that count, on what routing shows."""
    return [row for row in truth.people() if {row["left_id"], row["right_id"]} <= shown(truth)]


def gaps(truth: Truth, judge: str) -> dict[str, float]:
    """Mean score of each output that routing shows, higher being better."""
    given: dict[str, list[float]] = defaultdict(list)
    for (output, _), score in truth.scores(judge).items():
        if output in shown(truth):
            given[output].append(score)
    return {output: sum(scores) / len(scores) for output, scores in given.items()}


@pytest.mark.parametrize("judge", [JUDGE, "near-judge"])
def test_calibrate(judge: str, asked: Asked, truth: Truth) -> None:
    found = asked("route", "calibrate", "--judge", judge, "--rounds", 0)
    mean = gaps(truth, judge)
    met = []
    for row in work(truth):
        sides = [mean.get(row[side]) for side in ("left_id", "right_id")]
        if None not in sides and sides[0] != sides[1] and row["preference"] in ("left", "right"):
            met.append((row["preference"] == "left") == (sides[0] > sides[1]))  # type: ignore[operator]
    assert found["n_pairs"] == len(met)
    curve = found["curves"][0]
    right = sum(share * n for share, n in zip(curve["empirical"], curve["n"], strict=True))
    assert right == pytest.approx(sum(met))


def test_rerank(asked: Asked, truth: Truth) -> None:
    votes = [(row["left_id"], row["right_id"], row["preference"]) for row in work(truth)]
    found = asked("route", "rerank", "--judge", JUDGE, "--settings", "all", "--rounds", 20)
    boards = {board["setting"]: board for board in found["boards"]}
    for setting in ("corrected", "active-elo", "mixture", "human"):
        assert standings(boards[setting]["models"]) == truth.record(votes), setting
    assert boards["human"]["n_battles"] == boards["corrected"]["n_battles"] == len(votes)
    outside = len(truth.people()) - len(votes)
    assert boards["corrected"]["excluded"] == {"votes on other modes, turns or samples": outside}
    mean, pairs = gaps(truth, JUDGE), []
    for one in sorted(mean):
        for other in sorted(mean):
            if one < other and truth.unit(one) == truth.unit(other):
                gap = round(mean[one] - mean[other], 9)
                pairs.append((one, other, "tie" if gap == 0 else "left" if gap > 0 else "right"))
    assert standings(boards["judge"]["models"]) == truth.record(pairs)
    earlier = sum(
        truth.judgment_reasons[row["id"]] == EARLIER and row["judge"] == JUDGE for row in truth.every_judgment
    )
    told = [notice["values"] for notice in boards["judge"]["notices"] if notice["code"] == "earlier_scores"]
    assert told == [{"judge": JUDGE, "scores": earlier}]


def test_rank_by_a_method_that_weighs_people(asked: Asked, truth: Truth) -> None:
    votes = [(row["left_id"], row["right_id"], row["preference"]) for row in work(truth)]
    found = asked("rank", "--judge", JUDGE, "--method", "corrected", "--rounds", 20)
    assert standings(found["models"]) == truth.record(votes)


def test_plan(asked: Asked, truth: Truth) -> None:
    found = asked("route", "plan", "--judge", JUDGE)
    checks = [
        row for row in truth.every_vote
        if truth.vote_reasons[row["id"]] in PURPOSES.values() and row["preference"]
        and {row["left_id"], row["right_id"]} <= shown(truth)
    ]  # fmt: skip
    assert (found["votes_so_far"], found["controls_so_far"]) == (len(work(truth)), len(checks))
    assert found["battles"] == len(battles_that_can_be_asked(truth))


def battles_that_can_be_asked(truth: Truth) -> set[frozenset[str]]:
    """Every two outputs on one unit whose pictures differ."""
    pictures = {output: truth.outputs[output]["image_sha256"] for output in shown(truth)}
    return {
        frozenset((one, other)) for one in pictures for other in pictures
        if one != other and truth.unit(one) == truth.unit(other) and pictures[one] != pictures[other]
    }  # fmt: skip


def test_assign(arena: Path, imarena: Imarena, tmp_path: Path, truth: Truth) -> None:
    """A battle that people were given is not given again, whether their votes count or not."""
    copy = tmp_path / "copy"
    shutil.copytree(arena, copy)
    rest = ("--policy", "random", "--budget", 100, "--repeats", 0, "--gold", 0)
    made = imarena("-w", copy, "--json", "route", "assign", "--judge", JUDGE, *rest).json
    known = {frozenset((row["left_id"], row["right_id"])) for row in truth.tasks.values() if row["purpose"] == "vote"}
    known |= {frozenset((row["left_id"], row["right_id"])) for row in work(truth)}
    expected = battles_that_can_be_asked(truth) - known
    assert len(expected) == made["battles"] == made["assignments"] == 3
    new = [row for key, row in Truth(copy).tasks.items() if key not in truth.tasks]
    assert {frozenset((row["left_id"], row["right_id"])) for row in new} == expected
