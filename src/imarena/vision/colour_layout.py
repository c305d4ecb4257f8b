"""A small embedding without a network: mean CIE Lab colours on a grid, in the manner of MPEG-7's colour layout."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.vision.difference import blocks
from imarena.vision.frame import frame_of

SIDE = 8
_CONSTANT = 0.1
"""A constant extra component, so that a black image has a direction too."""


def embed(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Lightness, a and b of 8 x 8 blocks of pixels (height, width, 3), as a vector (193,) of length 1."""
    lab = frame_of(Image.fromarray(pixels)).lab / np.float32(100)
    means = [blocks(np.ascontiguousarray(lab[..., channel]), SIDE).ravel() for channel in range(3)]
    vector = np.concatenate([*means, np.array([_CONSTANT], np.float32)])
    return np.asarray(vector / np.linalg.norm(vector), np.float32)
