"""Many tests at once: Holm (family-wise error) and Benjamini-Hochberg (false discovery rate)."""

import numpy as np
from numpy.typing import ArrayLike

from imarena.core import FloatArray, IntArray


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's adjusted p-values, in the order given. `p_values`: (m,); NaN (an undefined test) stays NaN, uncounted."""
    values, order = _sorted(p_values)
    raw = values[order] * np.arange(len(order), 0, -1)
    return _placed(np.maximum.accumulate(raw), order, len(values))


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Benjamini and Hochberg's adjusted p-values, in the order given; NaN stays NaN, uncounted."""
    values, order = _sorted(p_values)
    raw = values[order] * len(order) / np.arange(1, len(order) + 1)
    return _placed(np.minimum.accumulate(raw[::-1])[::-1], order, len(values))


def _sorted(p_values: ArrayLike) -> tuple[FloatArray, IntArray]:
    values = np.asarray(p_values, np.float64)
    if values.ndim != 1:
        raise ValueError(f"expected one column of p-values, got shape {values.shape}")
    known = np.flatnonzero(~np.isnan(values))
    if ((values[known] < 0) | (values[known] > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    return values, known[np.argsort(values[known], kind="stable")]


def _placed(adjusted: FloatArray, order: IntArray, n: int) -> FloatArray:
    placed = np.full(n, np.nan)
    placed[order] = np.minimum(adjusted, 1.0)
    return placed
