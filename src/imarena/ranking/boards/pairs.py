"""Pairwise tables of models: who beat whom, predicted wins, and how certain the order of two models is."""

import math
from collections.abc import Sequence

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.battles import Battles
from imarena.ranking.likelihood.likelihoods import sigmoid
from imarena.ranking.likelihood.pair_counts import counts_by_pair
from imarena.stats import elo_of, win_interval

TOP = 10
FLAT = 1e-6
"""An interval of at most this many rating points is only as wide as rounding errors."""


def pair_points(battles: Battles) -> tuple[FloatArray, FloatArray]:
    """(m, m) points of the row model against the column model (half for a tie), and how often they met."""
    cells = counts_by_pair(battles)
    left, tie, right = cells.counts.T
    scored, counts = np.zeros((cells.n_models,) * 2), np.zeros((cells.n_models,) * 2)
    scored[cells.left, cells.right] = left + 0.5 * tie
    scored[cells.right, cells.left] = right + 0.5 * tie
    counts[cells.left, cells.right] = counts[cells.right, cells.left] = left + tie + right
    return scored, counts


def meeting_count(battles: Battles, first: int, second: int) -> float:
    """How often two models met."""
    cells = counts_by_pair(battles)
    return float(cells.counts[(cells.left == min(first, second)) & (cells.right == max(first, second))].sum())


def two_model_ends(battles: Battles, level: float, per_log: float) -> tuple[float, float] | None:
    """Ends of first minus second on a board of two models with one battle per unit: the interval of `compare`.

    With few units, a resampled interval is too narrow, and two commands must not disagree about the same battles. None
    for other boards, or if an end is not finite. A unit is an item, or a battle if items are not named.
    """
    if len(battles.models) != 2 or battles.weight is not None or battles.covariates is not None:
        return None
    if battles.item is not None and np.unique(battles.item.units()).size < len(battles):
        return None
    points = np.where(battles.left == 0, battles.points, 1 - battles.points)
    _, *shares = win_interval(points.tolist(), level)
    low, high = (elo_of(share) for share in shares)
    scale = per_log * math.log(10) / 400
    return None if low is None or high is None else (low * scale, high * scale)


def win_matrix(battles: Battles) -> FloatArray:
    """(m, m) observed share of points of the row model against the column model; NaN if they never met."""
    scored, counts = pair_points(battles)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, scored / counts, np.nan)


def predicted_win_rates(theta: FloatArray) -> FloatArray:
    """(m, m) probability that the row model beats the column model in one battle, without ties."""
    return sigmoid(theta[:, None] - theta[None, :])


def average_win_rate(theta: FloatArray, groups: Sequence[IntArray] = ()) -> FloatArray:
    """(m,) predicted win rate, without ties, against the `TOP` best other models with equal weights.

    `groups`: the models, by index, of each group of models that never met the others; rivals are of the same group.
    """
    chance = predicted_win_rates(theta)
    rates = np.empty(theta.size)
    for group in groups or (np.arange(theta.size),):
        order = group[np.argsort(-theta[group], kind="stable")]
        for model in group.tolist():
            rivals = [rival for rival in order[: TOP + 1] if rival != model][:TOP]
            rates[model] = chance[model, rivals].mean() if rivals else np.nan
    return rates


def centre_draws(draws: FloatArray, estimates: FloatArray) -> FloatArray:
    """Shift draws (R, m) so that the median of each column is its estimate (m,)."""
    return np.asarray(draws - np.median(draws, axis=0) + estimates)


def draw_leads(model: int, draws: FloatArray, centre: FloatArray | None = None) -> FloatArray:
    """(R, m) how far a model is above each model in every round.

    `centre`: ratings (m,) whose differences the rounds are centred on. Centring the draws of each model is not enough:
    the median of a difference is not the difference of two medians.
    """
    leads = np.asarray(draws[:, model : model + 1] - draws)
    return leads if centre is None else centre_draws(leads, centre[model] - centre)


def share_above(leads: FloatArray) -> FloatArray:
    """(m,) share of rounds (R, m) above zero; a round at zero counts half."""
    return np.asarray((leads > 0).mean(axis=0) + 0.5 * (leads == 0).mean(axis=0))


def superiority(draws: FloatArray, centre: FloatArray | None = None) -> FloatArray:
    """(m, m) share of rounds (R, m) in which the row model is above the column model; equal ratings count half."""
    return np.array([share_above(draw_leads(model, draws, centre)) for model in range(draws.shape[1])])


def percentile_ends(draws: FloatArray, level: float) -> FloatArray:
    """(2, ...) ends of the percentile interval of draws (R, ...).

    They are at p (R + 1), so that a new draw falls outside as often as it should. NumPy's default of 1 + p (R - 1) is
    further inside: with 300 rounds, it would cover .944 instead of .95.
    """
    return np.asarray(np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull"))


def differences(
    ratings: FloatArray, draws: FloatArray, level: float, centre: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(m, m) row minus column: the difference of ratings and the ends of its percentile interval.

    The ends are NaN if all draws are the same: a model and itself, two anchors. `centre`: as in `draw_leads`.
    """
    low, high = np.empty((ratings.size,) * 2), np.empty((ratings.size,) * 2)
    for model in range(ratings.size):
        low[model], high[model] = percentile_ends(draw_leads(model, draws, centre), level)
    flat = high - low <= FLAT
    low[flat] = high[flat] = np.nan
    return ratings[:, None] - ratings[None, :], low, high
