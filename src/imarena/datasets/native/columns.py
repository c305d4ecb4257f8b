"""Records of one kind as a Parquet table: typed columns, and images in the form of the `datasets` library."""

import json
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

from imarena.core.records import Record
from imarena.datasets.native.records import KINDS, record_id

BATCH = 1000
BATCH_BYTES = 32 << 20
"""Maximum size of a row group: readers load one at a time, and the Hugging Face viewer accepts up to 300 MB."""
IMAGE_BATCH = 16
"""Rows read at once if they contain whole images."""
_WIDE_INTEGERS = frozenset({"seed"})  # 64 unsigned bits, too many for a Parquet integer column
_DTYPES = {
    "text": "string",
    "json": "string",
    "int": "int64",
    "float": "float64",
    "bool": "bool",
    "time": "timestamp[us, tz=UTC]",
}
"""Column types and their names in the `datasets` library."""

ExtraColumn = Literal["text", "image", "images"]
"""A column that is not a field of the record: text, one image (or None) or a list of images."""


class RowWriter:
    """Writes rows to a Parquet file, a row group at a time."""

    def __init__(self, path: Path, schema: Any, compression: Any) -> None:
        import pyarrow.parquet as pq

        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema, compression=compression)
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0
        """Size of the images among these rows."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the last rows and close the file."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._rows, self._bytes = [], 0


class KindWriter(RowWriter):
    """Writes the records of one kind, a row group at a time.

    `extra` columns add what readers without this package need. With them, the schema declares its features in the
    form of the `datasets` library, so that images are shown as images.
    """

    def __init__(self, path: Path, kind: str, extra: Mapping[str, ExtraColumn] | None = None) -> None:
        self._kind = kind
        self._columns = columns_of(KINDS[kind])
        self._extra = dict(extra or {})
        # Images are already compressed: compressing them again takes time and saves nothing.
        texts = ["id", *self._columns, *(name for name, column in self._extra.items() if column == "text")]
        compression: Any = dict.fromkeys(texts, "zstd") if self._extra else "zstd"
        super().__init__(path, _schema(self._columns, self._extra), compression)
        self.count = 0

    def add(self, record: Record, extra: Mapping[str, str | bytes | Sequence[bytes] | None] | None = None) -> None:
        """Append a record, with the values of its extra columns."""
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
        for name in self._extra:
            row[name] = self._cell((extra or {}).get(name))
        self._rows.append(row)
        self.count += 1
        if len(self._rows) >= BATCH or self._bytes >= BATCH_BYTES:
            self._flush()

    def _cell(self, value: str | bytes | Sequence[bytes] | None) -> Any:
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bytes):
            self._bytes += len(value)
            return {"bytes": value, "path": None}
        return [self._cell(data) for data in value]


def columns_of(model: type[Record]) -> dict[str, str]:
    """Field name -> column type: text, int, float, bool, time or json."""
    return {
        name: "json" if name in _WIDE_INTEGERS else _column(field.annotation)
        for name, field in model.model_fields.items()
    }


def image_cells(row: Mapping[str, Any], model: type[Record]) -> Iterator[bytes]:
    """The images in a row's extra columns."""
    fields = model.model_fields
    for name, value in row.items():
        if name not in fields:
            for cell in value if isinstance(value, list) else (value,):
                data = cell.get("bytes") if isinstance(cell, dict) else None
                if isinstance(data, bytes):
                    yield data


def has_images(schema: Any) -> bool:
    """Do rows with this Arrow schema contain whole images?"""
    import pyarrow as pa

    return any(pa.types.is_struct(field.type) or pa.types.is_list(field.type) for field in schema)


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


def _schema(columns: Mapping[str, str], extra: Mapping[str, ExtraColumn]) -> Any:
    import pyarrow as pa

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    arrow = {
        "text": pa.string(),
        "json": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
        "image": image,
        "images": pa.list_(image),
    }
    fields = [pa.field("id", pa.string())]
    for name, column in columns.items():
        fields.append(pa.field(name, arrow[column], metadata={"imarena": column}))
    fields += [pa.field(name, arrow[column]) for name, column in extra.items()]
    if not extra:
        return pa.schema(fields)
    features = {"id": _feature("text")}
    features |= {name: _feature(column) for name, column in {**columns, **extra}.items()}
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})


def _feature(column: str) -> dict[str, Any]:
    if column == "images":
        return {"feature": {"_type": "Image"}, "_type": "Sequence"}
    return {"_type": "Image"} if column == "image" else {"dtype": _DTYPES[column], "_type": "Value"}
