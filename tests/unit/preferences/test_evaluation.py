"""Accuracy against people: strict and as in the papers, and nothing dropped in silence."""

import pytest

from imarena.core.records import Outcome
from imarena.preferences import JudgeAnswer, PairTruth, agreed_truth, evaluate_judge

L, R, T = Outcome.LEFT, Outcome.RIGHT, Outcome.TIE


def _truth(number: int, task: str, winner: Outcome) -> PairTruth:
    return PairTruth((f"item {number}", "a", "b"), "set", "visual_consistency", task, winner, 1)


def test_ties_and_failures_are_wrong_or_left_out_and_always_counted() -> None:
    truths = [_truth(0, "t", L), _truth(1, "t", L), _truth(2, "t", R), _truth(3, "t", R), _truth(4, "t", T)]
    said = {
        truths[0].key: JudgeAnswer(L, agreed=True),
        truths[1].key: JudgeAnswer(T, agreed=False),
        truths[2].key: JudgeAnswer(None, "timeout"),
        truths[4].key: JudgeAnswer(L, agreed=True),
    }
    row = evaluate_judge("j", "pairwise", truths, said)[0]
    assert (row.strict.value, row.paper_compat.value) == (0.25, 1.0)
    assert (row.pairs, row.ties, row.people_ties) == (4, 1, 1)
    assert row.failures == {"not asked": 1, "timeout": 1}
    assert row.consistency.value == 0.5
    assert row.strict.low is not None


def test_the_mean_over_tasks_weighs_tasks_equally() -> None:
    truths = [*(_truth(at, "large", L) for at in range(9)), _truth(9, "small", L)]
    said = {truth.key: JudgeAnswer(L if truth.task == "large" else R) for truth in truths}
    rows = {row.task: row for row in evaluate_judge("j", "pairwise", truths, said, rounds=200)}
    assert rows["all"].strict.value == pytest.approx(0.9)
    assert rows["mean over tasks"].strict.value == pytest.approx(0.5)
    assert rows["large"].strict.value == 1.0


def test_a_judge_that_answers_nothing_has_no_paper_compat_accuracy() -> None:
    truths = [_truth(0, "t", L), _truth(1, "u", R)]
    for row in evaluate_judge("j", "pairwise", truths, {}, rounds=100):
        assert row.strict.value == 0.0
        assert row.paper_compat.value is None
        assert row.paper_compat.reason


def test_people_decide_by_majority() -> None:
    key = ("item", "a", "b")
    votes = [(key, "set", "d", "t", outcome) for outcome in (L, L, R)]
    assert agreed_truth(votes)[0].winner is L
    assert agreed_truth(votes[1:])[0].winner is T
    assert agreed_truth([*votes, *((key, "set", "d", "t", Outcome.BOTH_BAD) for _ in range(2))])[0].winner is T


def test_pairs_of_one_item_are_resampled_together() -> None:
    def figures(items: int) -> float:
        truths = [PairTruth((f"i{at % items}", f"a{at}", "b"), "set", "d", "t", L, 1) for at in range(60)]
        said = {truth.key: JudgeAnswer(L if int(truth.key[0][1:]) % 2 else R) for truth in truths}
        row = evaluate_judge("j", "pairwise", truths, said)[-1]
        assert row.strict.low is not None
        assert row.strict.high is not None
        return row.strict.high - row.strict.low

    assert figures(6) > 2 * figures(60)
