"""The detector that knows the truth about rendered scenes: right, and out of every judge's reach."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import imarena
from imarena.studio import decode_pixels, random_scene, render_picture
from imarena.vision import DETECTORS, EMBEDDERS, METRICS, PICTURE_TOOLS, SEGMENTERS
from imarena.vision.catalog import DETECTOR_TOOLS, EMBEDDER_TOOLS, METRIC_TOOLS, SEGMENTER_TOOLS
from tests.contract.vision.exact_detector import ExactDetector

SCENES = [random_scene(seed, backdrop) for seed, backdrop in ((1, "table"), (2, "meadow"))]


def test_every_thing_is_found_with_its_box_and_its_pixels() -> None:
    exact = ExactDetector(SCENES)
    for scene in SCENES:
        pixels = decode_pixels(render_picture(scene))
        height, width = pixels.shape[:2]
        found, masks = exact(pixels), exact.segment(pixels)
        assert sorted(one.label for one in found) == sorted(thing.kind for thing in scene.things)
        for one in found:
            left, top, right, bottom = one.box
            assert 0 <= left < right <= width
            assert 0 <= top < bottom <= height
            (mask,) = (each.mask for each in masks if each.label == one.label)
            rows, columns = np.nonzero(mask)
            assert (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1) == one.box
        assert np.sum([mask.mask for mask in masks], axis=0).max() == 1, "masks do not overlap"
        assert exact(pixels) == found


def test_it_says_nothing_about_other_pictures() -> None:
    with pytest.raises(LookupError, match="no picture of the scenes"):
        ExactDetector(SCENES[:1])(decode_pixels(render_picture(SCENES[1])))


def test_it_is_in_no_registry_and_no_tool_of_the_package_reads_scenes() -> None:
    for registry in (DETECTORS, SEGMENTERS, EMBEDDERS, METRICS):
        assert not [name for name in registry if "exact" in name or "studio" in name]
    tools = [*DETECTOR_TOOLS.values(), *SEGMENTER_TOOLS.values(), *EMBEDDER_TOOLS.values(), *METRIC_TOOLS.values()]
    modules = {tool.path.split(":")[0] for tool in tools} | {tool.look.__module__ for tool in PICTURE_TOOLS.values()}
    assert all(name.startswith("imarena.vision.") for name in modules)
    for name in modules:
        source = Path(importlib.import_module(name).__file__ or "")
        assert "studio" not in source.read_text(encoding="utf-8"), name


def test_no_code_of_the_package_knows_it() -> None:
    root = Path(imarena.__file__).parent
    assert not [path for path in root.rglob("*.py") if "exact_detector" in path.read_text(encoding="utf-8")]
