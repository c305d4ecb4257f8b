"""Metrics of a region: blind to the other region, and each a measure of what it is meant for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.preferences import EditRegion, measure_region
from imarena.preferences.region_metrics import MEASURES, matched_histogram
from imarena.preferences.regions import RegionStatus
from imarena.preferences.task_rules import HIGHER_IS_BETTER
from tests.small_data.pair_scenes import BOX, SIZE, edited, scene

MASK = np.zeros((SIZE, SIZE), bool)
MASK[BOX] = True
REGION = EditRegion(RegionStatus.OK, "changes", (), MASK)
OFFLINE = ("ssim", "st_lpips", "lightness_ssim", "structure_similarity", "crop_layout")


def test_every_metric_has_a_direction() -> None:
    assert MEASURES.keys() == HIGHER_IS_BETTER.keys()


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_metric_is_blind_to_the_other_region(seed: int, inside: bool) -> None:
    source = scene(5)
    output = edited(source, 12.0)
    mask = MASK if inside else ~MASK
    other = output.copy()
    noise = np.random.default_rng(seed).integers(0, 256, output.shape, dtype=np.uint8)
    other[~mask] = noise[~mask]
    names = [name for name in OFFLINE if inside or name in ("ssim", "st_lpips")]
    first = measure_region(source, output, mask, REGION, names)
    second = measure_region(source, other, mask, REGION, names)
    assert first.values == second.values
    assert set(first.values) == set(names)


def test_more_damage_outside_is_worse_on_every_metric_outside() -> None:
    source = scene(6)
    values = [measure_region(source, edited(source, d), ~MASK, REGION, ("ssim", "st_lpips")).values for d in (0, 8, 30)]
    assert [each["ssim"] for each in values] == sorted((each["ssim"] for each in values), reverse=True)
    assert [each["st_lpips"] for each in values] == sorted(each["st_lpips"] for each in values)
    assert values[0] == {"ssim": pytest.approx(1.0), "st_lpips": pytest.approx(0.0, abs=1e-6)}


def test_a_new_colour_costs_nothing_and_a_lost_pattern_much() -> None:
    source = scene(7)
    recoloured = edited(source, 0.0)
    flat = recoloured.copy()
    flat[BOX] = (40, 60, 190)
    names = ("lightness_ssim", "structure_similarity")
    kept = measure_region(source, recoloured, MASK, REGION, names).values
    lost = measure_region(source, flat, MASK, REGION, names).values
    assert kept["lightness_ssim"] > 0.95
    assert lost["lightness_ssim"] < 0.5
    assert kept["structure_similarity"] > lost["structure_similarity"]


def test_a_tool_that_is_not_installed_is_named_and_gives_no_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path))
    measured = measure_region(scene(8), scene(8), MASK, REGION, ("lpips", "face_likeness"))
    assert not measured.values
    assert "lpips-alex" in measured.missing["lpips"]
    assert measured.missing["face_likeness"] == "one of the images has no face"


def test_an_empty_region_is_undefined() -> None:
    empty = np.zeros((SIZE, SIZE), bool)
    measured = measure_region(scene(9), scene(9), empty, REGION, OFFLINE)
    assert not measured.values
    assert set(measured.missing) == set(OFFLINE)


@given(st.lists(st.integers(0, 255), min_size=1, max_size=60), st.lists(st.integers(0, 255), min_size=1, max_size=60))
def test_matching_a_histogram_keeps_the_order_and_the_range(values: list[int], like: list[int]) -> None:
    given_values, wanted = np.array(values, np.uint8), np.array(like, np.uint8)
    matched = matched_histogram(given_values, wanted)
    order = np.argsort(given_values, kind="stable")
    assert (np.diff(matched[order].astype(int)) >= 0).all()
    assert matched.min() >= wanted.min()
    assert matched.max() <= wanted.max()
    assert (matched_histogram(wanted, wanted) == wanted).all()
