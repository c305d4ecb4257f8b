"""Twenty pictures from the bundled photographs, each with an edit of it: what perceptual distances are compared on."""

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from imarena.images import pixels

Pixels = NDArray[np.uint8]

PHOTOGRAPHS = (
    "astronaut", "cat", "coffee", "dandelion", "dogs", "fig", "flower", "mountains", "pavilion", "rocket", "sunset",
    "wall-clock",
)  # fmt: skip
SIZES = ((256, 256), (255, 193), (320, 200), (131, 257), (64, 64), (21, 21), (97, 22), (384, 288))
"""Width and height; odd ones and the smallest among them."""
PAIRS = tuple(f"{number:02}" for number in range(20))


def shifted(image: Pixels, by: int = 3) -> Pixels:
    """Moved to the right; the left edge repeats."""
    return np.concatenate([np.repeat(image[:, :1], by, axis=1), image[:, :-by]], axis=1)


def blurred(image: Pixels, radius: float = 2.0) -> Pixels:
    """Under a Gaussian."""
    return np.asarray(Image.fromarray(image).filter(ImageFilter.GaussianBlur(radius)))


def recoloured(image: Pixels) -> Pixels:
    """Red, green and blue in another order."""
    return np.ascontiguousarray(image[..., [1, 2, 0]])


def patched(image: Pixels) -> Pixels:
    """With a flat rectangle in the middle third."""
    edited = image.copy()
    height, width = image.shape[:2]
    edited[height // 3 : 2 * height // 3, width // 3 : 2 * width // 3] = (200, 40, 40)
    return edited


def noisy(image: Pixels) -> Pixels:
    """With Gaussian noise."""
    noise = np.random.default_rng(7).normal(0, 15, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


EDITS = (shifted, blurred, recoloured, patched, noisy)


def perceptual_pair(name: str) -> tuple[Pixels, Pixels]:
    """A picture and its edit, for a name in `PAIRS`."""
    number = int(name)
    encoded = (files("imarena.studio") / "photographs" / f"{PHOTOGRAPHS[number % len(PHOTOGRAPHS)]}.jpg").read_bytes()
    whole = Image.fromarray(pixels(encoded))
    picture = np.asarray(whole.resize(SIZES[number % len(SIZES)], Image.Resampling.BICUBIC))
    return picture, EDITS[number % len(EDITS)](picture)
