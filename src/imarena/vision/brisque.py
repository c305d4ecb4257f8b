"""No-reference image quality: BRISQUE (Mittal et al. 2012) with the bundled parameters of the package brisque 0.2.0.

In an undistorted photograph, pixels that are normalised by their surroundings follow a bell curve; blur, noise and
compression change its shape. A support vector machine turns 36 shape parameters into a score. The package's code is
not used; `tests/unit/vision/test_brisque.py` holds scores that it computed.
"""

import math
from functools import cache
from importlib.resources import files

import cv2
import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels, UserError

Plane = NDArray[np.float64]

SMALLEST_SIDE = 16
"""With a shorter side, the image at half size has too few pixels to fit a curve."""
_GREY = np.array([0.2125, 0.7154, 0.0721])
_KERNEL, _SIGMA = 7, 7 / 6
_STEADY = 1 / 255
_SHAPES = (0.02, 50.0)
"""Range of exponents that the fit searches."""


def brisque_score(pixels: Pixels) -> float | None:
    """BRISQUE score: about 0 for a clean photograph, 100 for a badly damaged one, though values outside are possible.

    `pixels`: (height, width, 3). None if a side is shorter than `SMALLEST_SIDE` or the image is flat (no statistics).
    """
    if min(pixels.shape[:2]) < SMALLEST_SIDE:
        return None
    grey = (pixels.astype(np.float64) / 255.0) @ _GREY
    half = np.asarray(cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_CUBIC), np.float64)
    features = [feature for plane in (grey, half) for feature in _features(plane)]
    if not all(math.isfinite(feature) for feature in features):
        return None
    return _regression(np.array(features))


def blind_quality(pixels: Pixels, against: Pixels | None = None) -> float:  # noqa: ARG001
    """`brisque_score` as a `Metric`; raises `UserError` for an image without a score."""
    score = brisque_score(pixels)
    if score is None:
        raise UserError(
            f"The metric 'brisque' is not defined for this image of {pixels.shape[1]} x {pixels.shape[0]} pixels.",
            hint=f"It needs {SMALLEST_SIDE} pixels a side and some detail: a flat image has no statistics.",
        )
    return score


def _features(plane: Plane) -> list[float]:
    """18 shape parameters: of normalised pixels, and of the products of neighbours in four directions."""
    normal = _normalised(plane)
    alpha, _, left, right = _shape(normal)
    features = [alpha, (left + right) / 2]
    for first, second in (
        (normal[:, :-1], normal[:, 1:]),
        (normal[:-1], normal[1:]),
        (normal[:-1, :-1], normal[1:, 1:]),
        (normal[1:, :-1], normal[:-1, 1:]),
    ):
        features.extend(_shape(first * second))
    return features


def _normalised(plane: Plane) -> Plane:
    """Each pixel minus the local mean, divided by the local standard deviation; outside the image counts as black."""
    axis = np.arange(_KERNEL) - _KERNEL // 2
    bell = np.exp(-(axis**2) / (2 * _SIGMA**2))
    kernel = np.outer(bell, bell) / bell.sum() ** 2

    def around(values: Plane) -> Plane:
        return np.asarray(cv2.filter2D(values, cv2.CV_64F, kernel, borderType=cv2.BORDER_CONSTANT), np.float64)

    mean = around(plane)
    return np.asarray((plane - mean) / (np.sqrt(np.abs(mean**2 - around(plane**2))) + _STEADY))


def _shape(values: Plane) -> tuple[float, float, float, float]:
    """Fit an asymmetric generalised Gaussian by its moments: exponent, mean, and the squared spread on each side."""
    negative, positive = values[values < 0], values[values >= 0]
    if not len(negative) or not len(positive) or not values.any() or not positive.any():
        return math.nan, math.nan, math.nan, math.nan
    left, right = float((negative**2).mean()), float((positive**2).mean())
    ratio = math.sqrt(left) / math.sqrt(right)
    moment_ratio = float(np.abs(values).mean()) ** 2 / float((values**2).mean())
    moment_ratio *= (ratio**3 + 1) * (ratio + 1) / (ratio**2 + 1) ** 2
    alpha = _exponent(moment_ratio)
    mean = (math.sqrt(right) - math.sqrt(left)) * math.exp(
        (math.lgamma(1 / alpha) - math.lgamma(3 / alpha)) / 2 + math.lgamma(2 / alpha) - math.lgamma(1 / alpha)
    )
    return alpha, mean, left, right


def _exponent(moment_ratio: float) -> float:
    """The exponent whose curve has this ratio of moments, by bisection (the ratio grows with the exponent)."""
    low, high = _SHAPES
    for _ in range(60):
        middle = (low + high) / 2
        log = 2 * math.lgamma(2 / middle) - math.lgamma(1 / middle) - math.lgamma(3 / middle)
        low, high = (middle, high) if math.exp(log) < moment_ratio else (low, middle)
    return (low + high) / 2


@cache
def _machine() -> dict[str, NDArray[np.float64]]:
    with files("imarena.vision").joinpath("weights", "brisque.npz").open("rb") as file:
        numbers = np.load(file, allow_pickle=False)
        return {name: np.asarray(numbers[name], np.float64) for name in numbers.files}


def _regression(features: NDArray[np.float64]) -> float:
    """Support vector regression with a Gaussian kernel, over features scaled to -1..1."""
    machine = _machine()
    scaled = 2 * (features - machine["lowest"]) / (machine["highest"] - machine["lowest"]) - 1
    near = np.exp(-machine["gamma"] * ((machine["vectors"] - scaled) ** 2).sum(axis=1))
    return float(machine["weights"] @ near - machine["rho"])
