"""Correlations of two columns: Spearman, Pearson, Kendall, footrule, and averages of correlations.

Values are rounded to nine decimals before they are ranked, so that floating-point noise does not break ties.
"""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from imarena.core import FloatArray
from imarena.stats.figure import Figure, undefined_figure
from imarena.stats.ratings import finite_pairs, round_values

Recipe = Literal["fisher", "plain", "paper-compat"]
CORRELATION_RECIPES: tuple[Recipe, ...] = get_args(Recipe)
RECIPE_WORDS: dict[Recipe, str] = {
    "fisher": "mean of arctanh, then tanh (Fisher's z)",
    "plain": "arithmetic mean",
    "paper-compat": "tanh of the arithmetic mean, without arctanh, at every level of averaging (as VIEScore printed)",
}


def spearman(left: ArrayLike, right: ArrayLike) -> Figure:
    """Spearman's rho with mid-ranks for ties; `left`, `right`: (n,), pairs with a NaN are left out."""
    return _correlation("spearman", "Spearman's rho, mid-ranks", left, right, _spearman)


def pearson(left: ArrayLike, right: ArrayLike) -> Figure:
    """Pearson's r (PLCC without a fitted curve)."""
    return _correlation("pearson", "Pearson's r", left, right, _pearson)


def kendall(left: ArrayLike, right: ArrayLike) -> Figure:
    """Kendall's tau-b."""
    return _correlation("kendall", "Kendall's tau-b", left, right, _kendall)


def kendall_accuracy(left: ArrayLike, right: ArrayLike) -> Figure:
    """(tau-b + 1) / 2: our reading of "Kendall accuracy" in ImagenWorld, table 4, which gives no formula.

    Without ties it is the share of pairs in the same order.
    """
    tau = kendall(left, right)
    method = "(Kendall's tau-b + 1) / 2"
    if tau.value is None:
        return undefined_figure("kendall_accuracy", tau.reason, n=tau.n, method=method)
    return Figure("kendall_accuracy", (tau.value + 1) / 2, tau.n, method)


def footrule(left: ArrayLike, right: ArrayLike) -> Figure:
    """Spearman's footrule: the sum of the distances between ranks, divided by its largest value; 0 is the same order.

    The largest sum is floor(n^2 / 2), that of the reversed order.
    """
    first, second = finite_pairs(round_values(left), round_values(right))
    method = "Spearman's footrule over floor(n^2 / 2), mid-ranks"
    n = len(first)
    if n < 2:
        return undefined_figure("footrule", "fewer than two pairs of values", n=n, method=method)
    distance = float(np.abs(midranks(first) - midranks(second)).sum())
    return Figure("footrule", distance / (n * n // 2), n, method)


def midranks(values: ArrayLike) -> FloatArray:
    """Ranks of a column from 1, with mean ranks for ties, after rounding to nine decimals. `values`: (n,)."""
    _, category, counts = np.unique(round_values(values), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[category], dtype=np.float64)


def average(correlations: Sequence[float | None], *, recipe: Recipe = "fisher", name: str = "average") -> Figure:
    """Average correlations over folds or groups; undefined ones (None) are left out and counted.

    ``fisher`` is the recommended recipe. ``paper-compat`` gives what VIEScore printed. A correlation of exactly 1 or -1
    has no Fisher's z, so its average is undefined rather than clipped.
    """
    if recipe not in CORRELATION_RECIPES:
        raise ValueError(f"unknown recipe '{recipe}': {', '.join(CORRELATION_RECIPES)}")
    defined = np.array([value for value in correlations if value is not None], dtype=np.float64)
    lost = len(correlations) - len(defined)
    method = RECIPE_WORDS[recipe] + (f"; {lost} undefined left out" if lost else "")
    if len(defined) == 0:
        return undefined_figure(name, "no group has this figure", n=0, method=method)
    if recipe == "fisher" and bool((np.abs(defined) >= 1 - 1e-12).any()):
        reason = "a group's correlation is exactly 1 or -1, where Fisher's z is infinite; choose the plain average"
        return undefined_figure(name, reason, n=len(defined), method=method)
    if recipe == "fisher":
        value = np.tanh(np.arctanh(defined).mean())
    elif recipe == "plain":
        value = defined.mean()
    else:
        value = np.tanh(defined.mean())
    return Figure(name, float(value), len(defined), method)


def _correlation(
    name: str, method: str, left: ArrayLike, right: ArrayLike, measure: Callable[[FloatArray, FloatArray], float]
) -> Figure:
    first, second = finite_pairs(round_values(left), round_values(right))
    reason = ""
    if len(first) < 2:
        reason = "fewer than two pairs of values"
    elif np.ptp(first) == 0 or np.ptp(second) == 0:
        sides = [side for side, values in (("first", first), ("second", second)) if np.ptp(values) == 0]
        reason = f"no variation: the {' and the '.join(sides)} column is constant"
    if reason:
        return undefined_figure(name, reason, n=len(first), method=method)
    return Figure(name, float(np.clip(measure(first, second), -1, 1)), len(first), method)


def _pearson(first: FloatArray, second: FloatArray) -> float:
    a, b = first - first.mean(), second - second.mean()
    # Scaled so that squares of tiny or huge values neither vanish nor overflow.
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    return float((a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum()))


def _spearman(first: FloatArray, second: FloatArray) -> float:
    return _pearson(midranks(first), midranks(second))


def _kendall(first: FloatArray, second: FloatArray) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic)
