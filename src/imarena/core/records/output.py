"""Output: one image made by one editor for one item (and turn), or the reason why there is none."""

from enum import StrEnum
from functools import cached_property

from pydantic import Field, model_validator

from imarena.core.ids import content_id
from imarena.core.records.base import ImageRef, JsonDict, Origin, Record, Status


class Mode(StrEnum):
    """How the turns of an item were given to the editor."""

    SINGLE = "single"
    MULTI_TURN = "multi_turn"
    COMPLEX = "complex"


class Output(Record):
    """One attempt of one editor at one turn of one item."""

    item_id: str
    editor: str | None
    """None if the source does not name the model; such outputs can be judged but never ranked."""
    editor_version: str = ""
    turn: int = Field(default=0, ge=0)
    mode: Mode = Mode.SINGLE
    sample: int = Field(default=0, ge=0)
    parent_id: str | None = None
    """The output of the previous turn, in multi-turn mode."""
    params: JsonDict = Field(default_factory=dict)
    seed: int | None = None
    attempt: int = Field(default=0, ge=0)
    status: Status = Status.OK
    image: ImageRef | None = None
    """None if the attempt failed, or if the output was imported without its pixels."""
    error: str = ""
    latency_s: float | None = None
    cost_usd: float | None = None
    run_id: str | None = None
    origin: Origin | None = None

    @model_validator(mode="after")
    def _image_means_ok(self) -> "Output":
        if self.status is not Status.OK and self.image is not None:
            raise ValueError(f"an output with status {self.status} has no image")
        if self.status is Status.OK and self.image is None and self.origin is None:
            raise ValueError("an ok output without pixels needs an origin")
        return self

    @cached_property
    def work_id(self) -> str:
        """Identity of the request. The same request is never paid for twice."""
        return content_id(
            "work",
            self.item_id,
            self.turn,
            self.editor,
            self.editor_version,
            self.mode,
            self.sample,
            self.parent_id,
            self.params,
            self.seed,
            [self.origin.source, self.origin.row] if self.editor is None and self.origin else None,
        )

    @cached_property
    def output_id(self) -> str:
        """Identity of this attempt."""
        return content_id("output", self.work_id, self.attempt, self.status, self.image.sha256 if self.image else None)
