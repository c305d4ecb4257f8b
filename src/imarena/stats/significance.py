"""Tests of whether two models, judges or metrics differ by more than chance, each with an effect size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from imarena.core import FloatArray
from imarena.stats.effects import cohen_d, cohen_d_paired, odds_ratio, rank_biserial
from imarena.stats.figure import Figure
from imarena.stats.ratings import check_columns, finite_pairs, round_values


@dataclass(frozen=True)
class SignificanceTest:
    """The result of a two-sided test. `p_value` is None if the test is undefined; `reason` says why."""

    name: str
    statistic: float | None
    p_value: float | None
    n: int
    effect: Figure
    method: str
    reason: str = ""

    @property
    def status(self) -> str:
        return "undefined" if self.p_value is None else "ok"

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "test": self.name, "statistic": self.statistic, "p_value": self.p_value, "n": self.n,
            "effect": {"name": self.effect.name, **self.effect.to_json()},
            "method": self.method, "status": self.status, "reason": self.reason or None,
        }  # fmt: skip


def paired_t(left: ArrayLike, right: ArrayLike) -> SignificanceTest:
    """Student's t of paired differences; `left`, `right`: (n,) on the same units."""
    first, second = finite_pairs(left, right)
    difference = round_values(first - second)
    effect, method = cohen_d_paired(first, second), "paired t-test, two-sided"
    if len(difference) < 2 or np.ptp(difference) == 0:
        reason = "fewer than two pairs" if len(difference) < 2 else "all differences are equal"
        return SignificanceTest("paired_t", None, None, len(difference), effect, method, reason)
    from scipy.stats import ttest_1samp

    test = ttest_1samp(difference, 0.0)
    return SignificanceTest("paired_t", float(test.statistic), float(test.pvalue), len(difference), effect, method)


def welch_t(left: ArrayLike, right: ArrayLike) -> SignificanceTest:
    """Welch's t of two independent samples."""
    first, second = _finite(left), _finite(right)
    effect, method = cohen_d(first, second), "Welch's t-test, two-sided"
    n = len(first) + len(second)
    small = min(len(first), len(second)) < 2
    if small or (np.ptp(first) == 0 and np.ptp(second) == 0):
        reason = "a sample has fewer than two values" if small else "neither sample varies"
        return SignificanceTest("welch_t", None, None, n, effect, method, reason)
    from scipy.stats import ttest_ind

    test = ttest_ind(first, second, equal_var=False)
    return SignificanceTest("welch_t", float(test.statistic), float(test.pvalue), n, effect, method)


def wilcoxon(left: ArrayLike, right: ArrayLike) -> SignificanceTest:
    """Wilcoxon's signed-rank test; pairs without a difference are left out, as Wilcoxon did."""
    first, second = finite_pairs(left, right)
    difference = round_values(first - second)
    moved = difference[difference != 0]
    effect = rank_biserial(first, second)
    method = f"Wilcoxon's signed-rank test, two-sided; {len(difference) - len(moved)} equal pairs left out"
    if len(moved) == 0:
        return SignificanceTest("wilcoxon", None, None, 0, effect, method, "no pair differs")
    from scipy.stats import wilcoxon as signed_rank

    # The exact distribution is only valid without ties in size; for small n, scipy would use it even with ties.
    tied = len(np.unique(np.abs(moved))) < len(moved)
    test = signed_rank(moved, method="exact" if len(moved) <= 50 and not tied else "approx")
    return SignificanceTest("wilcoxon", float(test.statistic), float(test.pvalue), len(moved), effect, method)


def mcnemar(left_right: ArrayLike, right_right: ArrayLike) -> SignificanceTest:
    """McNemar's exact test: two judges, right or wrong (0 or 1) on the same units, (n,) each.

    Only units on which exactly one of them is right count.
    """
    first, second = np.asarray(left_right, bool), np.asarray(right_right, bool)
    check_columns(first, second)
    only_left, only_right = int((first & ~second).sum()), int((~first & second).sum())
    effect, method = odds_ratio(only_left, only_right), "McNemar's test, exact binomial, two-sided"
    if only_left + only_right == 0:
        return SignificanceTest("mcnemar", None, None, len(first), effect, method, "the two never differ")
    from scipy.stats import binomtest

    p_value = float(binomtest(only_left, only_left + only_right, 0.5).pvalue)
    return SignificanceTest("mcnemar", float(min(only_left, only_right)), p_value, len(first), effect, method)


def permutation(
    left: ArrayLike, right: ArrayLike, *, paired: bool = True, rounds: int = 10_000, seed: int = 0
) -> SignificanceTest:
    """Difference of means under random relabelling: flip signs if `paired`, else mix the samples.

    The p-value includes the observed labelling, so that it is never 0.
    """
    if paired:
        first, second = finite_pairs(left, right)
        effect = cohen_d_paired(first, second)
    else:
        first, second = _finite(left), _finite(right)
        effect = cohen_d(first, second)
    method = f"permutation of {'signs' if paired else 'labels'}, {rounds} rounds, seed {seed}, two-sided"
    n = len(first) if paired else len(first) + len(second)
    if len(first) == 0 or len(second) == 0:
        return SignificanceTest("permutation", None, None, n, effect, method, "a sample is empty")
    observed = float(first.mean() - second.mean())
    draws = _relabelled(first, second, paired, rounds, np.random.default_rng(seed))
    # The tolerance makes equal labellings compare as equal whatever the order of addition.
    extreme = int((np.abs(draws) >= abs(observed) - 1e-12 * max(1.0, abs(observed))).sum())
    return SignificanceTest("permutation", observed, (extreme + 1) / (rounds + 1), n, effect, method)


def _relabelled(
    first: FloatArray, second: FloatArray, paired: bool, rounds: int, random: np.random.Generator
) -> FloatArray:
    if paired:
        difference = first - second
        step = max(1, 4_000_000 // len(difference))
        sizes = [min(step, rounds - start) for start in range(0, rounds, step)]
        return np.concatenate(
            [random.choice([-1.0, 1.0], size=(size, len(difference))) @ difference for size in sizes]
        ) / len(difference)
    pool = np.concatenate([first, second])
    draws = np.empty(rounds)
    for index in range(rounds):
        mixed = random.permutation(pool)
        draws[index] = mixed[: len(first)].mean() - mixed[len(first) :].mean()
    return draws


def _finite(values: ArrayLike) -> FloatArray:
    array = np.asarray(values, np.float64)
    return np.asarray(array[np.isfinite(array)])


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's adjusted p-values, in the given order. `p_values`: (m,); NaN (an undefined test) stays NaN, uncounted."""
    values = np.asarray(p_values, np.float64)
    if values.ndim != 1:
        raise ValueError(f"expected one column of p-values, got shape {values.shape}")
    defined = np.flatnonzero(~np.isnan(values))
    if ((values[defined] < 0) | (values[defined] > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    order = defined[np.argsort(values[defined], kind="stable")]
    adjusted = np.full(len(values), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1)), 1.0)
    return adjusted
