"""The grounding filter at its limits: a side of 0.9, an area of 0.4, a score of 0.35."""

import numpy as np
import pytest

from imarena.core import Detection
from imarena.instructions import grounding
from imarena.instructions.grounding import grounder_of, too_large

SIDE = 1000


def box(across: float, down: float) -> Detection:
    """A box that covers these shares of the sides."""
    return Detection((0.0, 0.0, across * SIDE, down * SIDE), "cup", 0.9)


@pytest.mark.parametrize(
    ("across", "down", "stays"),
    [
        (0.899, 0.3, True),
        (0.9, 0.3, False),
        (0.3, 0.899, True),
        (0.3, 0.9, False),
        (0.5, 0.8, True),  # 0.4 is not over 0.4
        (0.5, 0.802, False),
        (0.632, 0.632, True),
        (0.634, 0.634, False),
    ],
)
def test_a_side_of_090_or_an_area_over_040_leaves_an_object_out(across: float, down: float, stays: bool) -> None:
    assert (too_large([box(across, down)], SIDE, SIDE) == "") is stays


def test_one_large_box_is_enough() -> None:
    assert "spans 0.95" in too_large([box(0.1, 0.1), box(0.95, 0.1)], SIDE, SIDE)
    assert "covers 0.49" in too_large([box(0.7, 0.7), box(0.1, 0.1)], SIDE, SIDE)
    assert too_large([], SIDE, SIDE) == ""


@pytest.mark.parametrize(("score", "found"), [(0.349, False), (0.35, True), (0.351, True)])
def test_a_score_of_035_is_enough(score: float, found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def detect(_pixels: object, _floor: float) -> tuple[Detection, ...]:
        return (Detection((0, 0, 10, 10), "cup", score),)

    monkeypatch.setattr(grounding, "find_objects", detect)
    boxes = grounder_of()(np.zeros((20, 20, 3), np.uint8), ["white cup"])
    assert bool(boxes["white cup"]) is found
