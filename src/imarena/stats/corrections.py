"""Many tests at once: Holm (family-wise error) and Benjamini-Hochberg (false discovery rate)."""

import numpy as np
from numpy.typing import ArrayLike

from imarena.stats.ratings import FloatArray, IntArray


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's adjusted p-values, in the order given. `p_values`: (m,); NaN (an undefined test) stays NaN, uncounted."""
    given, order = _sorted(p_values)
    raw = given[order] * np.arange(len(order), 0, -1)
    return _placed(np.maximum.accumulate(raw), order, len(given))


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Benjamini and Hochberg's adjusted p-values, in the order given; NaN stays NaN, uncounted."""
    given, order = _sorted(p_values)
    raw = given[order] * len(order) / np.arange(1, len(order) + 1)
    return _placed(np.minimum.accumulate(raw[::-1])[::-1], order, len(given))


def _sorted(p_values: ArrayLike) -> tuple[FloatArray, IntArray]:
    given = np.asarray(p_values, np.float64)
    if given.ndim != 1:
        raise ValueError(f"expected one column of p-values, got shape {given.shape}")
    known = np.flatnonzero(~np.isnan(given))
    if ((given[known] < 0) | (given[known] > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    return given, known[np.argsort(given[known], kind="stable")]


def _placed(adjusted: FloatArray, order: IntArray, n: int) -> FloatArray:
    placed = np.full(n, np.nan)
    placed[order] = np.minimum(adjusted, 1.0)
    return placed
