"""Masks, boxes, hashes and differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from PIL import Image

from imarena import images
from imarena.core import Mask
from imarena.core.errors import InvalidImage, UserError
from imarena.images.masks import mask_from_rle
from tests.unit.images.made import encode, photo

masks = hnp.arrays(np.bool_, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=20))


@given(masks)
def test_masks_survive_png_and_run_lengths(mask: Mask) -> None:
    assert np.array_equal(images.mask_from_image(images.encode_image(Image.fromarray(mask), images.PNG)), mask)
    rle = images.mask_to_rle(mask)
    assert sum(rle["counts"]) == mask.size
    assert np.array_equal(mask_from_rle(rle), mask)


def test_run_lengths_as_coco_writes_them() -> None:
    mask = np.array([[0, 1, 1], [0, 0, 1]], dtype=np.bool_)
    assert images.mask_to_rle(mask) == {"size": [2, 3], "counts": [2, 1, 1, 2]}
    assert images.mask_to_rle(~mask)["counts"] == [0, 2, 1, 1, 2]


@pytest.mark.parametrize("counts", [[1], [3, 4], [-1, 7]])
def test_wrong_run_lengths_are_refused(counts: list[int]) -> None:
    with pytest.raises(InvalidImage, match="add up"):
        mask_from_rle({"size": [2, 3], "counts": counts})


def test_a_box_has_its_corners_in_order() -> None:
    with pytest.raises(UserError):
        images.Box(2, 0, 1, 1)


def test_parts_of_a_mask() -> None:
    mask = np.zeros((10, 12), dtype=np.bool_)
    mask[1:3, 1:3] = True
    mask[5:9, 4:10] = True
    assert images.components(mask) == [images.Box(4, 5, 10, 9), images.Box(1, 1, 3, 3)]
    assert images.components(mask, min_area=5) == [images.Box(4, 5, 10, 9)]
    assert images.components(np.zeros((2, 2), dtype=np.bool_)) == []
    assert images.components(images.box_to_mask(images.Box(2, 3, 5, 7), 12, 10)) == [images.Box(2, 3, 5, 7)]


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
    assert images.components(changed) == [images.Box(20, 10, 30, 20)]
    assert images.difference(left, left).max() == 0
    assert images.difference(left, right.resize((20, 20))).shape == (32, 48)
