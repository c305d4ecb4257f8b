"""Find the pixels that an edit means: the given mask, words with a place, the named colour, else the main subject.

A thing is found by its colour, its position and its salience (U²-Net); a detector helps to choose if it knows the
thing. What cannot be distinguished that way (a part of a thing, a second thing without a colour) is not found, and
the edit is refused.
Arrays are (height, width, 3), 0 to 1; masks are (height, width).
"""

import re

import cv2
import numpy as np
import numpy.typing as npt

from imarena.core import Floats, Mask
from imarena.editors.classical.sky import sky_mask
from imarena.images import mask_from_image
from imarena.language import Edit, EditKind, lexicon
from imarena.vision import BASIC_COLOURS, basic_colour, basic_names, colour_likeness, rgb_of, saliency, to_oklab

WORK_SIDE = 384
LARGEST = 0.75
"""Largest share of the image that a thing may cover."""
LARGEST_REMOVED = 0.4
"""A salient area above this share is the whole subject; a thing without a colour would only be a part of it."""
_STANDS_OUT = 0.4
_ALIKE = 0.4
_LARGE = 0.2
"""Minimum share of a piece of the salient area that counts as a separate thing."""
_HERE, _SEEN = 0.3, 0.6
"""Detector scores relative to their maximum from which a thing may be present, and from which it counts as seen."""
_NEUTRAL = frozenset({"black", "white", "grey"})
_SKY = frozenset({"sky", "skies", "heaven"})
_PARTS = frozenset(
    ("eye", "eyes", "hair", "nose", "mouth", "lips", "ear", "ears", "paw", "paws", "leg", "legs", "hand", "hands",
     "beard", "teeth", "tail", "wheel", "wheels", "roof", "door", "doors", "handle", "shadow", "shadows", "reflection")
)  # fmt: skip
"""Parts of things, which colour and salience cannot locate."""
_NEAR = re.compile(r"\b(?:of|on|in|at|with|near|next|by|from|under|behind|beside|that|which|to|between|above)\b")


def target_mask(rgb: Floats, edit: Edit, masks: tuple[bytes, ...], last: Mask | None = None) -> Mask | None:
    """Mask of the thing that an edit means; None if it is not found. `last`: the area that "it" refers to."""
    height, width = rgb.shape[:2]
    if masks:
        return mask_from_image(masks[0], (width, height))
    if edit.target in {"it", "them", "this"} and last is not None and last.shape == (height, width):
        return last
    small = search_copy(rgb)
    words = _NEAR.split(edit.target)[0].split()
    mask: Mask | None
    if set(words) & _SKY:
        mask = sky_mask(small)
    elif set(words) & _PARTS:
        return None
    else:
        colours = edit.old_colours or tuple(w for w in words if w in lexicon().colours and w not in edit.colours)
        scores = detection_map(small, words)
        mask = _by_colour(small, colours[0], edit, scores) if colours else _the_one(find_subject(small), edit, scores)
        if mask is not None and not colours and edit.kind is EditKind.REMOVE and mask.mean() > LARGEST_REMOVED:
            return None
    if mask is None or not mask.any() or mask.mean() > LARGEST:
        return None
    return upscale_mask(mask, rgb)


def search_copy(rgb: Floats) -> Floats:
    """A small copy in which things are searched."""
    scale = min(1.0, WORK_SIDE / max(rgb.shape[:2]))
    size = (max(8, round(rgb.shape[1] * scale)), max(8, round(rgb.shape[0] * scale)))
    return np.asarray(cv2.resize(np.clip(rgb, 0, 1), size, interpolation=cv2.INTER_AREA), np.float32)


def upscale_mask(small_mask: Mask, rgb: Floats) -> Mask:
    """A mask of the small copy scaled to full size, with its border along the image's own edges."""
    height, width = rgb.shape[:2]
    soft = cv2.resize(small_mask.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(soft > 0.5)


def salient_mask(rgb: Floats) -> Mask:
    """All salient pixels, at full size; not used as a source when surroundings are filled in."""
    return np.asarray(saliency(rgb) > 0.3)


def find_subject(small: Floats) -> Mask:
    """The main subject: salience, refined along edges by GrabCut. Empty if nothing stands out."""
    salient = saliency(small)
    if float(salient.max()) < _STANDS_OUT:
        return np.zeros(salient.shape, np.bool_)
    rough = salient > _STANDS_OUT
    cut = _grab_cut(small, sure=salient > 0.9, likely=rough, never=salient < 0.05)
    agreed = float((cut & rough).sum()) / max(float((cut | rough).sum()), 1.0)
    return cut if agreed > 0.7 else rough


def _grab_cut(small: Floats, sure: Mask, likely: Mask, never: Mask) -> Mask:
    """GrabCut from three classes of pixels; returns the likely ones if it cannot work."""
    labels = np.full(likely.shape, cv2.GC_PR_BGD, np.uint8)
    labels[likely] = cv2.GC_PR_FGD
    labels[never] = cv2.GC_BGD
    labels[sure] = cv2.GC_FGD
    foreground = (labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD)
    if foreground.sum() < 16 or (~foreground).sum() < 16:
        return likely
    picture = np.asarray(small * 255 + 0.5, np.uint8)[..., ::-1].copy()
    cv2.setRNGSeed(0)
    try:
        cv2.grabCut(picture, labels, None, np.zeros((1, 65)), np.zeros((1, 65)), 3, cv2.GC_INIT_WITH_MASK)
    except cv2.error:  # an image of one colour has no two classes of pixels
        return likely
    return np.asarray((labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD))


def _by_colour(small: Floats, colour: str, edit: Edit, scores: Floats | None) -> Mask | None:
    """The connected area of this colour that is most like a thing: similar, salient, detected, away from the border."""
    alike = _alike(small, colour)
    salient = saliency(small)
    apart = salient if scores is None else np.maximum(salient, _apart(alike, scores))
    components = (
        _components(alike) if basic_colour(colour) not in _NEUTRAL else _components(np.minimum(alike, 2 * apart))
    )
    if components is None:
        components = _components(salient)
    if components is None:
        return None
    labels, ids = components
    shares = {
        i: _thingness(labels == i, alike, apart, edit.places) * area_confidence(labels == i, scores) ** 2 for i in ids
    }
    best = max(shares.values())
    if best <= 0 or float(alike[labels == max(shares, key=lambda i: shares[i])].mean()) < _ALIKE:
        return None
    many = re.search(r"(?<!s)s$", _NEAR.split(edit.target)[0].strip()) is not None or (edit.count or 1) > 1
    best_ids = [i for i in ids if shares[i] >= (0.3 if many else 0.999) * best]
    core = _with_neighbours(labels, best_ids, ids)
    return core if core.mean() > 0.3 else _rounded(small, core, alike, salient)


def _apart(alike: Floats, scores: Floats) -> Floats:
    """How much each pixel's colour stands out in the detected area: the detector's grid alone is too coarse."""
    usual = min(float(np.median(alike)), 0.9)
    return np.asarray(np.clip((alike - usual) / (1 - usual), 0, 1) * (scores > _SEEN), np.float32)


def _with_neighbours(labels: npt.NDArray[np.int32], best_ids: list[int], ids: list[int]) -> Mask:
    """The chosen areas and smaller nearby ones of the same colour: slats of a chair, stripes of a ball."""
    core = np.isin(labels, best_ids)
    y, x = np.nonzero(core)
    reach = 2 * max(3, round(0.12 * max(y.max() - y.min(), x.max() - x.min()))) + 1
    near = cv2.dilate(core.astype(np.uint8), np.ones((reach, reach), np.uint8)) > 0
    close = [
        i for i in ids if (labels == i).sum() < core.sum() and (near & (labels == i)).sum() > 0.3 * (labels == i).sum()
    ]
    return np.isin(labels, [*best_ids, *close])


def _alike(small: Floats, colour: str) -> Floats:
    """How much each pixel has this colour: close to it, or of the same name and not too dull, which includes shade."""
    near = colour_likeness(small, colour)
    smooth = cv2.bilateralFilter(small, 5, 0.08, 3)
    same_name = basic_names(smooth) == BASIC_COLOURS.index(basic_colour(colour))
    if basic_colour(colour) not in _NEUTRAL:
        same_name &= _purity(to_oklab(smooth)) > 0.4 * float(_purity(to_oklab(rgb_of(colour))))
    return np.asarray(np.where(same_name, np.maximum(near, 0.6), 0.7 * near), np.float32)


def _purity(oklab: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Chroma relative to lightness, which is the same in light and in shade."""
    return np.asarray(np.hypot(oklab[..., 1], oklab[..., 2]) / np.maximum(oklab[..., 0], 0.05))


def _components(alike: Floats) -> tuple[npt.NDArray[np.int32], list[int]] | None:
    like = cv2.morphologyEx((alike > 0.5).astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    like = cv2.morphologyEx(like, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(like)
    least = max(12.0, 0.0008 * like.size)
    ids = [i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] >= least]
    return (np.asarray(labels, np.int32), ids) if ids else None


def _thingness(area: Mask, alike: Floats, salient: Floats, sides: tuple[str, ...]) -> float:
    """Score of an area: high if large, similar and salient; low along the image border or in the wrong half."""
    height, width = area.shape
    share = float(area.mean())
    border = np.concatenate([area[0], area[-1], area[:, 0], area[:, -1]])
    edge = float(border.mean())
    y, x = (float(v.mean()) for v in np.nonzero(area))
    wrong = {"left": x > width / 2, "right": x < width / 2, "top": y > height / 2, "bottom": y < height / 2}
    penalty = 0.1 if any(wrong.get(side, False) for side in sides) else 1.0
    like, out = float(alike[area].mean()), float(salient[area].mean())
    flat = 1.0 - min(1.0, 1.5 * out)  # walls and floors are wide and run along the border; a subject may too
    wide = 1.0 - 0.85 * flat if share > 0.3 else 1.0
    return float(like**2 * np.sqrt(min(share, 0.08)) * (0.15 + out) * np.exp(-8 * edge * flat) * penalty * wide)


def _rounded(small: Floats, core: Mask, alike: Floats, salient: Floats) -> Mask:
    """The area with its shaded and lit parts: GrabCut in a frame around it, supported by the salience there."""
    y, x = np.nonzero(core)
    margin = max(3, round(0.12 * max(y.max() - y.min(), x.max() - x.min())))
    frame = np.zeros_like(core)
    frame[max(0, y.min() - margin) : y.max() + margin + 1, max(0, x.min() - margin) : x.max() + margin + 1] = True
    inner = cv2.erode(core.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    near = cv2.dilate(core.astype(np.uint8), np.ones((2 * margin + 1, 2 * margin + 1), np.uint8)) > 0
    likely = core | (frame & (salient > 0.5))
    cut = _grab_cut(small, sure=inner & (alike > 0.5), likely=likely, never=~(frame & near))
    joined = components_touching(cut | core | (frame & near & (salient > 0.8) & (alike > 0.12)), core)
    return _filled(joined if joined.sum() < 3 * core.sum() else core)


def components_touching(mask: Mask, core: Mask) -> Mask:
    """The connected pieces of a mask that overlap the core."""
    _, labels = cv2.connectedComponents(mask.astype(np.uint8))
    return np.isin(labels, np.unique(labels[core & mask]))


def _filled(mask: Mask) -> Mask:
    """Fill small holes, such as highlights; larger holes, through which the background is seen, stay."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats((~mask).astype(np.uint8), connectivity=4)
    small = [i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] < 0.12 * mask.sum()]
    return np.asarray(mask | np.isin(labels, small))


def _parted(mask: Mask, most: float) -> npt.NDArray[np.uint8]:
    """Split a mask at its thinnest places if this gives large pieces, as for two things that touch side by side."""
    pieces = mask.astype(np.uint8)
    deep = cv2.distanceTransform(pieces, cv2.DIST_L2, 5)
    for depth in np.linspace(1, most * float(deep.max()), 12):
        inner = (deep > depth).astype(np.uint8)
        count, _, stats, _ = cv2.connectedComponentsWithStats(inner)
        if (stats[1:, cv2.CC_STAT_AREA] > _LARGE * inner.sum()).sum() > 1 and count > 2:
            _, nearest = cv2.distanceTransformWithLabels(1 - inner, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_CCOMP)
            edges = cv2.morphologyEx(np.asarray(nearest, np.float32), cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
            return np.asarray(pieces * (edges == 0), np.uint8)
    return pieces


def _the_one(mask: Mask, edit: Edit, scores: Floats | None) -> Mask:
    """Choose among several salient things: all for a plural, else the one at the named side, else the main one.

    Empty if the detector sees such a thing elsewhere: the salient one is another thing.
    """
    if area_confidence(mask, scores) < _HERE:
        return np.zeros_like(mask)
    sides = [side for side in edit.places if side in ("left", "right", "top", "bottom")]
    count, labels, stats, centres = cv2.connectedComponentsWithStats(_parted(mask, 0.6 if sides else 0.25))
    many = re.search(r"(?<!s)s$", _NEAR.split(edit.target)[0].strip()) is not None
    if count < 3 or (many and not sides):
        return mask
    height, width = mask.shape
    large = [i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] > 0.12 * stats[1:, cv2.CC_STAT_AREA].sum()]
    towards = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}
    dx, dy = (sum(towards[side][axis] for side in sides) for axis in (0, 1))

    def worth(i: int) -> float:
        x, y = float(centres[i][0]) / width, float(centres[i][1]) / height
        if sides:
            return float(dx * x + dy * y)
        middle = 1.2 - abs(x - 0.5) - 0.5 * abs(y - 0.5)
        return float(np.sqrt(stats[i, cv2.CC_STAT_AREA]) * middle * area_confidence(labels == i, scores) ** 2)

    return np.asarray(labels == max(large or range(1, count), key=worth))


SURE = 0.4
"""Below this score the detector is more often wrong than useful."""


def detection_map(small: Floats, words: list[str]) -> Floats | None:
    """Detector score of the things in `words` at each pixel, relative to its maximum; None: nothing detected.

    Shape (height, width). Cells of the detector's raster are widened by one, because a thing exceeds its middle.
    """
    from imarena.vision import detection_scores, kinds_in_phrase

    kinds = sorted(kinds_in_phrase(" ".join(words)))
    if not kinds:
        return None
    raster = np.asarray(detection_scores(small)[kinds].max(axis=0), np.float32)
    if float(raster.max()) < SURE:
        return None
    wide = cv2.dilate(raster / raster.max(), np.ones((3, 3), np.uint8))
    height, width = small.shape[:2]
    return np.asarray(cv2.resize(wide, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def area_confidence(area: npt.NDArray[np.bool_], scores: Floats | None) -> float:
    """Confidence that an area is the thing, 0 to 1; 1 if the detector has no information."""
    return 1.0 if scores is None else float(scores[area].max(initial=0.0))
