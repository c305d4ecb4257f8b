"""The manifest of a submission pack: whose outputs they are, how they were made, and which file is which."""

import re
import unicodedata
from typing import Literal

from pydantic import Field, field_validator

from imarena.core import FrozenModel, UserError
from imarena.core.records import Mode, Moment

MAX_NAME = 200
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10))))
)
"""Printable for Python, but blank on the screen; formatting characters are not printable anyway."""
_LIKE_LATIN = ("CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE", "LISU", "DESERET")
"""Scripts with letters that look like Latin ones. Others, such as Chinese, mix with Latin without risk."""
_WORD = re.compile(r"[^\W\d_]+")
_CONFUSABLE = str.maketrans(
    "авеёкмнорстухіїјѕԁһԛԝгьӏвѵ" + "αβεηικμνορτυχγωζϲϳ" + "օոսհցզյ" + "ıɑɡɩʟᴏꞵ" + "01|" + "‐‒–—−",
    "abeekmhopctyxiijsdhqwrblbv" + "abenikuvoptuxywzcj" + "onuhgqj" + "iagilob" + "oll" + "-----",
)
"""After case folding: Cyrillic, Greek, Armenian and rare Latin letters, digits and dashes, and their look-alikes."""


def _name_problem(name: str) -> str:
    """Return why a text is not a valid editor name; empty if it is valid."""
    if not name or len(name) > MAX_NAME:
        return f"a name has 1 to {MAX_NAME} characters"
    if not name.isprintable() or _INVISIBLE.intersection(name):
        return "it holds characters that cannot be seen"
    if name != name.strip() or unicodedata.normalize("NFC", name) != name:
        return "it has blanks at its ends, or is not in Unicode form NFC"
    if "\\" in name or name.startswith("~") or any(part.strip() in ("", ".", "..") for part in name.split("/")):
        return "it looks like a path"
    mixed = next((word for word in _WORD.findall(name) if _is_mixed(word)), "")
    return f"'{mixed}' mixes letters of several scripts" if mixed else ""


def check_editor_name(name: str, hint: str) -> None:
    """Raise `UserError` if a text is not a valid editor name."""
    problem = _name_problem(name)
    if problem:
        raise UserError(f"{name!a} is not a name for an editor: {problem}.", hint=hint)


def lookalike_key(name: str) -> str:
    """Return the same key for names that look alike, ignoring case, blanks, Unicode forms and look-alike letters."""
    plain = unicodedata.normalize("NFKC", name).replace("I", "l").casefold().translate(_CONFUSABLE)
    marks_apart = unicodedata.normalize("NFD", plain)
    return "".join(letter for letter in marks_apart if not letter.isspace() and letter.isprintable()).replace("rn", "m")


def _is_mixed(word: str) -> bool:
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in unicodedata.normalize("NFKC", word)}
    return len(scripts.intersection(("LATIN", *_LIKE_LATIN))) > 1


PACK_MANIFEST = "submission.json"


def _is_plain(text: str) -> bool:
    """Return whether a text is printable, in Unicode form NFC, not too long, and without blanks at its ends."""
    return (
        text.isprintable()
        and text == text.strip()
        and unicodedata.normalize("NFC", text) == text
        and len(text) <= MAX_NAME
    )


class PackedFile(FrozenModel):
    """One output: its item, mode and turn, and its file."""

    file: str = Field(max_length=MAX_NAME)
    dataset: str = Field(max_length=4096)
    key: str = Field(max_length=4096)
    content_id: str = Field(max_length=MAX_NAME)
    """Content id of the edited item, to detect changes to the benchmark."""
    mode: Mode
    turn: int = Field(ge=0, le=10_000)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=1)
    media_type: str = Field(max_length=MAX_NAME)
    width: int = Field(ge=1)
    height: int = Field(ge=1)


class PackManifest(FrozenModel):
    """The file `submission.json` of a pack."""

    format: Literal["imarena submission"] = "imarena submission"
    version: Literal[1] = 1
    editor: str = Field(min_length=1, max_length=MAX_NAME)
    editor_version: str = Field(default="", max_length=MAX_NAME)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**64)
    made_at: Moment
    software: str = Field(max_length=MAX_NAME)
    files: tuple[PackedFile, ...] = Field(min_length=1)
    missing: int = Field(default=0, ge=0)
    """Number of outputs that the benchmark requires but that are not in the pack."""

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
