"""The tools that find regions, by name: a detector for phrases, and a segmenter for the things in boxes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import Detection, Mask, UserError
from imarena.preferences import Grounder, MaskMaker
from imarena.vision import DETECTORS, SEGMENTERS, labels_in_phrase

Pixels = NDArray[np.uint8]
Boxes = Sequence[tuple[float, float, float, float]]


def find_grounder(name: str) -> Grounder:
    """A detector that finds what phrases name. Open-vocabulary ones are asked for the phrases; the others for all
    that they know, and what a phrase does not mean is left out.
    """
    tool: Any = DETECTORS.get(name)
    if _is_pretrained(tool):
        model = tool.model  # loaded now: a missing extra or missing weights are told before any work

        def by_phrase(pixels: Pixels, phrases: Sequence[str]) -> tuple[Detection, ...]:
            found: tuple[Detection, ...] = model.batch([pixels], phrases)[0]
            return found

        return by_phrase

    def by_kind(pixels: Pixels, phrases: Sequence[str]) -> tuple[Detection, ...]:
        meant = {label for phrase in phrases for label in labels_in_phrase(phrase)}
        return tuple(found for found in tool(pixels) if found.label in meant) if meant else ()

    return by_kind


def _is_pretrained(tool: Any) -> bool:
    return hasattr(type(tool), "batch")


def find_mask_maker(name: str) -> MaskMaker | None:
    """A segmenter that is asked for the things in boxes; empty: the boxes themselves are the region."""
    if not name:
        return None
    tool: Any = SEGMENTERS.get(name)
    if not _is_pretrained(tool):
        raise UserError(
            f"The segmenter '{name}' cannot be asked about boxes.", hint="Use mobile-sam, sam or sam2, or leave it out."
        )

    def in_boxes(pixels: Pixels, boxes: Boxes) -> Mask:
        found = tool.model.masks_in_boxes([pixels], [boxes])[0]
        union = np.zeros(pixels.shape[:2], np.bool_)
        for segment in found:
            union |= segment.mask
        return union

    return in_boxes
