"""Edit regions: what is looked for, where, and a stated result for what cannot be found."""

from collections.abc import Sequence

import numpy as np
import pytest

from imarena.core import Detection, PhraseDetector, Pixels, SegmentMask
from imarena.preferences import find_regions
from imarena.preferences.regions import RegionStatus, edited_names
from tests.small_data.pair_scenes import BOX, DAMAGE, SIZE, edited, scene

INSIDE = np.zeros((SIZE, SIZE), bool)
INSIDE[BOX] = True


def _detector(boxes: dict[str, tuple[float, float, float, float]]) -> PhraseDetector:
    def find(pixels: Pixels, phrases: Sequence[str]) -> tuple[Detection, ...]:
        return tuple(Detection(box, name) for name, box in boxes.items() if any(name in phrase for phrase in phrases))

    return find


@pytest.mark.parametrize(
    ("instruction", "before", "after"),
    [
        ("add a dog on the grass", False, True),
        ("remove the cup", True, False),
        ("replace the cat with a dog", True, True),
        ("make the car red", True, True),
        ("turn it into a watercolor painting", False, False),
    ],
)
def test_what_is_looked_for_depends_on_the_edit(instruction: str, before: bool, after: bool) -> None:
    in_source, in_output = edited_names(instruction)
    assert (bool(in_source), bool(in_output)) == (before, after)


def test_the_grounded_image_decides_whose_boxes_count() -> None:
    source = scene(1)
    outputs = [edited(source, 0.0), edited(source, 10.0)]
    grounder = _detector({"cat": (10, 10, 30, 30), "dog": (50, 50, 80, 80)})
    both = find_regions("replace the cat with a dog", source, outputs, "both", grounder)
    assert [region.how for region in both] == ["objects", "objects"]
    assert both[0].mask is not None
    assert both[0].mask[15, 15]
    assert both[0].mask[60, 60]
    only = find_regions("replace the cat with a dog", source, outputs, "source", grounder)
    assert only[0].mask is not None
    assert not only[0].mask[60, 60]
    assert only[0].output_boxes == ()


def test_shared_changes_stand_in_for_an_object_that_is_not_found() -> None:
    source = scene(2)
    outputs = [edited(source, damage, seed) for seed, damage in enumerate(DAMAGE.values())]
    regions = find_regions("make the tile blue", source, outputs, "both", _detector({}))
    assert {region.how for region in regions} == {"changes"}
    mask = regions[0].mask
    assert mask is not None
    assert (mask & INSIDE).sum() / INSIDE.sum() > 0.9
    assert mask.mean() < 0.4
    strict = find_regions("make the tile blue", source, outputs, "both", _detector({}), method="objects")
    assert {region.status for region in strict} == {RegionStatus.NOT_FOUND}
    assert all(region.mask is None for region in strict)


def test_bad_input_has_a_stated_result() -> None:
    source = scene(3)
    same = [source, source]
    assert find_regions("improve it", source, same, "both", None)[0].status is RegionStatus.NAMES_NOTHING
    assert find_regions("make the tile blue", source, same, "both", None)[0].status is RegionStatus.COVERS_NOTHING
    inverted = [255 - source, 255 - source]
    region = find_regions("make the tile blue", source, inverted, "both", None)[0]
    assert region.status is RegionStatus.COVERS_EVERYTHING
    whole = _detector({"tile": (0, 0, SIZE, SIZE)})
    region = find_regions("make the tile blue", source, same, "both", whole)[0]
    assert (region.status, region.share) == (RegionStatus.COVERS_EVERYTHING, 1.0)


def test_masks_take_the_place_of_boxes() -> None:
    source = scene(4)
    disc = np.zeros((SIZE, SIZE), bool)
    disc[40:50, 40:50] = True
    grounder = _detector({"tile": (34, 30, 66, 62)})

    def in_boxes(pixels: Pixels, boxes: Sequence[tuple[float, float, float, float]]) -> tuple[SegmentMask, ...]:
        return tuple(SegmentMask(disc.reshape(pixels.shape[:2])) for _ in boxes)

    outputs = [edited(source, 0.0)]
    region = find_regions("make the tile blue", source, outputs, "source", grounder, segmenter=in_boxes)[0]
    assert region.mask is not None
    assert (region.mask == disc).all()
