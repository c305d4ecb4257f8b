"""Boxes and masks as they are stored."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.records import Evidence
from imarena.core.vision_ports import Detection, SegmentMask
from imarena.images import BOXES, MASKS, boxes_in, boxes_value, masks_in, masks_value


def evidence(kind: str, value: object) -> Evidence:
    """As it comes back from the store."""
    return Evidence(image_sha256="a", tool="t", kind=kind, value=json.loads(json.dumps(value)))


def test_boxes_come_back_scaled_to_the_size_asked_for() -> None:
    found = (Detection((10, 20, 30, 40), "cup", 0.5), Detection((0, 0, 200, 100)))
    stored = evidence(BOXES, boxes_value(found, 200, 100))
    assert boxes_in(stored, 200, 100) == found
    assert boxes_in(stored, 100, 200)[0] == Detection((5, 40, 15, 80), "cup", 0.5)


def test_segments_and_lines_of_text_are_boxes_too() -> None:
    empty = {"segment": 2, "area": 0, "box": None}
    segments = {"width": 10, "height": 10, "segments": [{"segment": 1, "area": 4, "box": [1, 1, 3, 3]}, empty]}
    assert boxes_in(evidence("segments", segments), 20, 10) == (Detection((2, 1, 6, 3), "1"),)
    lines = {"lines": [["Hello", 0.9, [0.1, 0.2, 0.5, 0.4]]]}
    assert boxes_in(evidence("text", lines), 10, 10) == (Detection((1, 2, 5, 4), "Hello", 0.9),)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32))
def test_masks_come_back_as_they_were(height: int, width: int, seed: int) -> None:
    masks = np.random.default_rng(seed).random((2, height, width)) < 0.5
    found = [SegmentMask(masks[0], "a", 0.25), SegmentMask(masks[1])]
    again = masks_in(evidence(MASKS, masks_value(found)))
    assert [(one.label, one.score) for one in again] == [("a", 0.25), ("", 1.0)]
    assert all(np.array_equal(one.mask, mask) for one, mask in zip(again, masks, strict=True))


@pytest.mark.parametrize(
    "value",
    [
        None, [], {}, {"boxes": []}, {"width": 0, "height": 1, "boxes": []},
        {"width": 9, "height": 9, "boxes": [{"box": [5, 1, 2, 3]}]},
        {"width": 9, "height": 9, "boxes": [{"box": [1, 2, 3]}]},
        {"width": 9, "height": 9, "boxes": [{"box": ["a", 1, 2, 3]}]},
    ],
)  # fmt: skip
def test_a_value_without_boxes_raises(value: object) -> None:
    with pytest.raises(UserError):
        boxes_in(evidence(BOXES, value), 9, 9)


@pytest.mark.parametrize("value", [None, {}, {"masks": [{"size": [2, 2], "counts": [1]}]}, {"masks": [{"size": [2]}]}])
def test_a_value_without_masks_raises(value: object) -> None:
    with pytest.raises(UserError):
        masks_in(evidence(MASKS, value))
