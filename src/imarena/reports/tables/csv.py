"""CSV: all digits, an empty cell where there is no value, and no cell that a spreadsheet runs as a formula."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from imarena.core import UserError
from imarena.reports.tables.table import Cell, Number, Range, Table, printable

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def to_csv(table: Table) -> str:
    """The table without its title and notes. A column of ranges becomes two: `NAME low` and `NAME high`.

    Control characters but line breaks are shown as codes: none of them turns the direction of what follows.
    """
    ranged = [any(isinstance(row[index], Range) for row in table.rows) for index in range(len(table.columns))]
    names: list[str] = []
    for column, pair in zip(table.columns, ranged, strict=True):
        name = _plain(column.key or column.title)
        names += [f"{name} low", f"{name} high"] if pair else [name]
    rows = (
        [value for cell, pair in zip(row, ranged, strict=True) for value in _values(cell, pair)] for row in table.rows
    )
    return "".join(csv_rows(names, rows))


def write_csv(table: Table, path: Path) -> None:
    """Write the table into a file."""
    try:
        path.write_text(to_csv(table), encoding="utf-8", newline="")
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror}.") from error


def csv_rows(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Header and rows as lines of CSV, one by one; any value is allowed, text is made safe."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in names])
    yield buffer.getvalue()
    for row in rows:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow([safe_cell(value) for value in row])
        yield buffer.getvalue()


def whole_number(value: float) -> float:
    """A count of battles, which weights may make fractional: a whole one is written as an integer."""
    return int(value) if float(value).is_integer() else value


def safe_cell(value: object) -> object:
    """A spreadsheet runs a cell that starts like a formula: a leading apostrophe makes it text.

    A bare carriage return would end the row, and what follows would start a cell: `csv` quotes line feeds only.
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _values(cell: Cell, pair: bool) -> list[str | float | None]:
    if isinstance(cell, Range):
        return [_value(cell.low), _value(cell.high)]
    plain = _value(cell.value if isinstance(cell, Number) else cell)
    return [plain, None] if pair else [plain]


def _value(value: str | float | None) -> str | float | None:
    if isinstance(value, str):
        return _plain(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def _plain(text: str) -> str:
    return "\n".join(map(printable, text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
