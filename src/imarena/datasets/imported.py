"""Identity of imported work: the same row of the same source is the same judgment, however often it is imported."""

import hashlib
from pathlib import Path

from imarena.core.ids import content_id
from imarena.core.records import Order, Origin

_CHUNK = 1 << 20


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


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
