"""Perceptual distance of two images: shift-tolerant LPIPS, which a shift by a few pixels changes little.

Ghildyal and Liu 2022; AlexNet, weights bundled, BSD-2-Clause. Loaded on first use.
"""

import math

import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels, UserError
from imarena.vision.comparison import required_source, scale_to
from imarena.vision.networks import network

SMALLEST_SIDE = 21
"""The network halves an image three times and mirrors its edges; a shorter side leaves nothing to mirror."""
MOST_PIXELS = 1024 * 1024
"""Larger images are scaled down: the first layer has 64 values per pixel and takes 0.9 GB at this size already."""


def shift_tolerant_lpips(source: Pixels, output: Pixels) -> float | None:
    """The distance of two images (height, width, 3): 0 for a copy, about 0.5 for an obvious blur.

    None if a side of the source has fewer than `SMALLEST_SIDE` pixels. The output is scaled to the source's size.
    Images of more than a megapixel are scaled down to one.
    """
    height, width = source.shape[:2]
    if min(height, width) < SMALLEST_SIDE:
        return None
    left, right = _input(source), _input(scale_to(output, source))
    (distance,) = network("st_lpips").run(["distance"], {"source": left, "output": right})
    return float(distance[0])


def perceptual_distance(pixels: Pixels, against: Pixels | None = None) -> float:
    """Shift-tolerant LPIPS to the source, at the source's size; 0 for a copy."""
    source = required_source(against, "st-lpips")
    return measured_distance(shift_tolerant_lpips(source, pixels), source, "st-lpips", SMALLEST_SIDE)


def measured_distance(distance: float | None, source: Pixels, name: str, least: int) -> float:
    """The distance as a metric; raises if there is none, because the source is too small for the network."""
    if distance is None:
        raise UserError(
            f"The metric '{name}' needs {least} pixels a side, and the source has"
            f" {source.shape[1]} x {source.shape[0]}.",
            hint="Use a larger source, or a metric without a network such as 'ssim'.",
        )
    return distance


def _input(pixels: Pixels) -> NDArray[np.float32]:
    """The network's input for an image: (1, 3, height, width), 0 to 1, at most `MOST_PIXELS`."""
    small = at_most_a_megapixel(pixels, SMALLEST_SIDE)
    return np.ascontiguousarray(small.transpose(2, 0, 1)[None], np.float32) / np.float32(255)


def at_most_a_megapixel(pixels: Pixels, least: int) -> Pixels:
    """An image, scaled down to `MOST_PIXELS` if it has more; no side becomes shorter than `least`."""
    height, width = pixels.shape[:2]
    if height * width <= MOST_PIXELS:
        return pixels
    import cv2

    share = math.sqrt(MOST_PIXELS / (height * width))
    size = max(least, int(width * share)), max(least, int(height * share))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
