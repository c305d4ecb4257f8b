"""Edit regions: the objects that the instruction names, detected in source and outputs, or the changed pixels.

Failures have a status; no region is ever invented (GEditBench v2, section 4.2, step I).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import cv2
import numpy as np
from PIL import Image

from imarena.core import BoxSegmenter, Mask, PhraseDetector, Pixels
from imarena.images import Box, box_to_mask
from imarena.language import Edit, EditKind, read_instruction
from imarena.preferences.task_rules import Ground
from imarena.vision import frame_of, measure_difference

RegionMethod = Literal["auto", "objects", "changes"]

LARGEST_SHARE = 0.9
"""From this share of the image on, a region leaves too little outside to be measured (as in the public code)."""
SMALLEST_SHARE = 0.0005
_MARGIN = 0.015
"""Changed regions grow by this share of the longer side: soft edges belong to the edit."""

_EVERYWHERE = 10.0
"""If the median colour distance (CIE76) exceeds this, the whole image counts as changed."""


class RegionStatus(StrEnum):
    """Was a region found?"""

    OK = "ok"
    NAMES_NOTHING = "names_nothing"
    """The instruction names no object, and there is no common change."""
    NOT_FOUND = "not_found"
    """The named objects were not found."""
    COVERS_EVERYTHING = "covers_everything"
    COVERS_NOTHING = "covers_nothing"


@dataclass(frozen=True, eq=False)
class EditRegion:
    """The edit region of one output, in the size of the source; the non-edit region is the rest."""

    status: RegionStatus
    how: str
    """`objects` or `changes`; empty if nothing was found."""
    names: tuple[str, ...]
    """The phrases that were searched for."""
    mask: Mask | None
    """True inside; None unless the status is `ok`."""
    source_boxes: tuple[tuple[float, float, float, float], ...] = ()
    output_boxes: tuple[tuple[float, float, float, float], ...] = ()
    share: float = 0.0
    """Share of the image, whatever the status."""

    @property
    def is_ok(self) -> bool:
        return self.status is RegionStatus.OK


def edited_names(instruction: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The things that an instruction changes: phrases to search for in the source, and in the outputs."""
    before: list[str] = []
    after: list[str] = []
    for edit in read_instruction(instruction).edits:
        first, second = _names_of(edit)
        before += first
        after += second
    return tuple(dict.fromkeys(before)), tuple(dict.fromkeys(after))


def _names_of(edit: Edit) -> tuple[list[str], list[str]]:
    target, value = ([text] if text and text != "image" else [] for text in (edit.target, edit.value))
    if edit.kind is EditKind.ADD:
        return [], value or target
    if edit.kind is EditKind.REMOVE:
        return target, []
    if edit.kind is EditKind.REPLACE:
        return target, value
    return (target, target) if not edit.whole_image else ([], [])


def find_regions(
    instruction: str,
    source: Pixels,
    outputs: Sequence[Pixels],
    ground: Ground,
    detector: PhraseDetector | None,
    *,
    method: RegionMethod = "auto",
    segmenter: BoxSegmenter | None = None,
) -> tuple[EditRegion, ...]:
    """The edit region of each output, each in the source's size.

    `auto` first searches for the objects; if one output has none, it uses the changes shared by most outputs for
    all of them: all regions of a group have the same method. `outputs` are (height, width, 3), of the source's size.
    """
    before, after = edited_names(instruction)
    if method != "changes" and detector is not None:
        by_objects = _by_objects(source, outputs, before, after, ground, detector, segmenter)
        statuses = {region.status for region in by_objects}
        if method == "objects" or not statuses & {RegionStatus.NOT_FOUND, RegionStatus.NAMES_NOTHING}:
            return by_objects
    return _by_changes(source, outputs, tuple(dict.fromkeys((*before, *after))))


def _by_objects(
    source: Pixels,
    outputs: Sequence[Pixels],
    before: tuple[str, ...],
    after: tuple[str, ...],
    ground: Ground,
    detector: PhraseDetector,
    segmenter: BoxSegmenter | None,
) -> tuple[EditRegion, ...]:
    sought = {"source": before if ground != "output" else (), "output": after if ground != "source" else ()}
    names = tuple(dict.fromkeys((*sought["source"], *sought["output"])))
    if not names:
        return tuple(EditRegion(RegionStatus.NAMES_NOTHING, "", (), None) for _ in outputs)
    height, width = source.shape[:2]
    in_source = _boxes(source, sought["source"], detector)
    base = _mask_of(source, in_source, segmenter)
    regions = []
    for output in outputs:
        in_output = _boxes(output, sought["output"], detector)
        missing = (bool(sought["source"]) and not in_source) or (bool(sought["output"]) and not in_output)
        if missing:
            regions.append(EditRegion(RegionStatus.NOT_FOUND, "", names, None, in_source, in_output))
            continue
        mask = base | _mask_of(output, in_output, segmenter) if in_output else base.copy()
        regions.append(_checked(mask.reshape(height, width), "objects", names, in_source, in_output))
    return tuple(regions)


def _boxes(
    pixels: Pixels, names: Sequence[str], detector: PhraseDetector
) -> tuple[tuple[float, float, float, float], ...]:
    return tuple(detection.box for detection in detector(pixels, names)) if names else ()


def _mask_of(
    pixels: Pixels, boxes: Sequence[tuple[float, float, float, float]], segmenter: BoxSegmenter | None
) -> Mask:
    height, width = pixels.shape[:2]
    mask = np.zeros((height, width), dtype=np.bool_)
    if segmenter is not None and boxes:
        for segment in segmenter(pixels, boxes):
            mask |= segment.mask
        return mask
    for box in boxes:
        mask |= box_to_mask(Box(*box), width, height)
    return mask


def _by_changes(source: Pixels, outputs: Sequence[Pixels], names: tuple[str, ...]) -> tuple[EditRegion, ...]:
    """One region for all outputs: pixels that changed in more than half of them (in both of two).

    Accidental changes differ between editors; requested changes are shared.
    """
    height, width = source.shape[:2]
    frame = frame_of(Image.fromarray(source))
    changed = []
    for output in outputs:
        difference = measure_difference(frame, Image.fromarray(output))
        everywhere = float(np.median(difference.colour)) > _EVERYWHERE  # such a change has no distinct region
        mask = np.ones_like(difference.mask) if everywhere else difference.mask
        changed.append(cv2.resize(mask.astype(np.float32), (width, height)))
    shared = np.mean([part > 0.5 for part in changed], axis=0) > 0.5
    if shared.any():
        reach = max(1, round(_MARGIN * max(height, width)))
        kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
        shared = cv2.dilate(shared.astype(np.uint8), kernel) > 0
    region = _checked(np.asarray(shared, np.bool_), "changes", names, (), ())
    if region.status is RegionStatus.COVERS_NOTHING and not names:
        region = EditRegion(RegionStatus.NAMES_NOTHING, "", (), None)
    return tuple(region for _ in outputs)


def _checked(
    mask: Mask,
    how: str,
    names: tuple[str, ...],
    source_boxes: tuple[tuple[float, float, float, float], ...],
    output_boxes: tuple[tuple[float, float, float, float], ...],
) -> EditRegion:
    share = float(mask.mean())
    status = RegionStatus.OK
    if share >= LARGEST_SHARE:
        status = RegionStatus.COVERS_EVERYTHING
    elif share < SMALLEST_SHARE:
        status = RegionStatus.COVERS_NOTHING
    used_mask = mask if status is RegionStatus.OK else None
    return EditRegion(status, how, names, used_mask, source_boxes, output_boxes, share)
