"""Seeded resampling: over units, over clusters, and paired."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from imarena.core import SEED, FloatArray, IntArray
from imarena.stats.figure import Figure, undefined_figure
from imarena.stats.ratings import check_columns

CELLS = 4_000_000
"""Numbers in memory at once while resampling."""
IN_CACHE = 100_000
"""Numbers of a column that are processed at once; many more would not fit into the CPU cache."""
FLAT = 1e-12
"""Ends that differ by at most this share of their size only differ by rounding."""
DECIMALS = 9
"""Values that agree to this many decimals are equal."""
SAME = "no variation: resampled rounds give the same value"


@dataclass(frozen=True)
class Interval:
    """Two ends and the method that made them, or the reason why there are none."""

    low: float | None
    high: float | None
    method: str
    reason: str


def resampled_counts(n: int, rounds: int, seed: int, *, shares: FloatArray | None = None) -> Iterator[FloatArray]:
    """How often each element is drawn in each round of `n` draws: blocks of (some rounds, elements), `rounds` rows.

    There are `n` elements with equal probabilities, or one for each of `shares`, which sum to 1.
    """
    random = np.random.default_rng(seed)
    things = n if shares is None else len(shares)
    step = max(1, CELLS // max(things, 1))
    for first in range(0, rounds, step):
        size = min(step, rounds - first)
        if shares is None:
            counts = [np.bincount(random.integers(n, size=n), minlength=n) for _ in range(size)]
            yield np.array(counts, dtype=np.float64)
        else:
            yield random.multinomial(n, shares, size=size).astype(np.float64)


def resampled_rows(groups: IntArray, rounds: int, seed: int) -> Iterator[IntArray]:
    """Row numbers of `rounds` cluster samples: whole groups are drawn with replacement. `groups`: (n,) codes from 0."""
    random = np.random.default_rng(seed)
    order = np.argsort(groups, kind="stable").astype(np.int64)
    sizes = np.bincount(groups)
    rows = np.split(order, np.cumsum(sizes)[:-1])
    singles = bool((sizes == 1).all())
    for _ in range(rounds):
        sample = random.integers(len(sizes), size=len(sizes))
        yield order[sample] if singles else np.concatenate([rows[group] for group in sample])


def units_by_content(units: Sequence[str], *columns: FloatArray) -> tuple[IntArray, IntArray]:
    """An order of the rows, and the code of each row's unit in that order, which depend on the values only.

    The same data give the same bootstrap whatever the units are called and whatever the order of the rows is.
    """
    values = [np.round(column, DECIMALS).tolist() for column in columns]
    rows = list(zip(*values, strict=True))
    content: dict[str, list[int]] = {}
    for row in sorted(range(len(rows)), key=rows.__getitem__):
        content.setdefault(units[row], []).append(row)
    by_unit = sorted(content.values(), key=lambda members: [rows[row] for row in members])
    codes = [code for code, members in enumerate(by_unit) for _ in members]
    return np.array([row for members in by_unit for row in members], np.int64), np.array(codes, np.int64)


def resampled_correlations(
    left: FloatArray, right: FloatArray, groups: IntArray, *, ranked: bool, rounds: int, seed: int
) -> FloatArray:
    """Bootstrap draws of Pearson's r, or of Spearman's rho if `ranked`: whole groups are drawn; NaN if undefined.

    `left`, `right`: (n,) complete; `groups`: (n,) codes from 0. Rows are weighted by how often their group is drawn,
    which gives the same result as ranking each resampled column, with only one sort.
    """
    columns = [np.unique(values, return_inverse=True) for values in (left, right)]
    step = max(1, IN_CACHE // max(len(groups), 1))
    draws = [
        _weighted(columns, np.ascontiguousarray(block[first : first + step].T)[groups], ranked)
        for block in resampled_counts(int(groups.max()) + 1, rounds, seed)
        for first in range(0, len(block), step)
    ]
    return np.concatenate(draws) if draws else np.empty(0)


def _weighted(columns: Sequence[tuple[FloatArray, IntArray]], weights: FloatArray, ranked: bool) -> FloatArray:
    """The correlation in each round. `weights`: (n, rounds)."""
    centred = []
    total = weights.sum(axis=0)
    for values, category in columns:
        at = values[category][:, None]
        if ranked:
            order = np.argsort(category, kind="stable")
            starts = np.searchsorted(category[order], np.arange(len(values)))
            counts = np.add.reduceat(weights[order], starts)
            at = (np.cumsum(counts, axis=0) - counts / 2)[category]  # mid-ranks minus one half
        centred.append(at - (weights * at).sum(axis=0) / total)
    first, second = centred
    left = weights * first
    spread = (left * first).sum(axis=0) * (weights * second**2).sum(axis=0)
    together = (left * second).sum(axis=0)
    return np.where(spread > 1e-18, together / np.sqrt(np.maximum(spread, 1e-18)), np.nan)


def percentile_interval(draws: FloatArray, confidence: float, *, what: str) -> Interval:
    """The percentile interval of bootstrap draws. Rounds in which the figure is undefined (NaN) are left out and
    reported; there is no interval if they are more than a tenth.
    """
    finite = draws[np.isfinite(draws)]
    lost = len(draws) - len(finite)
    if len(finite) == 0 or lost > len(draws) / 10:
        return Interval(None, None, "", f"the figure is undefined in {lost} of {len(draws)} resampled rounds")
    low, high = np.quantile(finite, [(1 - confidence) / 2, (1 + confidence) / 2])
    if high - low <= FLAT * max(abs(low), abs(high)):
        return Interval(None, None, "", SAME)
    note = f", {lost} undefined rounds left out" if lost else ""
    return Interval(float(low), float(high), f"percentile bootstrap over {what}, {confidence:.0%}{note}", "")


def with_interval(figure: Figure, draws: FloatArray, confidence: float, *, what: str) -> Figure:
    """The figure with the percentile interval of its bootstrap draws, or with the reason why it has none."""
    bounds = percentile_interval(draws, confidence, what=what)
    return replace(figure, low=bounds.low, high=bounds.high, interval=bounds.method, interval_reason=bounds.reason)


def with_unit_interval(
    figure: Figure,
    measure: Callable[[FloatArray], FloatArray],
    weights: FloatArray,
    *,
    rounds: int,
    seed: int,
    confidence: float,
) -> Figure:
    """The figure with a bootstrap interval over its `n` units; without one if `rounds` is 0.

    `weights`: (k,) number of units of each kind; `measure` maps such numbers (rounds, k) to the figure (rounds,).
    """
    if not rounds:
        return figure
    blocks = resampled_counts(figure.n, rounds, seed, shares=weights / figure.n)
    draws = np.concatenate([measure(block) for block in blocks])
    return with_interval(figure, draws, confidence, what=f"units, {rounds} rounds, seed {seed}")


def paired_bootstrap(
    left: ArrayLike,
    right: ArrayLike,
    *,
    rounds: int = 10_000,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Figure:
    """The difference of means left - right on the same units, with its interval. `left`, `right`: (n,)."""
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    check_columns(first, second)
    name, n = "difference", len(first)
    method = "paired difference of means"
    if n < 2:
        return undefined_figure(name, "fewer than two pairs", n=n, method=method)
    value = float((first - second).mean())
    draws = np.concatenate([block @ (first - second) / n for block in resampled_counts(n, rounds, seed)])
    method_text = f"pairs, {rounds} rounds, seed {seed}"
    return with_interval(Figure(name, value, n, method), draws, confidence, what=method_text)
