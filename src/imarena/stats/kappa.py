"""Kappas and raw agreement: Fleiss, Cohen (also weighted), pairwise, percent."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from imarena.core import FloatArray
from imarena.stats.figure import Figure, undefined_figure
from imarena.stats.pair_votes import pair_cohen_kappa, pair_fleiss_kappa
from imarena.stats.ratings import NO_PAIR, Ratings, check_columns, round_values

Weights = Literal["none", "linear", "quadratic"]

NO_ORDER = "the values are labels without an order"
NO_VARIATION = "no variation: all ratings are equal, so chance alone would agree as well"


def fleiss_kappa(ratings: Ratings) -> Figure:
    """Fleiss' kappa (1971) over units with two ratings or more.

    With the same number of ratings on every unit, this is the textbook figure. With missing ratings, each unit's
    agreement is computed from its own pairs, and the method says so. For votes on pairs, see `pair_votes`.
    """
    if ratings.scale == "pair":
        return pair_fleiss_kappa(ratings)
    pairable = ratings.pairable()
    name, n = "fleiss_kappa", pairable.n_units
    sizes = np.bincount(pairable.unit, minlength=n).astype(np.float64)
    even = n == 0 or bool((sizes == sizes[0]).all())
    method = "Fleiss' kappa" + ("" if even else ", units with unequal numbers of ratings, each over its own pairs")
    if n == 0:
        return undefined_figure(name, NO_PAIR, n=0, method=method)
    tallies = pairable.tallies()
    if tallies.n_values == 1:
        return undefined_figure(name, NO_VARIATION, n=n, method=method)
    agreement = (tallies.by_unit(tallies.count**2) - sizes) / (sizes * (sizes - 1))
    shares = tallies.by_value(np.ones((1, n)))[0] / len(pairable.value)
    chance = float((shares**2).sum())
    return Figure(name, float((agreement.mean() - chance) / (1 - chance)), n, method)


def pairwise_agreement(ratings: Ratings) -> Figure:
    """The share of equal pairs among all pairs of ratings on the same unit."""
    pairable = ratings.pairable()
    name, method = "pairwise_agreement", "equal pairs of ratings among all pairs on the same unit"
    if pairable.n_units == 0:
        return undefined_figure(name, NO_PAIR, n=0, method=method)
    count = pairable.tallies().count
    sizes = np.bincount(pairable.unit).astype(np.float64)
    value = float((count * (count - 1)).sum() / (sizes * (sizes - 1)).sum())
    return Figure(name, value, pairable.n_units, method)


def percent_agreement(ratings: Ratings) -> Figure:
    """The share of units with two ratings or more on which all ratings are equal."""
    pairable = ratings.pairable()
    name, method = "percent_agreement", "units on which all ratings are equal, among units with two or more"
    if pairable.n_units == 0:
        return undefined_figure(name, NO_PAIR, n=0, method=method)
    different = np.bincount(pairable.tallies().unit, minlength=pairable.n_units)
    return Figure(name, float((different == 1).mean()), pairable.n_units, method)


def cohen_kappa(left: ArrayLike, right: ArrayLike, *, weights: Weights = "none") -> Figure:
    """Cohen's kappa of two raters on the same units; `left`, `right`: (n,), NaN if a rating is missing.

    As usual, linear and quadratic weights grow with the distance between the values' positions in sorted order.
    """
    if weights not in ("none", "linear", "quadratic"):
        raise ValueError(f"unknown weights '{weights}': none, linear or quadratic")
    first, second = round_values(left), round_values(right)
    check_columns(first, second)
    valid = ~(np.isnan(first) | np.isnan(second))
    first, second = first[valid], second[valid]
    name = "cohen_kappa" if weights == "none" else f"cohen_kappa_{weights}"
    method = "Cohen's kappa" + ("" if weights == "none" else f", {weights} weights")
    if len(first) == 0:
        return undefined_figure(name, "the two raters share no unit", n=0, method=method)
    values, category = np.unique(np.concatenate([first, second]), return_inverse=True)
    table = np.zeros((len(values), len(values)))
    np.add.at(table, (category[: len(first)], category[len(first) :]), 1 / len(first))
    step = np.abs(np.subtract.outer(np.arange(len(values)), np.arange(len(values)))).astype(np.float64)
    cost = {"none": (step > 0).astype(np.float64), "linear": step, "quadratic": step**2}[weights]
    expected = float((cost * np.outer(table.sum(axis=1), table.sum(axis=0))).sum())
    if expected == 0:
        return undefined_figure(name, NO_VARIATION, n=len(first), method=method)
    return Figure(name, 1 - float((cost * table).sum()) / expected, len(first), method)


@dataclass(frozen=True)
class RaterPair:
    """Two raters on the units that both rated: the raters' codes, the number of shared units, and the figures."""

    left: int
    right: int
    n: int
    agreement: Figure
    kappa: Figure
    linear: Figure
    quadratic: Figure


def rater_pairs(ratings: Ratings) -> list[RaterPair]:
    """Every pair of raters that shares a unit."""
    table = ratings.matrix()
    pairs = []
    for left in range(ratings.n_raters):
        for right in range(left + 1, ratings.n_raters):
            first, second = table[:, left], table[:, right]
            shared = int((~(np.isnan(first) | np.isnan(second))).sum())
            if not shared:
                continue
            agreement = Figure("agreement", float((first == second).sum() / shared), shared, "equal ratings")
            pairs.append(RaterPair(left, right, shared, agreement, *_kappas(first, second, ratings)))
    return pairs


def _kappas(first: FloatArray, second: FloatArray, ratings: Ratings) -> tuple[Figure, Figure, Figure]:
    """Plain, linear and quadratic kappa; votes on pairs have no order that could be weighted."""
    if ratings.scale == "pair":
        plain = pair_cohen_kappa(first, second)
        linear, quadratic = (
            undefined_figure(f"cohen_kappa_{kind}", NO_ORDER, n=plain.n, method=f"Cohen's kappa, {kind} weights")
            for kind in ("linear", "quadratic")
        )
        return plain, linear, quadratic
    linear, quadratic = (cohen_kappa(first, second, weights="linear"), cohen_kappa(first, second, weights="quadratic"))
    return cohen_kappa(first, second), linear, quadratic
