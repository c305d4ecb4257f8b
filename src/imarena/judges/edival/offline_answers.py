"""Yes-or-no answers without a model: an object's colour, and whether the background became the requested one.

Questions that pixels cannot answer (a material, a place without a typical colour) are left unanswered.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from imarena.core import Pixels, package_yaml
from imarena.images import shrink_pixels
from imarena.judges.edival.tools import YesNoQuestion, crop
from imarena.language import lexicon
from imarena.vision import BASIC_COLOURS, basic_colour, basic_names

_SIDE = 160
_MIDDLE = 0.42
"""Semi-axes of the ellipse that is examined, as shares of a box: a box's corners show what is behind the object."""
_COLOUR_SHARE = 0.30
_COLOUR_GAIN = 0.12
_CHANGED = 24.0
_CHANGED_SHARE = 0.5
_LOOKS: dict[str, list[str]] = package_yaml("imarena.judges", "edival", "looks.yaml")
"""Places with a typical look, and the colours that cover most of it."""


@dataclass(frozen=True)
class ColourAnswers:
    """Answers questions about colours and simple backgrounds by naming colours."""

    name: str = "colour-names"
    version: str = "1"
    compares: bool = True

    async def answer(self, question: YesNoQuestion, after: Pixels, before: Pixels) -> bool | None:
        """Answer about an object's colour, or a background with a colour or typical look; None for everything else."""
        if question.kind == "color":
            return _recoloured(question, after, before)
        if question.kind == "background":
            return _new_background(question, after, before)
        return None


def _colour_index(colour: str) -> int | None:
    words = [word for word in colour.lower().replace("-", " ").split() if word in lexicon().colours]
    return BASIC_COLOURS.index(basic_colour(words[-1])) if words else None


def _recoloured(question: YesNoQuestion, after: Pixels, before: Pixels) -> bool | None:
    colour = _colour_index(question.value)
    if colour is None or question.box is None:
        return None
    now = _share(crop(after, question.box), colour)
    then = _share(crop(before, question.before_box or question.box), colour)
    return now >= _COLOUR_SHARE and now - then >= _COLOUR_GAIN


def _share(part: Pixels, colour: int) -> float:
    """The share of the middle of an image part that has the colour."""
    names = basic_names(np.asarray(shrink_pixels(part, _SIDE), np.float32) / np.float32(255))
    height, width = names.shape
    rows = (np.arange(height)[:, None] + 0.5) / height - 0.5
    columns = (np.arange(width)[None, :] + 0.5) / width - 0.5
    inside = rows**2 + columns**2 <= _MIDDLE**2
    return float((names[inside] == colour).mean()) if inside.any() else 0.0


def _new_background(question: YesNoQuestion, after: Pixels, before: Pixels) -> bool | None:
    """Did most of the area outside the objects change, and does it look as requested?"""
    size = (_SIDE, _SIDE)
    now = np.asarray(cv2.resize(after, size, interpolation=cv2.INTER_AREA), np.float32)
    then = np.asarray(cv2.resize(before, size, interpolation=cv2.INTER_AREA), np.float32)
    behind = np.ones((_SIDE, _SIDE), np.bool_)
    for left, top, right, bottom in question.others:
        behind[int(top * _SIDE) : int(np.ceil(bottom * _SIDE)), int(left * _SIDE) : int(np.ceil(right * _SIDE))] = False
    if behind.mean() < 0.05:
        return None
    if not _other_place(now, then, behind):
        return False
    names = basic_names(now / np.float32(255))[behind]
    colour = _colour_index(question.value)
    if colour is not None:
        return float((names == colour).mean()) >= _CHANGED_SHARE
    for word in question.value.lower().split():
        if word in _LOOKS:
            fitting = [BASIC_COLOURS.index(colour) for colour in _LOOKS[word]]
            return float(np.isin(names, fitting).mean()) >= _CHANGED_SHARE
    return None


def _other_place(now: NDArray[np.float32], then: NDArray[np.float32], behind: NDArray[np.bool_]) -> bool:
    """Is this another place, not the same one in another tone? A tone change affects all pixels alike."""
    for channel in range(3):
        left, right = then[..., channel][behind], now[..., channel][behind]
        if np.std(right) < 1e-6 or np.std(left) < 1e-6:
            continue
        if np.corrcoef(left, right)[0, 1] > 0.9:
            return False
    distance = np.abs(now - then).max(axis=2)
    return float((distance[behind] > _CHANGED).mean()) >= _CHANGED_SHARE
