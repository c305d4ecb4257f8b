"""Tables on a terminal of 80 columns: nothing is broken inside a word."""

import io

from rich.console import Console

from imarena import rank
from imarena.reports.rank_tables import standings_table
from imarena.reports.tables import CellValue, Column, Table, show_table
from imarena.reports.tables.table import columns, figure_columns

LONG = "an-editor-with-a-long-name"


def terminal() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, width=80, force_terminal=True, color_system=None, highlight=False), out


def test_a_board_leaves_columns_out_before_it_breaks_names() -> None:
    console, out = terminal()
    rows = [{"left": LONG, "right": f"{LONG}-2", "winner": "left", "item": str(n % 7)} for n in range(30)]
    show_table(standings_table(rank([*rows, {**rows[0], "winner": "right"}], rounds=20)), console)
    lines = out.getvalue().splitlines()
    assert all(len(line.rstrip()) <= 80 for line in lines)
    assert lines[0].startswith(f"{LONG} has the highest rating of 2 models")  # the conclusion, which is folded
    head = next(number for number, line in enumerate(lines) if line.startswith("rank"))
    assert f" {LONG} " in lines[head + 1]
    assert f" {LONG}-2 " in lines[head + 2]
    assert "interval" in lines[head]
    assert "battles" not in lines[head]


def test_a_wide_sheet_comes_in_parts_that_name_their_rows() -> None:
    console, out = terminal()
    names = [f"figure number {n}" for n in range(8)]
    row: tuple[CellValue, ...] = (LONG, *(float(n) for n in range(8)))
    show_table(Table(columns("judge", *figure_columns(names)), (row,), "Figures"), console)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert all(len(line) <= 80 for line in lines)
    shown = " ".join(lines)
    assert all(column in shown and f"{n}.0000" in shown for n, column in enumerate(names))
    assert shown.count(LONG) == sum(line.startswith("judge") for line in lines) > 1


def test_a_sheet_that_fits_is_one_table() -> None:
    console, out = terminal()
    show_table(Table((Column("judge"), Column("n")), (("a", 1), ("b", 2)), "Figures"), console)
    assert [line.split() for line in out.getvalue().splitlines()] == [
        ["Figures"], ["judge", "n"], ["a", "1"], ["b", "2"],
    ]  # fmt: skip
