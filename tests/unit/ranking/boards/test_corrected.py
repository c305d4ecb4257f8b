"""Votes correct a judge: the two ends (a perfect and a useless judge), bias, routing, symmetry, intervals."""

import numpy as np
import pytest

from imarena.core.errors import UserError
from imarena.ranking import Battles, CodedColumn, Options, rank_battles
from imarena.ranking.boards.board import Result
from imarena.ranking.boards.corrected import JudgeScale, corrected_board
from imarena.ranking.likelihood.calibrated import fit_calibrated
from imarena.ranking.likelihood.corrected import VoteBatch, fit_corrected, refit_strengths
from imarena.ranking.likelihood.corrected_draws import draw_boards

M = 6
TRUE = np.linspace(1.2, -1.2, M)


def ballot(n: int, means: np.ndarray, seed: int = 0, truth: np.ndarray = TRUE, batch: int = 1) -> VoteBatch:
    rng = np.random.default_rng(seed)
    left = rng.integers(M, size=(batch, n))
    right = (left + rng.integers(1, M, size=(batch, n))) % M
    lead = truth[left] - truth[right]
    points = (rng.random((batch, n)) < 1 / (1 + np.exp(-lead))).astype(float)
    return VoteBatch(left, right, points, np.zeros((batch, n)), np.repeat(means[None], batch, axis=0))


def order(theta: np.ndarray) -> list[int]:
    return [int(place) for place in np.argsort(-theta)]


def test_without_votes_the_judge_decides_and_knows_little() -> None:
    votes = ballot(0, np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]) / 3, batch=2)
    found = fit_corrected(votes)
    assert order(found.theta[1]) == [5, 4, 3, 2, 1, 0]
    drawn = draw_boards(votes, found, 2000, at=1)
    lead = drawn[:, 5] - drawn[:, 0]
    assert 0.55 < (lead > 0).mean() < 0.95
    assert 2 < lead.std() < 8


def test_many_votes_overrule_a_judge_that_has_it_backwards() -> None:
    found = fit_corrected(ballot(4000, -TRUE))
    assert order(found.theta[0]) == list(range(M))
    assert found.theta[0] - found.theta[0].mean() == pytest.approx(TRUE, abs=0.2)


def test_a_right_judge_is_believed_with_few_votes() -> None:
    """Forty votes alone order the models worse than forty votes and a judge that is right."""
    votes = ballot(40, TRUE, batch=200)
    alone = fit_corrected(VoteBatch(votes.left, votes.right, votes.points, votes.within, np.zeros((200, M))))
    both = fit_corrected(votes)
    wrong = [np.mean([(np.diff(theta) > 0).sum() for theta in found.theta]) for found in (alone, both)]
    assert wrong[1] < 0.3 * wrong[0]
    assert both.spread.mean() < alone.spread.mean()


def test_one_favoured_model_is_found() -> None:
    means = TRUE.copy()
    means[-1] += 3.0
    found = fit_corrected(ballot(1500, means, seed=2))
    bias = found.coefficients[0, 2:]
    assert int(np.argmin(bias)) == M - 1
    assert order(found.theta[0])[-1] == M - 1


def test_votes_routed_by_score_do_not_pull_the_board() -> None:
    """Only items on which the judge sees the two near equal are asked: the item's own gap explains that."""
    rng = np.random.default_rng(5)
    n = 200_000
    left, right = rng.integers(M, size=n), rng.integers(M, size=n)
    kept = left != right
    left, right = left[kept], right[kept]
    own = rng.normal(0, 1, left.size)
    gap = TRUE[left] - TRUE[right] + own
    points = (rng.random(left.size) < 1 / (1 + np.exp(-gap))).astype(float)
    close = np.abs(gap) < 0.4
    assert close.sum() > 5000
    votes = VoteBatch(left[None, close], right[None, close], points[None, close], own[None, close], TRUE[None])
    found = fit_corrected(votes)
    assert found.theta[0] - found.theta[0].mean() == pytest.approx(TRUE, abs=0.25)
    blind = fit_corrected(VoteBatch(votes.left, votes.right, votes.points, 0 * votes.within, np.zeros((1, M))))
    assert np.ptp(blind.theta[0]) < 0.4 * np.ptp(TRUE)


def test_sides_play_no_part_and_refit_with_ones_changes_nothing() -> None:
    votes = ballot(300, TRUE[::-1].copy(), seed=3)
    swapped = VoteBatch(votes.right, votes.left, 1 - votes.points, -votes.within, votes.means)
    found = fit_corrected(votes)
    assert fit_corrected(swapped).theta == pytest.approx(found.theta, abs=1e-6)
    assert refit_strengths(votes, found, np.ones((1, 300))) == pytest.approx(found.theta, abs=0.05)


def held(votes: VoteBatch, truth: np.ndarray) -> float:
    """Share of the differences (B, pairs) inside their 95% intervals."""
    found, one, other = fit_corrected(votes), *np.triu_indices(truth.shape[1], 1)
    inside = []
    for at, true in enumerate(truth):
        drawn = draw_boards(votes, found, 1000, at=at)
        low, high = np.quantile(drawn[:, one] - drawn[:, other], [0.025, 0.975], axis=0)
        inside.append((low <= true[one] - true[other]) & (true[one] - true[other] <= high))
    return float(np.mean(inside))


@pytest.mark.parametrize(("bias", "votes"), [(0.3, 200), (1.0, 50), (2.0, 50), (2.0, 200)])
def test_intervals_hold_the_truth(bias: float, votes: int) -> None:
    """With a judge that is mostly right and with one that favours models strongly; 2,000 worlds: benchmarks."""
    rng, worlds, models = np.random.default_rng(12), 150, 8
    means = rng.normal(0, 0.35, (worlds, models))
    truth = 0.4 * means + rng.normal(0, bias, (worlds, models))
    left = rng.integers(models, size=(worlds, votes))
    right = (left + rng.integers(1, models, size=(worlds, votes))) % models
    rows = np.arange(worlds)[:, None]
    points = (rng.random(left.shape) < 1 / (1 + np.exp(truth[rows, right] - truth[rows, left]))).astype(float)
    assert 0.93 < held(VoteBatch(left, right, points, np.zeros(left.shape), means), truth) < 0.975


def test_a_model_that_wins_everything_is_surely_ahead_and_nobody_knows_how_far() -> None:
    """Thirty wins of thirty: the interval is short below and long above; a symmetric one reached below the others."""
    rng = np.random.default_rng(5)
    left, right = rng.integers(1, M, size=(1, 150)), np.zeros((1, 150), int)
    right[0, 30:] = (left[0, 30:] + rng.integers(1, M - 1, size=120) - 1) % (M - 1) + 1
    points = np.where(right == 0, 0.0, rng.integers(2, size=(1, 150)))
    votes = VoteBatch(left, right, points, np.zeros((1, 150)), np.zeros((1, M)))
    found = fit_corrected(votes)
    lead = draw_boards(votes, found, 4000) @ np.array([1.0, *[-1 / (M - 1)] * (M - 1)])
    low, middle, high = np.quantile(lead, [0.025, 0.5, 0.975])
    assert low > 1.5
    assert high - middle > 1.5 * (middle - low)
    assert high < 12


def test_draws_agree_with_a_plain_walk_over_the_same_posterior() -> None:
    """A second implementation: Metropolis over the coefficients and the logarithm of the spread, no Laplace in it."""
    rng = np.random.default_rng(8)
    means = rng.normal(0, 0.5, M)
    votes = ballot(60, means, seed=8, truth=2 * TRUE)
    found = fit_corrected(votes)
    drawn = draw_boards(votes, found, 20_000)
    walked = walk(votes, means, float(found.dispersion[0]))
    for share in (0.025, 0.5, 0.975):
        ours, theirs = (np.quantile(sample[:, 0] - sample[:, 3], share) for sample in (drawn, walked))
        assert ours == pytest.approx(theirs, abs=0.25)


def walk(votes: VoteBatch, means: np.ndarray, phi: float) -> np.ndarray:
    """(n, m) strengths from 40 chains of 3,000 steps, the second half of each."""
    rng, chains = np.random.default_rng(9), 40
    state = np.concatenate([rng.normal(0, 0.3, (chains, M + 2)), np.zeros((chains, 1))], axis=1)

    def value(at: np.ndarray) -> np.ndarray:
        within, extra, bias, spread = at[:, 0], at[:, 1], at[:, 2:-1], np.exp(at[:, -1])
        theta = (within + extra)[:, None] * means + bias
        lead = theta[:, votes.left[0]] - theta[:, votes.right[0]]
        told = (votes.points[0] * lead - np.logaddexp(0, lead)).sum(axis=1) / phi
        prior = -0.5 * ((within - 0.4) / 0.5) ** 2 - 0.5 * (extra / 0.7) ** 2
        prior -= 0.5 * (bias**2).sum(axis=1) / spread**2 + M * np.log(spread)
        return np.asarray(told + prior + 2 * np.log(spread) - 0.7 * spread)

    now, kept = value(state), []
    for step in range(6000):
        trial = state + rng.normal(0, 0.22, state.shape)
        then = value(trial)
        moved = np.log(rng.random(chains)) < then - now
        state, now = np.where(moved[:, None], trial, state), np.where(moved, then, now)
        if step >= 3000 and step % 5 == 0:
            kept.append((state[:, 0] + state[:, 1])[:, None] * means + state[:, 2:-1])
    return np.concatenate(kept)


def test_votes_of_next_to_no_weight_are_as_good_as_not_there() -> None:
    """Weights say who counts, and never make more votes of few: intervals by them once held .77 and not .95."""
    rng = np.random.default_rng(5)
    left = rng.integers(M, size=400)
    right = (left + rng.integers(1, M, size=400)) % M
    outcome = np.where(rng.random(400) < 1 / (1 + np.exp(TRUE[right] - TRUE[left])), 0, 2).astype(np.int8)
    judge = JudgeScale(100 * TRUE, 100.0)

    def board(kept: slice, weight: np.ndarray | None) -> Result:
        scores = [100 * TRUE[side[kept]] for side in (left, right)]
        battles = Battles(
            tuple("abcdef"), left[kept].astype(np.int32), right[kept].astype(np.int32), outcome[kept],
            weight=weight, score_left=scores[0], score_right=scores[1],
        )  # fmt: skip
        return corrected_board(battles, Options(), judge)[1]

    few = board(slice(50), None)
    weighed = board(slice(None), np.where(np.arange(400) < 50, 3.0, 1e-9))
    assert few.interval is not None
    assert weighed.interval is not None
    assert weighed.ratings == pytest.approx(few.ratings, abs=0.01)
    for one, other in zip(weighed.interval, few.interval, strict=True):
        assert one == pytest.approx(other, abs=0.1)


def test_votes_without_ties_count_as_coins() -> None:
    """A fit that shrinks must not pass for votes that are surer than coins; only ties are."""
    found = fit_corrected(ballot(400, TRUE, truth=3 * TRUE))
    assert found.dispersion[0] > 0.98
    votes = ballot(400, TRUE)
    tied = VoteBatch(
        votes.left, votes.right, np.where(np.arange(400) % 2, 0.5, votes.points), votes.within, votes.means
    )
    assert 0.4 < fit_corrected(tied).dispersion[0] < 0.6


def battles(n: int = 300, *, votes: bool = True, scores: bool = True) -> Battles:
    rng = np.random.default_rng(0)
    left = rng.integers(M, size=n).astype(np.int32)
    right = ((left + rng.integers(1, M, size=n)) % M).astype(np.int32)
    judged = np.arange(n) % 3 > 0 if votes else np.ones(n, bool)
    quality = 500 + 100 * TRUE
    points = rng.random(n) < 1 / (1 + np.exp(TRUE[right] - TRUE[left]))
    return Battles(
        models=tuple("abcdef"), left=left, right=right, outcome=np.where(points, 0, 2).astype(np.int8), judged=judged,
        item=CodedColumn((np.arange(n) % 40).astype(np.int32), tuple(str(k) for k in range(40))),
        score_left=np.where(judged, quality[left], np.nan) if scores else None,
        score_right=np.where(judged, quality[right], np.nan) if scores else None,
    )  # fmt: skip


def test_the_board_says_what_was_done() -> None:
    board = rank_battles(battles(), Options(method="corrected"))
    assert board.n_battles == 100
    assert [standing.model for standing in board.models] == list("abcdef")
    assert board.settings["judge_scores"] == "scores"
    assert all(s.low is not None and s.high is not None and s.low < s.rating < s.high for s in board.models)
    verdicts = rank_battles(battles(scores=False), Options(method="corrected"))
    assert verdicts.settings["judge_scores"] == "verdicts"
    assert verdicts.models[0].model in "ab"


def test_what_cannot_be_corrected() -> None:
    with pytest.raises(UserError, match="no votes"):
        rank_battles(battles(votes=False), Options(method="corrected"))


def test_the_calibrated_mixture_knows_a_coin() -> None:
    """A group with q = 0 says nothing; with q = 1 it is Bradley-Terry: 3 wins of 4 are a lead of log 3."""
    wins, losses = np.array([[[300.0, 1000.0]]]), np.array([[[100.0, 9000.0]]])
    left, right = np.array([0]), np.array([1])
    theta = fit_calibrated(left, right, wins, losses, np.array([1.0, 0.0]), 2)[0]
    assert theta[0] - theta[1] == pytest.approx(np.log(3), abs=0.01)
    half = fit_calibrated(left, right, wins[..., :1], losses[..., :1], np.array([0.8]), 2)[0]
    chance = 0.8 / (1 + np.exp(half[1] - half[0])) + 0.1
    assert chance == pytest.approx(0.75, abs=0.002)


def test_the_calibrated_mixture_settles_where_the_judge_is_surer_than_its_q() -> None:
    """A judge that always prefers the better model, with q = .8: plain steps run to and fro. Checked with SciPy."""
    from scipy.optimize import minimize

    m = 6
    left, right = np.triu_indices(m, 1)
    rng = np.random.default_rng(1)
    wins = np.stack([rng.integers(15, 40, left.size), rng.integers(2, 8, left.size)], axis=1).astype(float)
    losses = np.stack([np.zeros(left.size), rng.integers(1, 4, left.size)], axis=1).astype(float)
    q = np.array([0.8, 1.0])

    def loss(theta: np.ndarray) -> float:
        p = 1 / (1 + np.exp(theta[right] - theta[left]))
        chance = q * p[:, None] + 0.5 * (1 - q)
        return float(-(wins * np.log(chance) + losses * np.log(1 - chance)).sum() + 0.05 * (theta**2).sum())

    found = fit_calibrated(left, right, wins[None], losses[None], q, m)[0]
    other = minimize(loss, np.zeros(m), method="BFGS", options={"gtol": 1e-8}).x
    assert found == pytest.approx(other - other.mean(), abs=1e-3)


def test_a_narrow_gate_seldom_turns_the_board_upside_down() -> None:
    """Where all gaps are near 0 the item's gap is the mean gap turned round: only tied slopes tell them apart."""
    worlds, n, models = 400, 200, 8
    rng, means = np.random.default_rng(0), np.linspace(0.55, -0.55, models)
    left = rng.integers(models, size=(worlds, n))
    right = (left + rng.integers(1, models, size=(worlds, n))) % models
    usual = means[left] - means[right]
    within = rng.uniform(-0.2, 0.2, usual.shape) - usual
    won = rng.random(usual.shape) < 1 / (1 + np.exp(-(1.2 * usual + 0.5 * within)))
    points = np.where(rng.random(usual.shape) < 0.85, 0.5, won)
    found = fit_corrected(VoteBatch(left, right, points, within, np.repeat(means[None], worlds, axis=0)))
    assert np.mean(found.theta @ means < 0) < 0.015  # with slopes of their own: .035
