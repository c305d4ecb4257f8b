"""When to stop: is the order of the best k known? And how many votes are still needed?"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from imarena.core.errors import UserError
from imarena.routing.pool import Belief, FloatArray


def top_order_confidence(belief: Belief, k: int, *, rounds: int = 4000, seed: int = 0) -> float:
    """Chance that the k best models are in the order in which the board has them."""
    m = belief.theta.size
    if not 1 <= k <= m:
        raise UserError(f"A top {k} of {m} models does not exist.", hint=f"Give a number from 1 to {m}.")
    draws = _drawn(belief.theta, belief.covariance, rounds, seed)
    best = np.argsort(-belief.theta, kind="stable")
    steps = draws[:, best[:k]]
    falling = (steps[:, :-1] > steps[:, 1:]).all(axis=1) if k > 1 else np.ones(rounds, bool)
    if k < m:
        falling &= steps[:, -1] > draws[:, best[k:]].max(axis=1)
    return float(falling.mean())


@dataclass(frozen=True)
class Need:
    """How many votes bring the widest interval (half its width, in rating points) to a target, and what they cost."""

    votes: int
    likely: tuple[int, int]
    """Between these four times in five: it depends on how far apart the models are, which the votes will tell."""
    cost: float
    half_width_now: float
    half_width_then: float


WORLDS = 64
"""How many boards are drawn from the belief for a forecast."""


def votes_needed(
    belief: Belief,
    target: float,
    *,
    per_log: float,
    level: float = 0.95,
    cost_vote: float = 0.0,
    own: float = 0.0,
    most: int = 1_000_000,
) -> Need:
    """Votes spread evenly over the pairs until every rating is known to +-`target` points at `level`.

    A forecast: a vote tells p (1 - p) / dispersion. It is made for boards drawn from the best guess, because a model
    far ahead or behind needs many more votes than the mean board says; `own` is the standard deviation of the log odds
    that items have of their own.
    """
    if not target > 0:
        raise UserError("The target width must be above 0.", hint="Such as --target 25 (rating points).")
    if not 0 < level < 1:
        raise UserError(f"Intervals cannot have a level of {level:g}.", hint="Give one between 0 and 1: --level 0.95.")
    widths = _forecast(belief, per_log, level, own)
    now = float(widths(0).mean())
    votes = _least(lambda n: float(widths(n).mean()), target, most)
    low = _least(lambda n: float(np.quantile(widths(n), 0.1)), target, most)
    high = _least(lambda n: float(np.quantile(widths(n), 0.9)), target, most)
    return Need(votes, (low, high), votes * cost_vote, now, float(widths(votes).mean()))


def _forecast(belief: Belief, per_log: float, level: float, own: float) -> Callable[[int], FloatArray]:
    """Half the width of the widest interval after so many votes more, on every drawn board (W,)."""
    from scipy.special import ndtri

    m = belief.theta.size
    left, right = np.triu_indices(m, 1)
    turn = np.zeros((left.size, m))
    turn[np.arange(left.size), left], turn[np.arange(left.size), right] = 1.0, -1.0
    boards = _drawn(belief.theta, belief.covariance if belief.guess is None else belief.guess, WORLDS, 0)
    told = _mean_slope(boards @ turn.T, own) / belief.dispersion
    each = np.einsum("wp,pm,pn->wmn", told, turn, turn, optimize=True) / left.size
    centre = np.eye(m) - 1.0 / m
    start = np.linalg.pinv(centre @ belief.covariance @ centre, hermitian=True)
    z = float(ndtri((1 + level) / 2)) * per_log

    def widths(votes: int) -> FloatArray:
        covariance = centre @ np.linalg.pinv(start + votes * each, hermitian=True) @ centre
        return np.asarray(z * np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0)).max(axis=1))

    return widths


def _drawn(theta: FloatArray, covariance: FloatArray, rounds: int, seed: int) -> FloatArray:
    """(rounds, m) boards from a normal belief."""
    noise = np.random.default_rng(seed).standard_normal((rounds, theta.size))
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(theta + (noise * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _mean_slope(lead: FloatArray, own: float) -> FloatArray:
    """Mean of p (1 - p) over log odds N(lead, own^2), by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    chance = 0.5 + 0.5 * np.tanh(0.5 * (lead[..., None] + own * nodes))
    return np.asarray((chance * (1 - chance)) @ weights / weights.sum())


def _least(width: Callable[[int], float], target: float, most: int) -> int:
    if width(0) <= target:
        return 0
    low, high = 0, 1
    while width(high) > target:
        low, high = high, high * 2
        if high > most:
            raise UserError(f"More than {most:,} votes would be needed for this width.", hint="Give a wider --target.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle) <= target else (middle, high)
    return high
