"""What a decomposition gives: the contents of an image, what was left out of them and why, or why there is nothing."""

from dataclasses import dataclass
from typing import Literal, Protocol

from imarena.core.records import JsonDict, Status, Usage
from imarena.instructions.scene_contents import SceneContents

DecompositionOutcome = Literal["ok", "unsuitable", "no_objects", "nothing_found", "failed"]
OUTCOMES: dict[DecompositionOutcome, str] = {
    "ok": "objects were found",
    "unsuitable": "the image was screened out before its objects were listed",
    "no_objects": "no object is listed",
    "nothing_found": "objects are listed, and the detector finds none of them that can be edited",
    "failed": "the image could not be read, or the model's reply could not be used",
}
"""How a decomposition can end, in words."""


@dataclass(frozen=True)
class DroppedObject:
    """An object that is left out of the contents, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Decomposition:
    """The result for one image. `status` says whether there is an answer at all; only `ok` may have contents."""

    outcome: DecompositionOutcome
    status: Status = Status.OK
    reason: str = ""
    contents: SceneContents | None = None
    dropped: tuple[DroppedObject, ...] = ()
    facts: JsonDict | None = None
    """What the statistics are made from: scene, lighting, people, faces."""
    usage: Usage = Usage()
    raw: tuple[str, ...] = ()
    """The replies of a model, as they came."""


class Decomposer(Protocol):
    """Lists the objects of an image. Failures come back as a status; they are never raised."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    async def __call__(self, image: bytes) -> Decomposition: ...
