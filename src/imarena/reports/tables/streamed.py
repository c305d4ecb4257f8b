"""Tables as CSV or JSON in chunks of bytes, made row by row, so that no table is held in memory."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from imarena.reports.tables.csv import csv_rows

TableForm = Literal["csv", "json"]
_CHUNK_LETTERS = 64_000
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""Characters that could end a script or begin a tag if somebody embeds the document in a page."""


def streamed_table(names: Sequence[str], rows: Iterable[Sequence[object]], form: TableForm) -> Iterator[bytes]:
    """Yield the table in chunks: CSV with a header, or a JSON list of objects."""
    return _chunks(_csv(names, rows) if form == "csv" else _json(names, rows))


def _csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    return csv_rows(names, ([_flat(value) for value in row] for row in rows))


def _json(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield "["
    between = "\n"
    for row in rows:
        values = {name: _finite(value) for name, value in zip(names, row, strict=True)}
        yield between + json.dumps(values, ensure_ascii=False).translate(_ESCAPES)
        between = ",\n"
    yield "\n]\n"


def _flat(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | tuple) else value


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _chunks(lines: Iterator[str]) -> Iterator[bytes]:
    """Join the text into larger chunks."""
    buffer: list[str] = []
    size = 0
    for line in lines:
        buffer.append(line)
        size += len(line)
        if size >= _CHUNK_LETTERS:
            yield "".join(buffer).encode("utf-8", "replace")
            buffer, size = [], 0
    yield "".join(buffer).encode("utf-8", "replace")
