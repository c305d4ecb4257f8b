"""The mixture of CV-Arena appendix G with known (calibrated) reliabilities, for many boards at once."""

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.likelihood.likelihoods import sigmoid

PULL = 0.1
"""Precision of the weak prior that keeps a model without losses finite."""
STEP = 1.5
"""Largest change of a strength in one step."""
LEAST = 0.1
"""Minimum share of the expected information that each pair gets."""
HALVINGS = 12
LIMIT = 200
SETTLED = 1e-6


def fit_calibrated(
    left: IntArray, right: IntArray, wins: FloatArray, losses: FloatArray, q: FloatArray, n_models: int
) -> FloatArray:
    """(B, m) strengths, centred. `left`, `right` (P,) models of each pair; `wins`, `losses` (B, P, G) of the left model
    by reliability group, with half a tie in each; `q` (B, G) or (G,) reliability of each group, 1 for people.

    Steps are halved until the likelihood rises: with a judge that is more consistent than its q allows for, full
    steps would oscillate forever.
    """
    batch, pairs, _ = wins.shape
    turn = np.zeros((pairs, n_models))
    turn[np.arange(pairs), left], turn[np.arange(pairs), right] = 1.0, -1.0
    outer = (turn[:, :, None] * turn[:, None, :]).reshape(pairs, -1)
    reliability = np.broadcast_to(q, (batch, wins.shape[2]))[:, None, :]
    theta = np.zeros((batch, n_models))
    value = _value(theta, turn, wins, losses, reliability)
    moving = np.arange(batch)
    for _ in range(LIMIT):
        now, won, lost, q_now = theta[moving], wins[moving], losses[moving], reliability[moving]
        move = _step(now, turn, outer, won, lost, q_now)
        new, new_value = _rising(now, move, value[moving], turn, won, lost, q_now)
        settled = (np.abs(new - now).max(axis=1) < SETTLED) | (np.abs(move).max(axis=1) < SETTLED)
        theta[moving], value[moving] = new, new_value
        moving = moving[~settled]
        if moving.size == 0:
            break
    return np.asarray(theta - theta.mean(axis=1, keepdims=True))


def _step(
    theta: FloatArray,
    turn: FloatArray,
    outer: FloatArray,
    wins: FloatArray,
    losses: FloatArray,
    reliability: FloatArray,
) -> FloatArray:
    """(B, m) a step of Newton's method, no longer than `STEP`. The mixture's likelihood is not concave: if a pair's own
    curvature is too small, a share of the expected one is used, so that the step still goes uphill.
    """
    batch, m = theta.shape
    p = sigmoid(theta @ turn.T)[:, :, None]
    chance = np.clip(reliability * p + 0.5 * (1 - reliability), 1e-12, 1 - 1e-12)
    slope = reliability * p * (1 - p)
    pull = wins / chance - losses / (1 - chance)
    gradient = (pull * slope).sum(axis=2) @ turn - PULL * theta
    expected = ((wins + losses) * slope**2 / (chance * (1 - chance))).sum(axis=2)
    spent = (wins / chance**2 + losses / (1 - chance) ** 2) * slope**2
    observed = (spent - pull * slope * (1 - 2 * p)).sum(axis=2)
    information = np.maximum(observed, LEAST * expected) @ outer
    curvature = information.reshape(batch, m, m) + PULL * np.eye(m)
    move = np.linalg.solve(curvature, gradient[..., None])[..., 0]
    return np.asarray(move * np.minimum(1.0, STEP / np.maximum(np.abs(move).max(axis=1, keepdims=True), 1e-300)))


def _rising(
    theta: FloatArray,
    move: FloatArray,
    value: FloatArray,
    turn: FloatArray,
    wins: FloatArray,
    losses: FloatArray,
    reliability: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Strengths after the step, which is halved per board until its likelihood does not fall, and the likelihoods."""
    new = theta + move
    new_value = _value(new, turn, wins, losses, reliability)
    share = 1.0
    for _ in range(HALVINGS):
        worse = np.flatnonzero(new_value < value - 1e-9 * np.abs(value))
        if worse.size == 0:
            break
        share *= 0.5
        new[worse] = theta[worse] + share * move[worse]
        new_value[worse] = _value(new[worse], turn, wins[worse], losses[worse], reliability[worse])
    else:
        worse = np.flatnonzero(new_value < value - 1e-9 * np.abs(value))
        new[worse], new_value[worse] = theta[worse], value[worse]
    return new, new_value


def _value(
    theta: FloatArray, turn: FloatArray, wins: FloatArray, losses: FloatArray, reliability: FloatArray
) -> FloatArray:
    """(B,) penalised log likelihood."""
    p = sigmoid(theta @ turn.T)[:, :, None]
    chance = np.clip(reliability * p + 0.5 * (1 - reliability), 1e-12, 1 - 1e-12)
    likelihood = (wins * np.log(chance) + losses * np.log1p(-chance)).sum(axis=(1, 2))
    return np.asarray(likelihood - 0.5 * PULL * (theta**2).sum(axis=1))
