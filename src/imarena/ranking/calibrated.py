"""The mixture of CV-Arena appendix G with reliabilities that are known (calibrated), for many boards at once."""

import numpy as np

from imarena.ranking.battles import FloatArray, IntArray
from imarena.ranking.likelihoods import sigmoid

PULL = 0.1
"""Precision of the weak prior that keeps a model without losses finite."""


def fit_calibrated(
    left: IntArray, right: IntArray, wins: FloatArray, losses: FloatArray, q: FloatArray, n_models: int
) -> FloatArray:
    """(B, m) strengths, centred. `left`, `right` (P,) models of each pair; `wins`, `losses` (B, P, G) of the left model
    by reliability group, a tie half to each; `q` (B, G) or (G,) reliability of each group, 1 for people.
    """
    batch, pairs, _ = wins.shape
    turn = np.zeros((pairs, n_models))
    turn[np.arange(pairs), left], turn[np.arange(pairs), right] = 1.0, -1.0
    outer = (turn[:, :, None] * turn[:, None, :]).reshape(pairs, -1)
    held = np.broadcast_to(q, (batch, wins.shape[2]))[:, None, :]
    theta, total = np.zeros((batch, n_models)), wins + losses
    for _ in range(30):
        p = sigmoid(theta @ turn.T)[:, :, None]
        chance = np.clip(held * p + 0.5 * (1 - held), 1e-12, 1 - 1e-12)
        slope = held * p * (1 - p)
        gradient = ((wins / chance - losses / (1 - chance)) * slope).sum(axis=2) @ turn - PULL * theta
        information = (total * slope**2 / (chance * (1 - chance))).sum(axis=2) @ outer
        curvature = information.reshape(batch, n_models, n_models) + PULL * np.eye(n_models)
        move = np.clip(np.linalg.solve(curvature, gradient[..., None])[..., 0], -1.0, 1.0)
        theta = theta + move
        if float(np.abs(move).max()) < 1e-6:
            break
    return np.asarray(theta - theta.mean(axis=1, keepdims=True))
