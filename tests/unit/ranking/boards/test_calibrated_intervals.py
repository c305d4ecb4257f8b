"""Intervals of the calibrated mixture hold the truth as often as they say: 2,000 simulations."""

import numpy as np
import pytest
from scipy import stats

from imarena.ranking import Battles, Options
from imarena.ranking.boards.calibrated import calibrated_board
from imarena.ranking.boards.pairs import differences, percentile_ends

TRUE = np.array([0.6, 0.2, -0.1, -0.7])
PER_LOG = 400 / np.log(10)


def world(rng: np.random.Generator, n: int = 900) -> Battles:
    """Two thirds are a judge's verdicts, credible with probability q(gap) = gap / 400; the rest are people's."""
    left = rng.integers(4, size=n)
    right = (left + rng.integers(1, 4, size=n)) % 4
    judged = np.arange(n) % 3 > 0
    gap = rng.uniform(0, 400, n)
    follows = 1 / (1 + np.exp(TRUE[right] - TRUE[left]))
    credible = ~judged | (rng.random(n) < gap / 400)
    won = rng.random(n) < np.where(credible, follows, 0.5)
    return Battles(
        models=("a", "b", "c", "d"), left=left.astype(np.int32), right=right.astype(np.int32),
        outcome=np.where(won, 0, 2).astype(np.int8), judged=judged, score_left=500 + gap, score_right=np.full(n, 500.0),
    )  # fmt: skip


def coverage(simulations: int, rounds: int) -> tuple[int, int]:
    held = 0
    for seed in range(simulations):
        found = calibrated_board(world(np.random.default_rng(seed)), lambda gap: gap / 400, Options(rounds=rounds))
        assert found.draws is not None
        _, low, high = differences(found.ratings, found.draws, 0.95)
        held += int(low[0, 3] <= (TRUE[0] - TRUE[3]) * PER_LOG <= high[0, 3])
    return held, simulations


@pytest.mark.parametrize("rounds", [39, 199, 1000])
def test_ends_hold_as_many_new_draws_as_they_say(rounds: int) -> None:
    """Of uniform draws the ends stand at .025 and .975 on average, however few the rounds are."""
    found = percentile_ends(np.random.default_rng(0).random((rounds, 20_000)), 0.95)
    assert (found[1] - found[0]).mean() == pytest.approx(0.95, abs=0.002)


def test_a_few() -> None:
    held, n = coverage(60, 100)
    assert held >= stats.binom.ppf(0.0005, n, 0.94)


@pytest.mark.slow
def test_two_thousand_simulations() -> None:
    held, n = coverage(2000, 199)
    low, high = stats.binom.interval(0.99, n, 0.95)
    assert low <= held <= high
