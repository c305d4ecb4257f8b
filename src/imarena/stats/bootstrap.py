"""Seeded resampling: over units, over clusters, and paired."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from imarena.stats.figure import Figure, undefined
from imarena.stats.ratings import FloatArray, IntArray

CELLS = 4_000_000
"""Numbers held at once while resampling."""


@dataclass(frozen=True)
class Interval:
    """Two ends and how they were made, or the reason why there are none."""

    low: float | None
    high: float | None
    method: str
    reason: str


def resampled_counts(n: int, rounds: int, seed: int) -> Iterator[FloatArray]:
    """How often each of `n` things is drawn in each round: blocks of (some rounds, n), `rounds` rows in all."""
    random = np.random.default_rng(seed)
    step = max(1, CELLS // max(n, 1))
    shares = np.full(n, 1 / n)
    for first in range(0, rounds, step):
        yield random.multinomial(n, shares, size=min(step, rounds - first)).astype(np.float64)


def resampled_places(groups: IntArray, rounds: int, seed: int) -> Iterator[IntArray]:
    """Row numbers of `rounds` cluster samples: whole groups are drawn with replacement. `groups`: (n,) codes from 0."""
    random = np.random.default_rng(seed)
    order = np.argsort(groups, kind="stable").astype(np.int64)
    sizes = np.bincount(groups)
    rows = np.split(order, np.cumsum(sizes)[:-1])
    singles = bool((sizes == 1).all())
    for _ in range(rounds):
        drawn = random.integers(len(sizes), size=len(sizes))
        yield order[drawn] if singles else np.concatenate([rows[group] for group in drawn])


def percentile_interval(draws: FloatArray, confidence: float, *, what: str) -> Interval:
    """The percentile interval of bootstrap draws; rounds in which the figure is undefined (NaN) are left out, told, and
    allowed to be a tenth at most.
    """
    kept = draws[np.isfinite(draws)]
    lost = len(draws) - len(kept)
    if len(kept) == 0 or lost > len(draws) / 10:
        return Interval(None, None, "", f"the figure is undefined in {lost} of {len(draws)} resampled rounds")
    if len(kept) > 1 and np.ptp(kept) == 0:
        return Interval(None, None, "", "every resampled round gives the same value: the data say nothing on its error")
    low, high = np.quantile(kept, [(1 - confidence) / 2, (1 + confidence) / 2])
    told = f", {lost} undefined rounds left out" if lost else ""
    return Interval(float(low), float(high), f"percentile bootstrap over {what}, {confidence:.0%}{told}", "")


def paired_bootstrap(
    left: ArrayLike,
    right: ArrayLike,
    *,
    statistic: Callable[[FloatArray], float] | None = None,
    rounds: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Figure:
    """The difference left - right on the same units, with its interval. `left`, `right`: (n,).

    The mean of each side by default; `statistic` maps (n,) to a number for any other.
    """
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"two columns of one length are needed, got {first.shape} and {second.shape}")
    name, n = "difference", len(first)
    method = "paired difference of means" if statistic is None else "paired difference of a statistic"
    if n < 2:
        return undefined(name, "fewer than two pairs", n=n, method=method)
    if statistic is None:
        value = float((first - second).mean())
        draws = np.concatenate([block @ (first - second) / n for block in resampled_counts(n, rounds, seed)])
    else:
        value = statistic(first) - statistic(second)
        places = resampled_places(np.arange(n), rounds, seed)
        draws = np.array([statistic(first[rows]) - statistic(second[rows]) for rows in places])
    found = percentile_interval(draws, confidence, what=f"pairs, {rounds} rounds, seed {seed}")
    return Figure(name, value, n, method, low=found.low, high=found.high,
                  interval=found.method, interval_reason=found.reason)  # fmt: skip
