"""All tables that `rank` prints: boards with their details, and the comparison with an outside leaderboard."""

from collections.abc import Sequence

from imarena.core.records import Ranking
from imarena.ranking import OutsideComparison
from imarena.reports import board_tables, columns, fragility_tables, neighbours_table
from imarena.reports.tables import CellValue, Column, Number, Table

NAMES_SHOWN = 10


def rank_tables_of(
    boards: Sequence[Ranking], compared: OutsideComparison | None = None, *, power: bool = False, whole: bool = False
) -> list[Table]:
    """Return the tables of boards, each note once. `power`: also how many battles would separate neighbours.

    `whole`: as in a report, for a file, rather than as printed in a terminal.
    """
    tables: list[Table] = []
    explained: set[str] = set()
    for board in boards:
        standings, *details = board_tables(board, "report" if whole else None)
        tables += [standings, *(table.without_notes(explained) for table in details)]
        explained.update(note for table in details for note in table.notes)
        tables += [neighbours_table(board)] if power else []
        tables += fragility_tables(board)
    return tables if compared is None else [*tables, outside_table(compared)]


def outside_table(compared: OutsideComparison) -> Table:
    """Return a table of how a board agrees with an outside one, and which models are only in one of them."""
    figures = compared.figures
    dated = f" of {compared.date}" if compared.date else ""
    rows: list[tuple[CellValue, ...]] = [
        ("spearman", figures.spearman),
        ("kendall", figures.kendall),
        ("pearson", figures.pearson),
        ("mean distance of ranks", Number(figures.footrule, ".2f")),
    ]
    notes = [f"undefined: {figures.reason}"] if figures.reason else []
    for label, names in (
        ("Only on this board", figures.only_ours),
        ("Only on the other board", figures.only_theirs),
    ):
        more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        notes += [f"{label}: {', '.join(names[:NAMES_SHOWN])}{more}."] if names else []
    title = f"against {compared.board}{dated}, {figures.n} common models"
    return Table(columns("measure", Column("value", ".4f", "undefined")), tuple(rows), title, tuple(notes))
