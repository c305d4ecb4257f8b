"""An entry of the bundled benchmark: a start, the steps that change it, and what it is about."""

from pydantic import Field

from imarena.core import Noun, ObjectTurn
from imarena.studio.edits import SceneEdit, apply_edit
from imarena.studio.scene import Scene


class Step(Noun):
    """One instruction and the edit that carries it out."""

    instruction: str
    task: str
    edit: SceneEdit
    expected: str = ""
    turn: ObjectTurn | None = None
    """What an object-centric step does to the scene's objects, without the pools; None for other steps."""


class BenchmarkEntry(Noun):
    """One benchmark entry. Without `scene` it is a generation task: there is no source picture."""

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
