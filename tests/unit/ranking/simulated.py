"""Battles with known strengths, for the tests of this folder."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.ranking import LEFT_WINS, RIGHT_WINS, TIED, Battles


def battles(
    strengths: NDArray[np.float64], n: int, seed: int, *, ties: float = 0.0, position: float = 0.0, **columns: Any
) -> Battles:
    """N Bradley-Terry battles between random pairs; a share of `ties` is decided by nobody."""
    rng = np.random.default_rng(seed)
    m = strengths.size
    left = rng.integers(0, m, n)
    right = (left + rng.integers(1, m, n)) % m
    won = rng.random(n) < 1 / (1 + np.exp(-(strengths[left] - strengths[right] + position)))
    outcome = np.where(rng.random(n) < ties, TIED, np.where(won, LEFT_WINS, RIGHT_WINS))
    return Battles(
        models=tuple(f"model-{i:03d}" for i in range(m)),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        outcome=outcome.astype(np.int8),
        **columns,
    )
