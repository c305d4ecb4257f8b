"""What every detector, segmenter, embedder and metric promises, whoever registered it."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from imarena.core.errors import UserError
from imarena.core.registry import Registry
from imarena.vision import (
    DEPTH_ESTIMATORS,
    DETECTORS,
    EMBEDDERS,
    METRICS,
    PHRASE_DETECTORS,
    PICTURE_TOOLS,
    SEGMENTERS,
    box_segmenter,
    phrase_detector,
)
from imarena.vision.catalog import DEPTH_TOOLS, DETECTOR_TOOLS, EMBEDDER_TOOLS, METRIC_TOOLS, SEGMENTER_TOOLS, Tool
from imarena.vision.pretrained.prompted_tools import BOX_SEGMENTERS
from tests.contract.vision.tools import IMAGES, Pixels, asked, photograph, shapes

images = pytest.mark.parametrize("image", IMAGES)


def named(registry: Registry[Any], tools: Mapping[str, Tool]) -> pytest.MarkDecorator:
    """Every tool of a registry by name; those that need torch are marked."""
    marks = {name: pytest.mark.torch if name in tools and tools[name].extra else () for name in registry}
    return pytest.mark.parametrize("name", [pytest.param(name, marks=marks[name]) for name in registry])


detectors = named(DETECTORS, DETECTOR_TOOLS)
segmenters = named(SEGMENTERS, SEGMENTER_TOOLS)
embedders = named(EMBEDDERS, EMBEDDER_TOOLS)
depth_estimators = named(DEPTH_ESTIMATORS, DEPTH_TOOLS)
metrics = named(METRICS, METRIC_TOOLS)
pytestmark = pytest.mark.usefixtures("hub_cache")


def given(name: str) -> Pixels:
    """The image, which no tool may change."""
    found = IMAGES[name].copy()
    found.setflags(write=False)
    return found


# ---------------------------------------------------------------- every tool


@images
@detectors
def test_a_detector_gives_boxes_inside_the_image_the_surest_first(name: str, image: str) -> None:
    detect, pixels = asked(DETECTORS, name), given(image)
    height, width = pixels.shape[:2]
    found = detect(pixels)
    for one in found:
        left, top, right, bottom = one.box
        assert 0 <= left < right <= width + 1e-6
        assert 0 <= top < bottom <= height + 1e-6
        assert 0 <= one.score <= 1
        assert one.label
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert detect(pixels) == found


@images
@segmenters
def test_a_segmenter_gives_masks_of_the_images_size_that_do_not_overlap(name: str, image: str) -> None:
    segment, pixels = asked(SEGMENTERS, name), given(image)
    found = segment(pixels)
    covered = np.zeros(pixels.shape[:2], np.int64)
    for one in found:
        assert one.mask.shape == pixels.shape[:2]
        assert one.mask.dtype == np.bool_
        assert one.mask.any()
        assert 0 <= one.score <= 1
        covered += one.mask
    assert covered.max(initial=0) <= 1
    again = segment(pixels)
    assert [one.mask.tobytes() for one in again] == [one.mask.tobytes() for one in found]


@pytest.mark.torch
@pytest.mark.parametrize("name", PHRASE_DETECTORS)
def test_a_detector_by_phrases_labels_each_box_with_one_of_them(name: str) -> None:
    asked(DETECTORS, name)
    detect, pixels, phrases = phrase_detector(name, 0.0), given("shapes"), ("red disc", "word")
    height, width = pixels.shape[:2]
    found = detect(pixels, phrases)
    assert {one.label for one in found} <= set(phrases)
    for one in found:
        left, top, right, bottom = one.box
        assert 0 <= left < right <= width + 1e-6
        assert 0 <= top < bottom <= height + 1e-6
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert detect(pixels, phrases) == found
    with pytest.raises(UserError, match="phrase to look for is empty"):
        detect(pixels, ["red disc", ""])


@pytest.mark.torch
@pytest.mark.parametrize("name", BOX_SEGMENTERS)
def test_a_segmenter_by_boxes_gives_one_mask_per_box_in_their_order(name: str) -> None:
    asked(SEGMENTERS, name)
    segment, pixels = box_segmenter(name), given("shapes")
    boxes = [(20.0, 30.0, 110.0, 120.0), (120.0, 125.0, 220.0, 160.0)]
    found = segment(pixels, boxes)
    assert [one.mask.shape for one in found] == [pixels.shape[:2]] * 2
    assert all(one.mask.dtype == np.bool_ and 0 <= one.score <= 1 for one in found)
    again = segment(pixels, boxes)
    assert [one.mask.tobytes() for one in again] == [one.mask.tobytes() for one in found]
    assert segment(pixels, []) == ()


def test_a_tool_without_such_a_prompt_names_those_that_take_it() -> None:
    with pytest.raises(UserError, match="takes no phrases") as no_phrases:
        phrase_detector("efficientdet")
    assert "grounding-dino" in no_phrases.value.hint
    with pytest.raises(UserError, match="takes no boxes") as no_boxes:
        box_segmenter("u2netp")
    assert "mobile-sam" in no_boxes.value.hint


@images
@embedders
def test_an_embedder_gives_one_unit_vector_of_one_size(name: str, image: str) -> None:
    embed, pixels = asked(EMBEDDERS, name), given(image)
    vector = embed(pixels)
    assert vector.shape == embed(shapes()).shape
    assert vector.ndim == 1
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)
    assert np.array_equal(embed(pixels), vector)


@embedders
def test_a_near_copy_lies_closer_than_another_image(name: str) -> None:
    embed = asked(EMBEDDERS, name)
    noise = np.random.default_rng(1).integers(-6, 7, photograph().shape)
    near = np.clip(photograph().astype(np.int64) + noise, 0, 255).astype(np.uint8)
    own = embed(photograph())
    near_distance, other_distance = (1 - float(own @ embed(pixels)) for pixels in (near, photograph("dogs")))
    assert other_distance > 10 * max(near_distance, 1e-5), "also for random weights, whose vectors lie close together"


WITHOUT_A_VALUE = {"brisque": ("one pixel", "white line", "black")}
"""Images that have no statistics."""


@images
@pytest.mark.parametrize("name", PICTURE_TOOLS)
def test_a_picture_tool_gives_a_value_that_can_be_stored(name: str, image: str) -> None:
    tool, pixels = PICTURE_TOOLS[name], given(image)
    value = tool.look(pixels)
    assert json.loads(json.dumps(value, allow_nan=False)) == value
    assert tool.look(pixels) == value
    assert tool.version() == tool.version() != ""


@images
@depth_estimators
def test_a_depth_estimator_gives_a_map_of_the_images_size(name: str, image: str) -> None:
    estimate, pixels = asked(DEPTH_ESTIMATORS, name), given(image)
    depth = estimate(pixels)
    assert depth.shape == pixels.shape[:2]
    assert depth.dtype == np.float32
    assert np.isfinite(depth).all()
    assert np.array_equal(estimate(pixels), depth)


@images
@metrics
def test_a_metric_gives_a_finite_number_for_images_of_any_two_sizes(name: str, image: str) -> None:
    measure, pixels = asked(METRICS, name), given(image)
    if image in WITHOUT_A_VALUE.get(name, ()):
        with pytest.raises(UserError, match="not defined"):
            measure(pixels, shapes())
        return
    value = measure(pixels, shapes())
    assert isinstance(value, float)
    assert math.isfinite(value)
    assert measure(pixels, shapes()) == value


@metrics
def test_a_metric_of_two_images_tells_a_copy_from_an_edit_and_asks_for_the_second(name: str) -> None:
    measure = asked(METRICS, name)
    if name in METRIC_TOOLS and not METRIC_TOOLS[name].compares:
        assert measure(shapes()) == measure(shapes(), photograph()), "a metric of one image looks at that image alone"
        return
    edited = shapes().copy()
    edited[40:110, 30:100] = (20, 60, 200)
    of_copy = METRIC_TOOLS[name].copy_value if name in METRIC_TOOLS else 0.0
    assert measure(shapes(), shapes()) == pytest.approx(of_copy, abs=1e-5)
    worse = measure(edited, shapes()) - of_copy
    assert (-worse if of_copy > 0 else worse) > 0.005
    with pytest.raises(UserError, match="compares two images and got one"):
        measure(shapes())


# ---------------------------------------------------------------- known answers


def overlaps(box: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def test_efficientdet_finds_the_person() -> None:
    (found,) = asked(DETECTORS, "efficientdet")(photograph())
    assert found.label == "person"
    assert found.box == pytest.approx((20, 15, 370, 512), abs=20)


def test_efficientdet_finds_the_cup_the_spoon_and_the_table() -> None:
    found = {one.label: one.box for one in asked(DETECTORS, "efficientdet")(photograph("coffee"))}
    assert found.keys() == {"cup", "spoon", "dining table"}
    assert found["cup"] == pytest.approx((174, 16, 420, 308), abs=20)


def test_a_turned_picture_is_seen_as_it_is_shown() -> None:
    """The file lies on its side until it is shown: boxes are in pixels of what is shown."""
    (face,) = asked(DETECTORS, "yunet")(IMAGES["turned"])
    assert face.box == pytest.approx((43, 29, 99, 74), abs=10)
    upright = np.ascontiguousarray(np.rot90(IMAGES["turned"]))
    (face,) = asked(DETECTORS, "yunet")(upright)
    assert face.label == "face"
    assert overlaps(face.box, (30, 5, 75, 60))


def test_the_text_reader_finds_the_word_in_its_place() -> None:
    words = [one for one in asked(DETECTORS, "rapidocr")(shapes()) if "HELLO" in one.label.upper()]
    assert len(words) == 1
    assert overlaps(words[0].box, (120, 125, 220, 160))
    assert not overlaps(words[0].box, (20, 30, 100, 110))


@pytest.mark.parametrize("name", ["u2netp", "watershed"])
def test_a_segmenter_cuts_out_the_disc(name: str) -> None:
    rows, columns = np.mgrid[:180, :240]
    disc = (columns - 65) ** 2 + (rows - 75) ** 2 <= 45**2
    best = max(np.sum(one.mask & disc) / np.sum(one.mask | disc) for one in asked(SEGMENTERS, name)(shapes()))
    assert best > 0.85


def test_quality_metrics_point_the_right_way() -> None:
    clean = photograph()
    noisy = np.clip(clean + np.random.default_rng(0).normal(0, 20, clean.shape), 0, 255).astype(np.uint8)
    assert asked(METRICS, "noise")(noisy) > 2 * asked(METRICS, "noise")(clean)
    assert asked(METRICS, "sharpness")(np.full_like(clean, 90)) < asked(METRICS, "sharpness")(clean)


# ---------------------------------------------------------------- the registry


def test_kinds_are_closed() -> None:
    with pytest.raises(ValueError, match="detector"):
        Registry("detectors", {})  # type: ignore[arg-type]


def test_an_unknown_tool_is_suggested() -> None:
    with pytest.raises(UserError, match=r"There is no detector called 'efficientdett'\.\nDid you mean 'efficientdet'"):
        DETECTORS.get("efficientdett")
