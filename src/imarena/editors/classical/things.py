"""Classical changes of things: recolouring, removal by inpainting, backgrounds.

Arrays are (height, width, 3), 0 to 1.
"""

import re
from typing import Any

import cv2
import numpy as np

from imarena.core import Floats, Mask
from imarena.editors.classical.fill import fill
from imarena.editors.classical.find import find_subject, salient_mask, search_copy, upscale_mask
from imarena.images import mask_from_image
from imarena.language import Edit, lexicon, named_colour
from imarena.vision import rgb_of

_WIDE_GAP = 41
_PALE, _DEEP = frozenset({"light", "pale", "pastel", "bright"}), frozenset({"dark", "deep"})


def shade(colour: str, description: str) -> Floats:
    """A colour's sRGB value, shape (3,): by its full name ("sea green"), else lighter or darker as the words say."""
    name = named_colour(description)
    if name is not None:
        return rgb_of(name).astype(np.float32)
    value = rgb_of(colour).astype(np.float32)
    words = set(re.findall(r"[a-z]+", description))
    if words & _PALE:
        value = np.asarray(value + 0.5 * (1 - value), np.float32)
    elif words & _DEEP:
        value = np.asarray(value * np.float32(0.55), np.float32)
    return value


def recolour(rgb: Floats, mask: Mask, colour: str, description: str = "") -> Floats:
    """Set hue and chroma; change lightness only as far as needed, so that shading and highlights stay. In Lab."""
    lab = cv2.cvtColor(np.ascontiguousarray(rgb), cv2.COLOR_RGB2LAB)
    target = cv2.cvtColor(shade(colour, description).reshape(1, 1, 3), cv2.COLOR_RGB2LAB)[0, 0]
    centre = np.median(lab[mask], axis=0)
    chroma = np.hypot(lab[..., 1], lab[..., 2])
    usual = float(np.median(chroma[mask]))
    depth = lab[..., 0] / max(float(centre[0]), 8.0)
    changed = lab.copy()
    goal = centre[0] + _lightness_share(target) * (target[0] - centre[0])
    changed[..., 0] = (
        np.clip(depth * goal, 0, 100) if goal < centre[0] else np.clip(lab[..., 0] + goal - centre[0], 0, 100)
    )
    # Highlights and printed white have little colour and keep little; in the shade colours are weaker.
    own = np.clip(chroma / usual, 0.25, 1.25) if usual > 12 else np.clip(depth, 0.3, 1.1)
    changed[..., 1:] = target[1:] * own[..., None]
    painted = cv2.cvtColor(np.asarray(changed, np.float32), cv2.COLOR_LAB2RGB)
    return blend_masked(rgb, np.asarray(np.clip(painted, 0, 1), np.float32), mask)


def _lightness_share(target: Floats) -> float:
    """Black, white and grey are recognised by their lightness; colours mostly by their hue."""
    return 0.9 if float(np.hypot(target[1], target[2])) < 12 else 0.6


def remove(rgb: Floats, mask: Mask) -> Floats:
    """Remove a thing with a margin, and fill the area with pieces of the rest."""
    side = 2 * max(3, round(max(rgb.shape[:2]) / 90)) + 1
    rows, columns = np.nonzero(mask)
    gap = 2 * (min(int(np.ptp(rows)), int(np.ptp(columns))) // 8) + 1
    # Missed legs and spokes lie between detected ones, so close the gaps before growing.
    closed = _closed(mask.astype(np.uint8), gap)
    grown = cv2.dilate(closed, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))) > 0
    return blend_masked(rgb, fill(rgb, grown, avoid=salient_mask(rgb)), grown)


def _closed(mask: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], side: int) -> Any:
    """Add gaps up to `side` wide. Wide gaps are closed in a smaller copy, because time grows with their square."""
    if side > _WIDE_GAP:
        height, width = mask.shape
        scale = _WIDE_GAP / side
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        small = (cv2.resize(mask * np.uint8(255), size, interpolation=cv2.INTER_AREA) > 127).astype(np.uint8)
        return np.maximum(mask, cv2.resize(_closed(small, _WIDE_GAP), (width, height), interpolation=cv2.INTER_NEAREST))
    wide = cv2.copyMakeBorder(mask, side, side, side, side, cv2.BORDER_CONSTANT, value=0)
    shape = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    return cv2.morphologyEx(wide, cv2.MORPH_CLOSE, shape)[side:-side, side:-side]


def background(rgb: Floats, edit: Edit, masks: tuple[bytes, ...]) -> Floats | None:
    """Blur the surroundings, make them white, or paint them in the named colour. None if impossible."""
    height, width = rgb.shape[:2]
    colours = [word for word in re.findall(r"[a-z]+", edit.value) if word in lexicon().colours]
    if not colours and edit.operation not in ("remove", "blur"):
        return None
    subject = mask_from_image(masks[0], (width, height)) if masks else upscale_mask(find_subject(search_copy(rgb)), rgb)
    if not subject.any():
        return None
    if edit.operation == "blur":
        # Blur without the subject, or its colours would bleed into a halo around it.
        weight = (~subject).astype(np.float32)[..., None]
        reach = max(height, width) / 70
        behind = cv2.GaussianBlur(rgb * weight, (0, 0), reach) / np.maximum(
            cv2.GaussianBlur(weight, (0, 0), reach)[..., None], 1e-3
        )
        behind = np.where(subject[..., None], rgb, behind)
    else:
        tone = shade(colours[0], edit.value) if colours else np.ones(3, np.float32)
        behind = np.broadcast_to(tone, rgb.shape)
    return blend_masked(rgb, np.asarray(np.clip(behind, 0, 1), np.float32), ~subject)


def blend_masked(under: Floats, over: Floats, mask: Mask) -> Floats:
    """Put `over` into the masked area, with a soft border as wide as the image's own edges."""
    soft = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), max(1.0, max(mask.shape) / 700))[..., None]
    return np.asarray(under * (1 - soft) + over * soft, np.float32)
