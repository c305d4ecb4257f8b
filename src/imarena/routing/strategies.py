"""Strategies that choose what to ask. Each returns a factor (N, P) of at least 0; a chain multiplies them."""

from collections.abc import Callable, Sequence

import numpy as np

from imarena.core import FloatArray, IntArray, UserError
from imarena.routing.calibration import Curve, reliability
from imarena.routing.gates import Gates, check_routed, prefers_people
from imarena.routing.pool import Belief, Pool, StandardScores, standardise

Strategy = Callable[[Pool, Belief], FloatArray]

LOOK_AHEAD = 10.0
"""How many votes on one pair to imagine when it is valued: a single vote seldom changes an order."""
FLOOR = 0.1
"""Share of the votes that is spread evenly, so that every battle can be chosen and weights stay finite."""


def combine_strategies(strategies: Sequence[Strategy], pool: Pool, belief: Belief) -> FloatArray:
    """Return (N, P) weights: the product of all factors, 0 if there is nothing to show."""
    weights = pool.askable.astype(np.float64)
    for strategy in strategies:
        weights *= strategy(pool, belief)
    return weights


def limit_votes(times: int) -> Strategy:
    """Ask no battle more often than this."""
    return lambda pool, _: (pool.asked < times).astype(np.float64)


def require_gates(gates: Gates) -> Strategy:
    """CV-Arena's gates: ask only pairs that pass."""

    def factor(pool: Pool, _: Belief) -> FloatArray:
        left, right = pool.scores[:, pool.left], pool.scores[:, pool.right]  # computed once for both gates
        through = gates.passes(np.minimum(left, right), np.abs(left - right))
        check_routed(through & pool.askable, gates)
        return through.astype(np.float64)

    return factor


def per_cost(curve: Curve, *, cost_vote: float, cost_judgment: float, paper_compat: bool = False) -> Strategy:
    """Ask only battles on which a vote gives more information per cost than a judgment (eq. 20)."""

    def factor(pool: Pool, belief: Belief) -> FloatArray:
        lead = belief.theta[pool.left] - belief.theta[pool.right]
        chance = np.broadcast_to(0.5 + 0.5 * np.tanh(0.5 * lead), pool.gap.shape)
        q = reliability(curve.at(np.abs(np.nan_to_num(pool.gap))), paper_compat=paper_compat)
        routed = prefers_people(q, chance, cost_vote=cost_vote, cost_judgment=cost_judgment, paper_compat=paper_compat)
        if not routed.any():
            raise UserError(
                "No vote is worth its cost by this rule.",
                hint="Equation 20 as printed never routes; leave --paper-compat out, or lower --cost-vote.",
            )
        return routed.astype(np.float64)

    return factor


def item_fairness(pool: Pool, _: Belief) -> FloatArray:
    """Ask items less if they were asked often."""
    return np.broadcast_to(1.0 / (1.0 + pool.asked.sum(axis=1, keepdims=True)), pool.asked.shape).astype(np.float64)


def restrict_to_models(models: Sequence[int]) -> Strategy:
    """Ask only battles of these (new) models, to place them with few votes."""

    def factor(pool: Pool, _: Belief) -> FloatArray:
        mask = np.isin(pool.left, models) | np.isin(pool.right, models)
        return np.broadcast_to(mask.astype(np.float64), pool.asked.shape)

    return factor


def ranking_information(standard: StandardScores | None = None, *, top: int = 0) -> Strategy:
    """Ask where a vote is expected to improve the order of the board most, and on the most informative items.

    The worth of a pair is the expected gain in the order of all models (the knowledge gradient of the posterior
    variances of differences); within a pair, items weigh by p (1 - p) and by the probability that people decide. `top`:
    only the order of this number of best models matters, among themselves and before the others; 0: that of all.
    """

    def factor(pool: Pool, belief: Belief) -> FloatArray:
        scaled = standard or standardise(pool.scores)
        worth = pair_worth(pool, belief, top)
        worth = worth / max(float(worth.sum()), 1e-300)
        lead = belief.theta[pool.left] - belief.theta[pool.right]
        own = scaled.filled[:, pool.left] - scaled.filled[:, pool.right]
        own -= scaled.means[pool.left] - scaled.means[pool.right]
        own *= belief.slope_within
        own += lead
        chance = 0.5 + 0.5 * np.tanh(0.5 * own)
        chance *= 1 - chance
        if belief.decisive is not None:
            chance *= belief.decisive
        askable = pool.askable
        chance *= askable
        total = chance.sum(axis=0, keepdims=True)
        chance /= np.maximum(total, 1e-300)
        even = 1.0 / max(int(askable.sum()), 1)
        return np.asarray((1 - FLOOR) * worth * chance + FLOOR * even)

    return factor


def pair_worth(pool: Pool, belief: Belief, top: int = 0) -> FloatArray:
    """Return (P,) expected gain in the order of the board, or of its `top`, from `LOOK_AHEAD` votes on a pair."""
    turn = np.zeros((pool.left.size, pool.n_models))
    turn[np.arange(pool.left.size), pool.left] = 1.0
    turn[np.arange(pool.left.size), pool.right] = -1.0
    lead = turn @ belief.theta
    shared = turn @ belief.covariance @ turn.T
    decisive = np.ones(pool.left.size)
    if belief.decisive is not None:
        askable = pool.askable
        decisive = (belief.decisive * askable).sum(axis=0) / np.maximum(askable.sum(axis=0), 1)
    chance = 0.5 + 0.5 * np.tanh(0.5 * lead)
    information = LOOK_AHEAD * chance * (1 - chance) / belief.dispersion * decisive / max(float(decisive.mean()), 1e-9)
    fall = shared**2 * (information / (1 + information * np.diag(shared)))[:, None]
    best = np.argsort(-belief.theta)[: top or None]
    in_best = np.isin(pool.left, best) | np.isin(pool.right, best)
    return np.asarray((_gain(lead[None, :], fall) * (decisive * in_best)[None, :]).sum(axis=1))


def _gain(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the expected gain from choosing a sign after learning, if the mean will move with this variance."""
    from scipy.special import ndtr

    spread = np.sqrt(np.maximum(variance, 1e-18))
    ratio = np.abs(mean) / spread
    return np.asarray(spread * np.exp(-0.5 * ratio**2) / np.sqrt(2 * np.pi) - np.abs(mean) * ndtr(-ratio))


PULL = (0.44, 2.0)
"""Precision of the prior on the level, and on every other coefficient: ours."""


def chance_of_decision(
    pool: Pool, filled: FloatArray, item: IntArray, pair: IntArray, decided: FloatArray
) -> FloatArray:
    """(N, P) chances. `filled` (N, m) standardised scores; `item`, `pair` (n,) of the votes; `decided` (n,) 1 or 0."""
    first, second = filled[:, pool.left], filled[:, pool.right]
    higher, lower = np.maximum(first, second), np.minimum(first, second)
    design = np.zeros((item.size, 3 + pool.n_models))
    design[:, 0] = 1.0
    design[:, 1], design[:, 2] = higher[item, pair], lower[item, pair]
    rows = np.arange(item.size)
    design[rows, 3 + pool.left[pair]] = 1.0
    design[rows, 3 + pool.right[pair]] = 1.0
    coefficients = _ridge(design, decided)
    eta = coefficients[0] + coefficients[1] * higher
    eta += coefficients[2] * lower
    eta += coefficients[3 + pool.left] + coefficients[3 + pool.right]
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * eta))


def _ridge(design: FloatArray, decided: FloatArray) -> FloatArray:
    size = design.shape[1]
    pull = np.full(size, PULL[1])
    pull[0] = PULL[0]
    coefficients = np.zeros(size)
    for _ in range(20):
        chance = 0.5 + 0.5 * np.tanh(0.5 * (design @ coefficients))
        slope = design.T @ (decided - chance) - pull * coefficients
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(pull)
        move = np.clip(np.linalg.solve(curve, slope), -1.5, 1.5)
        coefficients = coefficients + move
        if np.abs(move).max() < 1e-4:
            break
    return coefficients
