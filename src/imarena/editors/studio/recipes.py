"""The habits of the built-in editors: how each one succeeds or fails."""

import cv2
import numpy as np
import numpy.typing as npt

from imarena.core import Floats
from imarena.core.records import Status
from imarena.editors.studio.work import EditFailed, StudioRequest
from imarena.studio import (
    COLOURS,
    Effect,
    Scene,
    SceneEdit,
    apply_edit,
    apply_effect,
    random_scene,
    render_picture,
    render_scene,
)

RecipeResult = bytes | EditFailed

TIMID_SHARE = 0.72
RIGHT_SHARE = 0.25
FAIL_SHARE = 0.3


def _floats(pixels: npt.NDArray[np.uint8]) -> Floats:
    return pixels.astype(np.float32) / np.float32(255)


def exact(work: StudioRequest) -> RecipeResult:
    """Does what was asked, and nothing else."""
    return render_picture(work.after) if work.untouched else work.encode(work.applied(work.after))


def timid(work: StudioRequest) -> RecipeResult:
    """Goes most of the way: colours stay paler, removed things leave a trace."""
    start, target = _floats(work.start), _floats(work.applied(work.after))
    return work.encode(start + TIMID_SHARE * (target - start))


def over_editing(work: StudioRequest) -> RecipeResult:
    """Does what was asked, then also recolours something else and shifts the colours of the whole image."""
    rng, scene = work.rng, work.after
    unedited = [thing for thing in scene.things if work.before is not None and thing in work.before.things]
    if unedited:
        victim = unedited[int(rng.integers(len(unedited)))]
        colour = list(COLOURS)[int(rng.integers(len(COLOURS)))]
        scene = apply_edit(scene, SceneEdit(op="set", uids=(victim.uid,), values={"colour": colour}))
    pixels = _floats(work.applied(scene))
    front = np.zeros(pixels.shape[:2], np.bool_)
    for effect in (Effect(kind="vivid", amount=0.14), Effect(kind="golden_hour", amount=0.12)):
        pixels = apply_effect(pixels, effect, front)
    return work.encode(pixels)


def artefacts(work: StudioRequest) -> RecipeResult:
    """Does what was asked but damages the picture: blocks, shifted strips, halos."""
    rng = work.rng
    pixels = _floats(work.applied(work.after))
    height, width = pixels.shape[:2]
    pixels = apply_effect(pixels, Effect(kind="jpeg", amount=0.15), np.zeros((height, width), np.bool_))
    pixels = np.clip(pixels + 0.35 * (pixels - cv2.GaussianBlur(pixels, (0, 0), 3)), 0, 1)
    for _ in range(5):
        h, w = int(height * rng.uniform(0.03, 0.09)), int(width * rng.uniform(0.08, 0.22))
        y, x = int(rng.integers(height - h)), int(rng.integers(width - w))
        patch = np.roll(pixels[y : y + h, x : x + w], int(rng.integers(6, 40)), axis=1)
        pixels[y : y + h, x : x + w] = patch[..., ::-1] if rng.random() < 0.4 else patch
    return work.encode(np.asarray(pixels, np.float32))


def wrong_target(work: StudioRequest) -> RecipeResult:
    """Three times in four it changes something that nobody asked about, and not what was asked."""
    rng = work.rng
    if rng.random() < RIGHT_SHARE:
        return exact(work)
    if work.before is None:
        return work.encode(work.applied(_other_things(work.after, rng)))
    step = work.asked.entry.steps[work.asked.first]
    return work.encode(work.applied(_misdirected(work.before, step.edit, rng)))


def _misdirected(scene: Scene, edit: SceneEdit, rng: np.random.Generator) -> Scene:
    unedited = [thing for thing in scene.things if thing.uid not in edit.uids]
    if not unedited:
        wrong = (Effect(kind="golden_hour"), Effect(kind="vignette"), Effect(kind="colour_cast"))[int(rng.integers(3))]
        return scene.model_copy(update={"effects": (*scene.effects, wrong)})
    victim = unedited[int(rng.integers(len(unedited)))]
    if edit.op in {"set", "remove", "replace"} and "x" not in edit.values:
        changed = edit.model_copy(update={"uids": (victim.uid,)})
        result = apply_edit(scene, changed)
        if result != scene:
            return result
    colours = [colour for colour in COLOURS if colour != victim.colour]
    colour = colours[int(rng.integers(len(colours)))]
    return apply_edit(scene, SceneEdit(op="set", uids=(victim.uid,), values={"colour": colour}))


def _other_things(scene: Scene, rng: np.random.Generator) -> Scene:
    """A generated picture of the right place with things of the wrong colours in the wrong places."""
    colours = rng.permutation(list(COLOURS))
    positions = rng.permutation([thing.x for thing in scene.things])
    things = tuple(
        thing.model_copy(update={"colour": str(colours[i % len(colours)]), "x": round(1 - float(positions[i]), 4)})
        for i, thing in enumerate(scene.things)
    )
    return scene.with_things(things)


def returns_input(work: StudioRequest) -> RecipeResult:
    """Gives back what it got: the source, else the first reference, else an empty canvas."""
    if work.request.sources:
        return work.request.sources[0]
    return work.request.references[0] if work.request.references else work.encode(work.source_pixels)


def new_image(work: StudioRequest) -> bytes:
    """Draws another picture that has little to do with the source."""
    rng = work.rng
    backdrops = [
        backdrop
        for backdrop in ("table", "meadow", "room", "street", "beach", "forest", "snow", "desert")
        if backdrop != work.after.backdrop
    ]
    scene = random_scene(int(rng.integers(10_000)), backdrops[int(rng.integers(len(backdrops)))], 4)
    height, width = work.source_pixels.shape[:2] if work.before is None else work.target.shape[:2]
    pixels = render_scene(scene).pixels
    return work.encode(np.asarray(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA), np.uint8))


def flaky(work: StudioRequest) -> RecipeResult:
    """Fails at random, on average three times in ten, each time with a status; otherwise it is nearly exact."""
    rng = work.rng
    if rng.random() < FAIL_SHARE:
        return (
            EditFailed(Status.REFUSED, "The request was declined."),
            EditFailed(Status.TIMEOUT, "No answer within 60 s."),
            EditFailed(Status.API_ERROR, "The service answered with error 503."),
        )[int(rng.integers(3))]
    start, target = _floats(work.start), _floats(work.applied(work.after))
    return work.encode(start + 0.93 * (target - start))
