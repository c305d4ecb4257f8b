"""Native Parquet: one file per kind of record with real columns, pictures in `blobs.parquet` or beside it.

    manifest.json            as in the native folder
    item.parquet             id, schema_version, created_at, dataset, key, turns (JSON text), ...
    blobs.parquet            sha256, data           with images=embedded
    blobs/ab/cd/abcd...                             with images=beside

Texts, numbers, truth values and times are typed columns; whatever is nested is JSON text in a column marked so in
the schema. Reading goes through the same columns, so a frame that keeps them can be written back.
"""

import json
import types
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from imarena.core import Archive, Importable, Intake, Skip, UserError, counted
from imarena.core.records import Record
from imarena.datasets.folder import Folder
from imarena.datasets.imported import check_storable
from imarena.datasets.native.folder import blob_finder, read_manifest, write_manifest
from imarena.datasets.native.records import (
    KINDS,
    BlobWriter,
    RecordAdmission,
    first_error,
    images_option,
    new_directory,
    new_pictures,
    parse_record,
    record_id,
)
from imarena.datasets.options import check_options

_BATCH = 1000
_BLOB_BATCH_BYTES = 32 << 20
_WIDE_INTEGERS = frozenset({"seed"})  # drawn from 64 unsigned bits, more than a Parquet integer column holds safely


def write(directory: Path, archive: Archive, options: Mapping[str, str]) -> Iterator[Skip]:
    """Export everything. Yields the pictures that the workspace no longer holds."""
    images = images_option("native_parquet", options)
    new_directory(directory)
    beside = BlobWriter(directory, archive) if images == "beside" else None
    embedded = None if beside else _BlobTable(directory / "blobs.parquet", archive)
    counts: dict[str, int] = {}
    try:
        for kind, model in KINDS.items():
            writer = _KindWriter(directory / f"{kind}.parquet", kind, model)
            with writer:
                for record in archive.records(model):
                    for blobs in (beside, embedded):
                        if blobs is not None:
                            yield from blobs.write(kind, record)
                    writer.add(record)
            counts[kind] = writer.count
    finally:
        if embedded is not None:
            embedded.close()
    write_manifest(directory, counts)


class _KindWriter:
    def __init__(self, path: Path, kind: str, model: type[Record]) -> None:
        import pyarrow.parquet as pq

        self._kind = kind
        self._columns = columns_of(model)
        self._schema = _schema(self._columns)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self.count = 0

    def __enter__(self) -> "_KindWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def add(self, record: Record) -> None:
        row: dict[str, Any] = {"id": record_id(self._kind, record)}
        plain = record.model_dump(mode="json")
        for name, column in self._columns.items():
            value = plain[name]
            if column == "json":
                row[name] = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            elif column == "time":
                row[name] = getattr(record, name)
            else:
                row[name] = value
        self._rows.append(row)
        self.count += 1
        if len(self._rows) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


class _BlobTable:
    def __init__(self, path: Path, archive: Archive) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._archive = archive
        self._name = path.name
        self._schema = pa.schema([("sha256", pa.string()), ("data", pa.binary())])
        self._writer = pq.ParquetWriter(path, self._schema, compression="none")
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0
        self._seen: set[str] = set()

    def write(self, kind: str, record: Record) -> Iterator[Skip]:
        for sha256, data in new_pictures(self._archive, record, self._seen):
            if isinstance(data, str):
                yield Skip(self._name, f"{kind} {record_id(kind, record)}", data)
                continue
            self._rows.append({"sha256": sha256, "data": data})
            self._bytes += len(data)
            if self._bytes >= _BLOB_BATCH_BYTES:
                self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._rows, self._bytes = [], 0


# ---------------------------------------------------------------- columns


def columns_of(model: type[Record]) -> dict[str, str]:
    """Field name to column type: text, int, float, bool, time or json."""
    return {
        name: "json" if name in _WIDE_INTEGERS else _column(field.annotation)
        for name, field in model.model_fields.items()
    }


def _column(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        return _column(get_args(annotation)[0])
    if get_origin(annotation) in {Union, types.UnionType}:
        kinds = {_column(part) for part in get_args(annotation) if part is not type(None)}
        return kinds.pop() if len(kinds) == 1 else "json"
    if isinstance(annotation, type):
        if issubclass(annotation, str | Enum):
            return "text"
        if issubclass(annotation, datetime):
            return "time"
        plain = {bool: "bool", int: "int", float: "float"}
        return plain.get(annotation, "json")
    return "json"


def _schema(columns: Mapping[str, str]) -> Any:
    import pyarrow as pa

    arrow = {
        "text": pa.string(),
        "json": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    fields = [pa.field("id", pa.string())]
    for name, column in columns.items():
        fields.append(pa.field(name, arrow[column], metadata={"imarena": column}))
    return pa.schema(fields)


# ---------------------------------------------------------------- reading


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Every record as it was, `created_at` included. A changed row or picture is told and left out."""
    check_options("native_parquet", options)
    folder = Folder(path)
    counts = read_manifest(folder)
    admission = RecordAdmission(intake, blob_finder(folder))
    yield from _take_blobs(folder, admission)
    for kind, model in KINDS.items():
        name = f"{kind}.parquet"
        expected = counts.get(kind, 0)
        seen = 0
        for number, row in _rows(folder, name, kind, expected):
            if isinstance(row, Skip):
                yield row
                continue
            seen += 1
            try:
                yield admission.admit(_record(kind, model, row), name, f"row {number}")
            except UserError as error:
                yield Skip(name, f"row {number}", str(error).splitlines()[0])
        if seen != expected:
            yield Skip(name, "", f"the manifest counts {counted(expected, 'record')}, the file holds {seen}")


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
            for batch in table.iter_batches(_BATCH):
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


def _take_blobs(folder: Folder, admission: RecordAdmission) -> Iterator[Skip]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = folder.file("blobs.parquet")
    if not file.is_file():
        return
    try:
        with pq.ParquetFile(file) as table:
            for batch in table.iter_batches(16, columns=["sha256", "data"]):
                for row in batch.to_pylist():
                    if isinstance(row["sha256"], str) and isinstance(row["data"], bytes):
                        admission.keep(row["data"], row["sha256"])
                    else:
                        yield Skip("blobs.parquet", str(row["sha256"]), "the row has no hash or no bytes")
    except (pa.ArrowException, OSError) as error:
        yield Skip("blobs.parquet", "", f"not a Parquet file that can be read ({first_error(ValueError(str(error)))})")
