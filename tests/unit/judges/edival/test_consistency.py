"""EdiVal-CC: falls with damage outside the edit, does not see what is inside excluded boxes, leaves out empty halves."""

from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from imarena.core import ObjectPlan, ObjectTurn, SceneObject
from imarena.judges.edival.consistency import ContentConsistency, content_consistency
from imarena.judges.edival.following import EvaluationContext
from imarena.judges.edival.measurement_cache import MeasurementCache, encoded_image
from imarena.judges.edival.settings import EdiValSettings
from imarena.studio import Scene, Thing, render_scene
from imarena.studio.render import encode_pixels
from tests.unit.judges.edival.exact_tools import SceneBook, exact_toolbox

Pixels = NDArray[np.uint8]

SCENE = Scene(
    width=192, height=192, backdrop="table",
    things=(
        Thing(uid="mug", kind="mug", x=0.25, y=0.8, size=0.3, colour="red"),
        Thing(uid="vase", kind="vase", x=0.72, y=0.8, size=0.4, colour="blue"),
    ),
)  # fmt: skip
RENDERED = render_scene(SCENE)
BOXES = {one.thing.kind: one.box for one in RENDERED.seen() if one.box is not None}


def plan(unchanged: tuple[str, ...] = ("blue vase",), *, background: bool = True) -> ObjectPlan:
    """The mug is removed."""
    objects = tuple(
        SceneObject(name=f"{colour} {kind}", object=kind, color=colour, boxes=(tuple(map(float, BOXES[kind])),))
        for colour, kind in (("red", "mug"), ("blue", "vase"))
    )
    names = tuple(one.name for one in objects)
    turn = ObjectTurn(
        type="subject_remove", object="red mug", all_objects=names, unchanged=unchanged, score_background=background
    )
    return ObjectPlan(objects=objects, turns=(turn,))


def compared(pixels: Pixels, made: ObjectPlan | None = None) -> ContentConsistency:
    book = SceneBook()
    base = encoded_image(book.draw(SCENE))
    now = encoded_image(encode_pixels(pixels))
    book.scenes |= {_key(pixels): (SCENE.with_things(()), render_scene(SCENE.with_things(())))}
    context = EvaluationContext(exact_toolbox(book, ("mug", "vase")), MeasurementCache(), EdiValSettings(), base)
    return content_consistency(context, made or plan(), 0, base, now)


def _key(pixels: Pixels) -> bytes:
    import hashlib

    return hashlib.sha256(repr(pixels.shape).encode() + np.ascontiguousarray(pixels).tobytes()).digest()


def damaged(level: float, box: tuple[int, int, int, int], kind: str) -> Pixels:
    """The base image with damage inside a box."""
    left, top, right, bottom = box
    pixels = RENDERED.pixels.astype(np.float32)
    part = pixels[top:bottom, left:right]
    if kind == "noise":
        part += np.random.default_rng(1).normal(0, 12 * level, part.shape)
    elif kind == "blur":
        part[:] = part + (cv2.GaussianBlur(part, (0, 0), 6) - part) * level / 5
    else:
        part[:] = part + (255 - part) * level / 8
    return np.asarray(np.clip(pixels, 0, 255), np.uint8)


def test_a_copy_is_consistent() -> None:
    found = compared(RENDERED.pixels)
    assert found.score == pytest.approx(1.0, abs=1e-6)
    assert found.l1 == 1.0
    assert not found.resized


@pytest.mark.parametrize("kind", ["noise", "blur", "bleach"])
@pytest.mark.parametrize("where", ["background", "object"])
def test_it_falls_with_damage_outside_the_edit(kind: str, where: str) -> None:
    box = BOXES["vase"] if where == "object" else (0, 0, SCENE.width, 60)
    found = [compared(damaged(level, box, kind)) for level in range(5)]
    scores = [one.score or 0.0 for one in found]
    assert all(later < earlier for earlier, later in pairwise(scores)), scores
    l1 = [one.l1 or 0.0 for one in found]
    assert all(later < earlier for earlier, later in pairwise(l1)), l1


def test_it_does_not_see_inside_the_excluded_boxes() -> None:
    clean = compared(RENDERED.pixels)
    for kind in ("noise", "bleach"):
        found = compared(damaged(5, BOXES["mug"], kind))
        assert (found.background, found.objects, found.background_l1) == (
            clean.background, clean.objects, clean.background_l1,
        )  # fmt: skip


def test_halves_that_do_not_apply_are_left_out() -> None:
    pixels = damaged(3, BOXES["vase"], "noise")
    no_objects = compared(pixels, plan(()))
    assert (no_objects.objects, no_objects.score) == (None, no_objects.background)
    no_background = compared(pixels, plan(background=False))
    assert (no_background.background, no_background.score) == (None, no_background.objects)
    assert compared(pixels, plan((), background=False)).score is None


def test_an_object_without_a_box_is_named() -> None:
    made = plan(("blue vase", "green lamp"))
    found = compared(RENDERED.pixels, made)
    assert found.not_found == ("green lamp",)
    assert set(found.by_object) == {"blue vase"}


def test_another_size_is_scaled_and_said() -> None:
    larger = np.asarray(cv2.resize(RENDERED.pixels, (384, 384), interpolation=cv2.INTER_CUBIC), np.uint8)
    found = compared(larger)
    assert found.resized
    assert (found.score or 0) > 0.9


def test_the_halves_have_the_same_weight() -> None:
    found = ContentConsistency(background=0.5, objects=0.9)
    assert found.score == pytest.approx(0.7)
    assert replace(found, objects=None).score == 0.5
