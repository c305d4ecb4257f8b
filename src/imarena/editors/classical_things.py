"""Classical changes of things: which pixels are meant, recolouring, removal by inpainting, backgrounds."""

import re

import cv2
import numpy as np
import numpy.typing as npt

from imarena.editors.classical_light import Floats
from imarena.images import mask_from_image
from imarena.language import Edit
from imarena.vision import likeness, rgb_of

Bools = npt.NDArray[np.bool_]
WORK_SIDE = 320
_LIKE = (0.45, 0.62, 0.78)
"""How much a pixel must look like the named colour; the next level is taken where too much of the picture does."""
_WIDESPREAD = 0.22
_LARGEST = 0.6
"""A thing is no more than this share of the picture."""


def target_mask(rgb: Floats, edit: Edit, masks: tuple[bytes, ...]) -> Bools | None:
    """Where the thing is that an edit means: the given mask, its named colour, else the subject. None: not found."""
    height, width = rgb.shape[:2]
    if masks:
        return mask_from_image(masks[0], (width, height))
    words = edit.target.split()
    colours = edit.old_colours or tuple(w for w in words if w in _colour_words() and w not in edit.colours)
    small = _small(rgb)
    found = _by_colour(small, colours[0]) if colours else None
    if found is None or not found.any():
        found = subject_mask(small)
    found = _at_place(found, edit.places)
    if not found.any() or found.mean() > _LARGEST:
        return None
    grown = cv2.dilate(found.astype(np.uint8), np.ones((3, 3), np.uint8))
    return np.asarray(cv2.resize(grown, (width, height), interpolation=cv2.INTER_LINEAR) > 0)


def _colour_words() -> dict[str, str]:
    from imarena.language import lexicon

    return lexicon().colours


def _small(rgb: Floats) -> Floats:
    scale = min(1.0, WORK_SIDE / max(rgb.shape[:2]))
    size = (max(8, round(rgb.shape[1] * scale)), max(8, round(rgb.shape[0] * scale)))
    return np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), np.float32)


def _by_colour(small: Floats, colour: str) -> Bools | None:
    """Connected areas that look like the colour; specks are dropped."""
    alike = likeness(np.clip(small, 0, 1), colour)
    like = next((alike > level for level in _LIKE if (alike > level).mean() <= _WIDESPREAD), alike > _LIKE[-1])
    closed = cv2.morphologyEx(like.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(closed)
    areas = [int(stats[i, cv2.CC_STAT_AREA]) for i in range(1, count)]
    if not areas:
        return None
    kept = [i + 1 for i, area in enumerate(areas) if area >= max(0.15 * max(areas), 0.001 * closed.size)]
    return np.isin(labels, kept)


def _at_place(mask: Bools, places: tuple[str, ...]) -> Bools:
    height, width = mask.shape
    halves = {
        "left": np.s_[:, width // 2 :],
        "right": np.s_[:, : width // 2],
        "top": np.s_[height // 2 :, :],
        "bottom": np.s_[: height // 2, :],
    }
    part = mask.copy()
    for place in places:
        if place in halves:
            part[halves[place]] = False
    return part if part.any() else mask


def subject_mask(small: Floats) -> Bools:
    """The subject: GrabCut from the middle of the frame. Shape as given; what it is unsure of is background."""
    height, width = small.shape[:2]
    picture = np.asarray(np.clip(small * 255, 0, 255), np.uint8)[..., ::-1].copy()
    labels = np.full((height, width), cv2.GC_BGD, np.uint8)
    y, x = round(height * 0.12), round(width * 0.12)
    labels[y : height - y, x : width - x] = cv2.GC_PR_BGD
    y, x = round(height * 0.28), round(width * 0.28)
    labels[y : height - y, x : width - x] = cv2.GC_PR_FGD
    cv2.setRNGSeed(0)
    try:
        cv2.grabCut(picture, labels, None, np.zeros((1, 65)), np.zeros((1, 65)), 3, cv2.GC_INIT_WITH_MASK)
    except cv2.error:  # a flat picture has no two kinds of pixels
        return np.zeros((height, width), np.bool_)
    return np.asarray((labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD))


def recolour(rgb: Floats, mask: Bools, colour: str) -> Floats:
    """Hue and chroma of the colour, lightness shifted towards it, shading kept. In Lab, soft at the border."""
    lab = cv2.cvtColor(np.ascontiguousarray(rgb), cv2.COLOR_RGB2LAB)
    wanted = cv2.cvtColor(rgb_of(colour).astype(np.float32).reshape(1, 1, 3), cv2.COLOR_RGB2LAB)[0, 0]
    changed = lab.copy()
    centre = lab[mask].mean(axis=0)
    changed[..., 0] = np.clip(lab[..., 0] + 0.75 * (wanted[0] - centre[0]), 0, 100)
    changed[..., 1:] = wanted[1:] + 0.25 * (lab[..., 1:] - centre[1:])
    painted = cv2.cvtColor(np.asarray(changed, np.float32), cv2.COLOR_LAB2RGB)
    return _blended(rgb, np.asarray(painted, np.float32), mask)


def remove(rgb: Floats, mask: Bools) -> Floats:
    """Telea's inpainting over the thing and a margin, at a bounded size; the fill is grained like its surroundings."""
    height, width = rgb.shape[:2]
    grown = cv2.dilate(mask.astype(np.uint8), np.ones((9, 9), np.uint8))
    scale = min(1.0, 640 / max(height, width))
    size = (round(width * scale), round(height * scale))
    small = cv2.resize(np.asarray(np.clip(rgb * 255, 0, 255), np.uint8), size, interpolation=cv2.INTER_AREA)
    hole = cv2.resize(grown, size, interpolation=cv2.INTER_NEAREST)
    filled = cv2.inpaint(small, hole, 5, cv2.INPAINT_TELEA)
    large = cv2.resize(filled, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.float32) / 255
    return _blended(rgb, np.asarray(large, np.float32), grown > 0)


def background(rgb: Floats, edit: Edit, masks: tuple[bytes, ...]) -> Floats | None:
    """The surroundings blurred, removed to white, or painted in the named colour. None where it cannot be done."""
    height, width = rgb.shape[:2]
    subject = mask_from_image(masks[0], (width, height)) if masks else None
    if subject is None:
        small = subject_mask(_small(rgb)).astype(np.uint8)
        subject = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR) > 0
    if edit.operation == "blur":
        behind = cv2.GaussianBlur(rgb, (0, 0), max(height, width) / 60)
    else:
        named = [w for w in re.findall(r"[a-z]+", edit.value) if w in _colour_words()]
        if not named and edit.operation != "remove":
            return None
        shade = rgb_of(named[0]) if named else np.ones(3)
        behind = np.broadcast_to(shade.astype(np.float32), rgb.shape)
    return _blended(rgb, np.asarray(behind, np.float32), ~subject)


def _blended(under: Floats, over: Floats, mask: Bools) -> Floats:
    soft = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 1.2)[..., None]
    return np.asarray(under * (1 - soft) + over * soft, np.float32)
