"""Regions and region metrics with tools that are installed: tiny models in the place of the released ones."""

import numpy as np
import pytest

from imarena.preferences import EditRegion, measure_region
from imarena.preferences.regions import RegionStatus
from imarena.workflows.preferences.measuring import find_detector, find_segmenter
from tests.small_data.pair_scenes import BOX, SIZE, edited, scene

MASK = np.zeros((SIZE, SIZE), bool)
MASK[BOX] = True
REGION = EditRegion(RegionStatus.OK, "changes", (), MASK)
TOOLS = ("clip_patch_distance", "dino_structure_similarity", "depth_ssim", "crop_dino", "crop_clip")


def _with_noise_elsewhere() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    output = edited(scene(1), 10.0)
    noise = np.random.default_rng(1).integers(0, 256, output.shape, dtype=np.uint8)
    output[~MASK] = noise[~MASK]
    return output


def test_plain_lpips_is_blind_to_the_other_region(hub_cache: None) -> None:
    source, output = scene(1), edited(scene(1), 10.0)
    first, second = (
        measure_region(source, each, MASK, REGION, ("lpips",)) for each in (output, _with_noise_elsewhere())
    )
    assert first.values == second.values
    assert first.values["lpips"] > 0


@pytest.mark.torch
def test_metrics_of_networks_are_blind_to_the_other_region(hub_cache: None) -> None:
    source, output = scene(1), edited(scene(1), 10.0)
    first, second = (measure_region(source, each, MASK, REGION, TOOLS) for each in (output, _with_noise_elsewhere()))
    assert not first.missing
    assert first.values == second.values
    same = measure_region(source, source, MASK, REGION, TOOLS).values
    assert same["clip_patch_distance"] == pytest.approx(0.0, abs=1e-9)
    assert same["dino_structure_similarity"] == pytest.approx(1.0)
    assert first.values["clip_patch_distance"] > 0


@pytest.mark.torch
def test_phrases_and_boxes_are_asked_of_installed_models(hub_cache: None) -> None:
    detector = find_detector("grounding-dino")
    for found in detector(np.concatenate([scene(1), scene(2)], axis=1), ("red cup",)):
        assert found.label == "red cup"
    segmenter = find_segmenter("mobile-sam")
    assert segmenter is not None
    (segment,) = segmenter(scene(1), [(10.0, 10.0, 60.0, 60.0)])
    assert segment.mask.shape == (SIZE, SIZE)
    assert segment.mask.dtype == np.bool_
