"""Boxes in pixels: left and top inside, right and bottom outside, so that width is right - left."""

from dataclasses import dataclass

import numpy as np
from PIL import Image

from imarena.core import UserError
from imarena.images.masks import Mask


@dataclass(frozen=True)
class Box:
    """A rectangle in pixel coordinates. An inverted one raises."""

    left: float
    top: float
    right: float
    bottom: float

    def __post_init__(self) -> None:
        if not (self.left <= self.right and self.top <= self.bottom):
            raise UserError(f"the box {self.as_tuple()} is inside out", hint="Give left, top, right, bottom.")

    @classmethod
    def from_size(cls, left: float, top: float, width: float, height: float) -> "Box":
        """From COCO's left, top, width, height."""
        return cls(left, top, left + width, top + height)

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def as_tuple(self) -> tuple[float, float, float, float]:
        return self.left, self.top, self.right, self.bottom

    def scaled(self, x: float, y: float) -> "Box":
        """In a picture that is x times as wide and y times as high."""
        return Box(self.left * x, self.top * y, self.right * x, self.bottom * y)

    def padded(self, margin: float) -> "Box":
        """Wider and higher by `margin` times its own size on each side."""
        dx, dy = self.width * margin, self.height * margin
        return Box(self.left - dx, self.top - dy, self.right + dx, self.bottom + dy)

    def clipped(self, width: float, height: float) -> "Box":
        """What of it lies inside a picture of this size; maybe empty."""
        left, right = (min(max(value, 0.0), width) for value in (self.left, self.right))
        top, bottom = (min(max(value, 0.0), height) for value in (self.top, self.bottom))
        return Box(left, top, right, bottom)

    def intersection(self, other: "Box") -> float:
        """The shared area."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)

    def iou(self, other: "Box") -> float:
        """Shared area over joint area; 0 where both are empty."""
        shared = self.intersection(other)
        joint = self.area + other.area - shared
        return shared / joint if joint > 0 else 0.0


def crop(image: Image.Image, box: Box, *, margin: float = 0.0) -> Image.Image:
    """The part of the picture in the box, at least one pixel, never beyond the picture's edge."""
    inside = box.padded(margin).clipped(*image.size)
    left = min(int(inside.left), image.width - 1)
    top = min(int(inside.top), image.height - 1)
    right = max(left + 1, min(image.width, int(np.ceil(inside.right))))
    bottom = max(top + 1, min(image.height, int(np.ceil(inside.bottom))))
    return image.crop((left, top, right, bottom))


def box_to_mask(box: Box, width: int, height: int) -> Mask:
    """True inside the box (rounded to whole pixels), shape (height, width)."""
    inside = box.clipped(width, height)
    mask = np.zeros((height, width), dtype=np.bool_)
    mask[round(inside.top) : round(inside.bottom), round(inside.left) : round(inside.right)] = True
    return mask


def mask_to_box(mask: Mask) -> Box | None:
    """The smallest box around all marked pixels; None where nothing is marked."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if rows.size == 0:
        return None
    return Box(float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1))


def components(mask: Mask, *, min_area: int = 1) -> list[Box]:
    """Boxes of the connected parts (eight neighbours), the largest part first."""
    import cv2

    _, _, stats, _ = cv2.connectedComponentsWithStats(np.asarray(mask, dtype=np.uint8), connectivity=8)
    rows = sorted(stats[1:].tolist(), key=lambda row: (-row[4], row[:4]))
    return [Box.from_size(left, top, width, height) for left, top, width, height, area in rows if area >= min_area]
