"""Effect sizes: how large a difference is, not only whether it is more than chance."""

import numpy as np
from numpy.typing import ArrayLike

from imarena.stats.correlation import midranks
from imarena.stats.figure import Figure, undefined_figure
from imarena.stats.ratings import round_values


def cohen_d(left: ArrayLike, right: ArrayLike) -> Figure:
    """Cohen's d of two independent samples: difference of means over the pooled standard deviation."""
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    n, method = len(first) + len(second), "Cohen's d, pooled standard deviation"
    if min(len(first), len(second)) < 2:
        return undefined_figure("cohen_d", "a sample has fewer than two values", n=n, method=method)
    pooled = ((len(first) - 1) * first.var(ddof=1) + (len(second) - 1) * second.var(ddof=1)) / (n - 2)
    if pooled == 0:
        return undefined_figure("cohen_d", "no variation within the samples", n=n, method=method)
    return Figure("cohen_d", float((first.mean() - second.mean()) / np.sqrt(pooled)), n, method)


def cohen_d_paired(left: ArrayLike, right: ArrayLike) -> Figure:
    """Cohen's d_z: mean of the paired differences over their standard deviation."""
    difference = round_values(np.asarray(left, np.float64) - np.asarray(right, np.float64))
    method = "Cohen's d_z, standard deviation of the differences"
    if len(difference) < 2:
        return undefined_figure("cohen_d_paired", "fewer than two pairs", n=len(difference), method=method)
    if np.ptp(difference) == 0:
        return undefined_figure("cohen_d_paired", "all differences are equal", n=len(difference), method=method)
    return Figure("cohen_d_paired", float(difference.mean() / difference.std(ddof=1)), len(difference), method)


def rank_biserial(left: ArrayLike, right: ArrayLike) -> Figure:
    """Matched-pairs rank-biserial correlation: the share of the signed-rank sum for left minus that for right."""
    difference = round_values(np.asarray(left, np.float64) - np.asarray(right, np.float64))
    moved = difference[difference != 0]
    method = "matched-pairs rank-biserial correlation"
    if len(moved) == 0:
        return undefined_figure("rank_biserial", "no pair differs", n=0, method=method)
    ranks = midranks(np.abs(moved))
    return Figure("rank_biserial", float((ranks * np.sign(moved)).sum() / ranks.sum()), len(moved), method)


def odds_ratio(only_left: int, only_right: int) -> Figure:
    """Odds ratio of discordant pairs (McNemar)."""
    n, method = only_left + only_right, "odds ratio of discordant pairs"
    if only_right == 0:
        return undefined_figure("odds_ratio", "no unit on which only the second is right", n=n, method=method)
    return Figure("odds_ratio", only_left / only_right, n, method)


def win_rate(elo_difference: float) -> float:
    """The share of points, with ties as half points, for a rating difference on the base-10, 400-point scale."""
    return float(1 / (1 + 10 ** (-elo_difference / 400)))
