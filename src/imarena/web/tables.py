"""Tables to be saved: CSV that a spreadsheet opens safely, or JSON. Sent row by row, never built in memory."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from fastapi.responses import StreamingResponse

from imarena.reports.tables import csv_rows

Form = Literal["csv", "json"]
_AT_ONCE = 64_000
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""What would end a script or begin a tag where somebody puts the document into a page."""

TABLE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
        }
    }
}


def table_file(names: Sequence[str], rows: Iterable[Sequence[object]], form: Form, title: str) -> StreamingResponse:
    """A table as a file to be saved; a browser never shows it as a page."""
    lines = _csv(names, rows) if form == "csv" else _json(names, rows)
    media_type = "text/csv; charset=utf-8" if form == "csv" else "application/json"
    headers = {"content-disposition": f'attachment; filename="{title}.{form}"'}
    return StreamingResponse(_gathered(lines), media_type=media_type, headers=headers)


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


def _gathered(lines: Iterator[str]) -> Iterator[bytes]:
    """The same text in larger pieces."""
    held: list[str] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= _AT_ONCE:
            yield "".join(held).encode("utf-8", "replace")
            held, size = [], 0
    yield "".join(held).encode("utf-8", "replace")
