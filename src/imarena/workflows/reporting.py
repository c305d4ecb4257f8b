"""report: a workspace as a folder that opens in a browser."""

from collections.abc import Sequence
from pathlib import Path

from imarena.core.notices import sentences
from imarena.core.plurals import counted
from imarena.core.protocols import Progress
from imarena.core.records import Ranking
from imarena.reports.page import Grid, Page, Picture, Section, write_html, write_markdown
from imarena.reports.rank_plots import METHODS, ratings_chart, save_pair, wins_chart
from imarena.storage import Workspace
from imarena.workflows.boards import Board, Boards, every_board, store_boards
from imarena.workflows.report_gallery import gallery_section
from imarena.workflows.report_truth import KnownTruth, known_truth
from imarena.workflows.scanning_findings import findings
from imarena.workflows.status import WorkspaceStatus, status
from imarena.workflows.views import View

GALLERY_ITEMS = 12
WORDS_TOLD = 50


def report(
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
    stands = status(workspace)
    made = every_board(Boards(View(workspace)))
    store_boards(workspace, [board.ranking for board in made])
    tell("report", 1, 4)
    sections: list[Section | None] = [
        _overview(stands),
        *(_board_section(board, folder, index) for index, board in enumerate(made)),
    ]
    tell("report", 2, 4)
    known = known or known_truth(workspace, made)
    sections += [*extra, known.section if known else None, _words(workspace)]
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
    rows = tuple(
        (
            editor,
            *(f"{row.get(state, 0):,}" for state in states),
            f"{sum(row.values()):,}",
            f"{stands.coverage.get(editor, row.get('ok', 0) / sum(row.values())):.0%}",
            f"{stands.attempts[editor]:,}",
        )
        for editor, row in stands.outputs.items()
    )
    outputs = Grid(
        ("editor", *states, "asked for", "coverage", "attempts"),
        rows,
        "What each editor was asked for, by where it stands now, however often it was tried; only ok ones are judged. "
        "Coverage is over all items of the data sets that it was run on.",
    )
    kinds = sorted({state for row in stands.judgments.values() for state in row}, key=lambda s: (s != "ok", s))
    judged = Grid(
        ("judge", *kinds),
        tuple((judge, *(f"{row.get(k, 0):,}" for k in kinds)) for judge, row in stands.judgments.items()),
        "Questions to each judge, by answer or by how the newest attempt ended.",
    )
    return Section("What is here", grids=tuple(grid for grid in (outputs, judged) if grid.rows))


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
            plots.append(Picture(light, caption, dark=dark, scale=2))
    excluded = ", ".join(f"{number:,} {reason}" for reason, number in ranking.excluded.items() if number)
    text = [f"{ranking.n_battles:,} battles; method {METHODS.get(ranking.method, ranking.method)}."]
    if excluded:
        text.append(f"Left out: {excluded}.")
    return Section(
        f"Leaderboard: {board.title}",
        tuple(text),
        tuple(sentences(ranking.notices, "report")),
        grids=(standings_grid(ranking),),
        plots=tuple(plots),
    )


def standings_grid(ranking: Ranking) -> Grid:
    """A board as a table."""
    header = ("model", "rank", "rating", "95 % interval", "battles", "won", "lost", "tied", "coverage")
    rows = tuple(
        (
            standing.model,
            _span(standing.rank, standing.rank_low, standing.rank_high),
            f"{standing.rating:.0f}",
            "" if standing.low is None or standing.high is None else f"{standing.low:.0f} to {standing.high:.0f}",
            f"{standing.battles:,.0f}",
            f"{standing.wins:,.0f}",
            f"{standing.losses:,.0f}",
            f"{standing.ties:,.0f}",
            "" if standing.coverage is None else f"{standing.coverage:.0%}",
        )
        for standing in ranking.models
    )
    return Grid(header, rows)


def _span(rank: int, low: int | None, high: int | None) -> str:
    return str(rank) if low is None or high is None or low == high else f"{rank} ({low} to {high})"


def _words(workspace: Workspace) -> Section | None:
    """Pictures that speak to a judge; nothing where `imarena scan` never ran."""
    found = findings(workspace)
    if not found.read:
        return None
    rows = tuple((one.item, one.editor, one.kinds, one.text, one.excuse) for one in found.found[:WORDS_TOLD])
    more = (f"The first {WORDS_TOLD} of {len(found.found):,} are listed.",) if len(found.found) > WORDS_TOLD else ()
    brought = {one.image for one in found.found if one.output_id is not None and not one.excuse}
    warned = (
        (f"Such words that neither source nor instruction has: in {counted(len(brought), 'output')}.",)
        if brought
        else ()
    )
    grid = Grid(("item", "editor", "trick", "words", "excuse"), rows)
    return Section("Words that address a judge", (found.in_words(), *more), warned, grids=(grid,) if rows else ())
