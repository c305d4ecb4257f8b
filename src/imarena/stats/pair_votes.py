"""Agreement of votes on pairs, whichever output is called left.

A vote names a side, a tie, or both bad. Which output of a pair is called "left" has no meaning, but the usual chance
correction counts how often each name occurs, so renaming the sides of a single pair would change it. Here the expected
disagreement is the mean over all ways to name the sides of each pair: two votes for a side on two different pairs are
expected to disagree half of the time. The observed disagreement does not depend on the names.

Votes are `Ratings` with the scale ``pair`` and the values below; all votes on a pair have its sides in the same order.
"""

from functools import partial

import numpy as np

from imarena.core import FloatArray
from imarena.stats.bootstrap import with_unit_interval
from imarena.stats.figure import Figure, undefined_figure
from imarena.stats.ratings import NO_PAIR, Ratings

PAIR_CODES = {"left": 0.0, "right": 1.0, "tie": 2.0, "both_bad": 3.0}
"""The value of each outcome."""
ALL_TIES = "no variation: all votes are the same kind of tie, so chance alone would agree as well"
ONE_UNIT = "only one pair has two votes for a side and nobody calls a tie, so that there is no disagreement to expect"
NAMED = "averaged over both ways to name the sides of each pair"


def outcome_counts(ratings: Ratings) -> FloatArray:
    """Number of votes of each unit for the side with more votes, for the other side, for a tie and for both bad.

    (n_units, 4). Sorting the two sides makes every figure independent of their names.
    """
    if ratings.value.size and not np.isin(ratings.value, list(PAIR_CODES.values())).all():
        raise ValueError(f"votes on pairs have the values {list(PAIR_CODES.values())}")
    table = np.zeros((ratings.n_units, len(PAIR_CODES)))
    np.add.at(table, (ratings.unit, ratings.value.astype(np.int64)), 1.0)
    table[:, :2] = -np.sort(-table[:, :2], axis=1)
    return table


def pair_alpha(ratings: Ratings, *, rounds: int = 0, seed: int = 0, confidence: float = 0.95) -> Figure:
    """Krippendorff's nominal alpha of votes on pairs, with a percentile bootstrap over pairs if `rounds` > 0.

    alpha = 1 - (n - 1) D_o / D_e with D_o = sum over pairs u of (m_u^2 - sum_c n_uc^2) / (m_u - 1) and, averaged over
    all ways to name sides, D_e = n^2 - ties^2 - both_bad^2 - sided^2 / 2 - sum over u of (n_u,left - n_u,right)^2 / 2.
    """
    name, method = "alpha_nominal", f"Krippendorff's alpha, nominal, expected disagreement {NAMED}"
    pairable = ratings.pairable()
    if pairable.n_units == 0:
        return undefined_figure(name, NO_PAIR, n=0, method=method)
    patterns, counts = np.unique(outcome_counts(pairable), axis=0, return_counts=True)
    weights = counts.astype(np.float64)
    value = float(_alpha(patterns, weights[None, :])[0])
    if not np.isfinite(value):
        reason = ONE_UNIT if patterns[:, :2].any() else ALL_TIES
        return undefined_figure(name, reason, n=pairable.n_units, method=method)
    figure = Figure(name, value, pairable.n_units, method)
    measure = partial(_alpha, patterns)
    return with_unit_interval(figure, measure, weights, rounds=rounds, seed=seed, confidence=confidence)


def _alpha(patterns: FloatArray, weights: FloatArray) -> FloatArray:
    """Alpha (rounds,) from counts (k, 4) and numbers of units (rounds, k); NaN if undefined."""
    sizes = patterns.sum(axis=1)
    observed = weights @ ((sizes**2 - (patterns**2).sum(axis=1)) / (sizes - 1))
    totals = weights @ patterns
    n, sided = totals.sum(axis=1), totals[:, 0] + totals[:, 1]
    apart = weights @ ((patterns[:, 0] - patterns[:, 1]) ** 2)
    expected = n**2 - totals[:, 2] ** 2 - totals[:, 3] ** 2 - (sided**2 + apart) / 2
    usable = expected > 1e-12 * np.maximum(n, 1.0) ** 2
    return np.asarray(np.where(usable, 1 - (n - 1) * observed / np.where(usable, expected, 1.0), np.nan))


def pair_fleiss_kappa(ratings: Ratings) -> Figure:
    """Fleiss' kappa of votes on pairs; by chance, both sides are equally likely."""
    pairable = ratings.pairable()
    name, n = "fleiss_kappa", pairable.n_units
    table = outcome_counts(pairable)
    sizes = table.sum(axis=1)
    even = n == 0 or bool((sizes == sizes[0]).all())
    uneven = "" if even else ", units with unequal numbers of ratings, each over its own pairs"
    method = f"Fleiss' kappa, chance agreement {NAMED}{uneven}"
    if n == 0:
        return undefined_figure(name, NO_PAIR, n=0, method=method)
    chance = _chance(table.sum(axis=0), table.sum(axis=0))
    if chance >= 1:
        return undefined_figure(name, ALL_TIES, n=n, method=method)
    agreement = float((((table**2).sum(axis=1) - sizes) / (sizes * (sizes - 1))).mean())
    return Figure(name, (agreement - chance) / (1 - chance), n, method)


def pair_cohen_kappa(left: FloatArray, right: FloatArray) -> Figure:
    """Cohen's kappa of two voters on the same pairs: (n,) each, NaN if a vote is missing."""
    name, method = "cohen_kappa", f"Cohen's kappa, chance agreement {NAMED}"
    valid = ~(np.isnan(left) | np.isnan(right))
    first, second = left[valid].astype(np.int64), right[valid].astype(np.int64)
    if not len(first):
        return undefined_figure(name, "the two raters share no unit", n=0, method=method)
    tallies = [np.bincount(side, minlength=len(PAIR_CODES)).astype(np.float64) for side in (first, second)]
    chance = _chance(*tallies)
    if chance >= 1:
        return undefined_figure(name, ALL_TIES, n=len(first), method=method)
    return Figure(name, (float((first == second).mean()) - chance) / (1 - chance), len(first), method)


def _chance(first: FloatArray, second: FloatArray) -> float:
    """How often two voters with these counts of outcomes, (4,) each, agree by chance."""
    sides = (first[0] + first[1]) * (second[0] + second[1]) / 2
    # Whole numbers up to here, so that not even the last bit depends on the names.
    return float((sides + first[2] * second[2] + first[3] * second[3]) / (first.sum() * second.sum()))
