"""Which battles are drawn: known probabilities, fairness, thresholds, worth of a pair, stopping."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.ranking.likelihood.corrected import VoteBatch, fit_corrected
from imarena.ranking.likelihood.corrected_draws import draw_boards
from imarena.routing import (
    Belief,
    Gates,
    Pool,
    combine_strategies,
    fit_curve,
    forecast,
    gates_for,
    item_fairness,
    limit_votes,
    ranking_information,
    require_gates,
    restrict_to_models,
    sample_battles,
    standardise,
    top_order_confidence,
)
from imarena.routing.stopping import Forecast
from imarena.routing.strategies import pair_worth


def pool_of(n: int = 30, m: int = 4, tasks: int = 3, seed: int = 0) -> Pool:
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0, 1000, (n, m))
    pairs = m * (m - 1) // 2
    task = np.sort(np.arange(n) % tasks)
    return Pool(scores, np.ones((n, m), bool), task, np.zeros((n, pairs), np.int16), tuple("abcdefgh"[:m]))


FLAT = Belief(np.zeros(4), np.eye(4))


def test_a_battle_is_drawn_as_often_as_it_says() -> None:
    pool = pool_of(12, 3, 2)
    weights = np.random.default_rng(1).uniform(0.1, 3.0, (12, 3))
    times, told = np.zeros((12, 3)), np.zeros((12, 3))
    for seed in range(3000):
        batch = sample_battles(weights, 9, pool, np.random.default_rng(seed))
        assert len(batch) == 9
        times[batch.item, batch.pair] += 1
        told[batch.item, batch.pair] = batch.probability
    error = np.sqrt(told * (1 - told) / 3000)
    assert (np.abs(times / 3000 - told) < 4.5 * error + 1e-9).all()
    assert told.sum() == pytest.approx(9)


@given(st.integers(0, 10_000), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_tasks_and_items_get_their_share(seed: int, size: int) -> None:
    pool = pool_of()
    batch = sample_battles(combine_strategies([limit_votes(1)], pool, FLAT), size, pool, np.random.default_rng(seed))
    assert len({*zip(batch.item.tolist(), batch.pair.tolist(), strict=True)}) == size
    by_task = np.bincount(pool.task[batch.item], minlength=3)
    by_item = np.bincount(batch.item, minlength=30)
    assert np.ptp(by_task) <= 1
    assert by_item.max() <= np.ceil(size / 30) + 1


def test_no_step_picks_one_pair_for_ever() -> None:
    """100 items of 210 pairs and 50 draws: the step is two items long, and still many pairs come up."""
    pool = Pool(np.ones((100, 21)), np.ones((100, 21), bool), np.zeros(100, np.int64), np.zeros((100, 210), np.int16))
    batch = sample_battles(np.ones((100, 210)), 50, pool, np.random.default_rng(0))
    assert len(set(batch.pair.tolist())) > 30


def test_more_than_there_is_gives_all_once() -> None:
    pool = pool_of(5, 3, 1)
    batch = sample_battles(np.ones((5, 3)), 100, pool, np.random.default_rng(0))
    assert len(batch) == 15
    assert (batch.probability == 1).all()


def test_nothing_to_draw() -> None:
    pool = pool_of()
    rng = np.random.default_rng(0)
    with pytest.raises(UserError, match="budget is zero"):
        sample_battles(np.ones((30, 6)), 0, pool, rng)
    with pytest.raises(UserError, match="no battle left"):
        sample_battles(np.zeros((30, 6)), 5, pool, rng)
    with pytest.raises(UserError, match="let nothing through"):
        combine_strategies([require_gates(Gates(2000, 1))], pool, FLAT)
    with pytest.raises(UserError, match="too few to calibrate"):
        fit_curve(np.arange(1, 20.0), np.ones(19))
    with pytest.raises(UserError, match="routes nothing"):
        gates_for(np.ones(5), np.ones(5), deferral=0)


@given(st.floats(0.02, 0.98), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_thresholds_reach_a_deferral_rate(target: float, seed: int) -> None:
    pool = pool_of(200, 5, 1, seed)
    lower, gap = pool.lower.ravel(), np.abs(pool.gap).ravel()
    gates = gates_for(lower, gap, deferral=target)
    assert gates.passes(lower, gap).mean() == pytest.approx(target, abs=0.007)


def test_thresholds_on_scores_of_which_most_are_0() -> None:
    scores = np.where(np.random.default_rng(0).random((300, 6)) < 0.6, 0.0, 500.0)
    pool = Pool(scores, np.ones((300, 6), bool), np.zeros(300, np.int64), np.zeros((300, 15), np.int16))
    gates = gates_for(pool.lower.ravel(), np.abs(pool.gap).ravel())
    assert gates.passes(pool.lower, np.abs(pool.gap)).any()


def test_a_gate_alone_comes_as_near_to_the_rate_as_ties_allow() -> None:
    """Every lower score is 0, so that only the gap can decide: 3,370 of 10,000 different gaps, not a quantile's 3,250."""
    gap = np.random.default_rng(0).permutation(10_000) / 10.0
    assert gates_for(np.zeros(gap.size), gap).passes(np.zeros(gap.size), gap).sum() == 3370
    tied = np.repeat([0.0, 10.0, 20.0], [300, 100, 600])  # 300 or 400 of 1,000: 300 is nearer
    assert gates_for(np.zeros(tied.size), tied) == Gates(0.0, 10.0)
    assert gates_for(np.zeros(tied.size), tied, deferral=0.36) == Gates(0.0, 20.0)


def test_asked_items_and_other_models_stand_back() -> None:
    pool = pool_of()
    pool.asked[0, 2] = 3
    assert item_fairness(pool, FLAT)[0, 0] == 0.25
    assert item_fairness(pool, FLAT)[1, 0] == 1.0
    assert limit_votes(3)(pool, FLAT)[0].tolist() == [1, 1, 0, 1, 1, 1]
    kept = restrict_to_models([3])(pool, FLAT)[0]
    assert [bool(x) for x in kept] == [3 in pair for pair in zip(pool.left, pool.right, strict=True)]


def test_worth_falls_on_the_pair_whose_order_is_open() -> None:
    """Models 0 and 1 are close, 2 and 3 far away and known."""
    pool = pool_of()
    belief = Belief(np.array([1.0, 0.9, -1.0, -3.0]), np.diag([0.2, 0.2, 0.01, 0.01]))
    worth = pair_worth(pool, belief)
    assert int(np.argmax(worth)) == 0
    weights = ranking_information()(pool, belief)
    assert (weights > 0).all()
    assert weights[:, 0].sum() > 3 * weights[:, 5].sum()


def test_who_wants_only_the_best_in_order_does_not_ask_about_the_others() -> None:
    """The first two are close and so are the last two: only the first pair matters for the best one."""
    pool = pool_of()
    belief = Belief(np.array([2.0, 1.9, -2.0, -2.1]), np.eye(4) * 0.2)
    everything, best = pair_worth(pool, belief), pair_worth(pool, belief, top=1)
    assert everything[5] == pytest.approx(everything[0], rel=0.1)
    assert best[5] < 0.01 * best[0]


def test_standard_scores() -> None:
    scores = np.random.default_rng(0).normal(300, 90, (50, 5))
    scores[3, 2] = np.nan
    found = standardise(scores)
    left, right = np.triu_indices(5, 1)
    assert np.sqrt(np.mean((found.filled[:, left] - found.filled[:, right]) ** 2)) == pytest.approx(1.0)
    assert standardise(7 * scores + 100).filled == pytest.approx(found.filled)
    with pytest.raises(UserError, match="no score"):
        standardise(np.full((3, 3), np.nan))


def test_a_plan_reckons_with_models_that_are_farther_apart_than_they_look() -> None:
    """Votes of 20 worlds, asked evenly, as many as were promised: the widest interval is near the target."""
    rng, m, per_log = np.random.default_rng(4), 8, 400 / np.log(10)
    reached, inside = [], 0
    for _ in range(20):
        truth = rng.normal(0, 1.5, m)
        first = _votes(rng, truth, 100)
        need = forecast(_belief(first), per_log=per_log).needed(120)
        assert need.votes is not None
        assert need.likely[0] is not None
        assert need.likely[1] is not None
        assert need.likely[0] <= need.votes <= need.likely[1]
        widths = []
        for votes in (need.likely[0], need.votes, need.likely[1]):
            more = _votes(rng, truth, votes)
            left, right, points = (
                np.concatenate([getattr(votes, name) for votes in (first, more)], axis=1)
                for name in ("left", "right", "points")
            )
            both = VoteBatch(left, right, points, np.zeros(points.shape), first.means)
            widths.append(float(forecast(_belief(both), per_log=per_log).now.max()))
        reached.append(widths[1])
        inside += widths[0] >= 120 >= widths[2]
    assert 0.85 * 120 < np.median(reached) < 1.15 * 120
    assert inside >= 11


def test_a_model_that_wins_everything_sets_the_figure_alone() -> None:
    """The others' ratings do not wait for it."""
    rng = np.random.default_rng(6)
    told = forecast(_belief(_votes(rng, np.array([6.0, 0.5, 0.2, 0.0, -0.2, -0.5]), 300)), per_log=400 / np.log(10))
    alone = [told.needed(80, np.array([model])).votes or 0 for model in range(6)]
    assert int(np.argmax(told.now)) == 0
    assert alone[0] > 2 * max(alone[1:])


def _belief(votes: VoteBatch) -> Belief:
    found = fit_corrected(votes)
    drawn = draw_boards(votes, found, 2000)
    return Belief(found.theta[0], found.covariance[0], 0.4, float(found.dispersion[0]), boards=drawn)


def _votes(rng: np.random.Generator, truth: np.ndarray, n: int) -> VoteBatch:
    left = rng.integers(truth.size, size=n)
    right = (left + rng.integers(1, truth.size, size=n)) % truth.size
    points = (rng.random(n) < 1 / (1 + np.exp(truth[right] - truth[left]))).astype(float)
    return VoteBatch(left[None], right[None], points[None], np.zeros((1, n)), np.zeros((1, truth.size)))


def test_an_interval_that_is_too_wide_needs_a_vote_at_least() -> None:
    """Its curve may begin a little lower than the interval of the drawn boards is."""
    told = Forecast(np.full((2, 2, 1), 100.0), np.ones((2, 1)), np.full(2, 10.5))
    assert told.needed(10.2).votes == 1
    assert told.needed(10.6).votes == 0


def test_stopping_and_needing() -> None:
    noise, per_log = np.random.default_rng(0).standard_normal((4000, 4)), 400 / np.log(10)
    order = np.array([3.0, 2.0, 1.0, 0.0])
    sure = Belief(order, np.eye(4), boards=order + 1e-3 * noise)
    assert top_order_confidence(sure, 3) == 1.0
    open_top = Belief(np.zeros(4), np.eye(4), boards=noise)
    assert top_order_confidence(open_top, 4) == pytest.approx(1 / 24, abs=0.02)
    told = forecast(open_top, per_log=per_log)
    votes, tighter = (told.needed(target).votes for target in (50, 25))
    assert votes is not None
    assert tighter is not None
    assert told.widest(votes) <= 50 < told.widest(votes - 1)
    assert told.now == pytest.approx(np.full(4, 1.96 * per_log * np.sqrt(0.75)), rel=0.05)
    assert 3.5 * votes < tighter < 4.5 * votes
    assert forecast(sure, per_log=per_log).needed(50).votes == 0
    assert told.needed(0.01).votes is None
    with pytest.raises(UserError, match="does not exist"):
        top_order_confidence(sure, 9)
    with pytest.raises(UserError, match="must be above 0"):
        told.needed(0)
