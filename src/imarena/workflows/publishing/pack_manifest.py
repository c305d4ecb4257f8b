"""What a submission pack says about itself: whose outputs they are, how they were made, and which file is which."""

import unicodedata
from typing import Literal

from pydantic import Field, field_validator

from imarena.core import Noun
from imarena.core.records import Mode, Moment
from imarena.workflows.publishing.editor_names import MAX_NAME

MANIFEST = "submission.json"
_NAME = MAX_NAME


def _is_plain(text: str) -> bool:
    """Printable, in Unicode form NFC, without blanks at its ends, and not too long."""
    return (
        text.isprintable()
        and text == text.strip()
        and unicodedata.normalize("NFC", text) == text
        and len(text) <= _NAME
    )


class PackedFile(Noun):
    """One output: which item, mode and turn it is for, and what its file is."""

    file: str = Field(max_length=_NAME)
    dataset: str = Field(max_length=4096)
    key: str = Field(max_length=4096)
    content_id: str = Field(max_length=_NAME)
    """Of the item that was edited: a benchmark that has changed since is noticed."""
    mode: Mode
    turn: int = Field(ge=0, le=10_000)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=1)
    media_type: str = Field(max_length=_NAME)
    width: int = Field(ge=1)
    height: int = Field(ge=1)


class PackManifest(Noun):
    """The file `submission.json` of a pack."""

    format: Literal["imarena submission"] = "imarena submission"
    version: Literal[1] = 1
    editor: str = Field(min_length=1, max_length=_NAME)
    editor_version: str = Field(default="", max_length=_NAME)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**64)
    made_at: Moment
    software: str = Field(max_length=_NAME)
    files: tuple[PackedFile, ...] = Field(min_length=1)
    missing: int = Field(default=0, ge=0)
    """Outputs that the benchmark asks for and that are not in the pack."""

    @field_validator("made_at")
    @classmethod
    def _likely(cls, moment: Moment) -> Moment:
        if not 2000 <= moment.year < 9000:
            raise ValueError("a date between the years 2000 and 9000 is expected")
        return moment

    @field_validator("editor", "editor_version", "software")
    @classmethod
    def _printable(cls, text: str) -> str:
        if not _is_plain(text):
            raise ValueError("not a plain name: blanks at its ends, unprintable characters, or not in Unicode form NFC")
        return text
