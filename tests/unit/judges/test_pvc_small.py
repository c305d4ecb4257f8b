"""`pvc-small`: mirrored verdicts, a level of damage that rises, and a stated result for odd input."""

import asyncio
import io
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from imarena.core.protocols import Exhibit, Verdict
from imarena.core.records import Outcome, Status
from imarena.judges import CARDS, JUDGES, mirror_reasons
from imarena.judges.pvc_small import measure_edit_damage
from imarena.preferences import apply_damage
from imarena.studio import random_scene, render_scene

Pixels = NDArray[np.uint8]


def scene(seed: int) -> Pixels:
    return render_scene(random_scene(seed, "table")).pixels


def edited(source: Pixels) -> tuple[Pixels, NDArray[np.bool_]]:
    """A plain edit: one place becomes blue."""
    region = np.zeros(source.shape[:2], bool)
    region[200:300, 250:380] = True
    output = source.copy()
    output[region] = (source[region] * np.array([0.3, 0.4, 0.6]) + np.array([0, 20, 90])).astype(np.uint8)
    return output, region


def png(pixels: Pixels) -> bytes:
    sink = io.BytesIO()
    Image.fromarray(pixels).save(sink, "PNG")
    return sink.getvalue()


def judged(source: Pixels, left: Pixels, right: Pixels | None = None, **options: float) -> Verdict:
    exhibit = Exhibit("Make it blue", png(left), right=None if right is None else png(right), sources=(png(source),))
    return asyncio.run(JUDGES.get("pvc-small")(dict(options), None).judge(exhibit))


@pytest.mark.parametrize("kind", ["blur", "shift", "colour_cast", "erasure"])
def test_the_undamaged_edit_wins_on_either_side(kind: str) -> None:
    source = scene(4)
    clean, region = edited(source)
    damaged = apply_damage(clean, kind, 9, seed=2, region=region)
    first, second = judged(source, clean, damaged), judged(source, damaged, clean)
    assert first.preference is Outcome.LEFT
    assert second.preference is Outcome.RIGHT
    assert first.confidence == second.confidence
    assert first.reasons["left_edited"] != first.reasons["right_edited"]
    assert first.reasons == mirror_reasons(second.reasons)


def test_equal_outputs_are_a_tie_and_a_wide_margin_makes_more_of_them() -> None:
    source = scene(5)
    clean, region = edited(source)
    assert judged(source, clean, clean).preference is Outcome.TIE
    damaged = apply_damage(clean, "blur", 8, seed=0, region=region)
    assert judged(source, clean, damaged, margin=0.999999).preference is Outcome.TIE


def test_one_output_gets_the_level_of_its_damage_with_a_minus() -> None:
    source = scene(6)
    clean, region = edited(source)
    scores = [judged(source, apply_damage(clean, "noise", n, seed=0, region=region)).score for n in (0, 3, 10)]
    assert all(score is not None and score <= 0 for score in scores)
    assert scores == sorted(scores, key=lambda score: -(score or 0.0))


def test_outputs_of_other_sizes_are_compared() -> None:
    source = scene(7)
    clean, _ = edited(source)
    small = np.asarray(Image.fromarray(clean).resize((333, 251)), np.uint8)
    assert judged(source, clean, small).preference is Outcome.LEFT
    assert judged(source, np.zeros((1, 1, 3), np.uint8), clean).preference is Outcome.RIGHT


def test_without_a_source_or_a_picture_there_is_no_verdict() -> None:
    output = png(scene(8))
    judge = JUDGES.get("pvc-small")({}, None)
    assert asyncio.run(judge.judge(Exhibit("x", output, right=output))).status is Status.REFUSED
    broken = replace(Exhibit("x", output, sources=(output,)), right=b"no picture")
    assert asyncio.run(judge.judge(broken)).status is Status.INVALID_IMAGE


def test_it_is_about_consistency_alone() -> None:
    assert CARDS["pvc-small"].dimension == "visual_consistency"


def test_the_edit_is_found_by_the_pixels_alone() -> None:
    source = scene(9)
    output, region = edited(source)
    seen = measure_edit_damage(source, output).edited
    inside = np.asarray(Image.fromarray(region).resize(seen.shape[::-1])) > 0
    assert seen[inside].mean() > 0.6
    assert seen[~inside].mean() < 0.2
