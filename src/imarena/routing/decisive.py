"""Will people decide? A small ridge regression on the scores and the two models, learnt from the votes so far.

Many votes on edits are ties, most of them where both edits failed; a vote that will be a tie tells little of the order.
"""

import numpy as np

from imarena.routing.pool import FloatArray, IntArray, Pool

PULL = (0.44, 2.0)
"""Precision of the prior of the level, and of every other coefficient: ours."""


def chance_of_decision(
    pool: Pool, filled: FloatArray, item: IntArray, pair: IntArray, decided: FloatArray
) -> FloatArray:
    """(N, P) chances. `filled` (N, m) standardised scores; `item`, `pair` (n,) of the votes; `decided` (n,) 1 or 0."""
    first, second = filled[:, pool.left], filled[:, pool.right]
    higher, lower = np.maximum(first, second), np.minimum(first, second)
    m = pool.n_models
    design = np.zeros((item.size, 3 + m))
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
