"""`report`: a workspace as one HTML file, or as a folder with the page, Markdown, LaTeX, CSV and plots."""

import shlex
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from imarena import reports
from imarena.core import Progress, UserError, command_line, counted, error_line, split_names
from imarena.core.records import Item
from imarena.datasets import load_taxonomy
from imarena.storage import Workspace
from imarena.workflows.boards import (
    Board,
    BoardQuery,
    Boards,
    all_boards,
    board_queries,
    describe_source,
    judge_called,
    rank_command,
    store_boards,
    with_samples,
)
from imarena.workflows.questions import findings_table, read_findings
from imarena.workflows.reporting.changes import changes_section
from imarena.workflows.reporting.chosen_counts import chosen_status
from imarena.workflows.reporting.failures.examples import example_sections
from imarena.workflows.reporting.failures.sections import failure_sections
from imarena.workflows.reporting.gallery import Thumbnails, read_gallery
from imarena.workflows.reporting.known_truth import KnownTruth, known_truth
from imarena.workflows.reporting.methods import methods_section
from imarena.workflows.reporting.missing_parts import absent_section
from imarena.workflows.reporting.papers.catalogue import paper_sections
from imarena.workflows.reporting.papers.data import OutsideBoard, PaperData
from imarena.workflows.reporting.papers.study_sections import agreement_sections, alignment_sections, health_section
from imarena.workflows.reporting.unusual_images import count_unusual_images
from imarena.workflows.upkeep import workspace_status
from imarena.workflows.views import View

T = TypeVar("T")
BoardGroups: TypeAlias = "list[tuple[str, list[Board]]]"
"""The boards of one query per group, by the column that it was split by."""
GALLERY_ITEMS = 12
TEXTS_LISTED = 50
OTHER_FILES = (".csv", ".docx", ".json", ".md", ".pdf", ".png", ".svg", ".tex", ".txt")
"""Suffixes of targets that are probably meant as a file but would become a folder."""
GROUPED_BY = ("family", "task", "topic", "track")
"""Columns by which the first board is split, if items have several values."""
MOST_GROUPS = 40
"""Columns with more values are not used for grouping."""


@dataclass(frozen=True)
class ReportQuery:
    """The scope of a report. The default is everything."""

    judge: str | None = None
    """Only boards and scores of this judge."""
    editors: tuple[str, ...] = ()
    """Only these editors; empty: all."""
    by: str | None = None
    """Also split each board by the values of this column."""
    against: str = ""
    """Another workspace, or a day (YYYY-MM-DD): what changed since; empty: no comparison."""
    leaderboard: OutsideBoard | None = None
    """Another board that tables of the papers compare ratings with."""

    def chosen(self, by_editor: Mapping[str, T]) -> dict[str, T]:
        """The entries of the chosen editors."""
        return {name: value for name, value in by_editor.items() if not self.editors or name in self.editors}

    @property
    def judges(self) -> tuple[str, ...]:
        """The chosen judge; empty: all."""
        return () if self.judge is None else (self.judge,)


WHOLE_REPORT = ReportQuery()


# Over 60 lines: the sections in the order of the page, one or two lines for each.
def write_report(
    workspace: Workspace,
    target: Path,
    *,
    title: str = "",
    next_steps: Sequence[str] = (),
    gallery: int = GALLERY_ITEMS,
    known: KnownTruth | None = None,
    query: ReportQuery = WHOLE_REPORT,
    progress: Progress | None = None,
) -> Path:
    """Write the report; returns the page's path. `gallery`: number of items in the gallery.

    A `target` that ends in .html becomes one self-contained file; any other is a folder that also gets Markdown, LaTeX,
    CSV, PNG and SVG. `known` is the truth about the bundled items; without it, it is computed if studio editors made
    the outputs.
    """
    tell = progress or (lambda *_: None)
    alone = _is_one_file(target)
    view = View(workspace)
    if query.judge is not None:
        query = replace(query, judge=judge_called(view, query.judge))
    query = replace(query, editors=split_names(query.editors, view.entries.editor.names))
    status = chosen_status(view, workspace_status(workspace), query.judge, query.editors)
    boards = Boards(view)
    candidates = all_boards(boards, BoardQuery(judge=query.judge, editors=query.editors, samples="auto"))
    first, reason = _first_board(boards, query)
    tell("report", 1, 5)
    main, shown_boards, groups = _shown_boards(boards, candidates, first, query)
    tell("report", 2, 5)
    pictures = Thumbnails(workspace, None if alone else target)
    known = known or known_truth(workspace, candidates, query.editors)
    sections: list[reports.Section | None] = [
        None if main is None else reports.significance_section(main.ranking),
        _changes(boards, first, query),
        reports.overview_section(
            status.outputs,
            status.judgments,
            {name: reports.rank_tables.coverage_cell(status.coverage[name], n) for name, n in status.needed.items()},
            status.attempts,
            count_unusual_images(workspace),
        ),
    ]
    sections += _board_sections(shown_boards, groups, main, query)
    tell("report", 3, 5)
    sections.append(known.section if known else None)
    sections += failure_sections(view, query.editors, pictures)
    sections.append(_texts_section(workspace))
    if not query.editors:
        by_group = dict(groups[main.title] if main else ())
        papers = PaperData(view, boards, main, pictures, query.judges, by_group, query.leaderboard)
        sections += _study_sections(papers, candidates, known)
    sections.append(
        read_gallery(workspace, pictures, gallery, known.qualities if known else None, query.judge, query.editors)
    )
    sections.append(methods_section(view, status, shown_boards, query.judge, query.editors))
    ungrouped = [] if main is None or query.by is not None else _columns_not_used(shown_boards, groups[main.title])
    sections.append(absent_section(sections, bool(query.editors), ungrouped, gallery=gallery > 0))
    tell("report", 4, 5)
    page = reports.Page(
        title or status.name,
        _conclusion(first, reason, query),
        tuple(section for section in explain_codes(view, sections) if section is not None),
        tuple(next_steps),
        facts=reports.report_lead(status.outputs, status.judgments, status.totals) + _left_out(pictures),
        reading="" if first is None else reports.reading_help(first.ranking),
    )
    path = reports.write_html_file(page, target) if alone else reports.write_folder(page, target)
    tell("report", 5, 5)
    return path


def _is_one_file(target: Path) -> bool:
    """Whether the report becomes one HTML file; raises for a file of another kind."""
    if target.suffix.lower() in OTHER_FILES and not target.is_dir():
        raise UserError(
            f"A report is one HTML file or a folder, and {target.name} is neither.",
            hint="Give FILE.html, or a folder that also gets Markdown, LaTeX, CSV, PNG and SVG.",
        )
    return target.suffix.lower() in (".html", ".htm")


def _shown_boards(
    boards: Boards, candidates: Sequence[Board], first: Board | None, query: ReportQuery
) -> tuple[Board | None, list[Board], dict[str, BoardGroups]]:
    """The main board with its title, all boards with it in front, and the boards per group; all of them are stored."""
    main = first if first is None else next((board for board in candidates if board.same_as(first)), first)
    if main is not None and not main.title:
        command = rank_command(BoardQuery(judge=query.judge, editors=query.editors))
        main = replace(main, title=describe_source(main.chosen), command=command)
    shown_boards = [*([main] if main is not None else []), *(board for board in candidates if board is not main)]
    groups = {board.title: list(_groups(boards, board, main, query)) for board in shown_boards}
    workspace = boards.view.workspace
    store_boards(workspace, [board.ranking for board in shown_boards])
    store_boards(workspace, [group.ranking for by_column in groups.values() for _, some in by_column for group in some])
    return main, shown_boards, groups


def _study_sections(
    papers: PaperData, candidates: Sequence[Board], known: KnownTruth | None
) -> Iterator[reports.Section | None]:
    """Sections on all editors: examples, agreement, alignment, health and the tables of the papers."""
    workspace, judges = papers.view.workspace, papers.judges
    yield from example_sections(
        papers.view, papers.main, candidates, judges, papers.picture, known.qualities if known else {}
    )
    yield from agreement_sections(workspace)
    aligned = [*alignment_sections(workspace, judges)]
    yield from aligned
    yield health_section(workspace, judges)
    yield from paper_sections(papers, aligned)


def _board_sections(
    shown_boards: Sequence[Board], groups: Mapping[str, BoardGroups], main: Board | None, query: ReportQuery
) -> Iterator[reports.Section]:
    """Each board, followed by its boards per group, with the commands that print them."""
    for number, board in enumerate(shown_boards):
        sections = []
        for by, some in groups[board.title]:
            command = rank_command(BoardQuery(judge=query.judge, editors=query.editors, by=by))
            if board is not main:
                command = board.command and f"{board.command} {shlex.join(['--by', by])}"
            sections.append((by, reports.groups_section(board.title, by, [group.ranking for group in some], command)))
        without = [by for by, section in sections if not section.tables]
        yield reports.board_section(board.title, with_samples(board), number, board.command, without)
        yield from (section for _, section in sections if section.tables)


def _columns_not_used(shown_boards: Sequence[Board], groups: BoardGroups) -> list[str]:
    """Columns by which no board was split, although a report without `--by` tries to."""
    grouped = [by for by, _ in groups]
    dimensions = any(notice.code == "one_dimension" for board in shown_boards for notice in board.ranking.notices)
    return [*(by for by in GROUPED_BY if by not in grouped), *([] if dimensions else ["dimension"])]


def _changes(boards: Boards, first: Board | None, query: ReportQuery) -> reports.Section | None:
    if not query.against:
        return None
    if first is None:
        raise UserError(
            "There is no board to compare.",
            hint=f"Run `{command_line('judge')}`, `{command_line('battle')}` or a campaign first.",
        )
    board_query = BoardQuery(judge=query.judge, editors=query.editors, notes=False)
    return changes_section(boards, first, board_query, query.against)


def _left_out(pictures: Thumbnails) -> str:
    texts = []
    if pictures.left_out:
        number = counted(pictures.left_out, "image")
        texts.append(f" {number} left out to keep the file small: a report in a folder has them.")
    if pictures.unreadable:
        number = counted(len(pictures.unreadable), "image")
        texts.append(
            f" Warning: {number} of this report cannot be read (the file is missing or damaged): "
            f"{command_line('verify')} lists them."
        )
    return "".join(texts)


def _first_board(boards: Boards, query: ReportQuery) -> tuple[Board | None, str]:
    """The board that `imarena rank` shows; if there is none, None with the reason."""
    try:
        return boards.board(BoardQuery(judge=query.judge, editors=query.editors, samples="auto")), ""
    except UserError as error:
        return None, error_line(error)


def _groups(boards: Boards, board: Board, main: Board | None, query: ReportQuery) -> Iterator[tuple[str, list[Board]]]:
    """A board split by item columns: every board by the requested column, else the first board by all suitable ones."""
    board_query = BoardQuery(judge=query.judge, editors=query.editors)
    if board is main and query.by is not None:
        yield query.by, boards.boards(replace(board_query, by=query.by))
    elif board is main:
        labels = boards.view.entries.labels
        for by in (name for name in GROUPED_BY if 1 < len(labels[name].used()) <= MOST_GROUPS):
            try:
                of_groups = boards.boards(replace(board_query, by=by))
            except UserError:  # some items have this column, but none of those with verdicts
                continue
            yield by, of_groups
    elif query.by is not None:
        for title, group_query in board_queries(boards, board_query):
            if title == board.title:
                yield query.by, boards.boards(replace(group_query, by=query.by))


def _conclusion(first: Board | None, reason: str, query: ReportQuery) -> str:
    """The result of the board that `imarena rank` shows, in one sentence."""
    if first is None:
        return f"There is no leaderboard yet. {reason}"
    text = reports.board_conclusion(first.ranking, describe_source(first.chosen))
    return f"{text} Only the models chosen for this report are compared." if query.editors and text else text


def _texts_section(workspace: Workspace) -> reports.Section | None:
    """Images with words that address a judge; None if `imarena scan` never ran."""
    texts = read_findings(workspace)
    if not texts.read:
        return None
    table = findings_table(texts, TEXTS_LISTED)
    more = (f"The first {TEXTS_LISTED} of {len(texts.found):,} are listed.",) if len(texts.found) > TEXTS_LISTED else ()
    brought = {text.image for text in texts.found if text.output_id is not None and not text.excuse}
    warned = (
        (f"Outputs with such words that are neither in the source nor in the instruction: {len(brought):,}.",)
        if brought
        else ()
    )
    return reports.Section(
        "Words that address a judge", (texts.in_words(), *more), warned, tables=(table,) if table.rows else ()
    )


def explain_codes(view: View, sections: Sequence[reports.Section | None]) -> list[reports.Section | None]:
    """Add the meaning of codes to the sections whose tables use them. Another benchmark's topic "A" is not a code."""
    taxonomy = load_taxonomy("imagenworld")
    codes: dict[str, str] = {}
    for column, entries in (("task", taxonomy.tasks), ("topic", taxonomy.topics)):
        used = _codes_used(view, column, {entry.name for entry in entries})
        codes |= {entry.name: entry.title for entry in entries if entry.name in used}
    return [section and _with_code_names(section, codes) for section in sections]


def _codes_used(view: View, column: str, codes: Set[str]) -> set[str]:
    """The codes that occur in items whose taxonomy is ImagenWorld's."""
    possible = codes & set(view.entries.labels[column].used())
    used: set[str] = set()
    for item in view.workspace.store.records(Item, **{column: sorted(possible)}) if possible else ():
        if item.taxonomy == "imagenworld":
            used.add(getattr(item, column))
            if used == possible:
                break
    return used


def _with_code_names(section: reports.Section, codes: Mapping[str, str]) -> reports.Section:
    texts = {cell for table in section.tables for row in table.rows for cell in row if isinstance(cell, str)}
    texts |= {column.title for table in section.tables for column in table.columns}
    words = "; ".join(f"{code}: {title.lower()}" for code, title in codes.items() if code in texts)
    return replace(section, text=(*section.text, f"Codes: {words}.")) if words else section
