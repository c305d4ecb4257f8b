"""Identity of imported work: the same row of the same source is always the same judgment."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import JsonValue, ValidationError

from imarena.core import (
    Importable,
    Intake,
    Skip,
    UserError,
    content_id,
    error_line,
    first_line,
    validation_problem,
)
from imarena.core.records import ImageRef, Order, Origin
from imarena.datasets.folder import Folder


def judgment_facts(
    origin: Origin,
    judge: str,
    item_id: str,
    left_id: str,
    right_id: str | None = None,
    order: Order | None = None,
    dimension: str = "overall",
) -> dict[str, Any]:
    """All but the verdict of a judgment that was made elsewhere. `work_id`: where it is recorded, who judged what, how.

    `origin.file_sha256` ties the ID to one file. A log that grows line by line must leave it empty and put the row's
    content (models, sample, number of earlier occurrences) in `origin.row`; otherwise every appended line would
    change the IDs of all old ones.
    """
    where = ("imported", origin.source, origin.file_sha256, origin.row)
    return {
        "work_id": content_id("work", *where, judge, left_id, right_id, order, dimension),
        "judge": judge, "item_id": item_id, "left_id": left_id, "right_id": right_id,
        "order": order, "dimension": dimension, "origin": origin,
    }  # fmt: skip


BAD_ROW = (UserError, ValidationError)
"""What a row of an imported file may raise: our own error, or a failed validation of a record."""


def one_line(error: Exception) -> str:
    """The message of an error on one line, for a `Skip`."""
    if isinstance(error, ValidationError):
        return validation_problem(error, given=False).text
    return error_line(error)


def bad_row_text(error: Exception) -> str:
    """The reason why a row is skipped: our message without its hint, or what is wrong with the record."""
    return one_line(error) if isinstance(error, ValidationError) else first_line(error)


def keep_file(intake: Intake, folder: Folder, path: str | Path) -> ImageRef:
    """Store an image file from the folder. Raises `UserError` with the reason."""
    name = folder.name(path) if isinstance(path, Path) else path
    return intake.keep(folder.read_bytes(name), name=name)


@contextmanager
def naming(label: str) -> Iterator[None]:
    """Put the name of a cell or a file before the reason of an error that does not contain it."""
    try:
        yield
    except UserError as error:
        reason = first_line(error)
        raise UserError(reason if label in reason else f"{label}: {reason}") from error


def json_facts(value: object) -> JsonValue:
    """Convert a table cell to JSON; dates and bytes become text."""
    facts: JsonValue = json.loads(json.dumps(value, default=str, sort_keys=True))
    return facts


def skip_bad_file(folder: Folder, name: str, records: Iterator[Importable]) -> Iterator[Importable]:
    """Records of one file among many. If the whole file is unusable, it is skipped and the others are read; but if the
    user named this file, it raises.
    """
    try:
        yield from records
    except UserError as error:
        if folder.root.is_file():
            raise
        yield Skip(name, "", one_line(error).removeprefix(f"{name}: "))


def check_storable(value: object) -> None:
    """Reject JSON that no record can contain: half a surrogate pair, which UTF-8 cannot encode, and numbers that are
    not finite.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        raise UserError("a text holds half of a character pair, which UTF-8 cannot write") from None
    except ValueError:
        raise UserError("a number is infinite or not a number") from None
