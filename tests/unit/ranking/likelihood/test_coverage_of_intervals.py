"""Do 95% intervals hold the truth 95 times in 100? Simulated boards with known strengths."""

import numpy as np
import pytest
from scipy.stats import binom

from imarena.ranking import Battles, CodedColumn, Options, rank_battles
from tests.unit.ranking.simulated import battles as simulate

SIMULATIONS = 2000
PER_LOG = 400 / np.log(10)


def held(board_battles: Battles, truth: "np.ndarray[tuple[int], np.dtype[np.float64]]", options: Options) -> bool:
    """Does the interval of one model (another one each time) hold its rating?"""
    model = options.seed % truth.size
    standing = next(s for s in rank_battles(board_battles, options).models if s.model == f"model-{model:03d}")
    aim = 1000 + PER_LOG * (truth - truth.mean())[model]
    return bool((standing.low or 0) <= aim <= (standing.high or 0))


@pytest.mark.slow
@pytest.mark.parametrize("interval", ["bootstrap", "sandwich"])
def test_coverage_over_battles(interval: str) -> None:
    truth = np.linspace(0.8, -0.8, 5)
    hits = sum(
        held(
            simulate(truth, 1000, seed),
            truth,
            Options(seed=seed, rounds=200 if interval == "bootstrap" else 0, interval=interval, matrices=False),
        )
        for seed in range(SIMULATIONS)
    )
    low, high = binom.interval(0.99, SIMULATIONS, 0.95)
    assert low <= hits <= high, hits


@pytest.mark.slow
def test_coverage_over_items_where_battles_of_an_item_hang_together() -> None:
    """Each item favours some models by chance: resampling battles would claim too much."""
    truth = np.linspace(0.5, -0.5, 4)
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 1.0, (100_000, 4))
    shrink = _marginal(truth)
    hits = {"item": 0, "battle": 0}
    simulations = 400
    for seed in range(simulations):
        given = _by_item(truth, noise[rng.integers(0, len(noise), 150)], seed)
        for cluster in hits:
            options = Options(seed=seed, interval="sandwich", cluster=cluster, rounds=0, matrices=False)
            hits[cluster] += held(given, shrink, options)
    low, high = binom.interval(0.99, simulations, 0.95)
    assert low <= hits["item"] <= high, hits
    assert hits["battle"] < low, hits


def _by_item(
    truth: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    favour: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    seed: int,
) -> Battles:
    """Every pair meets four times on every item."""
    rng = np.random.default_rng([1, seed])
    left, right = (np.tile(np.repeat(side, 4), len(favour)) for side in np.triu_indices(truth.size, 1))
    item = np.repeat(np.arange(len(favour)), left.size // len(favour))
    lead = truth[left] - truth[right] + favour[item, left] - favour[item, right]
    outcome = np.where(rng.random(left.size) < 1 / (1 + np.exp(-lead)), 0, 2).astype(np.int8)
    return Battles(
        tuple(f"model-{i:03d}" for i in range(truth.size)),
        left.astype(np.int32),
        right.astype(np.int32),
        outcome,
        item=CodedColumn(item.astype(np.int32), tuple(map(str, range(len(favour))))),
    )


def _marginal(truth: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """What Bradley-Terry converges to: the fit of the mean outcomes over very many items."""
    from imarena.ranking.likelihood.fit import fit_board
    from imarena.ranking.likelihood.likelihoods import BradleyTerry
    from imarena.ranking.likelihood.pair_counts import count_pairs

    rng = np.random.default_rng(5)
    big = _by_item(truth, rng.normal(0, 1.0, (40_000, truth.size)), 10**6)
    return fit_board(count_pairs(big), BradleyTerry()).theta
