"""Editors that work inside a mask leave the rest as it was: what stands in the mask must decide, and how it is rendered."""

import asyncio

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from imarena.core.protocols import Exhibit, Verdict
from imarena.judges.builtin.facts import Facts, measure
from imarena.judges.builtin.judge import BuiltinJudge, BuiltinSettings
from imarena.studio.photos import photo_pixels
from imarena.vision import frame_of, measure_difference
from tests.unit.judges.builtin.test_judge import png

Pixels = NDArray[np.uint8]
PHOTO = photo_pixels("coffee")
MASK = np.s_[60:180, 380:520]
ADD = "Add a lantern to the picture"
JUDGE = BuiltinJudge(BuiltinSettings(ocr="never"))


def thing() -> Pixels:
    """A striped yellow disc with a dark rim, in the mask: detail and colours of its own."""
    out = PHOTO.copy()
    middle = (450, 120)
    cv2.circle(out, middle, 52, (30, 30, 40), -1, cv2.LINE_AA)
    cv2.circle(out, middle, 46, (230, 200, 60), -1, cv2.LINE_AA)
    for across in range(410, 495, 12):
        cv2.line(out, (across, 90), (across, 150), (120, 80, 20), 3, cv2.LINE_AA)
    return out


def filled() -> Pixels:
    """The mask filled from its surroundings: nothing stands in it."""
    mask = np.zeros(PHOTO.shape[:2], np.uint8)
    mask[MASK] = 1
    filled = np.asarray(cv2.inpaint(PHOTO, mask, 3, cv2.INPAINT_TELEA), np.uint8)
    shifted = np.clip(filled.astype(int) + 25 * mask[..., None], 0, 255)  # another tone, so that it is a visible change
    return np.asarray(shifted, np.uint8)


def verdict(words: str, output: Pixels, source: Pixels = PHOTO) -> Verdict:
    shown = Exhibit(words, png(Image.fromarray(output)), sources=(png(Image.fromarray(source)),))
    return asyncio.run(JUDGE.judge(shown))


def facts(output: Pixels, source: Pixels = PHOTO) -> Facts:
    return measure(measure_difference(frame_of(Image.fromarray(source)), Image.fromarray(output)))


def test_a_thing_has_detail_and_colours_of_its_own_and_a_filled_place_has_not() -> None:
    there, empty = facts(thing()), facts(filled())
    assert there.texture_inside > empty.texture_inside + 0.5
    assert there.apart_after > there.apart_before + 10
    assert facts(PHOTO, thing()).apart_after < facts(PHOTO, thing()).apart_before - 10, "removing it is the reverse"


def test_a_filled_mask_is_worth_less_than_a_thing_where_one_is_asked_for() -> None:
    there, empty = verdict(ADD, thing()), verdict(ADD, filled())
    assert there.scores["editing_success"] > empty.scores["editing_success"] + 100
    assert there.score is not None
    assert empty.score is not None
    assert there.score > empty.score + 60


def test_where_it_shall_be_gone_the_surroundings_are_worth_more() -> None:
    other = thing()
    other[MASK] = other[MASK][..., ::-1]  # blue instead of yellow: still there
    gone = verdict("Remove the lantern", PHOTO, thing()).scores["editing_success"]
    assert gone > verdict("Remove the lantern", other, thing()).scores["editing_success"] + 100


@pytest.mark.parametrize("kind", ["half the size", "blurred", "grainy"])
def test_a_worse_rendering_costs_quality_at_the_sources_own_size(kind: str) -> None:
    clean = thing()
    if kind == "half the size":
        worse = np.asarray(cv2.resize(clean, None, fx=0.4, fy=0.4, interpolation=cv2.INTER_AREA), np.uint8)
    elif kind == "blurred":
        worse = np.asarray(cv2.GaussianBlur(clean, (0, 0), 1.6), np.uint8)
    else:
        noise = np.random.default_rng(1).normal(0, 14, clean.shape)
        worse = np.asarray(np.clip(clean + noise, 0, 255), np.uint8)
    change = facts(worse).detail_change
    assert change > 0.2 if kind == "grainy" else change < -0.45
    assert facts(clean).detail_change == pytest.approx(0.0, abs=0.02), "an edit of less than half does not decide"
    quality = [verdict(ADD, output).scores["perceptual_quality"] for output in (clean, worse)]
    assert quality[0] > quality[1] + 60


def test_colours_far_beyond_the_sources_cost_quality() -> None:
    dull = np.asarray(PHOTO // 4 + 96, np.uint8)
    calm, loud = dull.copy(), dull.copy()
    calm[MASK] = (140, 120, 100)
    loud[MASK] = (255, 0, 255)
    assert facts(loud, dull).vividness > 30 > facts(calm, dull).vividness
    quality = [verdict(ADD, output, dull).scores["perceptual_quality"] for output in (calm, loud)]
    assert quality[0] > quality[1]
