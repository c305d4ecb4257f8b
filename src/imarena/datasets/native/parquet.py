"""Native Parquet: one file per kind of record with typed columns, images in `blobs.parquet` or in separate files.

    manifest.json            as in the native folder
    item.parquet             id, schema_version, created_at, dataset, key, turns (JSON text), ...
    blobs.parquet            sha256, data           with images=embedded
    blobs/ab/cd/abcd...                             with images=beside

Images may also be in additional columns (`imarena publish` writes them so). Texts, numbers, truth values and times are
typed columns; nested values are JSON text in columns that the schema marks as such. Reading uses the same columns, so
a frame that keeps them can be written back.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from imarena.core import Archive, Importable, Intake, Skip, UserError, counted, first_line, sha256_hex
from imarena.core.records import Record
from imarena.datasets.folder import Folder
from imarena.datasets.imported import check_storable
from imarena.datasets.native.columns import (
    BATCH,
    BATCH_BYTES,
    IMAGE_BATCH,
    KindWriter,
    RowWriter,
    columns_of,
    has_images,
    image_cells,
)
from imarena.datasets.native.folder import blob_finder, read_manifest, write_manifest
from imarena.datasets.native.records import (
    KINDS,
    BlobWriter,
    RecordAdmission,
    first_error,
    images_option,
    new_directory,
    parse_record,
    record_images,
    save_beside,
)
from imarena.datasets.options import check_options

_BLOBS = "blobs.parquet"


def write(directory: Path, archive: Archive, options: Mapping[str, str]) -> Iterator[Skip]:
    """Export everything. Yields the images that the workspace no longer has."""
    images = images_option("native_parquet", options)
    new_directory(directory)
    counts: dict[str, int] = {}
    with ExitStack() as stack:
        if images == "beside":
            blobs = BlobWriter(archive, save_beside(directory))
        else:
            table = stack.enter_context(_BlobTable(directory / _BLOBS))
            blobs = BlobWriter(archive, table.add, _BLOBS)
        for kind, model in KINDS.items():
            with KindWriter(directory / f"{kind}.parquet", kind) as writer:
                for record in archive.records(model):
                    yield from blobs.write(kind, record)
                    writer.add(record)
            counts[kind] = writer.count
    write_manifest(directory, counts)


class _BlobTable(RowWriter):
    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        super().__init__(path, pa.schema([("sha256", pa.string()), ("data", pa.binary())]), "none")

    def add(self, sha256: str, data: bytes) -> None:
        self._rows.append({"sha256": sha256, "data": data})
        self._bytes += len(data)
        if self._bytes >= BATCH_BYTES:
            self._flush()


# ---------------------------------------------------------------- reading


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import every record unchanged, including `created_at`. Altered rows and images are reported and skipped."""
    check_options("native_parquet", options)
    folder = Folder(path)
    counts = read_manifest(folder)
    admission = RecordAdmission(intake, blob_finder(folder))
    yield from _take_blobs(folder, admission)
    for kind, model in KINDS.items():
        name = f"{kind}.parquet"
        expected = counts.get(kind, 0)
        n_rows = 0
        for number, row in _rows(folder, name, kind, expected):
            if isinstance(row, Skip):
                yield row
                continue
            n_rows += 1
            try:
                record = _record(kind, model, row)
                _take_images(row, record, model, admission)
                yield admission.admit(record, name, f"row {number}")
            except UserError as error:
                yield Skip(name, f"row {number}", first_line(error))
        if n_rows != expected:
            yield Skip(name, "", f"the manifest counts {counted(expected, 'record')}, the file holds {n_rows}")


def _rows(folder: Folder, name: str, kind: str, expected: int) -> Iterator[tuple[int, dict[str, Any] | Skip]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = folder.file(name)
    if not file.is_file():
        if expected:
            yield 0, Skip(name, "", f"the file is not there; the manifest counts {counted(expected, 'record')}")
        return
    try:
        with pq.ParquetFile(file) as table:
            missing = [column for column in columns_of(KINDS[kind]) if column not in table.schema_arrow.names]
            if missing:
                yield 0, Skip(name, "", f"the column {', '.join(missing)} is missing")
                return
            number = 0
            for batch in table.iter_batches(IMAGE_BATCH if has_images(table.schema_arrow) else BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError) as error:
        yield 0, Skip(name, "", f"not a Parquet file that can be read ({first_error(ValueError(str(error)))})")


def _record(kind: str, model: type[Record], row: Mapping[str, Any]) -> Importable:
    values: dict[str, Any] = {}
    for name, column in columns_of(model).items():
        value = row[name]
        if column == "json":
            try:
                value = json.loads(value)
            except (TypeError, ValueError) as error:
                raise UserError(f"the column {name} does not hold JSON") from error
            check_storable(value)
        values[name] = value
    return parse_record(kind, values, row.get("id"))


def _take_images(row: Mapping[str, Any], record: Importable, model: type[Record], admission: RecordAdmission) -> None:
    """Store the images in the row that its record refers to."""
    embedded = {sha256_hex(data): data for data in image_cells(row, model)}
    for image in record_images(record) if embedded and isinstance(record, Record) else ():
        if image.sha256 in embedded and not admission.knows(image.sha256):
            admission.keep(embedded[image.sha256], image.sha256)


def read_kind(path: Path, kind: str) -> Iterator[Record]:
    """The records of one kind in a native Parquet folder, without their images. Raises `UserError` for a bad row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = Folder(path)
    read_manifest(folder)
    model = KINDS[kind]
    name = f"{kind}.parquet"
    number = 0
    try:
        with pq.ParquetFile(folder.file(name)) as table:
            for batch in table.iter_batches(BATCH, columns=["id", *columns_of(model)]):
                for row in batch.to_pylist():
                    number += 1
                    record = _record(kind, model, row)
                    if isinstance(record, Record):
                        yield record
    except UserError as error:
        raise UserError(f"{name}, row {number}: {first_line(error)}") from error
    except (pa.ArrowException, OSError, KeyError) as error:
        raise UserError(f"{name} cannot be read ({first_error(ValueError(str(error)))}).") from error


def _take_blobs(folder: Folder, admission: RecordAdmission) -> Iterator[Skip]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = folder.file(_BLOBS)
    if not file.is_file():
        return
    try:
        with pq.ParquetFile(file) as table:
            for batch in table.iter_batches(16, columns=["sha256", "data"]):
                for row in batch.to_pylist():
                    if isinstance(row["sha256"], str) and isinstance(row["data"], bytes):
                        admission.keep(row["data"], row["sha256"])
                    else:
                        yield Skip(_BLOBS, str(row["sha256"]), "the row has no hash or no bytes")
    except (pa.ArrowException, OSError) as error:
        yield Skip(_BLOBS, "", f"not a Parquet file that can be read ({first_error(ValueError(str(error)))})")
