"""Structural similarity: SSIM (Wang et al. 2004), a masked variant, and MS-SSIM (Wang et al. 2003).

The window is a Gaussian with a standard deviation of 1.5 pixels, 11 pixels wide; channels are measured separately
and averaged. These are the settings of the paper, and of scikit-image with `gaussian_weights=True,
sigma=1.5, use_sample_covariance=False`.

Images are processed in bands of rows, so that the four filtered arrays of a band stay in the CPU cache: six times
scikit-image's rate on 2048 x 2048 pixels (benchmarks/vision/metrics.py).
"""

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, Mask, Pixels

Numbers = NDArray[Any]

SIGMA = 1.5
RADIUS = 5
BAND = 96
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
_MIDDLE = 128.0
SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Wang et al. 2003: the weight of each of the five scales of MS-SSIM."""
SMALLEST_SIDE = (2 * RADIUS + 1) * 2 ** (len(SCALE_WEIGHTS) - 1)
"""MS-SSIM needs a whole window at its smallest scale."""


def _window() -> FloatArray:
    weights = np.exp(-0.5 * (np.arange(-RADIUS, RADIUS + 1, dtype=np.float64) / SIGMA) ** 2)
    return np.asarray(weights / weights.sum())


_WINDOW = _window()


def ssim(left: Pixels, right: Pixels) -> float:
    """SSIM of two images of the same size, (height, width, 3): 1 for a copy.

    Windows that leave the image do not count, as in scikit-image; in an image of fewer than 11 pixels per side all do,
    cut to the image.
    """
    if min(left.shape[:2]) <= 2 * RADIUS:
        return float(ssim_in(left, right, np.ones(left.shape[:2], dtype=np.bool_)) or 0.0)
    return float(_means(left, right)[1].mean())


def ssim_in(left: Pixels, right: Pixels, mask: Mask) -> float | None:
    """SSIM over the pixels of a mask, from windows cut to the mask: the outside has no influence. None if empty."""
    if not mask.any():
        return None
    box = _box(mask)
    return float(_means_in(left[box], right[box], mask[box])[1].mean())


def ms_ssim_in(left: Pixels, right: Pixels, mask: Mask) -> float | None:
    """MS-SSIM over the pixels of a mask; None if the mask is empty or its box is too small for five scales.

    At each scale windows are cut to the mask. In each 2 x 2 block, only pixels of the mask count for the next scale.
    """
    if not mask.any():
        return None
    box = _box(mask)
    return _over_scales(left[box], right[box], mask[box])


def ms_ssim(left: Pixels, right: Pixels) -> float | None:
    """MS-SSIM over five scales; None if an image is too small for them (a side of 176 pixels is enough)."""
    return _over_scales(left, right, None)


def _over_scales(first: Numbers, second: Numbers, inside: Mask | None) -> float | None:
    """MS-SSIM of two images or, with a mask of the same size, over its pixels."""
    if min(first.shape[:2]) < SMALLEST_SIDE:
        return None
    product = np.ones(first.shape[2])
    for scale, weight in enumerate(SCALE_WEIGHTS):
        last = scale == len(SCALE_WEIGHTS) - 1
        means = _means(first, second) if inside is None else _means_in(first, second, inside)
        product *= np.maximum(means[1 if last else 0], 0.0) ** weight
        if last:
            break
        if inside is None:
            first, second = _halved(first), _halved(second)
        else:
            first, second, inside = _halved_in(first, inside), _halved_in(second, inside), _halved(inside) > 0
    return float(product.mean())


def _means(left: Numbers, right: Numbers) -> tuple[FloatArray, FloatArray]:
    """Per channel, over windows inside the image: the mean contrast-structure term, and the mean SSIM."""
    height, width, channels = left.shape
    sums = np.zeros((2, channels))
    for channel in range(channels):
        planes = (np.ascontiguousarray(image[..., channel]) for image in (left, right))
        for first, second, _ in _bands(*planes):
            luminance, structure = _terms(first, second)
            sums[:, channel] += structure.sum(), (luminance * structure).sum()
    means = sums / ((height - 2 * RADIUS) * (width - 2 * RADIUS))
    return means[0], means[1]


def _box(mask: Mask) -> tuple[slice, slice]:
    """The range of rows and columns that a mask covers."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def _means_in(left: Numbers, right: Numbers, mask: Mask) -> tuple[FloatArray, FloatArray]:
    """Per channel, over the pixels of the mask: the mean contrast-structure term, and the mean SSIM."""
    inside = np.pad(mask, RADIUS)
    sums = np.zeros((2, left.shape[2]))
    weights: dict[int, FloatArray] = {}
    for channel in range(left.shape[2]):
        planes = (np.pad(image[..., channel], RADIUS) for image in (left, right))
        for first, second, start in _bands(*planes):
            mask_rows = inside[start : start + first.shape[0]]
            inner = mask_rows[RADIUS:-RADIUS, RADIUS:-RADIUS]
            if not inner.any():
                continue
            if start not in weights:
                weights[start] = np.where(inner, _smooth(mask_rows.astype(np.float64)), 1.0)
            first[~mask_rows] = second[~mask_rows] = 0.0
            luminance, structure = _terms(first, second, weights[start])
            sums[:, channel] += structure[inner].sum(), (luminance * structure)[inner].sum()
    means = sums / float(mask.sum())
    return means[0], means[1]


def _bands(left: Numbers, right: Numbers) -> Iterator[tuple[FloatArray, FloatArray, int]]:
    """Overlapping bands of two planes, shifted by middle grey, and the start row of each."""
    for start in range(0, left.shape[0] - 2 * RADIUS, BAND):
        rows = slice(start, min(start + BAND + 2 * RADIUS, left.shape[0]))
        yield left[rows] - _MIDDLE, right[rows] - _MIDDLE, start


def _smooth(values: FloatArray) -> FloatArray:
    """Weighted means over windows inside the plane."""
    smoothed = cv2.sepFilter2D(values, cv2.CV_64F, _WINDOW, _WINDOW)
    return np.asarray(smoothed[RADIUS:-RADIUS, RADIUS:-RADIUS])


def _terms(left: FloatArray, right: FloatArray, weight: FloatArray | float = 1.0) -> tuple[FloatArray, FloatArray]:
    """The luminance term and the contrast-structure term of SSIM; `weight`: the share of each window that counts."""
    first, second = _smooth(left) / weight, _smooth(right) / weight
    squares = _smooth(left * left + right * right) / weight
    product = _smooth(left * right) / weight
    structure = (2.0 * (product - first * second) + _C2) / (squares - first * first - second * second + _C2)
    first += _MIDDLE
    second += _MIDDLE
    return (2.0 * first * second + _C1) / (first * first + second * second + _C1), structure


def _halved(values: Numbers) -> FloatArray:
    """Means of 2 x 2 blocks; an odd last row or column is dropped."""
    height, width = values.shape[0] // 2 * 2, values.shape[1] // 2 * 2
    even = values[:height, :width].astype(np.float64)
    return np.asarray((even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2]) / 4.0)


def _halved_in(values: Numbers, mask: Mask) -> FloatArray:
    """Means over the pixels of the mask in 2 x 2 blocks; 0 if there is none."""
    share = _halved(mask)
    return np.asarray(_halved(values * mask[..., None]) / np.where(share > 0, share, 1.0)[..., None])
