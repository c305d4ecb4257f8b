"""Sections of a workspace's report, from plain counts and rankings."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from imarena.core import counted
from imarena.core.notices import sentences
from imarena.core.records import Ranking
from imarena.reports.page import PageImage, Section
from imarena.reports.rank_plots import METHODS, ratings_chart, save_pair, wins_chart
from imarena.reports.rank_tables import board_tables
from imarena.reports.tables import Cell, Column, Table
from imarena.reports.tables.table import columns

StatusCounts = Mapping[str, Mapping[str, int]]
"""How many there are, by editor or judge and by status."""
ISSUE_NAMES = {
    "object": "things", "segment": "segments", "box": "boxes", "new_image": "new image",
    "returned_input": "returned input", "other": "other",
}  # fmt: skip


def report_lead(outputs: StatusCounts, judgments: StatusCounts, totals: Mapping[str, int]) -> str:
    """The sentence below the title. `totals`: records by kind."""
    asked = sum(sum(row.values()) for row in outputs.values())
    made = totals["output"]
    of = f" of {asked:,} asked for" if asked > made else ""
    judged = sum(row.get("ok", 0) for row in judgments.values())
    return (
        f"{counted(totals['item'], 'item')}, {counted(len(outputs), 'editor')}, "
        f"{counted(made, 'output')}{of}, {counted(judged, 'judgment')}, {counted(totals['vote'], 'vote')}."
    )


def overview_section(
    outputs: StatusCounts, judgments: StatusCounts, coverage: Mapping[str, float], attempts: Mapping[str, int]
) -> Section:
    """What each editor was asked for and what each judge answered. `coverage` and `attempts` by editor."""
    states = sorted({state for row in outputs.values() for state in row}, key=lambda s: (s != "ok", s))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            editor,
            *(row.get(state, 0) for state in states),
            sum(row.values()),
            coverage.get(editor, row.get("ok", 0) / sum(row.values())),
            attempts[editor],
        )
        for editor, row in outputs.items()
    )
    made = Table(
        columns(
            "editor",
            *(Column(state, ",") for state in states),
            Column("asked for", ","),
            Column("coverage", ".0%"),
            Column("attempts", ","),
        ),
        rows,
        "What each editor was asked for, by where it stands now, however often it was tried; only ok ones are judged. "
        "Coverage is over all items of the data sets that it was run on.",
    )
    kinds = sorted({state for row in judgments.values() for state in row}, key=lambda s: (s != "ok", s))
    judged = Table(
        columns("judge", *(Column(kind, ",") for kind in kinds)),
        tuple((judge, *(row.get(kind, 0) for kind in kinds)) for judge, row in judgments.items()),
        "Questions to each judge, by answer or by how the newest attempt ended.",
    )
    return Section("What is here", tables=tuple(table for table in (made, judged) if table.rows))


def board_section(title: str, ranking: Ranking, folder: Path, index: int) -> Section:
    """One leaderboard: its tables and notices, and its plots, which are saved in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    plots = []
    for name, caption, draw in (
        ("ratings", "Ratings with 95 % intervals", ratings_chart),
        ("wins", "Share of points that the row took from the column", wins_chart),
    ):
        chart = draw(ranking)
        if chart is not None:
            light, dark = save_pair(chart, folder, f"board-{index + 1}-{name}")
            plots.append(PageImage(light, caption, dark=dark, scale=2))
    text = [f"{counted(ranking.n_battles, 'battle')}; method {METHODS.get(ranking.method, ranking.method)}."]
    return Section(
        f"Leaderboard: {title}",
        tuple(text),
        tuple(sentences(ranking.notices, "report")),
        tables=tuple(board_tables(ranking)),
        plots=tuple(plots),
    )


def issues_section(
    kinds: Sequence[str], by_editor: Mapping[str, Mapping[str, int]], rated: Mapping[str, int]
) -> Section | None:
    """What raters found wrong with each editor's outputs; None where nobody marked anything."""
    if not any(by_editor.values()):
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (editor, rated.get(editor, 0), *(counts.get(kind, 0) for kind in kinds)) for editor, counts in by_editor.items()
    )
    head = columns("editor", Column("ratings", ","), *(Column(ISSUE_NAMES[kind], ",") for kind in kinds))
    return Section("What raters found wrong", tables=(Table(head, rows),))
