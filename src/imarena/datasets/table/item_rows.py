"""Stream the rows of a table of items in any format: CSV, TSV, JSON Lines, a JSON list or Parquet.

The ending decides the format; other endings are read as CSV. An error in the whole file raises `UserError`; a bad row
becomes a `Skip`.
"""

import json
import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from imarena.core import Skip, UserError, first_line
from imarena.datasets.folder import MAX_CELL, open_text, read_json, stream_table, table_header
from imarena.datasets.hf_parquet import class_names, parquet_columns, parquet_rows
from imarena.datasets.imported import check_storable
from imarena.datasets.table.column_names import ColumnNames
from imarena.datasets.table.file_kinds import check_table_file
from imarena.tables import csv_delimiter

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
MAX_LINE = 16 << 20
"""Maximum number of characters in a line of JSON Lines."""
MAX_JSON_BYTES = 256 << 20
"""Maximum size of a JSON list, which is read as a whole."""
_LOOKED_AT = 100
"""Number of JSON rows that are read to find the columns."""

_KeyedRow = tuple[str, dict[str, Any]]
"""The location of a row, and its cells by our names."""


def read_item_rows(path: Path, name: str, columns: ColumnNames) -> Iterator[_KeyedRow | Skip]:
    """The rows, with our column names. Raises if the whole table cannot be used."""
    ending = path.suffix.lower()
    check_table_file(path, name, parquet=ending == ".parquet")
    if ending == ".parquet":
        yield from _parquet(path, name, columns)
    elif ending in {".jsonl", ".ndjson", ".json"}:
        rows = _entries(path, name) if ending == ".json" else _lines(path, name)
        for row in _with_known_columns(rows, name, columns):
            yield row if isinstance(row, Skip) else _checked(name, row, columns)
    else:
        delimiter = table_delimiter(path)
        columns.check(table_header(path, name, delimiter), name)
        for line in stream_table(path, name, delimiter=delimiter):
            yield line if isinstance(line, Skip) else (f"line {line[0]}", columns.rename(line[1]))


def table_delimiter(path: Path) -> str:
    """The delimiter: a tab in a TSV file; in a CSV file a comma, or a semicolon or tab if the header uses these."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    with open_text(path) as text:
        return csv_delimiter(text.readline(MAX_CELL))


def _checked(name: str, row: _KeyedRow, columns: ColumnNames) -> _KeyedRow | Skip:
    where, values = row
    try:
        check_storable(values)
    except (UserError, RecursionError) as error:
        return Skip(name, where, first_line(error))
    return where, columns.rename(values)


def _with_known_columns(
    rows: Iterator[_KeyedRow | Skip], name: str, columns: ColumnNames
) -> Iterator[_KeyedRow | Skip]:
    """The same rows, after checking the columns of the first ones, because JSON has no header."""
    first = list(islice(rows, _LOOKED_AT))
    have = dict.fromkeys(chain.from_iterable(row[1] for row in first if not isinstance(row, Skip)))
    if have:
        columns.check(have, name)
    yield from chain(first, rows)


# ---------------------------------------------------------------- JSON


def _lines(path: Path, name: str) -> Iterator[_KeyedRow | Skip]:
    with open_text(path) as text:
        number = 0
        while line := text.readline(MAX_LINE + 1):
            number += 1
            where = f"line {number}"
            if len(line) > MAX_LINE:
                yield Skip(name, where, f"the line is longer than {MAX_LINE:,} characters; the rest is not read")
                return
            if line.strip():
                yield _object(line, name, where)


def _object(line: str, name: str, where: str) -> _KeyedRow | Skip:
    try:
        line.encode("utf-8")
        value = json.loads(line, object_pairs_hook=_fields, parse_constant=_no_constant)
    except UnicodeEncodeError:
        return Skip(name, where, "not UTF-8; save the file in one encoding")
    except UserError as error:
        return Skip(name, where, str(error))
    except (RecursionError, ValueError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        return Skip(name, where, f"not JSON ({reason})")
    if not isinstance(value, dict):
        return Skip(name, where, f"expected an object, got {type(value).__name__}")
    return where, value


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Reject an object that has a field twice, because the intended value is unknown."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise UserError(f"the field '{next(n for n in names if names.count(n) > 1)}' appears twice")
    return fields


def _no_constant(name: str) -> Any:
    raise UserError(f"{name} is not JSON")


def _entries(path: Path, name: str) -> Iterator[_KeyedRow | Skip]:
    if path.stat().st_size > MAX_JSON_BYTES:
        raise UserError(
            f"{name} is larger than {MAX_JSON_BYTES >> 20} MiB, and a JSON list is read as a whole.",
            hint="Write it as JSON Lines: one object per line.",
        )
    try:
        content = read_json(path)
    except UserError as error:
        raise UserError(f"{name}: {first_line(error)}.", hint="JSON Lines end in .jsonl.") from error
    if not isinstance(content, list):
        raise UserError(f"{name} holds one JSON {type(content).__name__}, not a list.", hint="Write a list of objects.")
    for number, entry in enumerate(content):
        where = f"entry {number}"
        yield (where, entry) if isinstance(entry, dict) else Skip(name, where, "expected an object")


# ---------------------------------------------------------------- Parquet


def _parquet(path: Path, name: str, columns: ColumnNames) -> Iterator[_KeyedRow | Skip]:
    schema = parquet_columns(path, name)
    columns.check(schema, name)
    labels = class_names(path)
    for number, row in parquet_rows(path, name, tuple(schema)):
        values = {column: _plain(value, labels.get(column)) for column, value in row.items()}
        yield f"row {number}", columns.rename(values)


def _plain(value: Any, labels: Iterable[str] | None) -> Any:
    """The value of a cell: None for NaN (which data frames write for empty cells), the name for a class."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if labels is not None and isinstance(value, int) and not isinstance(value, bool):
        names = list(labels)
        return names[value] if 0 <= value < len(names) else None
    return value
