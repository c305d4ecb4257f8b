"""Leave-one-out folds (ImagenWorld, section 5.3, footnote 1 and table 4).

Human against human: each rater against the mean of the others. Judge against human: the judge against the same means,
with one fold per rater left out. Figures are averaged over folds; the spread is their population standard deviation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from imarena.core import FloatArray
from imarena.stats.correlation import Recipe, average, kendall_accuracy, spearman
from imarena.stats.figure import Figure
from imarena.stats.ratings import Ratings, round_values


@dataclass(frozen=True)
class Fold:
    """One rater left out: the units compared and the figures."""

    rater: int
    n: int
    spearman: Figure
    kendall_accuracy: Figure
    bias: float | None
    """Mean of (left-out rater or judge) - (mean of the others), on the scale of the values as given."""


@dataclass(frozen=True)
class Folds:
    """All folds, their average and their spread."""

    folds: tuple[Fold, ...]
    spearman: Figure
    spearman_spread: float | None
    kendall_accuracy: Figure
    kendall_accuracy_spread: float | None
    bias: float | None
    bias_spread: float | None
    method: str


def human_folds(ratings: Ratings, *, recipe: Recipe = "fisher") -> Folds:
    """Each rater against the mean of the other raters' ratings of the same unit."""
    other_means = ratings.means_of_others()
    pairs = [(round_values(ratings.value[rows]), other_means[rows]) for rows in ratings.rows_by_rater()]
    return _folds(pairs, recipe, "each rater against the mean of the others that rated the unit")


def judge_folds(scores: ArrayLike, ratings: Ratings, *, recipe: Recipe = "fisher") -> Folds:
    """A judge against the mean of all raters but one; `scores`: (n_units,), NaN if missing."""
    rounded = round_values(scores)
    if rounded.shape != (ratings.n_units,):
        raise ValueError(f"expected {ratings.n_units} scores, one a unit, got shape {rounded.shape}")
    pairs = [(rounded, ratings.means_without(rater)) for rater in range(ratings.n_raters)]
    return _folds(pairs, recipe, "the judge against the mean of all raters but one")


def _folds(pairs: list[tuple[FloatArray, FloatArray]], recipe: Recipe, method: str) -> Folds:
    folds = tuple(_fold(rater, *pair) for rater, pair in enumerate(pairs))
    rhos = [fold.spearman.value for fold in folds]
    accuracies = [fold.kendall_accuracy.value for fold in folds]
    biases = [fold.bias for fold in folds]
    numbers = [bias for bias in biases if bias is not None]
    return Folds(
        folds,
        average(rhos, recipe=recipe, name="spearman"),
        _spread(rhos),
        average(accuracies, recipe="plain", name="kendall_accuracy"),
        _spread(accuracies),
        float(np.mean(numbers)) if numbers else None,
        _spread(biases),
        method,
    )


def _fold(rater: int, left: FloatArray, right: FloatArray) -> Fold:
    valid = ~(np.isnan(left) | np.isnan(right))
    first, second = left[valid], right[valid]
    bias = float((first - second).mean()) if len(first) else None
    return Fold(rater, len(first), spearman(first, second), kendall_accuracy(first, second), bias)


def _spread(values: list[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return float(np.std(numbers)) if len(numbers) > 1 else None
