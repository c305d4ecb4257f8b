"""Identity of imported work: the same row of the same source is the same judgment, however often it is imported."""

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import JsonValue, ValidationError

from imarena.core import Importable, Intake, Skip, UserError, content_id
from imarena.core.records import ImageRef, Order, Origin
from imarena.datasets.folder import Folder


def imported_work_id(
    origin: Origin, judge: str, left_id: str, right_id: str | None, order: Order | None, dimension: str
) -> str:
    """The work behind a judgment that was made elsewhere: where it stands, who judged what, and how.

    `origin.file_sha256` ties the identity to one file. A log that grows line by line must leave it empty and put
    the row's own content (models, sample, how often that was seen before) in `origin.row`, else every appended line
    would make all the old ones new.
    """
    return content_id(
        "work",
        "imported",
        origin.source,
        origin.file_sha256,
        origin.row,
        judge,
        left_id,
        right_id,
        order,
        dimension,
    )


BAD_ROW = (UserError, ValidationError)
"""What a row of a stranger's file may raise: our own complaint, or a record that will not be made of it."""


def one_line(error: Exception) -> str:
    """An error's message on one line, for a `Skip`."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return " ".join(str(error).split())


def keep_file(intake: Intake, folder: Folder, path: str | Path) -> ImageRef:
    """Keep a picture file that lies below the folder. Raises `UserError` with the reason."""
    name = folder.name(path) if isinstance(path, Path) else path
    return intake.keep(folder.read_bytes(name), name=name)


def json_facts(value: object) -> JsonValue:
    """Whatever a table cell holds, as JSON: dates and bytes become text."""
    made: JsonValue = json.loads(json.dumps(value, default=str, sort_keys=True))
    return made


def skip_bad_file(folder: Folder, name: str, records: Iterator[Importable]) -> Iterator[Importable]:
    """Records of one file among many. What is wrong with the file as a whole leaves that file out, not the others;
    where it is the very file that the user named, it raises.
    """
    try:
        yield from records
    except UserError as error:
        if folder.root.is_file():
            raise
        yield Skip(name, "", one_line(error).removeprefix(f"{name}: "))


def check_storable(value: object) -> None:
    """Refuse JSON that no record can hold: half of a character pair, for which UTF-8 has no bytes, and numbers that are
    not finite.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        raise UserError("a text holds half of a character pair, which UTF-8 cannot write") from None
    except ValueError:
        raise UserError("a number is infinite or not a number") from None
