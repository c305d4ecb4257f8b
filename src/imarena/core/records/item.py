"""Item: one benchmark entry, with one or more turns."""

from functools import cached_property

from pydantic import Field, model_validator

from imarena.core.ids import content_id
from imarena.core.records.base import FrozenModel, ImageRef, JsonDict, Origin, Record


class Turn(FrozenModel):
    """One instruction of an item. Multi-turn items have several, applied one after the other."""

    instruction: str
    original_instruction: str | None = None
    """The instruction before it was refined, if the source contains both."""
    task: str | None = None
    """The edit type of this turn, if it differs from the item's."""
    references: tuple[ImageRef, ...] = ()
    masks: tuple[ImageRef, ...] = ()
    expected: str | None = None
    """Description of the expected result (a target caption), if the source contains one."""


class Item(Record):
    """One benchmark entry: source image(s), reference image(s), instruction(s) and labels."""

    dataset: str
    key: str
    """The entry's name in its data set, unique there."""
    turns: tuple[Turn, ...] = Field(min_length=1)
    sources: tuple[ImageRef, ...] = ()
    references: tuple[ImageRef, ...] = ()
    masks: tuple[ImageRef, ...] = ()
    absent: tuple[str, ...] = ()
    """Names of images that the source mentions but does not contain. Another item may add the pixels later."""
    taxonomy: str | None = None
    task: str | None = None
    family: str | None = None
    topic: str | None = None
    subtopic: str | None = None
    track: str | None = None
    language: str = "en"
    licence: str | None = None
    provenance: JsonDict = Field(default_factory=dict)
    """Attribution, address, source benchmark and other information about the origin."""
    origin: Origin | None = None

    @model_validator(mode="after")
    def _check_names(self) -> "Item":
        if not self.dataset or not self.key:
            raise ValueError("an item needs a dataset and a key")
        return self

    @cached_property
    def content_id(self) -> str:
        """Hash of what a model or a judge sees: images and instructions, not topic or licence."""
        origin = (
            None
            if not self.absent or self.origin is None
            else [self.origin.source, self.origin.file_sha256, self.origin.row]
        )
        return content_id(
            "content",
            [image.sha256 for image in self.sources],
            [image.sha256 for image in self.references],
            [image.sha256 for image in self.masks],
            [
                [turn.instruction, [r.sha256 for r in turn.references], [m.sha256 for m in turn.masks]]
                for turn in self.turns
            ],
            list(self.absent),
            origin,
        )

    @cached_property
    def item_id(self) -> str:
        """Identity in a workspace: the data set, the key in it, and the content."""
        return content_id("item", self.dataset, self.key, self.content_id)

    @property
    def instruction(self) -> str:
        """The first (often the only) instruction."""
        return self.turns[0].instruction

    def turn_content_id(self, turn: int) -> str:
        """Content identity of one turn, for work that uses only that turn."""
        return self.content_id if len(self.turns) == 1 else content_id("content", self.content_id, turn)
