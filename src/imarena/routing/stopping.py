"""When to stop: is the order of the best k known? And how many votes are still needed?"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from imarena.core.errors import UserError
from imarena.routing.pool import Belief


def top_order_confidence(belief: Belief, k: int, *, rounds: int = 4000, seed: int = 0) -> float:
    """Chance that the k best models are in the order in which the board has them."""
    m = belief.theta.size
    if not 1 <= k <= m:
        raise UserError(f"A top {k} of {m} models does not exist.", hint=f"Give a number from 1 to {m}.")
    noise = np.random.default_rng(seed).standard_normal((rounds, m))
    values, vectors = np.linalg.eigh(belief.covariance)
    draws = belief.theta + (noise * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
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
    cost: float
    half_width_now: float
    half_width_then: float


def votes_needed(
    belief: Belief, target: float, *, per_log: float, level: float = 0.95, cost_vote: float = 0.0, most: int = 1_000_000
) -> Need:
    """Votes spread evenly over the pairs until every rating is known to +-`target` points at `level`.

    A forecast: it assumes that new votes tell as much as the model thinks, p (1 - p) / dispersion each.
    """
    from scipy.special import ndtri

    if not target > 0:
        raise UserError("The target width must be above 0.", hint="Such as --target 25 (rating points).")
    if not 0 < level < 1:
        raise UserError(f"Intervals cannot have a level of {level:g}.", hint="Give one between 0 and 1: --level 0.95.")
    m = belief.theta.size
    left, right = np.triu_indices(m, 1)
    turn = np.zeros((left.size, m))
    turn[np.arange(left.size), left], turn[np.arange(left.size), right] = 1.0, -1.0
    chance = 0.5 + 0.5 * np.tanh(0.5 * (turn @ belief.theta))
    each = (turn * (chance * (1 - chance) / belief.dispersion)[:, None]).T @ turn / left.size
    centre = np.eye(m) - 1.0 / m
    now = centre @ belief.covariance @ centre
    start = np.linalg.pinv(now)
    z = float(ndtri((1 + level) / 2)) * per_log

    def width(votes: int) -> float:
        covariance = np.linalg.pinv(start + votes * each)
        return z * float(np.sqrt(np.maximum(np.diag(centre @ covariance @ centre), 0.0)).max())

    votes = _least(width, target, most)
    return Need(votes, votes * cost_vote, z * float(np.sqrt(np.diag(now).max())), width(votes))


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
