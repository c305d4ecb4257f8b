"""How stable a board is: CV-Arena appendix H, equations 28 to 31, with RankStd in ranks."""

from typing import Literal

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.battles import Battles
from imarena.ranking.likelihood.pair_counts import counts_by_pair

DECIMALS = 6
"""Ratings that agree to this many decimals are equal."""


def ranks(ratings: FloatArray) -> IntArray:
    """Ranks from 1 (best). Equal ratings, after rounding to remove floating-point noise, share the better rank."""
    result = np.asarray(_ahead(ratings, "left") + 1)
    return result[0] if ratings.ndim == 1 else result


def mid_ranks(ratings: FloatArray) -> FloatArray:
    """(R, m) ranks with ties averaged, as Spearman's correlation needs them."""
    return np.asarray(0.5 * (_ahead(ratings, "left") + _ahead(ratings, "right") + 1))


def _ahead(ratings: FloatArray, side: Literal["left", "right"]) -> IntArray:
    """(R, m) how many models are above ("left") or not below ("right")."""
    falling = -np.round(np.atleast_2d(ratings), DECIMALS)
    return np.stack([np.searchsorted(np.sort(row), row, side=side) for row in falling]).astype(np.int64)


def mean_spearman(ratings: FloatArray, draws: FloatArray) -> float | None:
    """Eq. 29: mean over rounds of the correlation of a round's ranks with those of the full data; None if undefined."""
    full = mid_ranks(ratings)[0]
    rounds = mid_ranks(draws)
    full = full - full.mean()
    rounds = rounds - rounds.mean(axis=1, keepdims=True)
    size = np.sqrt((full**2).sum() * (rounds**2).sum(axis=1))
    if not size.all():
        return None
    return float(np.mean(rounds @ full / size))


def rank_std(draws: FloatArray) -> float:
    """Eq. 30 and 31: the standard deviation of a model's rank over rounds, averaged over models, in ranks."""
    return float(mid_ranks(draws).std(axis=0).mean())


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
