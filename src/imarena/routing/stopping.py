"""When to stop: whether the order of the best k is known, and how many votes are still needed."""

from dataclasses import dataclass

import numpy as np

from imarena.core import FloatArray, IntArray, UserError
from imarena.routing.pool import Belief

WORLDS = 64
"""Number of boards of the belief for a forecast."""
MOST = 1_000_000
"""Maximum number of votes in a forecast."""


def top_order_confidence(belief: Belief, k: int) -> float:
    """Return the probability that the k best models are truly in the board's order."""
    m = belief.theta.size
    if not 1 <= k <= m:
        raise UserError(f"A top {k} of {m} models does not exist.", hint=f"Give a number from 1 to {m}.")
    draws = _boards(belief)
    best = np.argsort(-belief.theta, kind="stable")
    steps = draws[:, best[:k]]
    falling = (steps[:, :-1] > steps[:, 1:]).all(axis=1) if k > 1 else np.ones(len(draws), bool)
    if k < m:
        falling &= steps[:, -1] > draws[:, best[k:]].max(axis=1)
    return float(falling.mean())


@dataclass(frozen=True)
class Forecast:
    """Half-widths of every model's interval, in rating points, after a number of further votes, spread evenly over the
    pairs. Made for `WORLDS` possible boards of the belief, half from the best guess and half from the claim (before
    there are votes, the claim knows nothing and the guess too much): a model far ahead or behind needs many more votes
    than the mean board says.

    `reach` (W, m, m - 1) squared and `fall` (W, m - 1): the variance of model i after n votes is sum_k reach[i, k] / (1
    + n fall[k]).
    """

    reach: FloatArray
    fall: FloatArray
    now: FloatArray
    """(m,) the current half-width of the interval."""

    def widths(self, votes: float) -> FloatArray:
        """Return (W, m) the half-widths after this many votes."""
        return np.asarray(np.sqrt((self.reach / (1 + votes * self.fall[:, None, :])).sum(axis=2)))

    def widest(self, votes: float) -> float:
        """Return the widest half-width of all models, on the median board."""
        return float(np.quantile(self.widths(votes).max(axis=1), 0.5, method="lower"))

    def needed(self, target: float, models: IntArray | slice = slice(None)) -> "VoteForecast":
        """Return the votes until all of these `models` are known to +-`target` points."""
        if not target > 0:
            raise UserError("The target width must be above 0.", hint="Such as --target 25 (rating points).")
        if float(np.max(self.now[models])) <= target:
            return VoteForecast(0, (0, 0))
        low, middle, high = (self._least(target, share, models) for share in (0.05, 0.5, 0.95))
        return VoteForecast(middle, (low, high))

    def _least(self, target: float, share: float, models: IntArray | slice) -> int | None:
        """Return the smallest number of votes with which this share of the boards reaches the target."""

        def is_enough(votes: int) -> bool:
            return bool((self.widths(votes)[:, models].max(axis=1) <= target).mean() >= share)

        low, high = 0, 1  # at least one: the current intervals, of drawn boards, are still too wide
        while not is_enough(high):
            low, high = high, high * 2
            if high > MOST:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return high


@dataclass(frozen=True)
class VoteForecast:
    """How many votes reach a target on the median board; None: more than `MOST`."""

    votes: int | None
    likely: tuple[int | None, int | None]
    """Range for nine boards of ten: it depends on how far apart the models are, which only votes will show. Random
    votes widen it further: in simulations, six to seven cases of ten reached the target within the range.
    """


def forecast(belief: Belief, *, per_log: float, level: float = 0.95, own: float = 0.0) -> Forecast:
    """Forecast the effect of evenly spread votes. A vote gives p (1 - p) / dispersion; `own` is the standard deviation
    of the items' own log odds.
    """
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise UserError(f"Intervals cannot have a level of {level:g}.", hint="Give one between 0 and 1: --level 0.95.")
    draws = _boards(belief)
    draws = draws - draws.mean(axis=1, keepdims=True)
    m = draws.shape[1]
    left, right = np.triu_indices(m, 1)
    boards = np.concatenate([_guessed(belief, WORLDS // 2), draws[:: len(draws) // (WORLDS // 2)][: WORLDS // 2]])
    information = _mean_slope(boards[:, left] - boards[:, right], own) / belief.dispersion / left.size
    # in m - 1 dimensions, without the direction that moves only the mean; scaled so that the present precision is 1
    basis = np.linalg.qr(np.column_stack([np.ones(m), np.eye(m)[:, 1:]]))[0][:, 1:]
    root = basis @ np.linalg.cholesky(basis.T @ np.cov(draws.T) @ basis + 1e-12 * np.eye(m - 1))
    steps = root[left] - root[right]
    fall, turn = np.linalg.eigh(np.einsum("wp,pi,pj->wij", information, steps, steps, optimize=True))
    z = float(ndtri((1 + level) / 2)) * per_log
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")
    return Forecast((z * (root @ turn)) ** 2, np.maximum(fall, 0.0), per_log * (high - low) / 2)


def _boards(belief: Belief) -> FloatArray:
    if belief.boards is None:
        raise UserError("A stopping rule needs boards.", hint="Give it boards: ranking.corrected_draws.")
    return belief.boards


def _guessed(belief: Belief, many: int) -> FloatArray:
    """Draw (many, m) boards from the best guess."""
    noise = np.random.default_rng(0).standard_normal((many, belief.theta.size))
    values, vectors = np.linalg.eigh(belief.covariance)
    return np.asarray(belief.theta + (noise * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _mean_slope(lead: FloatArray, own: float) -> FloatArray:
    """Return the mean of p (1 - p) over log odds N(lead, own^2), by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    chance = 0.5 + 0.5 * np.tanh(0.5 * (lead[..., None] + own * nodes))
    return np.asarray((chance * (1 - chance)) @ weights / weights.sum())
