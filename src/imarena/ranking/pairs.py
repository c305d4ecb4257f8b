"""Tables by pair of models: who beat whom, who is predicted to, and how sure the order of two models is."""

import numpy as np

from imarena.ranking.battles import Battles, FloatArray
from imarena.ranking.likelihood.likelihoods import sigmoid

TOP = 10
FLAT = 1e-6
"""An interval of rating points that is not wider has no width but that of rounding."""


def pair_points(battles: Battles) -> tuple[FloatArray, FloatArray]:
    """(m, m) points of the row model against the column model (a tie is half), and how often they met."""
    cells = battles.by_pair
    left, tie, right = cells.counts.T
    scored, met = np.zeros((cells.n_models,) * 2), np.zeros((cells.n_models,) * 2)
    scored[cells.left, cells.right] = left + 0.5 * tie
    scored[cells.right, cells.left] = right + 0.5 * tie
    met[cells.left, cells.right] = met[cells.right, cells.left] = left + tie + right
    return scored, met


def meeting_count(battles: Battles, one: int, other: int) -> float:
    """How often two models met."""
    cells = battles.by_pair
    return float(cells.counts[(cells.left == min(one, other)) & (cells.right == max(one, other))].sum())


def win_matrix(battles: Battles) -> FloatArray:
    """(m, m) empirical share of points of the row model against the column model; NaN where they never met."""
    scored, met = pair_points(battles)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(met > 0, scored / met, np.nan)


def predicted_win_rates(theta: FloatArray) -> FloatArray:
    """(m, m) probability that the row model beats the column model in one battle, ties left out."""
    return sigmoid(theta[:, None] - theta[None, :])


def average_win_rate(theta: FloatArray, top: int = TOP) -> FloatArray:
    """(m,) predicted win rate against the `top` best other models, met equally often, without ties."""
    chance = predicted_win_rates(theta)
    order = np.argsort(-theta, kind="stable")
    rates = np.empty(theta.size)
    for model in range(theta.size):
        rivals = [rival for rival in order[: top + 1] if rival != model][:top]
        rates[model] = chance[model, rivals].mean() if rivals else np.nan
    return rates


def superiority(draws: FloatArray) -> FloatArray:
    """(m, m) share of rounds (R, m) in which the row model stands above the column model; a draw counts half."""
    m = draws.shape[1]
    above = np.full((m, m), 0.5)
    for model in range(m):
        lead = draws[:, model : model + 1] - draws
        above[model] = (lead > 0).mean(axis=0) + 0.5 * (lead == 0).mean(axis=0)
    return above


def percentile_ends(draws: FloatArray, level: float) -> FloatArray:
    """(2, ...) ends of the percentile interval of draws (R, ...).

    They stand at p (R + 1): a new draw falls outside as often as it should. NumPy's usual 1 + p (R - 1) lies further
    in, and 300 rounds would hold .944 where .95 is meant.
    """
    return np.asarray(np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull"))


def differences(ratings: FloatArray, draws: FloatArray, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(m, m) row minus column: the difference of ratings and the ends of its percentile interval.

    The ends are NaN where every draw is the same: a model and itself, two anchors.
    """
    low, high = np.empty((ratings.size,) * 2), np.empty((ratings.size,) * 2)
    for model in range(ratings.size):
        low[model], high[model] = percentile_ends(draws[:, model : model + 1] - draws, level)
    flat = high - low <= FLAT
    low[flat] = high[flat] = np.nan
    return ratings[:, None] - ratings[None, :], low, high
