"""Ports: interfaces between packages that may not import each other. Each is as narrow as possible."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from imarena.core.notices import Notice
from imarena.core.questions import (
    Chat,
    ChatAnswer,
    ChatPrompt,
    EditRequest,
    EditResult,
    Exhibit,
    Journal,
    JournalEntry,
    PastEdit,
    PlannedEdit,
    Verdict,
)
from imarena.core.records import ImageRef, Item, Record
from imarena.core.traits import Editor, EditorTraits, Judge, JudgeTraits

__all__ = [
    "ITEM_LEFT_OUT",
    "NOT_ASKED",
    "OTHER_OUTPUT",
    "Archive",
    "Chat",
    "ChatAnswer",
    "ChatPrompt",
    "EditRequest",
    "EditResult",
    "Editor",
    "EditorTraits",
    "Exhibit",
    "Importable",
    "Intake",
    "Journal",
    "JournalEntry",
    "Judge",
    "JudgeTraits",
    "PastEdit",
    "PlannedEdit",
    "Progress",
    "ReadFormat",
    "Skip",
    "Verdict",
    "WriteFormat",
]
"""Plug-ins import what editors and judges are asked from here, too."""

R = TypeVar("R", bound=Record)


class Progress(Protocol):
    """Called with the progress of some work: the stage, the number done, and the total (None: not known)."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


# ---------------------------------------------------------------- importing and exporting


OTHER_OUTPUT = "other_output"
"""The code of a skip: the workspace already has another output of this editor for this item."""
ITEM_LEFT_OUT = "item_left_out"
"""The code of a skip that is only a consequence: the item's own row was left out. It is listed after its cause."""
NOT_ASKED = "not_asked"
"""The code of a skip: a file that belongs to no item, such as `Thumbs.db`. Nothing is missing without it."""


@dataclass(frozen=True)
class Skip:
    """A row or a file that was left out of an import or an export: its place and the reason."""

    file: str
    row: str
    reason: str
    by_format: bool = False
    """An export's format does not support this kind of record: worth a report, but not an error."""
    code: str = ""
    """A code for the kind of reason, for code that handles it, such as `OTHER_OUTPUT`; usually empty."""

    @property
    def where(self) -> str:
        """The file and, if it has one, the row."""
        return f"{self.file}, {self.row}" if self.row else self.file

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"

    def to_json(self) -> dict[str, str]:
        """Return the place and the reason, for ``--json``."""
        return {"file": self.file, "row": self.row, "reason": self.reason}


Importable: TypeAlias = Record | Skip | Notice
"""Importers make items, outputs, judgments, votes, raters, replies and evidence; other records come from the native
formats only. A notice is about the whole import, such as columns that match no field of an item."""


class Intake(Protocol):
    """The functions that importers may call on their workspace."""

    def keep(self, data: bytes, *, name: str) -> ImageRef:
        """Check an image and store its original bytes. Raises `InvalidImage` with a reason."""
        ...

    def items(self, dataset: str) -> Mapping[str, Item]:
        """Return the data set's items in the workspace, by key."""
        ...

    def outputs(self, dataset: str) -> Mapping[tuple[str, str], str]:
        """Return the ids of stored ok single-turn outputs (sample 0), by (item key, editor)."""
        ...


class ReadFormat(Protocol):
    """Reads a folder or file and yields records and skips, in an order without forward references."""

    def __call__(self, path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]: ...


class Archive(Protocol):
    """The functions that exporters may call on their workspace."""

    def records(self, kind: type[R]) -> Iterator[R]:
        """Yield all records of a kind, oldest first."""
        ...

    def uncounted_judgments(self) -> Mapping[str, str]:
        """Return the ids of judgments that do not count, each with the reason: superseded, or by an earlier version."""
        ...

    def uncounted_votes(self) -> Mapping[str, str]:
        """Return ids of votes that do not count, each with the reason: superseded, retracted, practice, gold, ..."""
        ...

    def load(self, image: ImageRef) -> bytes:
        """Return the original bytes of an image."""
        ...


class WriteFormat(Protocol):
    """Writes records into an empty or new folder; yields what could not be written, and why."""

    def __call__(self, directory: Path, archive: Archive, options: Mapping[str, str]) -> Iterator[Skip]: ...
