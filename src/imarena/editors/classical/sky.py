"""Find the sky. Arrays are (height, width, 3), 0 to 1; masks are (height, width)."""

import cv2
import numpy as np
import numpy.typing as npt

from imarena.core import Floats, Mask

_SKY_ROUNDS, _SKY_SLACK, _SKY_EVEN = 2, 9.0, 6.0
"""How often the sky grows from its surest part; tolerance of its colours, and maximum gradient (both in Lab)."""


def sky_mask(small: Floats) -> Mask:
    """Mask of the sky: in each column down to the first strong edge, with the threshold that splits the image best.

    After Shen and Wang (2013): the best threshold has the least colour variation above and below.
    """
    height = small.shape[0]
    grey = np.asarray(cv2.GaussianBlur(small, (0, 0), 1.5).mean(axis=2) * 255, np.float32)
    edge = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    edge[: max(1, height // 50)] = 0
    rows = np.arange(height)[:, None]
    best, mask = np.inf, np.zeros(small.shape[:2], np.bool_)
    for strength in np.geomspace(4, 250, 24):
        strong = edge > strength
        border = np.where(strong.any(axis=0), strong.argmax(axis=0), height)
        sky = rows < _steadied(border)[None, :]
        if not 0.03 < sky.mean() < 0.9:
            continue
        spread = 2 * _spread(small[sky]) + _spread(small[~sky])
        if spread < best:
            best, mask = spread, sky
    for _ in range(_SKY_ROUNDS):
        mask = _spread_out(small, mask)
    return mask


def _spread_out(small: Floats, sky: Mask) -> Mask:
    """Grow the sky evenly into connected areas of its colours: between towers and under what cuts it short.

    Unchanged if it would grow down to the ground.
    """
    if not sky.any():
        return sky
    lab = cv2.cvtColor(np.asarray(cv2.GaussianBlur(small, (0, 0), 1.0), np.float32), cv2.COLOR_RGB2LAB)
    low, high = np.percentile(lab[sky], [1, 99], axis=0)
    alike = ((lab > low - _SKY_SLACK) & (lab < high + _SKY_SLACK)).all(axis=2)
    even = np.hypot(cv2.Sobel(lab[..., 0], cv2.CV_32F, 1, 0), cv2.Sobel(lab[..., 0], cv2.CV_32F, 0, 1)) < _SKY_EVEN
    _, labels = cv2.connectedComponents(np.asarray(sky | (alike & even), np.uint8), connectivity=4)
    grown = np.isin(labels, np.unique(labels[sky & alike]))
    bottom = grown[-max(1, len(grown) // 50) :].mean()
    return sky if bottom > 0.2 else np.asarray(sky | grown)


def _steadied(border: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Smooth the border, so that a cloud or a bird does not cut off single columns: a percentile of nearby columns."""
    reach = max(3, len(border) // 24)
    wide = np.pad(border.astype(np.float64), reach, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(wide, 2 * reach + 1)
    return np.asarray(np.percentile(windows, 60, axis=1))


def _spread(colours: Floats) -> float:
    """Variation of colours (n, 3): the determinant of their covariance plus its largest eigenvalue."""
    values = np.linalg.eigvalsh(np.cov(colours.T))
    return float(values.prod() * 1e4 + values.max())
