"""Filling holes and finding things: known answers, and what must hold for any picture."""

import io

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from imarena.core import Floats
from imarena.editors.classical.fill import fill, inpaint_telea
from imarena.editors.classical.find import find_subject, target_mask
from imarena.editors.classical.sky import sky_mask
from imarena.editors.classical.things import remove
from imarena.language import read_instruction
from imarena.studio import entry_of, render_picture, render_scene
from imarena.studio.photos import photo_bytes
from imarena.vision.saliency import saliency

Bools = npt.NDArray[np.bool_]


def floats(image: Image.Image) -> Floats:
    return np.asarray(image.convert("RGB"), np.float32) / np.float32(255)


def photo(name: str, side: int = 360) -> Floats:
    image = Image.open(io.BytesIO(photo_bytes(name))).convert("RGB")
    image.thumbnail((side, side))
    return floats(image)


def stripes() -> Floats:
    """Vertical stripes, twelve pixels wide each: a fill that only smears would lose them."""
    light = (np.arange(192) // 12 % 2).astype(np.float32)
    return np.repeat(np.repeat((0.2 + 0.6 * light)[None, :, None], 128, axis=0), 3, axis=2)


def test_a_texture_goes_on_through_the_hole() -> None:
    rgb = stripes()
    hole = np.zeros(rgb.shape[:2], np.bool_)
    hole[40:90, 70:120] = True
    wrong = np.abs(fill(rgb, hole) - rgb)[hole].mean()
    smeared = np.abs(inpaint_telea(rgb, hole) - rgb)[hole].mean()
    assert wrong < 0.06
    assert wrong < 0.5 * smeared


def test_gaps_of_a_large_thing_are_closed_with_small_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shape as wide as the gap takes seconds of each removal on a large photograph."""
    made, sides = cv2.getStructuringElement, []

    def counted(kind: int, size: tuple[int, int]) -> object:
        sides.append(size[0])
        return made(kind, size)

    monkeypatch.setattr(cv2, "getStructuringElement", counted)
    rgb = np.full((1200, 1600, 3), 0.4, np.float32)
    thing = np.zeros(rgb.shape[:2], np.bool_)
    thing[200:1000, 300:1300] = True
    thing[600:1000, 700:760] = False  # between two legs
    rgb[200:1000, 300:1300] = (0.8, 0.1, 0.1)
    gone = remove(rgb, thing)
    assert max(sides) < 60
    assert np.abs(gone - 0.4)[thing].mean() < 0.02
    assert np.abs(gone - 0.4)[600:1000, 700:760].mean() < 0.02
    np.testing.assert_array_equal(gone[:100], rgb[:100])


def test_what_is_to_be_avoided_is_not_copied() -> None:
    rgb = np.full((96, 128, 3), 0.5, np.float32)
    rgb[:, :40] = (0.9, 0.1, 0.1)
    hole = np.zeros((96, 128), np.bool_)
    hole[30:60, 36:70] = True
    red = np.zeros_like(hole)
    red[:, :40] = True
    done = fill(rgb, hole, start=rgb, avoid=red)
    assert np.abs(done[45, 55] - 0.5).max() < 0.1
    assert np.array_equal(done[~hole], rgb[~hole])


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_any_hole_is_filled_alike_each_time_and_nothing_else_changes(height: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rgb = rng.random((height, width, 3), np.float32)
    hole = rng.random((height, width)) < rng.random()
    done = fill(rgb, hole)
    assert done.shape == rgb.shape
    assert np.isfinite(done).all()
    assert np.array_equal(done[~hole], rgb[~hole])
    assert np.array_equal(done, fill(rgb, hole))


def test_the_subject_of_a_photograph_stands_out() -> None:
    flower = find_subject(photo("flower"))
    height, width = flower.shape
    assert 0.1 < flower.mean() < 0.4
    assert flower[height // 2, round(width * 0.4)]
    assert not flower[: height // 10].any()
    assert saliency(np.zeros((8, 8, 3), np.float32)).max() == 0
    assert not find_subject(np.full((64, 64, 3), 0.5, np.float32)).any()


def test_the_sky_is_above_the_mountains() -> None:
    sky = sky_mask(photo("mountains"))
    height, width = sky.shape
    assert sky[: height // 10].mean() > 0.6
    assert not sky[height // 2 :].any()
    assert not sky[round(height * 0.35), round(width * 0.6)]  # rock


def truth(key: str, turn: int, uid: str) -> tuple[Floats, str, Bools]:
    entry = entry_of(key)
    scene = entry.scene_after(turn)
    assert scene is not None
    return (
        floats(Image.open(io.BytesIO(render_picture(scene)))),
        entry.steps[turn].instruction,
        render_scene(scene).mask(uid),
    )


@pytest.mark.parametrize(
    ("key", "turn", "kind"), [("edival-10", 1, "pear"), ("edival-09", 2, "tree"), ("edival-02", 0, "chair")]
)
def test_a_thing_is_found_by_its_colour(key: str, turn: int, kind: str) -> None:
    scene = entry_of(key).scene_after(turn)
    assert scene is not None
    colour = read_instruction(entry_of(key).steps[turn].instruction).edits[0].old_colours[0]
    uid = next(thing.uid for thing in scene.things if thing.kind == kind and thing.colour == colour)
    rgb, words, mask = truth(key, turn, uid)
    found = target_mask(rgb, read_instruction(words).edits[0], ())
    assert found is not None
    assert (found & mask).sum() / (found | mask).sum() > 0.6


def test_parts_and_things_that_cannot_be_told_apart_are_not_found() -> None:
    rgb = photo("cat")
    assert target_mask(rgb, read_instruction("Make the eyes of the cat blue.").edits[0], ()) is None
    assert target_mask(photo("astronaut"), read_instruction("Remove the flag.").edits[0], ()) is None
    plain = Image.new("RGB", (200, 150), (90, 140, 90))
    ImageDraw.Draw(plain).ellipse((60, 40, 120, 100), fill=(80, 150, 90))
    assert target_mask(floats(plain), read_instruction("Remove the red ball.").edits[0], ()) is None
