"""Edits as data: each is a function from a scene to a scene, so the exact result of an instruction can be rendered."""

from typing import Literal

from pydantic import Field

from imarena.core import JsonDict, Noun
from imarena.studio.scene import Effect, Scene, Thing, Viewport

Op = Literal["add", "remove", "replace", "set", "backdrop", "effects", "view", "whole", "several"]


class SceneEdit(Noun):
    """One change. Which fields count depends on `op`; `apply` says how."""

    op: Op
    uids: tuple[str, ...] = ()
    things: tuple[Thing, ...] = ()
    values: JsonDict = Field(default_factory=dict)
    backdrop: str = ""
    mood: str = "day"
    seed: int = 0
    effects: tuple[Effect, ...] = ()
    view: Viewport = Viewport()
    scene: Scene | None = None
    steps: tuple["SceneEdit", ...] = ()


def apply_edit(scene: Scene, edit: SceneEdit) -> Scene:
    """The scene after an edit. A thing that is not there raises."""
    if edit.op == "several":
        for step in edit.steps:
            scene = apply_edit(scene, step)
        return scene
    if edit.op == "whole":
        return edit.scene or scene
    if edit.op in {"backdrop", "effects", "view"}:
        return _globally(scene, edit)
    return _locally(scene, edit)


def _globally(scene: Scene, edit: SceneEdit) -> Scene:
    if edit.op == "backdrop":
        return scene.model_copy(update={"backdrop": edit.backdrop, "mood": edit.mood, "seed": edit.seed})
    if edit.op == "effects":
        return scene.model_copy(update={"effects": edit.effects})
    return scene.model_copy(update={"view": edit.view})


def _locally(scene: Scene, edit: SceneEdit) -> Scene:
    for uid in edit.uids:
        scene.thing(uid)
    if edit.op == "add":
        return scene.with_things(scene.things + edit.things)
    if edit.op == "remove":
        return scene.with_things(tuple(thing for thing in scene.things if thing.uid not in edit.uids))
    if edit.op == "replace":
        kept = tuple(thing for thing in scene.things if thing.uid not in edit.uids)
        return scene.with_things(kept + edit.things)
    return scene.with_things(tuple(with_values(t, edit.values) if t.uid in edit.uids else t for t in scene.things))


def with_values(thing: Thing, values: JsonDict) -> Thing:
    """A thing with some of its fields changed, checked again."""
    return Thing.model_validate({**thing.model_dump(), **values})
