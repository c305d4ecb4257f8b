"""Boxes and masks as values of `Evidence` records: tools and importers write them, judges read them.

A box is left, top, right, bottom.

| kind | value |
|---|---|
| `boxes`, `edit_boxes` | `{"width", "height", "boxes": [{"box", "label", "score"}]}`, in pixels |
| `masks` | `{"masks": [{"size": [height, width], "counts": [...], "label", "score"}]}`, COCO's run lengths |
| `segments` | as `boxes`, under `segments`; a segment without pixels has no box |
| `text` | `{"lines": [[text, score, box]]}`, boxes as shares of the image |
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from imarena.core import Detection, InvalidImage, SegmentMask, UserError
from imarena.core.records import Evidence, JsonDict
from imarena.images.masks import RunLengths, mask_from_rle, mask_to_rle
from imarena.images.regions import Box

BOXES = "boxes"
"""Things found in an image."""
EDIT_BOXES = "edit_boxes"
"""Where the change requested by an instruction should be, in the source. The parameter `instruction` identifies it."""
MASKS = "masks"


def boxes_value(detections: Sequence[Detection], width: int, height: int) -> JsonDict:
    """Boxes in an image of this size as the value of evidence of the kind `boxes` or `edit_boxes`."""
    boxes: list[Any] = [
        {"box": list(detection.box), "label": detection.label, "score": detection.score} for detection in detections
    ]
    return {"width": width, "height": height, "boxes": boxes}


def boxes_in(evidence: Evidence, width: int, height: int) -> tuple[Detection, ...]:
    """The boxes of evidence, scaled to an image of this size. Raises `UserError` if it has none.

    Works for the kinds `boxes`, `edit_boxes`, `segments` and `text`.
    """
    try:
        return tuple(_boxes(cast(Any, evidence.value), width, height))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise _unreadable(evidence, "boxes") from error


def _boxes(value: Any, width: int, height: int) -> Iterator[Detection]:
    if "lines" in value:
        for text, score, box in value["lines"]:
            yield Detection(_scaled(box, width, height), str(text), float(score))
        return
    across, down = width / value["width"], height / value["height"]
    for entry in value["segments"] if "segments" in value else value["boxes"]:
        if entry["box"] is not None:
            label = entry.get("label", entry.get("segment", ""))
            yield Detection(_scaled(entry["box"], across, down), str(label), float(entry.get("score", 1.0)))


def _scaled(box: Sequence[float], across: float, down: float) -> tuple[float, float, float, float]:
    left, top, right, bottom = (float(end) for end in box)
    return Box(left, top, right, bottom).scaled(across, down).as_tuple()


def masks_value(masks: Sequence[SegmentMask]) -> JsonDict:
    """Masks as the value of evidence of the kind `masks`."""
    entries: list[Any] = [{**mask_to_rle(mask.mask), "label": mask.label, "score": mask.score} for mask in masks]
    return {"masks": entries}


def masks_in(evidence: Evidence) -> tuple[SegmentMask, ...]:
    """The masks of evidence, each in its stored shape. Raises `UserError` if it has none."""
    try:
        return tuple(
            SegmentMask(
                mask_from_rle(cast(RunLengths, entry)), str(entry.get("label", "")), float(entry.get("score", 1.0))
            )
            for entry in cast(Any, evidence.value)["masks"]
        )
    except (KeyError, TypeError, ValueError, InvalidImage) as error:
        raise _unreadable(evidence, "masks") from error


def _unreadable(evidence: Evidence, noun: str) -> UserError:
    return UserError(
        f"The evidence '{evidence.kind}' by {evidence.tool} holds no {noun} that can be read.",
        hint="docs/guide/write-your-own-judge.md shows their form.",
    )
