"""Read Parquet files of the Hugging Face hub in small batches of rows, with images inside the cells."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from imarena.core import UserError, missing_text
from imarena.datasets.folder import Folder

BATCH_BYTES = 16 << 20
"""Maximum size of the rows that are read at once, because they contain whole images."""
_MOST_ROWS = 256
_BOMB_RATIO, _BOMB_BYTES = 1_000, 256 << 20
"""A column chunk that unpacks to more than this many times its size and this many bytes is rejected."""


def parquet_columns(path: Path, name: str) -> list[str]:
    """The columns of a file. Raises `UserError` if it is not Parquet or has two columns with the same name."""
    with _opened(path, name) as table:
        columns = list(table.schema_arrow.names)
    doubled = sorted({column for column in columns if columns.count(column) > 1})
    if doubled:
        raise UserError(f"{name}: the column {', '.join(doubled)} appears twice.")
    return columns


def class_names(path: Path) -> dict[str, list[str]]:
    """Class names by column, if the file declares them in the way of the `datasets` library (`ClassLabel`)."""
    import pyarrow.parquet as pq

    try:
        about = json.loads((pq.read_schema(path).metadata or {}).get(b"huggingface", b"{}"))
        features = about["info"]["features"]
        return {
            column: [str(label) for label in feature["names"]]
            for column, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def parquet_rows(
    path: Path, name: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream (row number from 0, values of the named columns). Raises `UserError` if the file is not Parquet."""
    with _opened(path, name) as table:
        columns = list(table.schema_arrow.names)
        missing = [column for column in required if column not in columns]
        if missing:
            has = f"The file has: {', '.join(columns)}."
            raise UserError(f"{name}: {missing_text('column', missing)}.", hint=has)
        present = [column for column in (*required, *optional) if column in columns]
        size = _batch_rows(table, name)
        number = 0
        for batch in table.iter_batches(batch_size=size, columns=present):
            for row in batch.to_pylist():
                yield number, row
                number += 1


@contextmanager
def _opened(path: Path, name: str) -> Iterator[Any]:
    """Open a file to read it page by page; the default is whole row groups, often of a thousand images."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.stat().st_size == 0:
        raise UserError(f"{name}: the file is empty.")
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as table:
            yield table
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{name} cannot be read as Parquet ({' '.join(str(error).split())[:200]}).") from error


def _batch_rows(table: Any, name: str) -> int:
    """How many rows to read at once, from the metadata of the largest row group. Raises for a decompression bomb."""
    heaviest = 1.0
    for number in range(table.metadata.num_row_groups):
        group = table.metadata.row_group(number)
        weight = 0.0
        for index in range(group.num_columns):
            chunk = group.column(index)
            packed, size = max(chunk.total_compressed_size, 1), chunk.total_uncompressed_size
            if size > _BOMB_BYTES and size / packed > _BOMB_RATIO:
                raise UserError(
                    f"{name}: the column {chunk.path_in_schema} would unpack from {packed:,} to {size:,} bytes.",
                    hint="It looks like a decompression bomb; write the file again without that column.",
                )
            # one value of a dictionary may be in every row, so the mean size per row says nothing
            weight += size if chunk.has_dictionary_page else size / max(group.num_rows, 1)
        heaviest = max(heaviest, weight)
    return max(1, min(_MOST_ROWS, int(BATCH_BYTES / heaviest)))


def picture_bytes(value: Any, folder: Folder) -> bytes:
    """The encoded image in a cell: bytes, `{"bytes", "path"}`, or a path below the folder."""
    if isinstance(value, dict):
        inside = value.get("bytes")
        return inside if isinstance(inside, bytes) and inside else picture_bytes(value.get("path"), folder)
    if isinstance(value, bytes):
        return value
    if isinstance(value, str) and value:
        return folder.read_bytes(value)
    raise UserError("an image is missing")
