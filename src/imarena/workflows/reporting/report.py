"""report: a workspace as a folder that opens in a browser."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from imarena.core import Progress, UserError, counted
from imarena.reports import (
    Page,
    Section,
    board_conclusion,
    board_section,
    groups_section,
    issues_section,
    overview_section,
    report_lead,
    write_html,
    write_markdown,
)
from imarena.storage import Workspace
from imarena.workflows.boards import (
    Board,
    BoardQuery,
    Boards,
    board_queries,
    describe_source,
    judge_called,
    store_boards,
    with_samples,
)
from imarena.workflows.questions import findings_table, read_findings
from imarena.workflows.reporting.chosen_counts import chosen_status
from imarena.workflows.reporting.gallery import read_gallery
from imarena.workflows.reporting.known_truth import KnownTruth, known_truth
from imarena.workflows.reporting.unusual_images import count_unusual_images
from imarena.workflows.serving import KINDS, every_issue
from imarena.workflows.upkeep import workspace_status
from imarena.workflows.views import View

T = TypeVar("T")
GALLERY_ITEMS = 12
TEXTS_LISTED = 50


@dataclass(frozen=True)
class ReportQuery:
    """What a report is about. The default is everything."""

    judge: str | None = None
    """Only boards and scores of this judge."""
    editors: tuple[str, ...] = ()
    """Only these editors; empty: all."""
    by: str | None = None
    """Each board also per value of this column."""

    def chosen(self, by_editor: Mapping[str, T]) -> dict[str, T]:
        """The entries of the chosen editors."""
        return {name: value for name, value in by_editor.items() if not self.editors or name in self.editors}


WHOLE_REPORT = ReportQuery()


def write_report(
    workspace: Workspace,
    folder: Path,
    *,
    title: str = "",
    next_steps: Sequence[str] = (),
    gallery: int = GALLERY_ITEMS,
    known: KnownTruth | None = None,
    query: ReportQuery = WHOLE_REPORT,
    progress: Progress | None = None,
) -> Path:
    """Write the report; returns the page. `gallery`: how many items the gallery shows.

    `known` is the truth about the bundled items; without it, it is worked out where studio editors made the outputs.
    """
    tell = progress or (lambda *_: None)
    view = View(workspace)
    if query.judge is not None:
        query = replace(query, judge=judge_called(view, query.judge))
    stands = chosen_status(view, workspace_status(workspace), query.judge, query.editors)
    boards = Boards(view)
    ranked = list(_ranked(boards, query))
    made = [board for board, _ in ranked]
    store_boards(workspace, [board.ranking for board, groups in ranked for board in (board, *groups)])
    tell("report", 1, 4)
    sections: list[Section | None] = [
        overview_section(
            stands.outputs, stands.judgments, stands.coverage, stands.attempts, count_unusual_images(workspace)
        ),
        *_board_sections(ranked, folder, query),
    ]
    tell("report", 2, 4)
    known = known or known_truth(workspace, made, query.editors)
    issues = every_issue(view)
    sections += [
        known.section if known else None,
        issues_section(KINDS, query.chosen(issues.by_editor), issues.rated),
        _texts_section(workspace),
        read_gallery(workspace, folder, gallery, known.qualities if known else None, query.judge, query.editors),
    ]
    page = Page(
        title or stands.name,
        _conclusion(boards, query),
        tuple(section for section in sections if section is not None),
        tuple(next_steps),
        facts=report_lead(stands.outputs, stands.judgments, stands.totals),
    )
    tell("report", 3, 4)
    write_markdown(page, folder)
    path = write_html(page, folder)
    tell("report", 4, 4)
    return path


def _ranked(boards: Boards, query: ReportQuery) -> Iterator[tuple[Board, list[Board]]]:
    """Every board that the data allow, and its groups where these were asked for."""
    chosen = BoardQuery(judge=query.judge, editors=query.editors, samples="auto")
    for title, one in board_queries(boards, chosen):
        try:
            made = replace(boards.board(one), title=title)
        except UserError:  # fewer than two models, or nothing decided: there is no such board
            continue
        yield made, [] if query.by is None else boards.boards(replace(one, by=query.by))


def _board_sections(ranked: Sequence[tuple[Board, list[Board]]], folder: Path, query: ReportQuery) -> Iterator[Section]:
    for index, (board, groups) in enumerate(ranked):
        yield board_section(board.title, with_samples(board), folder, index)
        if query.by is not None:
            yield groups_section(board.title, query.by, [group.ranking for group in groups])


def _conclusion(boards: Boards, query: ReportQuery) -> str:
    """What the board that `imarena rank` shows says, in one sentence."""
    try:
        made = boards.board(BoardQuery(judge=query.judge, editors=query.editors, notes=False))
    except UserError as error:
        return f"There is no leaderboard yet. {error}"
    source = describe_source(made.chosen)
    if query.editors:
        source += f", among the editors chosen for this report ({', '.join(query.editors)})"
    return board_conclusion(made.ranking, "editor", source)


def _texts_section(workspace: Workspace) -> Section | None:
    """Pictures that speak to a judge; nothing where `imarena scan` never ran."""
    texts = read_findings(workspace)
    if not texts.read:
        return None
    table = findings_table(texts, TEXTS_LISTED)
    more = (f"The first {TEXTS_LISTED} of {len(texts.found):,} are listed.",) if len(texts.found) > TEXTS_LISTED else ()
    brought = {text.image for text in texts.found if text.output_id is not None and not text.excuse}
    warned = (
        (f"Such words that neither source nor instruction has: in {counted(len(brought), 'output')}.",)
        if brought
        else ()
    )
    return Section(
        "Words that address a judge", (texts.in_words(), *more), warned, tables=(table,) if table.rows else ()
    )
