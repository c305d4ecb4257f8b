"""The object detector: its anchors and its suppression by hand, and its answers against the original network's."""

import json
from pathlib import Path

import numpy as np
import pytest

from imarena.vision.efficientdet import _COLUMNS, anchors, decode_boxes, find_objects, network_input, suppress
from imarena.vision.nouns import KINDS
from tests.contract.vision.tools import photograph

RECORDED = json.loads((Path(__file__).parents[2] / "fixtures" / "efficientdet.json").read_text())
"""What the original network and its last step found in the bundled photographs (tools/compare_efficientdet.py)."""


def test_anchors_are_those_of_the_file() -> None:
    boxes = anchors()
    assert boxes.shape == (37629, 4)
    assert boxes[0] == pytest.approx((0.00892857, 0.00892857, 0.05357143, 0.05357143), abs=1e-7)
    assert boxes[1] == pytest.approx((0.00892857, 0.00892857, 0.03788072, 0.07576144), abs=1e-7)
    assert boxes[-1] == pytest.approx((0.875, 0.875, 1.6836932, 0.84184647), abs=1e-6)


def test_corrections_move_and_scale_an_anchor() -> None:
    anchor = np.array([[0.5, 0.4, 0.2, 0.1]], np.float32)
    moved = decode_boxes(np.array([[0.5, -1.0, np.log(2), 0.0]], np.float32), anchor)
    assert moved[0] == pytest.approx((0.25, 0.4, 0.35, 0.8), abs=1e-6), "left, top, right, bottom"


def test_of_two_boxes_that_overlap_by_half_the_surer_stays() -> None:
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 6], [0, 0, 10, 4], [20, 0, 30, 10]], np.float32)
    assert suppress(boxes, np.array([0.9, 0.8, 0.7, 0.95], np.float32)) == [3, 0, 2]
    assert suppress(boxes[:0], np.zeros(0, np.float32)) == []


def test_an_image_that_is_not_square_fills_a_corner() -> None:
    given, shares = network_input(np.full((100, 400, 3), 9, np.uint8))
    assert shares == (1.0, 0.25)
    assert (given[0, :, :112] == 9).all()
    assert (given[0, :, 112:] == 127).all()


@pytest.mark.parametrize("file", RECORDED)
def test_the_original_networks_things_are_found(file: str) -> None:
    pixels = photograph(Path(file).stem)
    _, (across, down) = network_input(pixels)
    height, width = pixels.shape[:2]
    found = find_objects(pixels, 0.25)
    for column, score, box in RECORDED[file]:
        label = KINDS[_COLUMNS.index(column)]
        wanted = np.clip(np.array(box) / (across, down, across, down), 0, 1) * (width, height, width, height)
        near = [
            one for one in found if one.label == label and np.abs(one.box - wanted).max() < 0.05 * max(width, height)
        ]
        assert near, (label, score)
        assert near[0].score == pytest.approx(score, abs=0.06)
    surest = [one for one in found if one.score >= 0.45]
    assert len(surest) <= len([entry for entry in RECORDED[file] if entry[1] >= 0.35])
