"""Masks, boxes, hashes and differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from imarena import images
from imarena.core.errors import InvalidImage, UserError
from tests.unit.images.made import encode, photo

masks = hnp.arrays(np.bool_, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=20))
coordinates = st.floats(-50, 50)


@st.composite
def boxes(draw: st.DrawFn) -> images.Box:
    left, right = sorted((draw(coordinates), draw(coordinates)))
    top, bottom = sorted((draw(coordinates), draw(coordinates)))
    return images.Box(left, top, right, bottom)


@given(masks)
def test_masks_survive_png_and_run_lengths(mask: images.Mask) -> None:
    assert np.array_equal(images.mask_from_image(images.mask_to_png(mask)), mask)
    rle = images.mask_to_rle(mask)
    assert sum(rle["counts"]) == mask.size
    assert np.array_equal(images.mask_from_rle(rle), mask)


def test_run_lengths_as_coco_writes_them() -> None:
    mask = np.array([[0, 1, 1], [0, 0, 1]], dtype=np.bool_)
    assert images.mask_to_rle(mask) == {"size": [2, 3], "counts": [2, 1, 1, 2]}
    assert images.mask_to_rle(~mask)["counts"] == [0, 2, 1, 1, 2]


@pytest.mark.parametrize("counts", [[1], [3, 4], [-1, 7]])
def test_wrong_run_lengths_are_refused(counts: list[int]) -> None:
    with pytest.raises(InvalidImage, match="add up"):
        images.mask_from_rle({"size": [2, 3], "counts": counts})


def test_mask_iou() -> None:
    left = np.array([[1, 1, 0, 0]], dtype=np.bool_)
    assert images.mask_iou(left, np.array([[0, 1, 1, 0]], dtype=np.bool_)) == pytest.approx(1 / 3)
    assert images.mask_iou(~left & left, ~left & left) is None


@given(boxes(), boxes())
def test_iou_is_symmetric_and_bounded(left: images.Box, right: images.Box) -> None:
    assert 0 <= left.iou(right) <= 1 + 1e-9
    assert left.iou(right) == pytest.approx(right.iou(left))
    if left.area > 1e-6:
        assert left.iou(left) == pytest.approx(1)


def test_iou_known_answer() -> None:
    assert images.Box(0, 0, 2, 2).iou(images.Box(1, 1, 3, 3)) == pytest.approx(1 / 7)
    with pytest.raises(UserError):
        images.Box(2, 0, 1, 1)


@given(boxes(), st.floats(0, 2))
def test_a_crop_is_never_empty(box: images.Box, margin: float) -> None:
    part = images.crop(Image.new("RGB", (30, 20)), box, margin=margin)
    assert 1 <= part.width <= 30
    assert 1 <= part.height <= 20


def test_parts_of_a_mask() -> None:
    mask = np.zeros((10, 12), dtype=np.bool_)
    mask[1:3, 1:3] = True
    mask[5:9, 4:10] = True
    assert images.components(mask) == [images.Box(4, 5, 10, 9), images.Box(1, 1, 3, 3)]
    assert images.components(mask, min_area=5) == [images.Box(4, 5, 10, 9)]
    assert images.mask_to_box(mask) == images.Box(1, 1, 10, 9)
    assert images.mask_to_box(np.zeros((2, 2), dtype=np.bool_)) is None
    assert images.mask_to_box(images.box_to_mask(images.Box(2, 3, 5, 7), 12, 10)) == images.Box(2, 3, 5, 7)


def test_the_hash_survives_rescaling_and_tells_others_apart() -> None:
    source = photo(200, 160)
    same = images.decode(encode(source.resize((90, 70)), "JPEG", quality=60))
    assert images.hash_distance(images.perceptual_hash(source), images.perceptual_hash(same)) <= 6
    others = [images.perceptual_hash(photo(200, 160, seed)) for seed in range(1, 8)]
    assert min(images.hash_distance(images.perceptual_hash(source), other) for other in others) > 10


def test_a_flat_picture_has_a_stable_hash() -> None:
    hashes = {images.perceptual_hash(Image.new("RGB", size, "grey")) for size in ((8, 8), (33, 70), (500, 20))}
    assert len(hashes) == 1


def test_the_difference_is_where_the_change_is() -> None:
    left = photo()
    right = left.copy()
    right.paste((0, 0, 255), (20, 10, 30, 20))
    changed = images.difference(left, right) > 0
    assert images.mask_to_box(changed) == images.Box(20, 10, 30, 20)
    assert images.difference(left, left).max() == 0
    assert images.difference(left, right.resize((20, 20))).shape == (32, 48)
