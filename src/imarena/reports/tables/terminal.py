"""Tables on a terminal: columns fit its width, and control characters in names have no effect."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from imarena.reports.tables.table import Table, printable

if TYPE_CHECKING:
    from rich.console import Console

PAGE_WIDTH = 240
"""Width for a file or a pipe, so that lines are not broken."""
FOLDED = 24
"""Minimum width of a column of long text."""
GAP = 2


def show_table(table: Table, console: "Console") -> None:
    """Print the table. A narrow terminal leaves out optional columns, folds long text, or shows columns in parts."""
    from rich.table import Table as Grid
    from rich.text import Text

    filled = table.filled
    width = console.width if console.is_terminal else max(PAGE_WIDTH, console.width)
    if filled.title:
        console.print(Text(printable(filled.title), style="bold"), width=width, soft_wrap=False)
    cells = [[printable(text) for text in texts] for texts in filled.texts()]
    for part in _parts(filled, cells, width):
        grid = Grid(box=None, pad_edge=False, header_style="bold", show_header=any(c.title for c in filled.columns))
        for index in part:
            column, number = filled.columns[index], filled.numeric(index)
            grid.add_column(
                Text(printable(column.title)),
                justify="right" if number else "left",
                overflow="fold",
                no_wrap=number and not column.wrap,
            )
        for row in cells:
            grid.add_row(*(Text(row[index]) for index in part))
        console.print(grid, width=width, soft_wrap=False)
    for note in (*filled.notes, filled.signature):
        if note:
            console.print(Text(printable(note), style="dim"), width=width, soft_wrap=not console.is_terminal)


def _parts(table: Table, cells: list[list[str]], width: int) -> list[list[int]]:
    """The columns of each part; each part starts with the columns that name the rows."""
    sizes = [_size(table, cells, column) for column in range(len(table.columns))]
    columns = list(range(len(sizes)))
    for column in sorted((p for p in columns if table.columns[p].drop), key=lambda p: table.columns[p].drop):
        if _together(sizes, columns) > width:
            columns.remove(column)
    least = [min(size, FOLDED) if table.columns[column].wrap else size for column, size in enumerate(sizes)]
    if _together(least, columns) <= width:
        return [columns]
    first = next((n for n, column in enumerate(columns) if table.numeric(column)), len(columns))
    names, values = columns[:first], columns[first:]
    room = width - sum(least[column] + GAP for column in names)
    parts: list[list[int]] = [[]]
    for column in values:
        used_width = sum(least[other] + GAP for other in parts[-1])
        if parts[-1] and used_width + least[column] > room:
            parts.append([])
        parts[-1].append(column)
    return [[*names, *part] for part in parts]


def _size(table: Table, cells: list[list[str]], column: int) -> int:
    from rich.cells import cell_len

    return max(cell_len(text) for text in (printable(table.columns[column].title), *(row[column] for row in cells)))


def _together(sizes: Sequence[int], columns: Sequence[int]) -> int:
    return sum(sizes[column] + GAP for column in columns) - GAP
