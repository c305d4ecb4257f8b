"""Models that won or lost every battle: resampling shows no variation, so other evidence must bound their ratings."""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray
from imarena.ranking.battles import Battles
from imarena.ranking.boards.pairs import pair_points
from imarena.ranking.likelihood.likelihoods import sigmoid

_RIDGE = 1e-3
"""Keeps the fit finite if the data do not; far smaller than the weight of one battle."""
_FARTHEST = 4.0
"""The longest step of Newton's method."""


def clean_sweeps(battles: Battles, models: Collection[int]) -> list[tuple[int, int, int]]:
    """Pairs with one of these models in which one model won every battle: winner, loser, and number of units.

    A unit is an item, or a battle if items are not named: several battles on one item are not separate evidence.
    """
    rows, unit = _battles_of(battles, models)
    low, high = np.minimum(battles.left[rows], battles.right[rows]), np.maximum(battles.left[rows], battles.right[rows])
    points = np.where(battles.left[rows] == low, battles.points[rows], 1 - battles.points[rows])
    sweeps = []
    for first, second in sorted(set(zip(low.tolist(), high.tolist(), strict=True))):
        mask = (low == first) & (high == second)
        if (points[mask] == points[mask][0]).all() and points[mask][0] != 0.5:
            winner, loser = (first, second) if points[mask][0] == 1 else (second, first)
            sweeps.append((winner, loser, int(np.unique(unit[mask]).size)))
    return sweeps


def least_lead(units: int, level: float, per_log: float) -> float:
    """The lower end, in rating points, of the exact interval (Clopper and Pearson) for a sweep over `units`.

    The interval has no upper end. `per_log`: rating points per unit of natural-log odds.
    """
    share = ((1 - level) / 2) ** (1 / units)
    return math.log(share / (1 - share)) * per_log


def surely_above(
    battles: Battles, swept: Mapping[int, bool], level: float, groups: Sequence[IntArray] = ()
) -> NDArray[np.bool_]:
    """(m, m) True if the row's model surely is above the column's; one of them is in `swept` (True: it won all).

    Models of different `groups`, which never met, are not compared.

    A test of equality: the two are merged into one model, all models are fitted, and the fit gives the probability of
    the sweep. Battles on one unit count as one, since nothing shows how far they agree by chance. If a model cannot be
    separated from the one with the sweep, neither can any stronger one.
    """
    points, n = pair_points(battles)
    theta = _strengths(points, n)
    above = np.zeros(points.shape, bool)
    for winner, loser, units in clean_sweeps(battles, swept):  # by the exact interval of these two models
        above[winner, loser] = least_lead(units, level, 1) > 0 and (
            swept.get(winner, False) or not swept.get(loser, True)
        )
    for model, won in swept.items():
        rows, unit = _battles_of(battles, [model])
        share = np.unique(unit).size / rows.size
        own = _group(groups, model, len(points))
        rivals = np.array([other for other in np.argsort(theta, kind="stable") if other != model and other in own])
        if not won:
            rivals = rivals[::-1]
        few, many = 0, rivals.size  # the first `few` rivals, weakest first, are separated; from `many` on, none
        while few < many:
            middle = (few + many) // 2
            chance = share * _log_chance(points, n, model, int(rivals[middle]), theta, won=won)
            few, many = (middle + 1, many) if chance < math.log((1 - level) / 2) else (few, middle)
        (above if won else above.T)[model, rivals[:few]] = True
    return above


def widened_ranks(
    ends: tuple[list[int | None], list[int | None]],
    above: NDArray[np.bool_],
    swept: Mapping[int, bool],
    groups: Sequence[IntArray],
) -> tuple[list[int | None], list[int | None]]:
    """Ends of ranks within the groups, widened if the order of a swept model and another is not certain."""
    low, high = [*ends[0]], [*ends[1]]
    for model, won in swept.items():
        own = _group(groups, model, len(above))
        rivals = np.isin(np.arange(len(above)), own) & (np.arange(len(above)) != model)
        open_ = np.flatnonzero(rivals & ~(above[model] if won else above[:, model]))
        if won:
            high[model] = _shift(high[model], 0, at_least=1 + open_.size)
        else:
            low[model] = _shift(low[model], 0, at_most=own.size - open_.size)
        for other in open_.tolist():
            if won:
                low[other] = _shift(low[other], -1, at_least=1)
            else:
                high[other] = _shift(high[other], 1, at_most=own.size)
    return low, high


def _group(groups: Sequence[IntArray], model: int, models: int) -> IntArray:
    """The models that are in one group with this one; without groups, all."""
    return next((group for group in groups if model in group), np.arange(models))


def _shift(rank: int | None, by: int, *, at_least: int = 1, at_most: int | None = None) -> int | None:
    if rank is None:
        return None
    return max(at_least, rank + by) if at_most is None else min(at_most, rank + by)


def _log_chance(points: FloatArray, n: FloatArray, model: int, rival: int, theta: FloatArray, *, won: bool) -> float:
    """Log probability that the model wins (or loses) all its battles if it is as good as the rival."""
    all_but_model = np.arange(len(points)) != model
    joined = points.copy()
    joined[rival] += points[model]
    joined[:, rival] += points[:, model]
    joined[rival, rival] = 0
    joined = joined[np.ix_(all_but_model, all_but_model)]
    strengths = np.empty(len(points))
    strengths[all_but_model] = _strengths(joined, joined + joined.T, theta[all_but_model])
    strengths[model] = strengths[rival]
    lead = strengths[model] - strengths if won else strengths - strengths[model]
    return float(n[model] @ -np.logaddexp(0, -lead))


def _strengths(points: FloatArray, n: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """(m,) Bradley-Terry strengths (natural log) with a very weak prior, from points and numbers of battles."""
    theta = np.zeros(len(points)) if start is None else start.copy()
    for _ in range(50):
        share = sigmoid(theta[:, None] - theta[None, :])
        weight = n * share * (1 - share)
        curved = np.diag(weight.sum(axis=1) + _RIDGE) - weight
        step = np.linalg.solve(curved, (points - n * share).sum(axis=1) - _RIDGE * theta)
        theta += np.clip(step, -_FARTHEST, _FARTHEST)
        if np.abs(step).max() < 1e-6:
            break
    return theta


def _battles_of(battles: Battles, models: Collection[int]) -> tuple[IntArray, IntArray]:
    """The rows with battles of these models, and the unit of each row."""
    rows = np.flatnonzero(np.isin(battles.left, [*models]) | np.isin(battles.right, [*models]))
    return rows, rows if battles.item is None else battles.item.units()[rows]
