"""Loops that must go battle by battle, compiled on first use and cached. Import this module only when needed."""

import math
from typing import Any

from numba import njit


def _elo(ratings: Any, left: Any, right: Any, outcome: Any, weight: Any, times: Any, k: float, slope: float) -> None:
    """Online Elo for every row of `ratings` (R, m); `weight` (n,) and `times` (R, n) may be empty."""
    weighted, repeated = weight.size > 0, times.size > 0
    for r in range(ratings.shape[0]):
        for b in range(left.size):
            i, j = left[b], right[b]
            for _ in range(times[r, b] if repeated else 1):
                expected = 1.0 / (1.0 + math.exp((ratings[r, j] - ratings[r, i]) * slope))
                step = k * (1.0 - 0.5 * outcome[b] - expected)
                if weighted:
                    step *= weight[b]
                ratings[r, i] += step
                ratings[r, j] -= step


def _credible_step(points: float, lead: float, scale: float, q: float) -> float:
    """CV-Arena eq. 5 to 7 without K: a tie makes half of a win's step and half of a loss's step."""
    p = 1.0 / (1.0 + math.exp(-lead / scale))
    guess = 0.5 * (1.0 - q)
    won, lost = q * p, q * (1.0 - p)
    step = 0.0
    if points > 0.0:  # a rater who never guesses is credible, however unlikely the outcome
        step += points * (won / (won + guess) if guess > 0.0 else 1.0) * (1.0 - p)
    if points < 1.0:
        step -= (1.0 - points) * (lost / (lost + guess) if guess > 0.0 else 1.0) * p
    return step


def _active_elo(ratings: Any, left: Any, right: Any, points: Any, scale: Any, q: Any, k: Any, times: Any) -> None:
    """Reliability-weighted Elo for every row of `ratings` (R, m); `times` (R, n) may be empty."""
    repeated = times.size > 0
    for r in range(ratings.shape[0]):
        for b in range(left.size):
            i, j = left[b], right[b]
            for _ in range(times[r, b] if repeated else 1):
                step = k[b] * credible_step(points[b], ratings[r, i] - ratings[r, j], scale[b], q[b])
                ratings[r, i] += step
                ratings[r, j] -= step


elo = njit(cache=True, nogil=True)(_elo)
credible_step = njit(cache=True, nogil=True, inline="always")(_credible_step)
active_elo = njit(cache=True, nogil=True)(_active_elo)
