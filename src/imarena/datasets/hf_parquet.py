"""Parquet files as the Hugging Face hub stores them: rows in small batches, pictures inside the cells."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from imarena.core import UserError
from imarena.datasets.folder import Folder

_BATCH = 16  # rows hold whole pictures, so a batch is small


def parquet_rows(
    path: Path, name: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(row number from 0, values of the named columns). Streams; a file that is not Parquet raises `UserError`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.stat().st_size == 0:
        raise UserError(f"{name}: the file is empty.")
    try:
        with pq.ParquetFile(path) as table:
            columns = list(table.schema_arrow.names)
            missing = [column for column in required if column not in columns]
            if missing:
                raise UserError(
                    f"{name}: the column {', '.join(missing)} is missing.", hint=f"The file has: {', '.join(columns)}."
                )
            wanted = [column for column in (*required, *optional) if column in columns]
            number = 0
            for batch in table.iter_batches(batch_size=_BATCH, columns=wanted):
                for row in batch.to_pylist():
                    yield number, row
                    number += 1
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{name} cannot be read as Parquet ({' '.join(str(error).split())[:200]}).") from error


def picture_bytes(value: Any, folder: Folder) -> bytes:
    """The encoded picture in a cell: bytes, `{"bytes", "path"}`, or a path below the folder."""
    if isinstance(value, dict):
        inside = value.get("bytes")
        return inside if isinstance(inside, bytes) and inside else picture_bytes(value.get("path"), folder)
    if isinstance(value, bytes):
        return value
    if isinstance(value, str) and value:
        return folder.read_bytes(value)
    raise UserError("a picture is missing")
