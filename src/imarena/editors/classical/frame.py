"""Classical changes of the frame: crop, extend, level, flip. Arrays are (height, width, 3), 0 to 1."""

import re
from typing import Any

import cv2
import numpy as np

from imarena.core import Floats, Mask
from imarena.editors.classical.fill import fill
from imarena.editors.classical.find import components_touching, find_subject, salient_mask, search_copy, upscale_mask
from imarena.editors.classical.things import blend_masked, remove
from imarena.language import Edit

EXTENDED = 0.35
"""Total share by which an extended image becomes wider or higher."""


def extend(rgb: Floats, named_sides: tuple[str, ...]) -> Floats:
    """Extend the canvas without a seam: the surroundings are mirrored, but not the things in them.

    A thing cut by the edge is not mirrored either: its mirror image is filled with surroundings.
    """
    height, width = rgb.shape[:2]
    sides = [side for side in named_sides if side in ("left", "right", "top", "bottom")] or ["left", "right"]
    share = EXTENDED / (2 if len(sides) > 1 else 1)
    left, right = (round(width * share) if side in sides else 0 for side in ("left", "right"))
    top, bottom = (round(height * share) if side in sides else 0 for side in ("top", "bottom"))
    things = cv2.dilate(salient_mask(rgb).astype(np.uint8), np.ones((9, 9), np.uint8))
    cut = components_touching(things > 0, _rims((height, width), sides))
    source_rim = np.ones((height, width), np.bool_)  # the pixels that are mirrored somewhere
    source_rim[top : height - bottom, left : width - right] = False
    inside = components_touching(np.asarray((things > 0) & ~cut), source_rim)
    plate = remove(rgb, inside) if inside.any() else rgb

    def mirrored(picture: Any) -> Any:
        return cv2.copyMakeBorder(picture, top, bottom, left, right, cv2.BORDER_REFLECT_101)

    new = np.ones((height + top + bottom, width + left + right), np.bool_)
    new[top : top + height, left : left + width] = False
    wide = np.asarray(mirrored(plate), np.float32)
    doubled = np.asarray(new & (mirrored(cut.astype(np.uint8)) > 0))
    wide = blend_masked(wide, fill(wide, doubled, avoid=np.asarray(mirrored(things) > 0)), doubled)
    wide[~new] = rgb.reshape(-1, 3)
    return wide


def _rims(shape: tuple[int, ...], sides: list[str]) -> Mask:
    """The outermost pixels at these sides."""
    rims = np.zeros(shape, np.bool_)
    for side, edge in (("left", np.s_[:, 0]), ("right", np.s_[:, -1]), ("top", np.s_[0]), ("bottom", np.s_[-1])):
        rims[edge] |= side in sides
    return rims


def crop_edit(rgb: Floats, edit: Edit) -> Floats:
    """Crop to the subject, to a square, or to two thirds of the frame at the named side (by default the middle)."""
    height, width = rgb.shape[:2]
    square = re.search(r"\bsquare\b", edit.clause) is not None
    around = re.search(r"\b(?:to|around|on) (?:the|its|his|her) (?!left|right|top|bottom|middle|cent)", edit.clause)
    if around or square:
        subject = upscale_mask(find_subject(search_copy(rgb)), rgb)
        if subject.any():
            return _around(rgb, subject, square)
    h, w = (min(height, width),) * 2 if square else (round(height * 2 / 3), round(width * 2 / 3))
    x = 0 if "left" in edit.places else (width - w if "right" in edit.places else (width - w) // 2)
    y = 0 if "top" in edit.places else (height - h if "bottom" in edit.places else (height - h) // 2)
    return np.ascontiguousarray(rgb[y : y + max(h, 1), x : x + max(w, 1)])


def _around(rgb: Floats, subject: Mask, square: bool) -> Floats:
    """The subject with a margin; a square is as large as the frame allows."""
    height, width = rgb.shape[:2]
    rows, columns = np.nonzero(subject)
    y, x = (rows.min() + rows.max()) / 2, (columns.min() + columns.max()) / 2
    if square:
        h = w = min(height, width)
    else:
        h = min(height, round((rows.max() - rows.min() + 1) * 1.25))
        w = min(width, round((columns.max() - columns.min() + 1) * 1.25))
    top, left = int(np.clip(y - h / 2, 0, height - h)), int(np.clip(x - w / 2, 0, width - w))
    return np.ascontiguousarray(rgb[top : top + h, left : left + w])


def level(rgb: Floats) -> Floats | None:
    """Rotate the image so that its long, nearly level lines become level. None if there are none.

    Nothing is cut off at the sides: the empty corners are filled.
    """
    angle = _tilt(rgb)
    if angle is None or abs(angle) < 0.3:
        return None
    height, width = rgb.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    turned = cv2.warpAffine(rgb, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT_101)
    covered = cv2.warpAffine(np.ones((height, width), np.float32), matrix, (width, height))
    free = np.asarray(covered < 0.999)
    return np.asarray(
        np.clip(fill(np.asarray(turned, np.float32), free, np.asarray(turned, np.float32)), 0, 1), np.float32
    )


def _tilt(rgb: Floats) -> float | None:
    """The weighted median angle, in degrees, of long lines within 20 degrees of level."""
    scale = min(1.0, 800 / max(rgb.shape[:2]))
    size = (max(1, round(rgb.shape[1] * scale)), max(1, round(rgb.shape[0] * scale)))
    small = cv2.resize(rgb.mean(axis=2), size, interpolation=cv2.INTER_AREA)
    edges = cv2.Canny(cv2.GaussianBlur(np.asarray(np.clip(small * 255, 0, 255), np.uint8), (0, 0), 2), 20, 60)
    lines = cv2.HoughLinesP(edges, 1, np.pi / 720, 60, minLineLength=size[0] // 5, maxLineGap=size[0] // 25)
    if lines is None:
        return None
    segments = np.asarray(lines, np.float64).reshape(-1, 4)
    run, rise = segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1]
    angles, lengths = np.degrees(np.arctan2(rise, run)), np.hypot(run, rise)
    near = np.abs(angles) < 20
    if not near.any():
        return None
    order = np.argsort(angles[near])
    weight = np.cumsum(lengths[near][order])
    return float(angles[near][order][int(np.searchsorted(weight, weight[-1] / 2))])


def flip(rgb: Floats) -> Floats:
    """Mirror left and right."""
    return np.ascontiguousarray(rgb[:, ::-1])
