"""Find an object again by its look: the same pixels elsewhere, a little larger or smaller.

For objects that the bundled detector misses. It finds copies, moved or not, but no object that was drawn
anew.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels, ShareBox
from imarena.images import shrink_pixels

SAME_LOOK, SAME_LOOK_VERSION = "same-look", "2"
LIKE = 0.7
"""Minimum correlation of places that look the same; chosen on the `choose` half of benchmarks/edival/edits.yaml."""
PERHAPS_LIKE = 0.6
"""Minimum correlation of places that may look the same."""
_MIDDLE = 0.65
"""Axes of the ellipse that is compared, as shares of a box; larger ones would include what is behind the object."""
_SIDE = 288
_SCALES = (0.7, 0.8, 0.9, 1.0, 1.12, 1.25)
_MOST = 12


def find_same_look(base: Pixels, box: ShareBox, image: Pixels) -> list[tuple[ShareBox, float]]:
    """Find the object in `box` (shares) of the base image in another image: boxes and correlations, best first.

    The result includes places that only may look the same (`PERHAPS_LIKE`).
    """
    small, now = shrink_pixels(base, _SIDE), shrink_pixels(image, _SIDE)
    height, width = small.shape[:2]
    left, top = int(box[0] * width), int(box[1] * height)
    right, bottom = min(width, round(box[2] * width)), min(height, round(box[3] * height))
    if right - left < 8 or bottom - top < 8:
        return []
    part = small[top:bottom, left:right]
    matches: list[tuple[ShareBox, float]] = []
    for scale in _SCALES:
        size = round(part.shape[1] * scale), round(part.shape[0] * scale)
        if min(size) < 8 or size[0] >= now.shape[1] or size[1] >= now.shape[0]:
            continue
        template = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
        match = cv2.matchTemplate(now, template, cv2.TM_CCOEFF_NORMED, mask=_ellipse(size))
        matches += _peaks(np.nan_to_num(match, nan=0.0, posinf=0.0, neginf=0.0), size, now)
    return _apart(sorted(matches, key=lambda match: -match[1]))[:_MOST]


def _ellipse(size: tuple[int, int]) -> NDArray[np.float32]:
    """A mask without the edges of the box, which show what is behind the object."""
    mask = np.zeros((size[1], size[0], 3), np.float32)
    axes = max(2, int(_MIDDLE * size[0] / 2)), max(2, int(_MIDDLE * size[1] / 2))
    cv2.ellipse(mask, (size[0] // 2, size[1] // 2), axes, 0, 0, 360, (1.0, 1.0, 1.0), -1)
    return mask


def _peaks(match: NDArray[np.float32], size: tuple[int, int], image: Pixels) -> list[tuple[ShareBox, float]]:
    height, width = image.shape[:2]
    top_of = match == cv2.dilate(match, np.ones((2 * (size[1] // 3) + 1, 2 * (size[0] // 3) + 1), np.uint8))
    rows, columns = np.nonzero(top_of & (match >= PERHAPS_LIKE))
    return [
        ((x / width, y / height, (x + size[0]) / width, (y + size[1]) / height), round(min(1.0, float(match[y, x])), 4))
        for y, x in zip(rows.tolist(), columns.tolist(), strict=True)
    ]


def _apart(matches: list[tuple[ShareBox, float]]) -> list[tuple[ShareBox, float]]:
    """Keep only the best of overlapping places."""
    distinct: list[tuple[ShareBox, float]] = []
    for box, like in matches:
        if all(common_share(box, other) < 0.3 for other, _ in distinct):
            distinct.append((box, like))
    return distinct


def common_share(box: ShareBox, other: ShareBox) -> float:
    """The common area as a share of the smaller box."""
    across, down = min(box[2], other[2]) - max(box[0], other[0]), min(box[3], other[3]) - max(box[1], other[1])
    areas = [(rectangle[2] - rectangle[0]) * (rectangle[3] - rectangle[1]) for rectangle in (box, other)]
    return max(0.0, across) * max(0.0, down) / min(areas)
