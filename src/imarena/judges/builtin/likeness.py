"""Similarity of image and text (CLIP, if a model is installed): are the changed region and the whole output closer to
what the instruction asks for than the source is?
"""

from collections.abc import Callable

import numpy as np

from imarena.core import Pixels
from imarena.language import Edit, EditKind
from imarena.vision import Difference

Likeness = Callable[[Pixels, str], float]
"""Takes an image (height, width, 3) and a text, and returns the cosine of their features."""

_MARGIN = 0.15
"""Share of a changed region's box added on each side, because context helps to recognise an object."""
_SMALLEST = 32
"""Minimum side of a crop in pixels."""


def wanted_text(edit: Edit) -> tuple[str, float]:
    """The text that describes the result, and 1; for a removal, the object to remove, and -1."""
    if edit.kind is EditKind.REMOVE:
        return f"a photo of {edit.target}", -1.0
    if edit.kind is EditKind.COLOUR and edit.colours:
        return f"a photo of {edit.colours[0]} {edit.target}".strip(), 1.0
    if edit.value:
        description = f"{edit.value} {edit.target}" if edit.kind is EditKind.MATERIAL else edit.value
        return f"a photo of {description}".strip(), 1.0
    return edit.clause, 1.0


def _crop(picture: Pixels, box: tuple[float, float, float, float]) -> Pixels:
    height, width = picture.shape[:2]
    wide, tall = (box[2] - box[0]) * width, (box[3] - box[1]) * height
    across, down = max(_MARGIN * wide, (_SMALLEST - wide) / 2), max(_MARGIN * tall, (_SMALLEST - tall) / 2)
    left, right = max(0, round(box[0] * width - across)), min(width, round(box[2] * width + across))
    top, bottom = max(0, round(box[1] * height - down)), min(height, round(box[3] * height + down))
    return np.ascontiguousarray(picture[top : max(bottom, top + 1), left : max(right, left + 1)])


def likeness_gains(edit: Edit, difference: Difference, likeness: Likeness) -> dict[str, float]:
    """How much closer the output is to the wanted text than the source: `likeness`, plus `likeness_there` for the
    largest changed region of a local edit. Cosines, output minus source; for a removal, source minus output.
    """
    text, sign = wanted_text(edit)
    if not text.strip() or text.strip() == "a photo of":
        return {}
    before, after = difference.source.full, difference.output.full
    gains = {"likeness": sign * (likeness(after, text) - likeness(before, text))}
    if difference.regions and not edit.whole_image:
        box = difference.regions[0].box
        gain = likeness(_crop(after, box), text) - likeness(_crop(before, box), text)
        gains["likeness_there"] = sign * gain
    return gains
