"""Krippendorff's alpha: agreement of any number of raters, with missing ratings, on four levels of measurement.

alpha = 1 - D_o / D_e (Krippendorff, Content Analysis, 4th edition, chapter 12). D_o sums, over units with at least two
ratings, the squared differences of the unit's pairs, each unit weighted by 1 / (m_u - 1); D_e does the same for all
pairs of ratings whatever their unit.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.stats.bootstrap import with_unit_interval
from imarena.stats.figure import Figure, undefined_figure
from imarena.stats.kappa import NO_ORDER, NO_VARIATION
from imarena.stats.pair_votes import pair_alpha
from imarena.stats.ratings import NO_PAIR, Ratings, round_values

MeasurementLevel = Literal["nominal", "ordinal", "interval", "ratio"]
MEASUREMENT_LEVELS: tuple[MeasurementLevel, ...] = get_args(MeasurementLevel)

PATTERN_CELLS = 20_000_000
"""With more cells than this, equal units are not merged."""
BLOCK = 1024
"""Rows of a difference table in memory at once, so that many distinct values do not fill it."""


def krippendorff_alpha(
    ratings: Ratings, level: MeasurementLevel, *, rounds: int = 0, seed: int = 0, confidence: float = 0.95
) -> Figure:
    """Compute Krippendorff's alpha for one level, with a seeded percentile bootstrap over units if `rounds` > 0.

    The result is undefined, with the reason, if no unit has two ratings, if all pairable ratings are equal (no
    disagreement is expected), or if the level does not fit the values. For votes on pairs, see `pair_votes`.
    """
    if ratings.scale == "pair" and level == "nominal":
        return pair_alpha(ratings, rounds=rounds, seed=seed, confidence=confidence)
    name, method = f"alpha_{level}", f"Krippendorff's alpha, {level}"
    pairable = ratings.pairable()
    reason = _misfit(pairable, level)
    if reason:
        return undefined_figure(name, reason, n=pairable.n_units, method=method)
    patterns, counts = _patterns(pairable)
    measure = _measure(patterns, level)
    value = float(measure(counts[None, :])[0])
    if not np.isfinite(value):
        return undefined_figure(name, "the expected disagreement is 0", n=pairable.n_units, method=method)
    figure = Figure(name, value, pairable.n_units, method)
    return with_unit_interval(figure, measure, counts, rounds=rounds, seed=seed, confidence=confidence)


def _misfit(pairable: Ratings, level: MeasurementLevel) -> str:
    if pairable.n_units == 0:
        return NO_PAIR
    if pairable.scale in ("label", "pair") and level != "nominal":
        return NO_ORDER
    if pairable.scale == "order" and level in ("interval", "ratio"):
        return "the values have an order but no distances"
    if np.ptp(round_values(pairable.value)) == 0:
        return NO_VARIATION
    if level == "ratio" and pairable.value.min() < 0:
        return "a ratio scale has no negative values"
    return ""


def _patterns(pairable: Ratings) -> tuple[Ratings, FloatArray]:
    """Merge units with the same values into one, and count the units of each pattern: (patterns,).

    It does not matter to alpha who gave a value, so 60,000 units rated 1 to 5 are a few hundred patterns, and the
    bootstrap over units costs no more than one over the patterns.
    """
    sizes = pairable.sizes()
    if pairable.n_units * int(sizes.max()) > PATTERN_CELLS:
        return pairable, np.ones(pairable.n_units)
    _, category = pairable.categories()
    order = np.lexsort((category, pairable.unit))
    column = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table = np.full((pairable.n_units, int(sizes.max())), -1, dtype=np.int64)
    table[pairable.unit[order], column] = category[order]
    _, first, counts = np.unique(table, axis=0, return_index=True, return_counts=True)
    code = np.full(pairable.n_units, -1, dtype=np.int64)
    code[first] = np.arange(len(first))
    rows = code[pairable.unit] >= 0
    return Ratings(
        code[pairable.unit[rows]], pairable.rater[rows], pairable.value[rows], len(first), pairable.n_raters,
        pairable.scale,
    ), counts.astype(np.float64)  # fmt: skip


def _measure(pairable: Ratings, level: MeasurementLevel) -> Callable[[FloatArray], FloatArray]:
    """Make a function from unit weights (rounds, n_units) to alpha (rounds,); NaN if no disagreement is expected."""
    order = np.argsort(pairable.unit, kind="stable")
    values, category = pairable.categories()
    units, category = pairable.unit[order], category[order]
    sizes = np.bincount(units).astype(np.float64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    tallies = pairable.tallies()
    nominal = (sizes**2 - tallies.by_unit(tallies.count**2)) / (sizes - 1)
    ratio = _ratio_observed(values, category, starts) if level == "ratio" else nominal

    def alpha(weights: FloatArray) -> FloatArray:
        totals = tallies.by_value(weights)
        if level == "nominal":
            observed = weights @ nominal
            expected = totals.sum(axis=1) ** 2 - (totals**2).sum(axis=1)
        elif level == "ratio":
            observed, expected = weights @ ratio, _ratio_expected(totals, values)
        else:
            # The ordinal difference of two values is the difference of their mid-positions among all ratings.
            positions = np.cumsum(totals, axis=1) - totals / 2 if level == "ordinal" else values[None, :]
            observed = _squares_observed(positions, category, starts, sizes, weights)
            expected = _squares_expected(totals, positions)
        n = totals.sum(axis=1)
        floor = 1e-12 * np.maximum(n, 1.0) ** 2
        usable = expected > (0 if level == "ordinal" else floor * _unit_of(values, level))
        return np.asarray(np.where(usable, 1 - (n - 1) * observed / np.where(usable, expected, 1.0), np.nan))

    return alpha


def _unit_of(values: FloatArray, level: MeasurementLevel) -> float:
    return float(np.ptp(values)) ** 2 if level == "interval" else 1.0


def _squares_observed(
    positions: FloatArray, category: IntArray, starts: IntArray, sizes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Sum of squared differences within units: 2 (m sum x^2 - (sum x)^2) / (m - 1), about the unit's first rating."""
    at = np.broadcast_to(positions, (len(weights), positions.shape[1]))[:, category]
    at = at - np.repeat(at[:, starts], sizes.astype(np.int64), axis=1)
    squares, sums = np.add.reduceat(at**2, starts, axis=1), np.add.reduceat(at, starts, axis=1)
    return np.asarray((weights * (2 * (sizes * squares - sums**2) / (sizes - 1))).sum(axis=1))


def _squares_expected(totals: FloatArray, positions: FloatArray) -> FloatArray:
    n = totals.sum(axis=1)
    centre = (totals * positions).sum(axis=1, keepdims=True) / np.maximum(n, 1.0)[:, None]
    return np.asarray(2 * n * (totals * (positions - centre) ** 2).sum(axis=1))


def _ratio(left: FloatArray, right: FloatArray) -> FloatArray:
    total = left[:, None] + right[None, :]
    return np.asarray(((left[:, None] - right[None, :]) / np.where(total == 0, 1.0, total)) ** 2)


def _ratio_observed(values: FloatArray, category: IntArray, starts: IntArray) -> FloatArray:
    parts = np.split(values[category], starts[1:])
    return np.array([_ratio(part, part).sum() / (len(part) - 1) for part in parts])


def _ratio_expected(totals: FloatArray, values: FloatArray) -> FloatArray:
    expected = np.zeros(len(totals))
    for first in range(0, len(values), BLOCK):
        rows = slice(first, first + BLOCK)
        expected += ((totals[:, rows] @ _ratio(values[rows], values)) * totals).sum(axis=1)
    return expected
