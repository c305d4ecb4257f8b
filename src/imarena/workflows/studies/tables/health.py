"""The tables of `imarena health`, which the report shows too."""

import re
from collections.abc import Sequence
from dataclasses import replace

from imarena.core import grouped
from imarena.judges import CARDS, RAISED, TURNED, HealthFigure, JudgeHealth
from imarena.reports import columns, interval
from imarena.reports.tables import CellValue, Column, Number, Table
from imarena.stats import Figure, undefined_figure
from imarena.workflows.studies.tables.alignment import SIDES
from imarena.workflows.views import WHOLE

_VIESCORE = re.compile(r"(?:SC|PQ)(?:\.\d+)?$")
MEANS = "Mean of each dimension"
SHOWN_NAMES = {
    "decisive_accuracy": SIDES, "failed": "share of attempts", "first_rate": "share that chose the first image",
    "flips": "share of pairs", "first_of_flips": "share of these pairs", "flagged": "share of outputs",
    "false_ties": "share of verdicts",
}  # fmt: skip
"""Names of figures as shown in tables; JSON keeps the original names."""


def health_tables(health: JudgeHealth) -> list[Table]:
    """The tables of one judge that have rows."""
    apart = (MEANS, RAISED, TURNED)
    tables = [
        _figures([line for line in health.lines if line.question not in apart]),
        _means(health.judge, [line for line in health.lines if line.question == MEANS]),
        *(
            _probe(question, [line for line in health.lines if line.question == question])
            for question in (RAISED, TURNED)
        ),
    ]
    return [table for table in tables if table.rows]


SUMMARY = (
    ("failed", "no verdict"), ("decisive_accuracy", SIDES), ("spearman", "Spearman with ratings"),
    ("first_rate", "favours the first image"), ("flips", "changes when images swap"),
)  # fmt: skip
"""Figures of the summary of several judges: the figure's name and its column."""


def health_summary(judges: Sequence[JudgeHealth]) -> Table:
    """One row per judge, with the figures that most judges have; empty columns are left out."""
    rows = []
    for health in judges:
        figures = [_headline(health, name) for name, _ in SUMMARY]
        cells = (cell for figure in figures for cell in (figure.value, interval(figure.low, figure.high)))
        rows.append((health.judge, health.statuses.get("ok", 0), *cells))
    heads = [
        column
        for name, title in SUMMARY
        for column in (Column(title, ".3f", "–"), Column("95% interval", ".3f", "–", key=f"{title}, 95%"))
    ]
    meanings = {
        "failed": "no verdict: share of attempts",
        "decisive_accuracy": f"{SIDES}: of people's votes for a side, the share with the same side; a tie is wrong",
        "first_rate": "favours the first image: 0.5 is fair",
    }
    shown = {name for name, _ in SUMMARY if any(_headline(health, name).value is not None for health in judges)}
    notes = (". ".join([*(meanings[name] for name in meanings if name in shown), "–: the details state why"]) + ".",)
    return Table(columns("judge", Column("answers", ","), *heads), tuple(rows), "All judges", notes)


def _headline(health: JudgeHealth, name: str) -> Figure:
    """The judge's figure with this name: of all its answers, and of the overall criterion."""
    lines = [line for line in health.lines if line.figure.name == name]
    wholes = [line for line in lines if line.group in ("", WHOLE)] or (lines if len(lines) == 1 else [])
    return wholes[0].figure if wholes else undefined_figure(name, "", n=0, method="")


def named_health_tables(health: JudgeHealth) -> list[Table]:
    """The same tables with the judge in each title, for a page that shows several judges."""
    titles = [
        (table, table.title or (MEANS.lower() if table.columns[0].title == MEANS else ""))
        for table in health_tables(health)
    ]
    return [replace(table, title=": ".join(part for part in (health.judge, title) if part)) for table, title in titles]


def _figures(lines: Sequence[HealthFigure]) -> Table:
    """One row per figure; a repeated question is shown once."""
    rows: list[tuple[CellValue, ...]] = []
    last = ""
    for line in lines:
        figure = line.figure
        name = SHOWN_NAMES.get(figure.name, figure.name.replace("_", " "))
        what = " ".join(part for part in (name, line.group) if part)
        question, last = "" if line.question == last else line.question, line.question
        ends = _ends(figure)
        if ends is None and figure.value is not None:
            ends = figure.interval_reason or "not computed"
        rows.append((question, what, _value(figure), ends, figure.n))
    head = columns(
        Column("question", wrap=True),
        "figure",
        Column("value", wrap=True),
        Column("95% interval", wrap=True),
        Column("n", ","),
    )
    return Table(head, tuple(rows))


def _value(figure: Figure) -> CellValue:
    return figure.reason if figure.value is None else _number(figure.value)


def _ends(figure: Figure) -> CellValue:
    return interval(figure.low, figure.high, _spec(max(abs(figure.low or 0), abs(figure.high or 0))))


def _probe(question: str, lines: Sequence[HealthFigure]) -> Table:
    """Kinds of text in rows; the share that fell for the text and the mean shift in columns."""
    groups = grouped(
        ("all - control" if line.figure.name == "beyond_control" else line.group, line.figure) for line in lines
    )
    rows: list[tuple[CellValue, ...]] = []
    for group, figures in groups.items():
        shift = figures[-1]
        fell: tuple[CellValue, ...] = (None, None, None)
        if len(figures) > 1:
            fell = (_value(figures[0]), _ends(figures[0]), figures[0].n)
        rows.append((group, *fell, _value(shift), _ends(shift), shift.n))
    count = Column("n", ",")
    head = columns("text", "fell for it", "95% interval", count, "mean shift", "95% interval", Column("units", ","))
    return Table(head, tuple(rows), question)


def _means(judge: str, lines: Sequence[HealthFigure]) -> Table:
    """Editors in rows, dimensions in columns."""
    names = list(dict.fromkeys(line.figure.name for line in lines))
    means = {(line.group, line.figure.name): line.figure.value for line in lines}
    rows = tuple(
        (editor, *(_number(means.get((editor, name))) for name in names))
        for editor in dict.fromkeys(line.group for line in lines)
    )
    notes = [_scale_note(judge, [mean for mean in means.values() if mean is not None])] if rows else []
    if any(_VIESCORE.match(name) for name in names):
        notes.append(
            "SC: semantic consistency, PQ: perceptual quality (VIEScore); SC.1, PQ.1, ...: the judge's answers to the "
            "questions of each, in the order of its prompt. SC and PQ are the lowest of theirs."
        )
    return Table(columns(MEANS, *(name.replace("_", " ") for name in names)), rows, notes=tuple(notes))


def _scale_note(judge: str, means: Sequence[float]) -> str:
    """A note on the scale of the means, if the catalog states one and all means are within it."""
    card = CARDS.get(judge.partition("/")[0].partition(",")[0].partition("@")[0])
    if card is None or card.scale is None or not all(card.scale[0] <= mean <= card.scale[1] for mean in means):
        return "Scores as the judge gives them."
    return f"Scores as the judge gives them, from {card.scale[0]:g} to {card.scale[1]:g}."


def _number(value: float | None) -> Number | None:
    return None if value is None else Number(0.0 if abs(value) < 1e-9 else value, _spec(abs(value)))


def _spec(size: float) -> str:
    """Three significant digits, but all digits before the point for numbers from 100."""
    return ".0f" if size >= 100 else ".3g"
