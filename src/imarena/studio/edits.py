"""Edits as data: each is a function from scene to scene, so the exact result of an instruction can be rendered.

An entry of the bundled benchmark consists of a start, the steps that change it, and its task and topic.
"""

from typing import Literal

from pydantic import Field

from imarena.core import FrozenModel, JsonDict, ObjectTurn
from imarena.studio.scene import Effect, Scene, Thing, Viewport

Op = Literal["add", "remove", "replace", "set", "backdrop", "effects", "view", "whole", "several"]


class SceneEdit(FrozenModel):
    """One change. `op` determines which fields are used; see `apply_edit`."""

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
    """The scene after an edit. Raises if a thing does not exist."""
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
        remaining = tuple(thing for thing in scene.things if thing.uid not in edit.uids)
        return scene.with_things(remaining + edit.things)
    return scene.with_things(tuple(with_values(t, edit.values) if t.uid in edit.uids else t for t in scene.things))


def with_values(thing: Thing, values: JsonDict) -> Thing:
    """A thing with some fields changed, validated again."""
    return Thing.model_validate({**thing.model_dump(), **values})


class Step(FrozenModel):
    """One instruction and the edit that it asks for."""

    instruction: str
    task: str
    edit: SceneEdit
    expected: str = ""
    turn: ObjectTurn | None = None
    """What an object-centric step does to the scene's objects, without the pools; None for other steps."""


class BenchmarkEntry(FrozenModel):
    """One benchmark entry. Without `scene` it is a generation task and has no source image."""

    key: str
    taxonomy: str
    task: str
    family: str
    topic: str = ""
    subtopic: str = ""
    track: str = ""
    scene: Scene | None = None
    references: tuple[Scene, ...] = ()
    steps: tuple[Step, ...] = Field(min_length=1)

    def scene_after(self, turns: int) -> Scene | None:
        """The exact scene after the first `turns` steps; None before the first step of a generation task."""
        scene = self.scene
        for step in self.steps[:turns]:
            scene = apply_edit(scene if scene is not None else Scene(), step.edit)
        return scene
