"""How stable a board is: CV-Arena appendix H, equations 28 to 31, with RankStd in ranks."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.battles import Battles
from imarena.ranking.likelihood.pair_counts import counts_by_pair

DECIMALS = 6
"""Ratings that agree to this many decimals are equal."""


Groups = Sequence[IntArray]
"""The models, by index, of each group of models that never met another group; they are ranked within their group."""


def ranks(ratings: FloatArray, groups: Groups = ()) -> IntArray:
    """Ranks from 1 (best), within each of the groups (none: one group of all models).

    Equal ratings, after rounding to remove floating-point noise, share the better rank.
    """
    table = np.atleast_2d(ratings)
    result = np.empty(table.shape, np.int64)
    for group in _parts(table, groups):
        result[:, group] = _ahead(table[:, group], "left") + 1
    return result[0] if ratings.ndim == 1 else result


def mid_ranks(ratings: FloatArray, groups: Groups = ()) -> FloatArray:
    """(R, m) ranks with ties averaged, as Spearman's correlation needs them, within each of the groups."""
    table = np.atleast_2d(ratings)
    result = np.empty(table.shape)
    for group in _parts(table, groups):
        part = table[:, group]
        result[:, group] = 0.5 * (_ahead(part, "left") + _ahead(part, "right") + 1)
    return result


def _parts(table: FloatArray, groups: Groups) -> Groups:
    return groups or (np.arange(table.shape[1]),)


def _ahead(ratings: FloatArray, side: Literal["left", "right"]) -> IntArray:
    """(R, m) how many models are above ("left") or not below ("right")."""
    falling = -np.round(np.atleast_2d(ratings), DECIMALS)
    return np.stack([np.searchsorted(np.sort(row), row, side=side) for row in falling]).astype(np.int64)


def mean_spearman(ratings: FloatArray, draws: FloatArray, groups: Groups = ()) -> float | None:
    """Eq. 29: mean over rounds of the correlation of a round's ranks with those of the full data; None if undefined.

    With several groups: the mean of the groups' values, by the number of their models.
    """
    parts = _parts(np.atleast_2d(ratings), groups)
    values = [_group_spearman(ratings[group], draws[:, group]) for group in parts]
    if any(value is None for value in values):
        return None
    return float(np.average([value or 0.0 for value in values], weights=[len(group) for group in parts]))


def _group_spearman(ratings: FloatArray, draws: FloatArray) -> float | None:
    full = mid_ranks(ratings)[0]
    rounds = mid_ranks(draws)
    full = full - full.mean()
    rounds = rounds - rounds.mean(axis=1, keepdims=True)
    size = np.sqrt((full**2).sum() * (rounds**2).sum(axis=1))
    if not size.all():
        return None
    return float(np.mean(rounds @ full / size))


def rank_std(draws: FloatArray, groups: Groups = ()) -> float:
    """Eq. 30 and 31: the standard deviation of a model's rank over rounds, averaged over models, in ranks."""
    return float(mid_ranks(draws, groups).std(axis=0).mean())


def human_accuracy(ratings: FloatArray, battles: Battles) -> float | None:
    """Eq. 28: share of decisive battles that the board predicts; equal ratings count half. None without any.

    Uses people's battles if the source is known and people voted, else all battles.
    """
    cells = counts_by_pair(battles.of_people)
    left, _, right = cells.counts.T
    decisive = float((left + right).sum())
    if decisive == 0:
        return None
    lead = np.round(ratings[cells.left] - ratings[cells.right], DECIMALS)
    right_calls = np.where(lead > 0, left, np.where(lead < 0, right, 0.5 * (left + right)))
    return float(right_calls.sum()) / decisive
