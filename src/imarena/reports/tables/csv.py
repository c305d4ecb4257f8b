"""CSV with all digits, empty cells for missing values, and no cell that a spreadsheet would run as a formula."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from imarena.core import UserError
from imarena.reports.tables.table import CellValue, Number, Range, Table, printable

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def to_csv(table: Table) -> str:
    """The table without its title and notes. A column of ranges becomes two: `NAME low` and `NAME high`.

    Control characters except line breaks are shown as codes, so that none can reverse the text direction.
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
    """Write the table to a file."""
    try:
        path.write_text(to_csv(table), encoding="utf-8", newline="")
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror}.") from error


def csv_rows(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield header and rows as lines of CSV; any value is allowed, text is made safe."""
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
    """A count of battles as an integer if it is whole; weights may make it fractional."""
    return int(value) if float(value).is_integer() else value


def safe_cell(value: object) -> object:
    """Make text safe: a leading apostrophe keeps a spreadsheet from running it as a formula.

    Bare carriage returns become line feeds, because `csv` does not quote them and they would end the row.
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _values(cell: CellValue, pair: bool) -> list[str | float | None]:
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
