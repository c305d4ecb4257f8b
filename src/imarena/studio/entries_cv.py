"""Entries for the sixteen CV-Arena tasks (appendix B of the paper; names as in the cv_arena taxonomy), two each."""

from collections.abc import Iterator

from imarena.studio.edits import SceneEdit, apply_edit
from imarena.studio.entry import BenchmarkEntry, Step
from imarena.studio.generate import join_words, new_thing, random_scene
from imarena.studio.kinds import article
from imarena.studio.scene import Effect, Scene, Thing, Viewport

Made = tuple[Scene, str, SceneEdit]

_KEYS = {"watermark_and_graphic_removal": "ui_recovery"}
"""Keys are stable: entries of a task that was renamed keep the keys that stored items have."""


_RESTORED: tuple[tuple[str, int, str, str, tuple[Effect, ...]], ...] = (
    ("exposure_correction", 201, "table", "The photo is overexposed. Bring it back to a natural exposure.",
     (Effect(kind="overexposed", amount=0.5),)),
    ("exposure_correction", 202, "beach", "This beach picture came out too dark. Correct the exposure.",
     (Effect(kind="low_light", amount=0.6),)),
    ("deblurring", 203, "street", "Remove the motion blur and make the street sharp.", (Effect(kind="motion_blur"),)),
    ("deblurring", 204, "shelf", "The shelf is out of focus. Deblur the picture.", (Effect(kind="blur", amount=0.9),)),
    ("super_resolution", 205, "table", "Upscale this low-resolution picture so that fine details are crisp.",
     (Effect(kind="low_resolution"),)),
    ("super_resolution", 206, "snow", "Recover the detail that was lost to low resolution and strong compression.",
     (Effect(kind="low_resolution", amount=0.4), Effect(kind="jpeg"))),
    ("low_light_enhancement", 207, "room",
     "Brighten this dim, noisy room as if it had been lit well, and remove the noise.",
     (Effect(kind="low_light"), Effect(kind="noise", amount=0.35, seed=7))),
    ("low_light_enhancement", 208, "forest", "Make this dark forest picture clear and remove the sensor noise.",
     (Effect(kind="low_light", amount=0.85), Effect(kind="noise", amount=0.5, seed=8))),
    ("dehazing", 209, "meadow", "Remove the haze over the meadow.", (Effect(kind="haze"),)),
    ("dehazing", 210, "street", "Clear the fog so that the buildings show their colors.",
     (Effect(kind="haze", amount=0.9),)),
)  # fmt: skip


def _restored(scene: Scene, instruction: str, *effects: Effect) -> Made:
    return scene.model_copy(update={"effects": effects}), instruction, SceneEdit(op="effects")


def _restoration() -> Iterator[tuple[str, Made]]:
    for task, seed, backdrop, instruction, effects in _RESTORED:
        yield task, _restored(random_scene(seed, backdrop), instruction, *effects)


def _photography() -> Iterator[tuple[str, Made]]:
    for seed, backdrop, view, instruction in (
        (221, "meadow", Viewport(left=0.2, right=0.8),
         "Extend the picture to the left and right so that the whole meadow is shown."),
        (222, "beach", Viewport(left=0.0, right=0.7), "Widen the frame to the right and continue the beach."),
    ):  # fmt: skip
        scene = random_scene(seed, backdrop).model_copy(update={"view": view})
        yield "outpainting", (scene, instruction, SceneEdit(op="view"))
    for seed, backdrop, instruction in (
        (223, "street", "Blur the background with a shallow depth of field and keep the objects in front sharp."),
        (224, "table", "Give this a portrait-lens look: everything behind the objects melts into soft blur."),
    ):
        effect = Effect(kind="background_blur", amount=1.2)
        yield "depth_of_field", (random_scene(seed, backdrop), instruction, SceneEdit(op="effects", effects=(effect,)))


def _composition() -> Iterator[tuple[str, Made]]:
    for seed, backdrop, kind, colour in ((231, "table", "teapot", "teal"), (232, "room", "ball", "red")):
        scene = random_scene(seed, backdrop, 3)
        thing = new_thing(scene, kind, colour, uid="inserted")
        instruction = (
            f"Place {article(colour)} {thing.name} in the free space, with a shadow that agrees with the light."
        )
        yield "object_insertion", (scene, instruction, SceneEdit(op="add", things=(thing,)))
    for seed, backdrop, base, top in ((233, "room", "crate", "cat"), (234, "meadow", "crate", "bird")):
        scene = random_scene(seed, backdrop, 3, must=("plant",) if backdrop == "room" else ("tree",))
        below = new_thing(scene, base, "brown", uid="below", text="FARM")
        above = new_thing(scene, top, "orange", uid="above").model_copy(
            update={"x": below.x, "y": round(below.y - below.size * 0.95, 4), "layer": 1, "shadow": False}
        )
        instruction = (
            f"Put a brown wooden {base} that says 'FARM' in the free space and let an orange {top} sit on top of it."
        )
        yield "multi_object_composition", (scene, instruction, SceneEdit(op="add", things=(below, above)))


def _stated(scene: Scene, uid: str, **values: str | float | bool) -> SceneEdit:
    scene.thing(uid)
    return SceneEdit(op="set", uids=(uid,), values=dict(values))


def _semantic() -> Iterator[tuple[str, Made]]:
    scene = apply_edit(
        random_scene(241, "room", must=("lamp",)), SceneEdit(op="set", uids=("lamp",), values={"state": "off"})
    )
    yield "functional_state_change", (scene, "Switch the lamp on.", _stated(scene, "lamp", state="on"))
    scene = random_scene(242, "table", 4, must=("laptop", "mug"))
    yield "functional_state_change", (scene, "Close the laptop.", _stated(scene, "laptop", state="closed"))
    scene = random_scene(243, "shelf", 3, must=("clock", "vase", "mug"))
    a, b = scene.thing("clock"), scene.thing("vase")
    swap = SceneEdit(op="several", steps=(_stated(scene, a.uid, x=b.x), _stated(scene, b.uid, x=a.x)))
    yield "spatial_rearrangement", (scene, f"Swap the places of the {a.name} and the {b.name}.", swap)
    scene = random_scene(244, "beach", 3, must=("umbrella", "chair", "ball"))
    order = sorted(scene.things, key=lambda thing: thing.size)
    positions = sorted(thing.x for thing in scene.things)
    moves = tuple(_stated(scene, thing.uid, x=x) for thing, x in zip(order, positions, strict=True))
    yield "spatial_rearrangement", (
        scene, "Arrange " + join_words([f"the {t.name}" for t in order]) + " from left to right in this order.",
        SceneEdit(op="several", steps=moves),
    )  # fmt: skip


def _geometry() -> Iterator[tuple[str, Made]]:
    scene = random_scene(251, "street", 4, must=("car",))
    turned = _stated(scene, "car", flip=True)
    yield "pose_transformation", (scene, "Turn the car around so that it faces the other way.", turned)
    scene = random_scene(252, "shelf", 4, must=("book", "plant"))
    tipped = _stated(scene, "book", angle=15.0)
    yield "pose_transformation", (scene, "Tip the book over to the right by about 15 degrees.", tipped)
    scene = random_scene(253, "lake", 3, must=("bench", "tree"))
    tilted = scene.model_copy(update={"effects": (Effect(kind="tilt"),)})
    yield "viewpoint_change", (tilted, "The camera was tilted. Level the horizon.", SceneEdit(op="effects"))
    scene = random_scene(254, "table", 4)
    low = SceneEdit(op="effects", effects=(Effect(kind="keystone", amount=0.9),))
    instruction = "Show the scene from a lower viewpoint, with the vertical lines spreading upwards."
    yield "viewpoint_change", (scene, instruction, low)
    for seed, before, after, instruction in (
        (255, "awake", "asleep", "Let the cat close its eyes and look calm, almost asleep."),
        (256, "asleep", "awake", "Make the cat a little more alert: open its eyes, nothing else."),
    ):
        scene = random_scene(seed, "room", 3, must=("cat",))
        scene = apply_edit(scene, _stated(scene, "cat", state=before))
        yield "expression_control", (scene, instruction, _stated(scene, "cat", state=after))


def _graphic(
    uid: str, kind: str, x: float, y: float, size: float, colour: str, text: str = "", state: str = ""
) -> Thing:
    return Thing(uid=uid, kind=kind, x=x, y=y, size=size, colour=colour, material="paper", text=text, state=state)


def _typography() -> Iterator[tuple[str, Made]]:
    scene = random_scene(261, "street", 4, must=("sign",))
    scene = apply_edit(scene, _stated(scene, "sign", state="faded", text="MUSEUM"))
    clear = _stated(scene, "sign", state="")
    yield "text_recovery", (scene, "The writing on the sign has faded. Restore the word 'MUSEUM'.", clear)
    poster = Scene(
        width=512, height=640, seed=262, backdrop="poster", mood="warm",
        things=(_graphic("banner", "banner", 0.5, 0.26, 0.16, "red", "SUMMER FAIR", "faded"),
                _graphic("star", "star", 0.5, 0.66, 0.3, "yellow"), _graphic("heart", "heart", 0.22, 0.88, 0.12, "red"),
                _graphic("caption", "caption", 0.5, 0.82, 0.06, "black", "Saturday at the harbour")),
    )  # fmt: skip
    clear = _stated(poster, "banner", state="")
    yield "text_recovery", (poster, "Recover the faded headline 'SUMMER FAIR' on the banner.", clear)
    app = app_window(263, "Recipes", ("Soup", "Bread", "Salad"))
    popup = _graphic("popup", "popup", 0.6, 0.72, 0.34, "blue", "Rate this app!").model_copy(update={"layer": 2})
    yield "watermark_and_graphic_removal", (
        app.with_things((*app.things, popup)), "Remove the pop-up window and restore what it covers.",
        SceneEdit(op="remove", uids=("popup",)),
    )  # fmt: skip
    mark = Effect(kind="watermark", text="PREVIEW")
    instruction = "Remove the watermark without touching the picture."
    yield "watermark_and_graphic_removal", _restored(random_scene(264, "beach"), instruction, mark)


def app_window(seed: int, heading: str, cards: tuple[str, ...]) -> Scene:
    """A program window with a heading, cards and a button."""
    tints = ("teal", "orange", "purple", "pink")
    things = [_graphic("title", "title", 0.48, 0.235, 0.075, "blue", heading)]
    for i, card in enumerate(cards):
        things.append(_graphic(f"card-{i + 1}", "card", 0.34 + 0.25 * i, 0.64, 0.34, tints[(seed + i) % 4], card))
    things.append(_graphic("button", "button", 0.6, 0.83, 0.09, "green", "Save"))
    things.append(_graphic("avatar", "avatar", 0.92, 0.24, 0.08, "pink"))
    return Scene(width=704, height=512, seed=seed, backdrop="window", mood="day", things=tuple(things))


def cv_entries() -> Iterator[BenchmarkEntry]:
    """Two entries for each task, families in the order of the taxonomy."""
    families = {
        "restoration": _restoration, "photography": _photography, "composition": _composition, "semantic": _semantic,
        "geometry": _geometry, "typography": _typography,
    }  # fmt: skip
    seen: dict[str, int] = {}
    for family, made in families.items():
        for task, (scene, instruction, edit) in made():
            seen[task] = seen.get(task, 0) + 1
            yield BenchmarkEntry(
                key=f"cv-{_KEYS.get(task, task).replace('_', '-')}-{seen[task]}",
                taxonomy="cv_arena", task=task, family=family, track="professional", scene=scene,
                steps=(Step(instruction=instruction, task=task, edit=edit),),
            )  # fmt: skip
