"""Boxes in pixels: left and top inside, right and bottom outside, so that width is right - left."""

from dataclasses import dataclass

import numpy as np

from imarena.core import Mask, UserError


@dataclass(frozen=True)
class Box:
    """A rectangle in pixel coordinates. Raises if it is inverted."""

    left: float
    top: float
    right: float
    bottom: float

    def __post_init__(self) -> None:
        if not (self.left <= self.right and self.top <= self.bottom):
            raise UserError(f"the box {self.as_tuple()} is inside out", hint="Give left, top, right, bottom.")

    @classmethod
    def from_size(cls, left: float, top: float, width: float, height: float) -> "Box":
        """Convert from COCO's left, top, width, height."""
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
        """The box in an image that is x times as wide and y times as high."""
        return Box(self.left * x, self.top * y, self.right * x, self.bottom * y)

    def padded(self, margin: float) -> "Box":
        """The box extended on each side by `margin` times its own size."""
        dx, dy = self.width * margin, self.height * margin
        return Box(self.left - dx, self.top - dy, self.right + dx, self.bottom + dy)

    def clipped(self, width: float, height: float) -> "Box":
        """The part of the box inside an image of this size; may be empty."""
        left, right = (min(max(value, 0.0), width) for value in (self.left, self.right))
        top, bottom = (min(max(value, 0.0), height) for value in (self.top, self.bottom))
        return Box(left, top, right, bottom)


def box_to_mask(box: Box, width: int, height: int) -> Mask:
    """A mask that is true inside the box (rounded to whole pixels), shape (height, width)."""
    inside = box.clipped(width, height)
    mask = np.zeros((height, width), dtype=np.bool_)
    mask[round(inside.top) : round(inside.bottom), round(inside.left) : round(inside.right)] = True
    return mask


def components(mask: Mask, *, min_area: int = 1) -> list[Box]:
    """Boxes of the connected parts (eight neighbours), the largest part first."""
    import cv2

    _, _, stats, _ = cv2.connectedComponentsWithStats(np.asarray(mask, dtype=np.uint8), connectivity=8)
    rows = sorted(stats[1:].tolist(), key=lambda row: (-row[4], row[:4]))
    return [Box.from_size(left, top, width, height) for left, top, width, height, area in rows if area >= min_area]
