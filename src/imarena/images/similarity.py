"""Similarity of two images: a perceptual hash for near duplicates, and a difference map."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_SIDE = 32
_KEEP = 8


def perceptual_hash(image: Image.Image) -> int:
    """64 bits: is each of the low 8 x 8 cosine coefficients of a 32 x 32 grey copy above their median?

    Near duplicates (rescaled, recompressed) differ in few bits; the median does not include the constant term.
    """
    grey = np.asarray(image.convert("L").resize((_SIDE, _SIDE), Image.Resampling.LANCZOS), dtype=np.float64)
    basis = _cosines()
    low = (basis @ grey @ basis.T)[:_KEEP, :_KEEP].ravel()
    # an image of one colour only has coefficients of rounding noise: treat them as zero
    low = np.where(np.abs(low) < 1e-6, 0.0, low)
    bits = low > np.median(low[1:])
    return int("".join("1" if bit else "0" for bit in bits), 2)


def hash_distance(left: int, right: int) -> int:
    """Number of the 64 bits that differ; 10 or fewer usually means the same image."""
    return (left ^ right).bit_count()


def difference(left: Image.Image, right: Image.Image) -> NDArray[np.float32]:
    """The largest channel difference at each pixel, 0 to 1, in the shape (height, width) of `left`.

    If the sizes differ, `right` is first scaled to `left`.
    """
    if right.size != left.size:
        right = right.resize(left.size, Image.Resampling.LANCZOS)
    first = np.asarray(left.convert("RGB"), dtype=np.int16)
    second = np.asarray(right.convert("RGB"), dtype=np.int16)
    return np.asarray(np.abs(first - second).max(axis=2) / 255.0, dtype=np.float32)


def _cosines() -> NDArray[np.float64]:
    """The orthonormal DCT-II matrix, shape (32, 32)."""
    index = np.arange(_SIDE)
    basis = np.cos(np.pi * (2 * index[None, :] + 1) * index[:, None] / (2 * _SIDE)) * np.sqrt(2 / _SIDE)
    basis[0] /= np.sqrt(2)
    return np.asarray(basis, dtype=np.float64)
