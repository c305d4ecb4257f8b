"""Number the segments of an image, so that models and people can refer to them (set-of-mark, Yang et al. 2023)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from imarena.core import SegmentMask

PALETTE = ((230, 25, 75), (60, 180, 75), (0, 130, 200), (245, 130, 48), (145, 30, 180), (0, 128, 128), (128, 128, 0))
_TINT = 0.25


@dataclass(frozen=True, eq=False)
class MarkedImage:
    """The image with its marks, shape (height, width, 3), and each number's position (x, y), in the masks' order."""

    pixels: NDArray[np.uint8]
    positions: tuple[tuple[int, int] | None, ...]
    """None for an empty mask, which gets no mark."""


def draw_marks(pixels: NDArray[np.uint8], masks: Sequence[SegmentMask]) -> MarkedImage:
    """Tint each mask, outline it, and write its number (from 1) at the pixel that lies deepest inside it."""
    canvas = pixels.astype(np.float32)
    for number, segment in enumerate(masks):
        colour = np.array(PALETTE[number % len(PALETTE)], np.float32)
        canvas[segment.mask] = (1 - _TINT) * canvas[segment.mask] + _TINT * colour
        canvas[_outline(segment.mask)] = colour
    image = Image.fromarray(np.asarray(canvas + 0.5, np.uint8))
    positions = tuple(_deepest(segment.mask) for segment in masks)
    size = max(10, min(pixels.shape[:2]) // 24)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(size)
    for number, position in enumerate(positions):
        if position is not None:
            text, colour_index = str(number + 1), number % len(PALETTE)
            box = draw.textbbox(position, text, font=font, anchor="mm")
            draw.rectangle((box[0] - 2, box[1] - 2, box[2] + 2, box[3] + 2), fill=PALETTE[colour_index])
            draw.text(position, text, fill=(255, 255, 255), font=font, anchor="mm")
    return MarkedImage(np.asarray(image, np.uint8), positions)


def _outline(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pixels of the mask with a neighbour outside it; the image's edge is not an outline."""
    padded = np.pad(mask, 1, mode="edge")
    inside = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return np.asarray(mask & ~inside, np.bool_)


def _deepest(mask: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The pixel (x, y) farthest from the outside; on a tie, the first one from the top left."""
    import cv2

    if not mask.any():
        return None
    depth = cv2.distanceTransform(np.pad(mask, 1).astype(np.uint8), cv2.DIST_L2, 5)[1:-1, 1:-1]
    row, column = np.unravel_index(int(np.argmax(depth)), depth.shape)
    return int(column), int(row)
