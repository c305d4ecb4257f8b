"""Two outputs side by side: the same change made further, less far, or with other changes besides."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image, ImageDraw

from imarena.core.protocols import Exhibit, Verdict
from imarena.core.records import Outcome
from imarena.judges.builtin.judge import BuiltinJudge, BuiltinSettings
from imarena.judges.builtin.pair import Change, change_map, compare_changes
from imarena.vision import frame_of, measure_difference
from tests.unit.judges.test_builtin import png
from tests.unit.vision.pictures import mixed, scene, with_disc, with_text

BLUE = "Make the red disc blue."
FULL = with_disc((30, 60, 210))
HALF = mixed(scene(), FULL, 0.5)
QUIET = BuiltinJudge(BuiltinSettings(ocr="never"))


def battle(left: Image.Image, right: Image.Image, asked: str = BLUE, judge: BuiltinJudge = QUIET) -> Verdict:
    exhibit = Exhibit(asked, png(left), png(right), sources=(png(scene()),))
    verdict = asyncio.run(judge.judge(exhibit))
    swapped = asyncio.run(judge.judge(replace(exhibit, left=png(right), right=png(left))))
    assert verdict.preference is not None
    assert swapped.preference is verdict.preference.mirrored()
    return verdict


def changed(output: Image.Image) -> Change:
    return change_map(measure_difference(frame_of(scene()), output))


def besides(amount: int) -> Image.Image:
    """The full edit, and the rest of the picture made lighter."""
    lighter = Image.fromarray(np.clip(np.asarray(FULL, dtype=int) + amount, 0, 255).astype(np.uint8))
    mask = Image.new("L", FULL.size, 255)
    ImageDraw.Draw(mask).ellipse((50, 70, 150, 170), fill=0)
    return Image.composite(lighter, FULL, mask)


def test_the_same_change_at_half_its_strength_is_measured_so() -> None:
    seen = compare_changes(changed(FULL), changed(HALF))
    assert seen.comparable
    assert seen.strength == pytest.approx(np.log(2.0), abs=0.25)
    assert abs(seen.besides) < 1.0


def test_further_wins_and_changes_besides_lose() -> None:
    assert battle(FULL, HALF).preference is Outcome.LEFT
    verdict = battle(FULL, besides(25))
    assert verdict.preference is Outcome.LEFT
    direct = verdict.reasons["direct"]
    assert isinstance(direct, dict)
    assert direct["comparable"] is True


def test_changes_of_different_places_are_not_compared_directly() -> None:
    other = scene()
    ImageDraw.Draw(other).rectangle((250, 60, 320, 130), fill=(30, 60, 210))
    assert not compare_changes(changed(FULL), changed(other)).comparable
    verdict = battle(FULL, other)
    assert verdict.reasons["gap"] == pytest.approx(verdict.scores["left.score"] - verdict.scores["right.score"])


def test_an_untouched_picture_is_not_compared_directly() -> None:
    assert not compare_changes(changed(FULL), changed(scene())).comparable
    assert battle(FULL, scene()).preference is Outcome.LEFT


def test_words_that_were_read_outweigh_where_they_stand() -> None:
    asked = "Write 'WELCOME HOME' along the bottom of the photo."
    right, wrong = with_text("WELCOME HOME"), with_text("WELDONE HOSE")
    assert battle(right, wrong, asked, BuiltinJudge()).preference is Outcome.LEFT


SHIFTS = arrays.arrays(np.float16, (64, 64, 3), elements=st.floats(-60, 60, width=16), fill=st.just(np.float16(0)))


@settings(max_examples=40, deadline=None)
@given(SHIFTS, SHIFTS)
def test_swapping_the_sides_turns_every_sign(left: Change, right: Change) -> None:
    one, two = compare_changes(left, right), compare_changes(right, left)
    assert (two.shared, two.area, two.comparable) == (one.shared, one.area, one.comparable)
    assert (two.strength, two.besides, two.points) == (-one.strength, -one.besides, -one.points)
    assert 0.0 <= one.shared <= 1.0 + 1e-9
    same = compare_changes(left, left)
    assert (same.strength, same.besides) == (0.0, 0.0)
