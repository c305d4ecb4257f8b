"""A table: columns, rows of values, and notes. Only renderers convert values to text."""

import math
import re
import unicodedata
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

_MINUS_ZERO = re.compile(r"-(?=0*(?:\.0*)?%?$)")


@dataclass(frozen=True)
class Number:
    """A number with its own format, for columns whose rows have different units."""

    value: float
    spec: str


@dataclass(frozen=True)
class Range:
    """Two ends, such as those of an interval. In CSV, each end has a column."""

    low: float
    high: float
    spec: str = ""
    """Format of the ends; empty for the column's format."""


CellValue = str | int | float | Number | Range | None
"""None is a missing value; it is never shown as a number."""


@dataclass(frozen=True)
class Column:
    """A column's title and how its values are shown."""

    title: str
    spec: str = ""
    """Python format specification for numbers, such as `.1f`, `,` or `.0%`."""
    absent: str = ""
    """Shown for None. A word such as `undefined` keeps a column that has no other content."""
    key: str = ""
    """The column's name in CSV; empty: its title."""
    wrap: bool = False
    """Long text, which is folded on a narrow terminal."""
    drop: int = 0
    """Order in which a narrow terminal leaves columns out: 1 first, 2 next; 0: never."""


@dataclass(frozen=True)
class Table:
    """Columns, rows, a title above and notes below."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    signature: str = ""
    """The line that identifies how a board was made."""
    folded: bool = False
    """A page shows only the title at first, and the rows after a click."""
    notes_first: bool = False
    """Pages and Markdown print the notes above the rows: readers need them to take the table for what it is."""

    def __post_init__(self) -> None:
        """Check that every row has a cell for every column."""
        wrong = [row for row in self.rows if len(row) != len(self.columns)]
        if wrong:
            raise ValueError(f"a row has {len(wrong[0])} cells and the table {len(self.columns)} columns")

    @property
    def filled(self) -> "Table":
        """The same table without empty columns. A table without rows keeps all columns."""
        non_empty = [column for column in range(len(self.columns)) if not self.rows or not self._empty(column)]
        return self if len(non_empty) == len(self.columns) else self.part(non_empty)

    def part(self, kept: Sequence[int]) -> "Table":
        """The table with only some columns, in this order."""
        columns = tuple(self.columns[column] for column in kept)
        rows = tuple(tuple(row[column] for column in kept) for row in self.rows)
        return replace(self, columns=columns, rows=rows)

    def without_notes(self, printed: Container[str]) -> "Table":
        """The table without notes that were already printed, for example under the board of another group."""
        return replace(self, notes=tuple(note for note in self.notes if note not in printed))

    def to_json(self) -> dict[str, Any]:
        """The title, the titles of the columns and the rows; a range is a list of its ends."""
        rows = [[_plain(cell) for cell in row] for row in self.rows]
        return {"title": self.title, "columns": [column.title for column in self.columns], "rows": rows}

    def numeric(self, column: int) -> bool:
        """Does the column contain numbers, which are right-aligned?"""
        return self._numeric[column]

    @cached_property
    def _numeric(self) -> tuple[bool, ...]:
        return tuple(
            any(not isinstance(row[column], str) and _has_value(row[column]) for row in self.rows)
            for column in range(len(self.columns))
        )

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The CSS classes of each column: `number`, `text`, `text name` for the column that names the rows, or
        `text wrap` for long text.
        """
        first = next((column for column, number in enumerate(self._numeric) if not number), None)
        return tuple(
            "number" if number else "text name" if column == first else "text wrap" if heading.wrap else "text"
            for column, (number, heading) in enumerate(zip(self._numeric, self.columns, strict=True))
        )

    def text(self, row: Sequence[CellValue], index: int) -> str:
        """A cell as text, before a renderer escapes it."""
        column, cell = self.columns[index], row[index]
        if isinstance(cell, str):
            return cell
        if not _has_value(cell):
            return column.absent
        if isinstance(cell, Range):
            spec = cell.spec or column.spec
            return f"{number_text(cell.low, spec)} to {number_text(cell.high, spec)}"
        if isinstance(cell, Number):
            return number_text(cell.value, cell.spec or column.spec)
        return number_text(cell, column.spec) if cell is not None else column.absent

    def texts(self) -> list[list[str]]:
        """All cells as text, before a renderer escapes them."""
        return [[self.text(row, column) for column in range(len(self.columns))] for row in self.rows]

    def _empty(self, column: int) -> bool:
        absent = self.columns[column].absent in ("", "–")
        return absent and all(row[column] == "" or not _has_value(row[column]) for row in self.rows)


def number_text(value: float, spec: str) -> str:
    """Format a number; without a format, integers in full and others with six digits. `-0.0` never occurs."""
    if not math.isfinite(value):
        return "inf" if value > 0 else "-inf"
    text = format(value, spec) if spec else str(value) if isinstance(value, int) else f"{value:.6g}"
    return _MINUS_ZERO.sub("", text)


def interval(low: float | None, high: float | None, spec: str = "") -> Range | None:
    """The interval between two ends; None if an end is missing or both are equal, which is not an interval."""
    if low is None or high is None or low == high:
        return None
    return Range(low, high, spec)


def count_cell(value: float) -> CellValue:
    """A whole number, or two decimals if weights make the count fractional. For columns with the format `,`."""
    return int(value) if float(value).is_integer() else Number(value, ",.2f")


SMALLEST_P = 0.0001
"""Smaller p-values are printed as `< 0.0001`."""


def p_value_cell(value: float | None, is_bound: bool = False) -> CellValue:
    """A p-value, or a bound such as `<= 0.002` if the bootstrap has too few rounds, rounded up to two digits."""
    if value is None:
        return value
    if not is_bound:
        return value if value >= SMALLEST_P else f"< {SMALLEST_P:.4f}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"<= {math.ceil(value / unit - 1e-9) * unit:.2g}"


def p_value_text(value: float, is_bound: bool = False) -> str:
    """A p-value in a sentence, with the digits of the tables: `= 0.031`, `<= 0.002` or `< 0.0001`."""
    cell = p_value_cell(value, is_bound)
    return cell if isinstance(cell, str) else f"= {value:.4f}".rstrip("0").rstrip(".")


def columns(*headings: str | Column) -> tuple[Column, ...]:
    """Make columns from titles; `Column` objects are used unchanged."""
    return tuple(Column(heading) if isinstance(heading, str) else heading for heading in headings)


def figure_columns(titles: Iterable[str]) -> tuple[Column, ...]:
    """Columns of figures with four decimals, `undefined` if missing."""
    return tuple(Column(title, ".4f", "undefined") for title in titles)


def printable(text: str) -> str:
    """Show control characters (terminal escapes, line breaks, direction marks) as codes without effect."""
    return "".join(
        letter if letter.isprintable() or unicodedata.category(letter) == "Zs" else f"\\u{ord(letter):04x}"
        for letter in text
    )


def _plain(cell: CellValue) -> Any:
    if isinstance(cell, Range):
        return [cell.low, cell.high]
    return cell.value if isinstance(cell, Number) else cell


def _has_value(cell: CellValue) -> bool:
    """Is there a value? NaN is not a value."""
    if isinstance(cell, Range):
        return not (math.isnan(cell.low) or math.isnan(cell.high))
    value = cell.value if isinstance(cell, Number) else cell
    return value is not None and not (isinstance(value, float) and math.isnan(value))
