"""An image at working size in both sRGB and CIE Lab, so that each conversion is computed only once."""

from dataclasses import dataclass, field
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.core import Floats

_DETAIL = 512
LONG_SIDE = 256
"""Working size: what a person sees at arm's length, at 20 ms per comparison."""


@dataclass(frozen=True)
class Frame:
    """`rgb` is (height, width, 3), float32, 0 to 1. `full_size` is the image's own (width, height)."""

    rgb: Floats
    full_size: tuple[int, int]
    detail: Floats
    """Lightness (0 to 100) of the middle of the image at its own size, at most 512 x 512: for pixel-level damage."""
    full: NDArray[np.uint8] = field(repr=False)
    """The image at its own size, (height, width, 3), for a detector, which finds more in it."""

    @cached_property
    def lab(self) -> Floats:
        """CIE Lab (D65): lightness 0 to 100, a and b about -100 to 100. Shape (height, width, 3)."""
        return np.asarray(cv2.cvtColor(self.rgb, cv2.COLOR_RGB2LAB), dtype=np.float32)

    @cached_property
    def light(self) -> Floats:
        """Lightness alone, (height, width), 0 to 100."""
        return np.ascontiguousarray(self.lab[..., 0])

    @cached_property
    def chroma(self) -> Floats:
        """Distance from grey, (height, width)."""
        return np.asarray(np.hypot(self.lab[..., 1], self.lab[..., 2]), dtype=np.float32)

    @cached_property
    def slope(self) -> Floats:
        """Magnitude of the lightness gradient (Sobel), (height, width)."""
        across = cv2.Sobel(self.light, cv2.CV_32F, 1, 0, scale=0.25)
        down = cv2.Sobel(self.light, cv2.CV_32F, 0, 1, scale=0.25)
        return np.asarray(np.hypot(across, down), dtype=np.float32)

    @cached_property
    def curve(self) -> Floats:
        """Magnitude of the lightness Laplacian, (height, width): fine detail and noise."""
        return np.asarray(np.abs(cv2.Laplacian(self.light, cv2.CV_32F)), dtype=np.float32)

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) at working size."""
        return self.rgb.shape[1], self.rgb.shape[0]


def working_size(width: int, height: int, long_side: int = LONG_SIDE) -> tuple[int, int]:
    """The size that fits in `long_side`, never larger than the image and at least 16 pixels per side."""
    scale = min(1.0, long_side / max(width, height))
    return max(16, round(width * scale)), max(16, round(height * scale))


def _middle(array: NDArray[np.uint8]) -> Floats:
    """Crop the centre, aligned to an 8-pixel grid so that JPEG blocks stay in phase."""
    height, width = array.shape[:2]
    top, left = max(0, (height - _DETAIL) // 2) // 8 * 8, max(0, (width - _DETAIL) // 2) // 8 * 8
    cut = np.ascontiguousarray(array[top : top + _DETAIL, left : left + _DETAIL])
    return np.asarray(cv2.cvtColor(cut, cv2.COLOR_RGB2GRAY), dtype=np.float32) / np.float32(2.55)


def _scaled(array: NDArray[np.uint8], size: tuple[int, int]) -> Floats:
    shrinking = size[0] * size[1] <= array.shape[0] * array.shape[1]
    scaled = cv2.resize(array, size, interpolation=cv2.INTER_AREA if shrinking else cv2.INTER_CUBIC)
    return np.asarray(scaled, dtype=np.float32) / np.float32(255.0)


def frame_of(image: Image.Image, size: tuple[int, int] | None = None, long_side: int = LONG_SIDE) -> Frame:
    """The image at `size` (width, height), or at its own working size."""
    array = np.asarray(image.convert("RGB"), dtype=np.uint8)
    return Frame(_scaled(array, size or working_size(*image.size, long_side)), image.size, _middle(array), array)


def detail_of(image: Image.Image) -> Floats:
    """Lightness of the middle of an image at its own size, as `Frame.detail` has it."""
    return _middle(np.asarray(image.convert("RGB"), dtype=np.uint8))


def centre_crop(image: Image.Image, aspect: float) -> Image.Image:
    """The largest centred crop of the image with width / height = `aspect`."""
    width, height = image.size
    if width / height > aspect:
        new = max(1, round(height * aspect))
        left = (width - new) // 2
        return image.crop((left, 0, left + new, height))
    new = max(1, round(width / aspect))
    top = (height - new) // 2
    return image.crop((0, top, width, top + new))
