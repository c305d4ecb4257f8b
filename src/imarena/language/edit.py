"""What an instruction asks for, in a form that code can check."""

from dataclasses import dataclass, field
from enum import StrEnum


class EditKind(StrEnum):
    """The kinds of change that the reader distinguishes."""

    COLOUR = "colour"
    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"
    COUNT = "count"
    TEXT = "text"
    BACKGROUND = "background"
    STYLE = "style"
    ENHANCE = "enhance"
    MATERIAL = "material"
    POSITION = "position"
    SIZE = "size"
    ACTION = "action"
    EXTEND = "extend"
    VIEW = "view"
    OTHER = "other"


@dataclass(frozen=True)
class Edit:
    """One change. `target` is what exists now, `value` what should exist afterwards; either may be empty."""

    kind: EditKind
    target: str = ""
    value: str = ""
    colours: tuple[str, ...] = ()
    """Colours that should be visible afterwards, as words of the lexicon or as `#rrggbb`."""
    old_colours: tuple[str, ...] = ()
    """Colours that identify the target in the instruction."""
    count: int | None = None
    text: str = ""
    """Text that should be legible afterwards."""
    old_text: str = ""
    """Text that should be gone afterwards."""
    places: tuple[str, ...] = ()
    operation: str = ""
    """Name of the enhancement (`brighten`), size (`up`, `down`), move (`left`, `flip`) or ambience."""
    whole_image: bool = False
    clause: str = ""


@dataclass(frozen=True)
class ParsedInstruction:
    """A parsed instruction: its edits in order, and what must stay unchanged."""

    instruction: str
    edits: tuple[Edit, ...] = ()
    keep: tuple[str, ...] = ()
    """Clauses that forbid a change ("keep the background")."""
    unread: tuple[str, ...] = field(default=())
    """Clauses that no rule understood; they are edits of kind `other`."""

    @property
    def kinds(self) -> frozenset[EditKind]:
        """All requested kinds of change."""
        return frozenset(edit.kind for edit in self.edits)

    @property
    def about_text(self) -> bool:
        """Is it about written text?"""
        return any(edit.kind is EditKind.TEXT or edit.text or edit.old_text for edit in self.edits)

    @property
    def whole_image(self) -> bool:
        """Does any edit affect the whole image?"""
        return any(edit.whole_image for edit in self.edits)
