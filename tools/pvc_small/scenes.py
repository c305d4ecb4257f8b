"""The studio part of the training pictures of `pvc-small`: scenes before and after two edits of one thing.

It needs no outside picture, so that anyone can make it again and compare its hash (`data.json`).
"""

import hashlib
from importlib import metadata

import cv2
import numpy as np
from numpy.typing import NDArray

from imarena.core import canonical_json
from imarena.studio import COLOURS, Scene, random_scene, render_scene
from imarena.studio.backdrops import BACKDROPS

SIDE = 512
RENDERED_WITH = ("numpy", "opencv-python-headless", "pillow")
"""The same scene gives the same bytes with the same versions of these."""


def scene_triple(seed: int) -> tuple[Scene, Scene, Scene]:
    """The scene of a seed, and two different edits of one thing in it."""
    rng = np.random.default_rng(seed)
    scene = random_scene(seed, _backdrop(rng), int(rng.integers(3, 6))).model_copy(
        update={"width": SIDE, "height": SIDE}
    )
    before = render_scene(scene)
    shown = [thing.uid for thing in scene.things if before.mask(thing.uid).mean() > 0.004]
    uid = shown[int(rng.integers(len(shown)))] if shown else scene.things[0].uid
    kind = ("colour", "remove", "replace")[int(rng.integers(3))]
    return scene, _edited(scene, uid, kind, rng), _edited(scene, uid, kind, rng)


def studio_triples(first: int, count: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Images (count * 3): the source and two edits of one thing; and the edits' masks at a quarter of the size."""
    pictures, masks = [], []
    for seed in range(first, first + count):
        before, *edits = (render_scene(scene).pixels for scene in scene_triple(seed))
        pictures.append(before)
        for after in edits:
            changed = (np.abs(after.astype(int) - before).max(axis=2) > 0).astype(np.float32)
            pictures.append(after)
            masks.append(np.asarray(cv2.resize(changed, (SIDE // 4,) * 2, interpolation=cv2.INTER_AREA) * 255))
    return np.stack(pictures), np.stack(masks).astype(np.uint8)


def studio_hashes(first: int, count: int) -> dict[str, str]:
    """SHA-256 of the scenes as they are described, which no version changes, and of their pixels."""
    described, drawn = hashlib.sha256(), hashlib.sha256()
    for seed in range(first, first + count):
        for scene in scene_triple(seed):
            described.update(canonical_json(scene.model_dump(mode="json")).encode() + b"\n")
            drawn.update(np.ascontiguousarray(render_scene(scene).pixels).tobytes())
    return {"scenes_sha256": described.hexdigest(), "pixels_sha256": drawn.hexdigest()}


def versions() -> dict[str, str]:
    """The installed versions of what renders."""
    return {name: metadata.version(name) for name in RENDERED_WITH}


def _backdrop(rng: np.random.Generator) -> str:
    names = sorted(BACKDROPS)
    return names[int(rng.integers(len(names)))]


def _edited(scene: Scene, uid: str, kind: str, rng: np.random.Generator) -> Scene:
    if kind == "remove":
        return scene.with_things(tuple(thing for thing in scene.things if thing.uid != uid))
    names = sorted(COLOURS)
    colour = names[int(rng.integers(len(names)))]
    others = [thing.kind for thing in scene.things]
    new = others[int(rng.integers(len(others)))] if kind == "replace" else scene.thing(uid).kind
    fields = {"colour": colour, "kind": new, "text": "", "state": ""} if kind == "replace" else {"colour": colour}
    return scene.changed(uid, lambda thing: thing.model_copy(update=fields))
