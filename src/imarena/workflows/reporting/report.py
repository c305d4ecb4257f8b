"""report: a workspace as a folder that opens in a browser."""

from collections.abc import Sequence
from pathlib import Path

from imarena.core import Progress, counted
from imarena.core.notices import sentences
from imarena.reports import (
    METHODS,
    Page,
    PageImage,
    Section,
    board_tables,
    columns,
    ratings_chart,
    save_pair,
    wins_chart,
    write_html,
    write_markdown,
)
from imarena.reports.tables import Cell, Column, Table
from imarena.storage import Workspace
from imarena.workflows.boards import Board, Boards, all_boards, store_boards
from imarena.workflows.questions import findings, findings_table
from imarena.workflows.reporting.gallery import gallery_section
from imarena.workflows.reporting.known_truth import KnownTruth, known_truth
from imarena.workflows.serving import KINDS, every_issue
from imarena.workflows.upkeep import WorkspaceStatus, workspace_status
from imarena.workflows.views import View

GALLERY_ITEMS = 12
WORDS_TOLD = 50
ISSUE_NAMES = {
    "object": "things", "segment": "segments", "box": "boxes", "new_image": "new image",
    "returned_input": "returned input", "other": "other",
}  # fmt: skip


def write_report(
    workspace: Workspace,
    folder: Path,
    *,
    title: str = "",
    extra: Sequence[Section] = (),
    next_steps: Sequence[str] = (),
    gallery: int = GALLERY_ITEMS,
    known: KnownTruth | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write the report; returns the page. `extra` sections come before the gallery, which shows `gallery` items.

    `known` is the truth about the bundled items; without it, it is worked out where studio editors made the outputs.
    """
    tell = progress or (lambda *_: None)
    stands = workspace_status(workspace)
    view = View(workspace)
    made = all_boards(Boards(view))
    store_boards(workspace, [board.ranking for board in made])
    tell("report", 1, 4)
    sections: list[Section | None] = [
        _overview(stands),
        *(_board_section(board, folder, index) for index, board in enumerate(made)),
    ]
    tell("report", 2, 4)
    known = known or known_truth(workspace, made)
    sections += [*extra, known.section if known else None, _issues(view), _words(workspace)]
    sections.append(gallery_section(workspace, folder, gallery, known.qualities if known else None))
    page = Page(title or stands.name, _lead(stands), tuple(s for s in sections if s is not None), tuple(next_steps))
    tell("report", 3, 4)
    write_markdown(page, folder)
    path = write_html(page, folder)
    tell("report", 4, 4)
    return path


def _lead(stands: WorkspaceStatus) -> str:
    asked = sum(sum(row.values()) for row in stands.outputs.values())
    made = stands.totals["output"]
    of = f" of {asked:,} asked for" if asked > made else ""
    judged = sum(row.get("ok", 0) for row in stands.judgments.values())
    return (
        f"{counted(stands.totals['item'], 'item')}, {counted(len(stands.outputs), 'editor')}, "
        f"{counted(made, 'output')}{of}, {counted(judged, 'judgment')}, {counted(stands.totals['vote'], 'vote')}."
    )


def _overview(stands: WorkspaceStatus) -> Section:
    states = sorted({state for row in stands.outputs.values() for state in row}, key=lambda s: (s != "ok", s))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            editor,
            *(row.get(state, 0) for state in states),
            sum(row.values()),
            stands.coverage.get(editor, row.get("ok", 0) / sum(row.values())),
            stands.attempts[editor],
        )
        for editor, row in stands.outputs.items()
    )
    outputs = Table(
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
    kinds = sorted({state for row in stands.judgments.values() for state in row}, key=lambda s: (s != "ok", s))
    judged = Table(
        columns("judge", *(Column(kind, ",") for kind in kinds)),
        tuple((judge, *(row.get(kind, 0) for kind in kinds)) for judge, row in stands.judgments.items()),
        "Questions to each judge, by answer or by how the newest attempt ended.",
    )
    return Section("What is here", tables=tuple(table for table in (outputs, judged) if table.rows))


def _board_section(board: Board, folder: Path, index: int) -> Section:
    ranking = board.ranking
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
        f"Leaderboard: {board.title}",
        tuple(text),
        tuple(sentences(ranking.notices, "report")),
        tables=tuple(board_tables(ranking)),
        plots=tuple(plots),
    )


def _issues(view: View) -> Section | None:
    """What raters found wrong with each editor's outputs; nothing where nobody marked anything."""
    found = every_issue(view)
    if not any(found.by_editor.values()):
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (editor, found.rated[editor], *(counts[kind] for kind in KINDS)) for editor, counts in found.by_editor.items()
    )
    head = columns("editor", Column("ratings", ","), *(Column(ISSUE_NAMES[kind], ",") for kind in KINDS))
    return Section("What raters found wrong", tables=(Table(head, rows),))


def _words(workspace: Workspace) -> Section | None:
    """Pictures that speak to a judge; nothing where `imarena scan` never ran."""
    found = findings(workspace)
    if not found.read:
        return None
    table = findings_table(found, WORDS_TOLD)
    more = (f"The first {WORDS_TOLD} of {len(found.found):,} are listed.",) if len(found.found) > WORDS_TOLD else ()
    brought = {one.image for one in found.found if one.output_id is not None and not one.excuse}
    warned = (
        (f"Such words that neither source nor instruction has: in {counted(len(brought), 'output')}.",)
        if brought
        else ()
    )
    return Section(
        "Words that address a judge", (found.in_words(), *more), warned, tables=(table,) if table.rows else ()
    )
