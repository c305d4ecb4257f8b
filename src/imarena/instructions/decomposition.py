"""The result of a decomposition: the contents of an image, what was dropped and why, or why it failed."""

from dataclasses import dataclass
from typing import Literal, Protocol

from imarena.core.records import JsonDict, Status, Usage
from imarena.instructions.scene_contents import SceneContents

DecompositionOutcome = Literal["ok", "unsuitable", "no_objects", "nothing_found", "failed"]
DECOMPOSITION_OUTCOMES: dict[DecompositionOutcome, str] = {
    "ok": "objects were found",
    "unsuitable": "the image was screened out before its objects were listed",
    "no_objects": "no object is listed",
    "nothing_found": "objects are listed, and the detector finds none of them that can be edited",
    "failed": "the image could not be read, or the model's reply could not be used",
}
"""The possible outcomes of a decomposition, in words."""


@dataclass(frozen=True)
class DroppedObject:
    """An object that was dropped from the contents, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True)
class Decomposition:
    """The result for one image. `status` says whether there is an answer; only `ok` may have contents."""

    outcome: DecompositionOutcome
    status: Status = Status.OK
    reason: str = ""
    contents: SceneContents | None = None
    dropped: tuple[DroppedObject, ...] = ()
    facts: JsonDict | None = None
    """Input of the statistics: scene, lighting, people, faces."""
    usage: Usage = Usage()
    raw: tuple[str, ...] = ()
    """The raw replies of a model."""


class Decomposer(Protocol):
    """Lists the objects of an image. Failures are returned as a status, never raised."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    async def __call__(self, image: bytes) -> Decomposition: ...
