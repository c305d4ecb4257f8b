"""Report sections with the tables of `imarena agree`, `align` and `health`, made by the same functions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from imarena.agreement import AlignOptions, RatingColumns
from imarena.core import UserError, command_line, grouped, sha256_hex
from imarena.core.notices import grouped_sentences, sentences
from imarena.reports import Section
from imarena.reports.tables import Table
from imarena.storage import Workspace
from imarena.workflows import studies
from imarena.workflows.views import WHOLE

GROUPS = ("model", "task")
"""Columns by which agreement and alignment are also shown."""
_RATERS = "Raters"


def agreement_sections(workspace: Workspace) -> Iterator[Section]:
    """Agreement among raters, overall and by model and task: the tables of `imarena agree`."""
    tables = _under_pseudonyms(studies.ratings_in_workspace(workspace))
    for by in ((), *((name,) for name in GROUPS)):
        rated = [columns for columns in tables if len(columns) and len(set(columns.rater)) > 1]
        fitting = [columns for columns in rated if all(len(set(columns.labels.get(name, ()))) > 1 for name in by)]
        if not fitting:
            continue
        try:
            agreements = studies.agree_on_each(fitting, by, (), (), leave_one_out=not by)
        except UserError:  # too few units with two raters
            continue
        printed = [
            table for part in agreements for table in studies.agreement_tables(part) if table.title != _RATERS or not by
        ]
        notes = tuple(grouped_sentences((notice for part in agreements for notice in part.notices), "report"))
        command = command_line("agree --leave-one-out") if not by else command_line("agree --by", by[0])
        yield Section(_title("Agreement among raters", by), (f"Command: {command}",), notes, tables=tuple(printed))


def _under_pseudonyms(tables: Sequence[RatingColumns]) -> list[RatingColumns]:
    """Number the raters, because a report is meant to be shared. The order is by a hash of each rater's answers.

    The ids alone do not reveal who has which number.
    """
    values_by_rater = grouped(
        (rater, f"{unit} {value}")
        for columns in tables
        for rater, unit, value in zip(columns.rater, columns.unit, columns.value, strict=True)
    )
    raters = sorted(
        values_by_rater, key=lambda rater: (sha256_hex("\n".join(sorted(values_by_rater[rater])).encode()), rater)
    )
    names = {rater: f"rater {number}" for number, rater in enumerate(raters, 1)}
    return [replace(columns, rater=[names[rater] for rater in columns.rater]) for columns in tables]


def alignment_sections(workspace: Workspace, judges: Sequence[str]) -> Iterator[Section]:
    """Judges against people, overall and by model and task: the tables of `imarena align`."""
    for by in ((), *((name,) for name in GROUPS)):
        options = AlignOptions(by=by, leave_one_out=not by, pairs=not by)
        try:
            columns = studies.read_aligned_columns(workspace, judges, options)
            if not all(_several(columns, name) for name in by):
                continue
            aligned = studies.align_columns(columns, options)
        except UserError:  # no answers of judges and people on the same outputs, or the votes have no such column
            continue
        texts = grouped_sentences([*(aligned.scores.notices if aligned.scores else ()), *aligned.notices], "report")
        words = [word for judge in judges for word in ("--judge", judge)]
        words += ["--by", *by] if by else ["--leave-one-out", "--pairs"]
        yield Section(
            _title("Judges against people", by),
            (*studies.alignment_conclusions(aligned), f"Command: {command_line('align', *words)}"),
            tuple(dict.fromkeys(texts)),
            tables=tuple(studies.alignment_tables(aligned, by)),
        )


def _several(columns: studies.AlignedColumns, name: str) -> bool:
    """Whether the compared answers have two or more values of a column."""
    scored = columns.scores.labels.get(name, ()) if len(columns.ratings) else ()
    return len({*scored, *columns.verdicts.labels.get(name, ()), *columns.votes.labels.get(name, ())} - {""}) > 1


def _title(text: str, by: Sequence[str]) -> str:
    return f"{text}, by {by[0]}" if by else text


def health_section(workspace: Workspace, judges: Sequence[str]) -> Section | None:
    """How far each judge can be trusted: the tables of `imarena health`."""
    reports, together = studies.judge_health_report(workspace, judges or None)
    all_reports = [*reports, *([together] if together.lines else [])]
    tables = [table for health in all_reports for table in studies.named_health_tables(health)]
    if not tables:
        return None
    lacking = grouped((text, health.judge) for health in all_reports for text in sentences(health.notices, "report"))
    missing = [
        text if len(judges_) == len(reports) else f"{', '.join(filter(None, judges_))}: {text}"
        for text, judges_ in lacking.items()
    ]
    words = [word for judge in judges for word in ("--judge", judge)]
    text = (f"Command: {command_line('health', *words)}",)
    return Section("Judge health", text, points=tuple(missing), tables=tuple(tables))


def agreement_by_model_and_task(workspace: Workspace) -> dict[tuple[str, str], float | None]:
    """Ordinal alpha of the overall ratings by task and model, as in `imarena agree --by model --by task`."""
    ratings = studies.ratings_in_workspace(workspace, "ratings")[0]
    if not len(ratings) or len(set(ratings.rater)) < 2:
        return {}
    agreement = studies.agree_on_each([ratings], ("model", "task"), (), (), rounds=0)[0]
    return {
        (group.group["task"] or "all", group.group["model"]): group.alpha["ordinal"].value
        for group in agreement.groups
        if group.criterion == WHOLE
    }


def fold_tables(workspace: Workspace, judges: Sequence[str]) -> Iterator[Table]:
    """Raters, then judges, against the mean of the other raters: tables of `agree` and `align --leave-one-out`."""
    ratings = studies.ratings_in_workspace(workspace, "ratings")[0]
    if not len(ratings) or len(set(ratings.rater)) < 2:
        return
    agreement = studies.agree_on_each([ratings], (), (), (), rounds=0, leave_one_out=True)[0]
    yield from (table for table in studies.agreement_tables(agreement) if table.title.startswith("Each rater against"))
    options = AlignOptions(leave_one_out=True, rounds=0)
    try:
        aligned = studies.align_columns(studies.read_aligned_columns(workspace, judges, options), options)
    except UserError:  # no answers of judges and people on the same outputs
        return
    if aligned.scores is not None:
        yield from (
            table for table in studies.score_tables(aligned.scores) if table.title.startswith("Against the mean of")
        )
