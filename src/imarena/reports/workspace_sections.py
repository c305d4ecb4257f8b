"""Sections of the report of a workspace, from counts and rankings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from imarena.core import counted
from imarena.core.notices import sentences
from imarena.core.records import Ranking
from imarena.reports.charts import chart_of
from imarena.reports.conclusion import board_conclusion
from imarena.reports.page import Section
from imarena.reports.pair_differences import group_numbers, too_few_units
from imarena.reports.rank_plots import METHOD_TITLES, ratings_chart, wins_chart
from imarena.reports.rank_tables import COVERAGE, board_tables, interval_cell, notices_below, ranks_cell
from imarena.reports.tables import CellValue, Column, Table
from imarena.reports.tables.table import columns, count_cell

StatusCounts = Mapping[str, Mapping[str, int]]
"""Counts by editor or judge, and by status."""
ISSUE_NAMES = {
    "object": "things", "segment": "segments", "box": "boxes", "new_image": "new image",
    "returned_input": "returned input", "other": "other",
}  # fmt: skip
ISSUE_MEANINGS = {
    "object": "things that raters named as wrong",
    "segment": "parts of the image that raters marked as wrong",
    "box": "boxes that raters drew around mistakes",
    "new_image": "outputs that keep nothing of the source",
    "returned_input": "outputs that are the source again",
    "other": "anything else",
}
UNNAMED_EDITOR = "(not named)"
"""How counts by editor name outputs without a known editor."""
STATUS_MEANINGS = {
    "refused": "declined by the model",
    "unparsable": "the reply could not be read",
    "api_error": "the service or program failed",
    "timeout": "no answer in time",
    "missing_output": "no image was returned",
    "invalid_image": "the file is not a complete image",
    "no_verdict": "an answer without an overall score or preference",
    "not_tried": "the previous turn has no output",
}

_COMMAND = "Command (run it in the folder where this report was made)"


@dataclass(frozen=True)
class UnusualImages:
    """Numbers of unusual images: by editor, and among the sources and references of all items."""

    other_size: Mapping[str, int] = field(default_factory=dict)
    """Outputs whose width or height differs from the item's first source image."""
    animated: Mapping[str, int] = field(default_factory=dict)
    """Outputs with several frames."""
    animated_inputs: int = 0


NO_IMAGES = UnusualImages()


def report_lead(outputs: StatusCounts, judgments: StatusCounts, totals: Mapping[str, int]) -> str:
    """The sentence below the title. `totals`: records by kind."""
    n_requested = sum(sum(row.values()) for row in outputs.values())
    n_outputs = totals["output"]
    of = f" of {n_requested:,} asked for" if n_requested > n_outputs else ""
    n_judged = sum(row.get("ok", 0) for row in judgments.values())
    people = [counted(totals[kind], kind) for kind in ("vote", "rating") if totals[kind]] or ["0 votes"]
    return (
        f"{counted(totals['item'], 'item')}, {editors_text([*outputs])}, "
        f"{counted(n_outputs, 'output')}{of}, {counted(n_judged, 'judgment')}, {', '.join(people)}."
    )


def editors_text(names: Sequence[str]) -> str:
    """The number of editors; outputs of unknown editors (see `UNNAMED_EDITOR`) are not an editor."""
    n_named = sum(name != UNNAMED_EDITOR for name in names)
    if n_named == len(names):
        return counted(n_named, "editor")
    return f"{counted(n_named, 'editor')} and outputs of unnamed editors" if n_named else "editors not named"


def overview_section(
    outputs: StatusCounts,
    judgments: StatusCounts,
    coverage: Mapping[str, str],
    attempts: Mapping[str, int],
    images: UnusualImages = NO_IMAGES,
) -> Section:
    """What each editor was asked for, and what each judge answered. `coverage` (text) and `attempts` are by editor."""
    states = sorted({state for row in outputs.values() for state in row}, key=lambda s: (s != "ok", s))
    rows: tuple[tuple[CellValue, ...], ...] = tuple(
        (
            editor,
            *(row.get(state, 0) for state in states),
            sum(row.values()),
            coverage.get(editor),
            attempts[editor],
            images.other_size.get(editor) or None,
            images.animated.get(editor) or None,
        )
        for editor, row in outputs.items()
    )
    output_table = Table(
        columns(
            "editor",
            *(Column(state, ",") for state in states),
            Column("asked for", ","),
            Column("coverage", absent="–"),
            Column("attempts", ","),
            Column("other size", ","),
            Column("animated", ","),
        ),
        rows,
        "Requested outputs",
        _overview_notes(states, images, outputs),
    )
    kinds = sorted({state for row in judgments.values() for state in row}, key=lambda s: (s != "ok", s))
    judge_table = Table(
        columns("judge", *(Column(kind, ",") for kind in kinds)),
        tuple((judge, *(row.get(kind, 0) for kind in kinds)) for judge, row in judgments.items()),
        "Questions to each judge",
        (_with_meanings("Each question counts once: as answered, or with the status of its newest attempt", kinds),),
    )
    tables = tuple(table for table in (output_table, judge_table) if table.rows)
    nothing = () if tables else ("No output was made or imported yet, and no judge was asked.",)
    return Section("Outputs and questions", nothing, tables=tables)


def _overview_notes(states: Sequence[str], images: UnusualImages, editors: StatusCounts) -> tuple[str, ...]:
    status_note = "Each requested output counts once, by its current status; only ok outputs are judged"
    notes = [
        _with_meanings(status_note, states),
        f"Coverage: {COVERAGE}. Attempts: number of requests, retries included.",
    ]
    if any(images.other_size.get(editor) for editor in editors):
        notes.append(
            "Other size: outputs whose width or height is not that of the source image. They are judged as they are."
        )
    if any(images.animated.get(editor) for editor in editors):
        notes.append("Animated: outputs with several frames. Only the first frame is shown and judged.")
    if images.animated_inputs:
        number = counted(images.animated_inputs, "source or reference image")
        notes.append(f"{number} with several frames: only the first frame is shown, edited and judged.")
    return tuple(notes)


def _with_meanings(text: str, states: Sequence[str]) -> str:
    """The text, followed by the meaning of every status that occurs."""
    words = [f"{state}: {STATUS_MEANINGS[state]}" for state in states if state in STATUS_MEANINGS]
    return f"{text}. {'; '.join(words)}." if words else f"{text}."


def board_section(
    title: str, ranking: Ranking, index: int, command: str = "", without_groups: Sequence[str] = ()
) -> Section:
    """One leaderboard: its tables, notices, charts, and the command that prints it.

    `without_groups`: columns by which there are only groups with too few items for a board.
    """
    charts = []
    for name, caption, draw in (
        ("ratings", "ratings with 95% intervals", ratings_chart),
        ("wins", "win share of the row against the column (a tie counts half)", wins_chart),
    ):
        chart = draw(ranking)
        if chart is not None:
            charts.append(chart_of(f"board-{index + 1}-{name}", f"{title}: {caption}", chart))
    battles = f"{counted(ranking.n_battles, 'battle')}; method {METHOD_TITLES.get(ranking.method, ranking.method)}."
    groups = f"There is no board by {', '.join(without_groups)}: every group has too few items to show a difference."
    texts = (
        board_conclusion(ranking), battles, command and f"{_COMMAND}: {command}", groups if without_groups else ""
    )  # fmt: skip
    standings, *details = board_tables(ranking)
    return Section(
        f"Leaderboard: {title}",
        tuple(text for text in texts if text),
        tuple(sentences(notices_below(ranking), "report")),
        tables=(replace(standings, title=""), *details),  # the section has the title
        charts=tuple(charts),
    )


def groups_section(title: str, by: str, every_ranking: Sequence[Ranking], command: str = "") -> Section:
    """One leaderboard per value of a column: conclusions, then all standings in one table; `command` prints them.

    Groups with so few items that no difference can be significant are only named.
    """
    rankings = [ranking for ranking in every_ranking if not too_few_units(ranking)]
    small = {ranking.scope.get(by, ""): too_few_units(ranking) for ranking in every_ranking if too_few_units(ranking)}
    texts = (f"{_COMMAND}: {command}",) if command else ()
    if small:
        named = ", ".join(f"{name} ({units})" for name, units in small.items())
        texts = (*texts, f"Not shown, because so few items cannot show a difference: {named}.")
    names = [ranking.scope.get(by, "") for ranking in rankings]
    notices = (notice for ranking in rankings for notice in ranking.notices)
    without_group = {notice.code: notice for notice in notices if notice.code == "unnamed_group"}
    conclusions = tuple(
        (
            name,
            ranking.n_battles,
            board_conclusion(ranking) or " ".join(sentences(ranking.notices, "report")),
        )
        for name, ranking in zip(names, rankings, strict=True)
    )
    groups = [group_numbers(ranking) for ranking in rankings]
    rows = tuple(
        (
            name, *([group.get(standing.model, 1)] if any(groups) else []), standing.rank, standing.model,
            standing.rating, interval_cell(standing), ranks_cell(standing), count_cell(standing.battles),
            standing.coverage,
        )
        for name, ranking, group in zip(names, rankings, groups, strict=True)
        for standing in ranking.models
    )  # fmt: skip
    head = columns(
        by, *(["group"] if any(groups) else []), "rank", "model", Column("rating", ".1f"),
        Column("interval", ".0f", "–"), Column("ranks", absent="–"),
        Column("battles", ","), Column("coverage", ".1%", "–"),
    )  # fmt: skip
    return Section(
        f"Leaderboard by {by}: {title}",
        texts,
        tuple(sentences([*without_group.values()], "report")),
        tables=(
            Table(columns(by, Column("battles", ","), Column("conclusion", wrap=True)), conclusions, "Conclusions"),
            Table(head, rows, "Standings"),
        )
        if rankings
        else (),
    )


def issues_section(
    kinds: Sequence[str], by_editor: Mapping[str, Mapping[str, int]], rated: Mapping[str, int]
) -> Section | None:
    """What raters found wrong with each editor's outputs; None if nobody marked anything."""
    if not any(by_editor.values()):
        return None
    rows: tuple[tuple[CellValue, ...], ...] = tuple(
        (editor, rated.get(editor, 0), *(counts.get(kind, 0) for kind in kinds)) for editor, counts in by_editor.items()
    )
    head = columns("editor", Column("ratings", ","), *(Column(ISSUE_NAMES[kind], ",") for kind in kinds))
    words = "; ".join(f"{ISSUE_NAMES[kind]}: {ISSUE_MEANINGS[kind]}" for kind in kinds)
    return Section("What raters found wrong", tables=(Table(head, rows, notes=(f"{words}.",)),))
