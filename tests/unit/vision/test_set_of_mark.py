"""Numbers on segments."""

import numpy as np

from imarena.core.vision_ports import SegmentMask
from imarena.vision import draw_marks
from imarena.vision.set_of_mark import PALETTE


def test_marks_lie_inside_their_masks_and_nothing_else_changes() -> None:
    pixels = np.full((120, 160, 3), 100, np.uint8)
    left, right, none = (np.zeros((120, 160), bool) for _ in range(3))
    left[20:100, 10:70] = right[30:90, 90:150] = True
    marked = draw_marks(pixels, [SegmentMask(left), SegmentMask(right), SegmentMask(none)])
    assert marked.positions[2] is None
    for mask, position in zip((left, right), marked.positions, strict=False):
        assert position is not None
        x, y = position
        assert mask[y, x]
        assert mask[y - 20 : y + 20, x - 20 : x + 20].all(), "deep inside"
    assert (marked.pixels[~(left | right)] == 100).all()
    assert tuple(marked.pixels[20, 30]) == PALETTE[0], "the outline"
    assert tuple(marked.pixels[30, 120]) == PALETTE[1]
    tinted = marked.pixels[25, 15]
    assert tuple(tinted) == tuple(int(0.75 * 100 + 0.25 * value + 0.5) for value in PALETTE[0])
    assert (pixels == 100).all(), "the image itself is left alone"


def test_each_number_is_written_in_its_own_colour_and_differs() -> None:
    pixels = np.full((60, 60, 3), 200, np.uint8)
    whole = np.ones((60, 60), bool)
    one = draw_marks(pixels, [SegmentMask(whole)])
    two = draw_marks(pixels, [SegmentMask(np.zeros((60, 60), bool)), SegmentMask(whole)])
    white = [marked.pixels.min(axis=2) > 180 for marked in (one, two)]  # the ground has one channel below
    assert white[0].any()
    assert (white[0] != white[1]).any(), "a 1 is not a 2"


def test_one_pixel_can_be_marked() -> None:
    marked = draw_marks(np.full((1, 1, 3), 9, np.uint8), [SegmentMask(np.ones((1, 1), bool))])
    assert marked.positions == ((0, 0),)
    assert marked.pixels.shape == (1, 1, 3)
