"""Scenes: the same seed gives the same picture, JSON keeps everything, and the truth says what the pixels show."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.studio import (
    Effect,
    Scene,
    SceneEdit,
    Thing,
    Viewport,
    apply_edit,
    entries,
    random_scene,
    render_picture,
    render_scene,
)
from imarena.studio.backdrops import BACKDROPS
from imarena.studio.effects import FRONT, WHOLE
from imarena.studio.generate import kinds_for
from imarena.studio.kinds import KINDS
from imarena.studio.palette import COLOURS

TABLE = Scene(
    width=256,
    height=256,
    things=(
        Thing(uid="ball", kind="ball", x=0.3, y=0.9, size=0.3, colour="red"),
        Thing(uid="mug", kind="mug", x=0.7, y=0.9, size=0.3, colour="blue", material="ceramic"),
    ),
)
PLACES = [name for name, backdrop in BACKDROPS.items() if backdrop.place != "flat"]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000), st.sampled_from(PLACES))
def test_same_seed_same_picture(seed: int, place: str) -> None:
    first, second = random_scene(seed, place), random_scene(seed, place)
    assert first == second
    again = Scene.model_validate_json(first.model_dump_json())
    assert again == first
    assert np.array_equal(render_scene(first).pixels, render_scene(again).pixels)


def test_encoded_picture_is_the_rendered_one() -> None:
    assert render_picture(TABLE) == render_picture(Scene.model_validate_json(TABLE.model_dump_json()))
    assert render_picture(TABLE)[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("colour", sorted(COLOURS))
def test_mask_has_the_named_colour(colour: str) -> None:
    scene = apply_edit(TABLE, SceneEdit(op="set", uids=("ball",), values={"colour": colour}))
    shown = render_scene(scene)
    seen = shown.pixels[shown.mask("ball")].astype(float)
    middle = np.median(seen, axis=0)
    nearest = min(COLOURS, key=lambda name: float(np.abs(middle - COLOURS[name]).sum()))
    assert nearest == colour


def test_boxes_masks_and_depth_agree() -> None:
    shown = render_scene(TABLE)
    for seen in shown.seen():
        assert seen.box is not None
        left, top, right, bottom = seen.box
        inside = np.zeros_like(seen.mask)
        inside[top:bottom, left:right] = True
        assert not (seen.mask & ~inside).any()
        assert abs(bottom - seen.thing.y * 256) <= 4
        assert abs((left + right) / 2 - seen.thing.x * 256) <= 24
    assert np.array_equal(shown.foreground, shown.mask("ball") | shown.mask("mug"))


def test_the_nearer_thing_hides_the_farther() -> None:
    near = Thing(uid="near", kind="box", x=0.3, y=0.97, size=0.4, colour="green")
    shown = render_scene(TABLE.with_things((*TABLE.things, near)))
    names = [seen.thing.uid for seen in shown.seen()]
    assert names[-1] == "near"
    assert shown.mask("ball").sum() < render_scene(TABLE).mask("ball").sum()
    assert not (shown.mask("ball") & shown.mask("near")).any()


def test_removal_changes_only_the_surroundings_of_the_thing() -> None:
    before, after = render_scene(TABLE), render_scene(apply_edit(TABLE, SceneEdit(op="remove", uids=("mug",))))
    changed = np.abs(before.pixels.astype(int) - after.pixels).max(axis=2) > 0
    assert changed[before.mask("mug")].mean() > 0.9
    assert not changed[:, :90].any()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_can_be_seen(kind: str) -> None:
    size = min(0.5, 0.8 / KINDS[kind].aspect)
    thing = Thing(
        uid="it", kind=kind, x=0.5, y=0.8, size=size, colour="red", text="HELLO", material=KINDS[kind].material
    )
    shown = render_scene(Scene(width=200, height=200, backdrop="studio", things=(thing,)))
    assert shown.mask("it").sum() > 60


MATERIALS = ("plastic", "ceramic", "wood", "metal", "glass", "stone", "fabric", "paper")


@pytest.mark.parametrize("material", MATERIALS)
def test_materials_look_different(material: str) -> None:
    scene = apply_edit(TABLE, SceneEdit(op="set", uids=("ball",), values={"material": material}))
    other = "stone" if material != "stone" else "metal"
    changed = apply_edit(scene, SceneEdit(op="set", uids=("ball",), values={"material": other}))
    mask = render_scene(scene).mask("ball")
    difference = np.abs(render_scene(scene).pixels.astype(int) - render_scene(changed).pixels)[mask].mean()
    assert difference > 4


@pytest.mark.parametrize("kind", sorted((*WHOLE, *FRONT, "tilt", "keystone", "mirror")))
def test_effects_change_the_picture_and_are_repeatable(kind: str) -> None:
    effect = Effect(kind=kind, text="red", seed=210) if kind == "recolour" else Effect(kind=kind)
    scene = TABLE.model_copy(update={"effects": (effect,)})
    plain, changed = render_scene(TABLE).pixels, render_scene(scene).pixels
    assert np.array_equal(changed, render_scene(scene).pixels)
    assert np.abs(plain.astype(int) - changed).mean() > 0.3


def test_mirrored_truth_follows_the_pixels() -> None:
    shown = render_scene(TABLE.model_copy(update={"effects": (Effect(kind="mirror"),)}))
    assert np.array_equal(shown.mask("ball"), render_scene(TABLE).mask("ball")[:, ::-1])


def test_a_view_crops() -> None:
    shown = render_scene(TABLE.model_copy(update={"view": Viewport(left=0.25, right=0.75)}))
    assert shown.pixels.shape == (256, 128, 3)
    assert np.array_equal(shown.pixels, render_scene(TABLE).pixels[:, 64:192])


def test_unknown_names_say_what_is_known() -> None:
    with pytest.raises(UserError, match="no thing 'cup'"):
        apply_edit(TABLE, SceneEdit(op="remove", uids=("cup",)))
    with pytest.raises(UserError, match="no effect"):
        render_scene(TABLE.model_copy(update={"effects": (Effect(kind="sparkle"),)}))
    with pytest.raises(UserError, match="no backdrop"):
        render_scene(TABLE.model_copy(update={"backdrop": "moonbase"}))
    with pytest.raises(UserError, match="no kind"):
        render_scene(TABLE.with_things((Thing(uid="x", kind="dragon", x=0.5, y=0.5, size=0.2, colour="red"),)))


def test_random_scenes_show_every_thing() -> None:
    for seed, place in enumerate(PLACES):
        scene = random_scene(seed, place)
        assert len(scene.things) == 4
        assert {thing.kind for thing in scene.things} <= set(kinds_for(place))
        for seen in render_scene(scene).seen():
            assert seen.mask.mean() > 0.0015, (place, seen.name)


def test_every_scene_of_the_benchmark_survives_json() -> None:
    for entry in entries():
        assert type(entry).model_validate_json(entry.model_dump_json()) == entry
