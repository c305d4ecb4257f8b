"""ImagenWorld (004): ratings by task and topic, automatic scores, five contrasts, and maps."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from imarena.core import command_line, counted
from imarena.core.records import Item
from imarena.editors import model_cards
from imarena.reports import columns, grouped_bars, heat_map, histogram
from imarena.reports.tables import CellValue, Column, Table
from imarena.stats import spearman
from imarena.workflows.reporting.failures.error_areas import error_areas
from imarena.workflows.reporting.failures.modes import by_editor, find_failures
from imarena.workflows.reporting.papers.data import NOTHING, Block, OutputValues, PaperData, groups_of, spread_cell
from imarena.workflows.reporting.papers.study_sections import agreement_by_model_and_task, fold_tables
from imarena.workflows.views import WHOLE

GENERATION = ("TIG", "SRIG", "MRIG")
EDITING = ("TIE", "SRIE", "MRIE")
_WIDEST = 8
"""Columns of judges per table, two for each: more do not fit on a printed page."""


def coverage_by_task(data: PaperData) -> Block:
    """Table 2: the architecture of each editor, if its card states it, and the tasks for which it has outputs."""
    tasks = data.label("task")
    ok = data.view.entries.ok
    counts = Counter((editor, task) for editor, task, is_ok in zip(data.editors, tasks, ok, strict=True) if is_ok)
    names = sorted({task for editor, task in counts if task and editor})
    cards = model_cards()
    rows = tuple(
        (
            editor, (cards[editor].architecture or "not stated") if editor in cards else None,
            (cards[editor].kind if editor in cards else ""), *(counts[editor, task] or None for task in names),
        )
        for editor in sorted({editor for editor, _ in counts if editor})
    )  # fmt: skip
    architecture = Column("architecture", absent="no model card" if any(row[1] for row in rows) else "")
    head = columns("model", architecture, "kind", *(Column(task, ",", "–") for task in names))
    return Block((Table(head, rows),)) if names else NOTHING


def ratings_by_task(data: PaperData) -> Block:
    """Table 3: people's ratings, alpha, and each judge's mean and Spearman correlation, by task and model."""
    if not data.people:
        return NOTHING
    alphas = agreement_by_model_and_task(data.workspace)
    judged = {name: source for name, source in data.judged.items() if "," not in name}
    overall = data.people.get(WHOLE)
    rows: list[tuple[CellValue, ...]] = []
    for (task, editor), at in groups_of(_tasks(data), data.editors).items():
        marks = [source.on_unit_scale[at] for source in data.people.values()]
        if not any(np.isfinite(values).any() for values in marks):
            continue
        people = overall.on_unit_scale[at] if overall is not None else np.full(at.size, np.nan)
        machine = [cell for source in judged.values() for cell in _judge_cells(source, at, people)]
        rows.append((task, editor, *map(spread_cell, marks), alphas.get((task, editor)), *machine))
    head = [Column("task"), Column("model"), *(Column(name.replace("_", " ")) for name in data.people)]
    head.append(Column("alpha", ".2f", "undefined"))
    first = len(head)
    for name, source in judged.items():
        head += [Column(f"{source.title}: mean"), Column("rho", ".2f", "undefined", key=f"{name} rho")]
    notes = ("Mean±standard deviation of the mean rating of each output, on 0 to 1. alpha: ordinal, overall, as "
             f"`{command_line('agree --by model --by task')}`; rho: Spearman with people's overall, as "
             f"`{command_line('align --by model --by task')}` (scores turned round where lower is "
             "better).",)  # fmt: skip
    table = Table(tuple(head), tuple(rows), notes=notes)
    shares = [range(begin, min(begin + _WIDEST, len(head))) for begin in range(first, len(head), _WIDEST)]
    if len(shares) < 2:
        return Block((table,))
    ratings = replace(table.part(range(first)), notes=())
    parts = [replace(table.part([0, 1, *share]), notes=()) for share in shares]
    return Block((ratings, *parts[:-1], replace(parts[-1], notes=notes)))


def _tasks(data: PaperData) -> list[str]:
    return [task or "all" for task in data.label("task")]


def _judge_cells(source: OutputValues, at: np.ndarray, people: np.ndarray) -> tuple[CellValue, CellValue]:
    values = source.upward[at]
    mask = np.isfinite(values) & np.isfinite(people)
    rho = spearman(values[mask], people[mask]).value if mask.sum() > 1 else None
    return spread_cell(source.values[at]), rho


def fold_averages(data: PaperData) -> Block:
    """Table 4: raters and judges against the mean of the other raters."""
    return Block(tuple(fold_tables(data.workspace, data.judges)))


def ratings_by_topic(data: PaperData) -> Block:
    """Table 5: people's overall by task, model and topic."""
    overall = data.people.get(WHOLE)
    topics = sorted({topic for topic in data.label("topic") if topic})
    if overall is None or not topics:
        return NOTHING
    cells = groups_of(_tasks(data), data.editors, data.label("topic"))
    values = overall.on_unit_scale
    keys = sorted({(task, editor) for task, editor, _ in cells})
    rows = [
        (task, editor, *(spread_cell(values[cells[task, editor, topic]]) if (task, editor, topic) in cells else None
                         for topic in topics))
        for task, editor in keys
    ]  # fmt: skip
    filled = tuple(row for row in rows if any(cell is not None for cell in row[2:]))
    return Block((Table(columns("task", "model", *(Column(topic, absent="–") for topic in topics)), filled),))


def subtopics(data: PaperData) -> Block:
    """Tables 6 and 7: subtopics with their counts."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for item in data.workspace.store.records(Item):
        if item.subtopic:
            counts.setdefault((item.task or "", item.topic or ""), Counter())[item.subtopic] += 1
    rows = tuple(
        (task, topic, ", ".join(f"{name} ({number})" for name, number in sorted(numbers.items())))
        for (task, topic), numbers in sorted(counts.items())
    )
    return Block((Table(columns("task", "topic", Column("subtopics (count)", wrap=True)), rows),))


def _automatic(data: PaperData, *, rated: bool) -> Block:
    """Tables 8 and 9: scores of judges and metrics by task and model."""
    if not data.judged or (rated and not data.people):
        return NOTHING
    rated_rows = np.zeros(len(data.editors), bool)
    for source in data.people.values() if rated else ():
        rated_rows |= np.isfinite(source.values)
    rows = []
    for (task, editor), at in groups_of(_tasks(data), data.editors).items():
        selected = at[rated_rows[at]] if rated else at
        cells = [spread_cell(source.values[selected]) for source in data.judged.values()]
        if any(cell is not None for cell in cells):
            rows.append((task, editor, *cells))
    head = columns("task", "model", *(Column(source.title, absent="–") for source in data.judged.values()))
    return Block((Table(head, tuple(rows), notes=("Mean±standard deviation, as each judge scores.",)),))


def ratings_bars(data: PaperData) -> Block:
    """Figure 4: mean ratings by topic and by task."""
    charts = []
    for label in ("topic", "task"):
        values = {}
        for (value,), at in groups_of(data.label(label)).items():
            for name, source in data.people.items():
                ratings = source.on_unit_scale[at]
                if np.isfinite(ratings).any():
                    values[value, name.replace("_", " ")] = float(np.nanmean(ratings))
        if values:
            charts.append(grouped_bars(f"ratings-by-{label}", f"Mean human rating by {label}", values, title="0 to 1"))
    return Block(charts=tuple(charts))


def _map_cells(data: PaperData, editors: Sequence[str]) -> dict[tuple[str, str], float]:
    """People's mean overall by task and topic, over these editors."""
    overall = data.people.get(WHOLE)
    names = set(editors)
    if overall is None:
        return {}
    means = {}
    for (task, topic), at in groups_of(data.label("task"), data.label("topic")).items():
        values = overall.on_unit_scale[[row for row in at.tolist() if data.editors[row] in names]]
        if np.isfinite(values).any():
            means[task, topic] = float(np.nanmean(values))
    return means


def unified_map(data: PaperData) -> Block:
    """Figure 5: overall by task and topic for the editors that have rated outputs on every task."""
    if WHOLE not in data.people:
        return NOTHING
    unified = sorted(data.unified)
    cells = _map_cells(data, unified)
    if not cells:
        return NOTHING
    caption = f"Mean human overall by task and topic; editors with every task: {', '.join(unified)}"
    return Block(charts=(heat_map("overall-by-task-and-topic", caption, cells, title="overall", spec=".2f"),))


def best_map(data: PaperData) -> Block:
    """Figure 15: the best editor by task and topic."""
    editors = sorted({editor for editor in data.editors if editor})
    by_editor_cells = {editor: _map_cells(data, [editor]) for editor in editors}
    keys = sorted({key for cells in by_editor_cells.values() for key in cells})
    topics = sorted({topic for _, topic in keys})
    rows = []
    for task in sorted({task for task, _ in keys}):
        cells: list[CellValue] = []
        for topic in topics:
            means = [(of[task, topic], editor) for editor, of in by_editor_cells.items() if (task, topic) in of]
            best = min(means, key=lambda pair: (-pair[0], pair[1])) if means else None
            cells.append(f"{best[1]} {best[0]:.2f}" if best else None)
        rows.append((task, *cells))
    return Block((Table(columns("task", *(Column(topic, absent="–") for topic in topics)), tuple(rows)),))


def closed_open_map(data: PaperData) -> Block:
    """Figures 16 and 17: closed and open models by task and topic, and the difference."""
    kinds = data.kinds
    cells = {kind: _map_cells(data, editors) for kind, editors in kinds.items()}
    if not all(cells.values()):
        return NOTHING
    charts = [
        heat_map(
            f"{kind}-models",
            f"Mean human overall, {kind} models ({', '.join(kinds[kind])})",
            of,
            title="overall",
            spec=".2f",
        )
        for kind, of in cells.items()
    ]
    gap = {key: cells["closed"][key] - cells["open"][key] for key in cells["closed"] if key in cells["open"]}
    if gap:
        charts.append(
            heat_map("closed-less-open", "Closed less open", gap, title="difference", spec="+.2f", domain=(-1, 1))
        )
    return Block(charts=tuple(charts))


def new_or_returned(data: PaperData) -> Block:
    """Figure 6: the share of new images and returned inputs by editor."""
    values: dict[tuple[str, str], float] = {}
    texts = []
    for mode, sources in find_failures(data.view).items():
        if mode not in ("new image", "returned input") or not sources:
            continue
        source = max(sources, key=lambda findings: (len(findings.checked), findings.source))
        failed, checked = by_editor(data.view, source.failed), by_editor(data.view, source.checked)
        values |= {(editor, mode): failed.get(editor, 0) / of for editor, of in checked.items()}
        texts.append(
            f"{mode}: found by {source.source}, {len(source.failed):,} of {counted(len(source.checked), 'output')}."
        )
    if not values:
        return NOTHING
    chart = grouped_bars("new-or-returned", "Share of outputs", values, title="share of outputs", spec=".0%")
    return Block(charts=(chart,), text=tuple(texts))


def error_area_histogram(data: PaperData) -> Block:
    """Figure 14: shares of error pixels, empty and full masks excluded."""
    areas = error_areas(data.view)
    if not areas.shares:
        return NOTHING
    text = f"{areas.empty:,} empty and {areas.full:,} full masks are excluded."
    chart = histogram("error-pixels", "Share of pixels marked as wrong", areas.shares, title="share of the image")
    return Block(charts=(chart,), text=(text,))


def topic_counts(data: PaperData) -> Block:
    """Figure 18: items by topic."""
    return _counts(data, "topic", "items-by-topic")


def subtopic_counts(data: PaperData) -> Block:
    """Figure 19, as bars: the most frequent subtopics."""
    return _counts(data, "subtopic", "items-by-subtopic", most=25)


def _counts(data: PaperData, name: str, file: str, most: int = 60) -> Block:
    counts = Counter(value for item in data.workspace.store.records(Item) if (value := getattr(item, name)))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    if not ranked:
        return NOTHING
    values = {(value, "items"): float(number) for value, number in ranked}
    return Block(charts=(grouped_bars(file, f"Items by {name}", values, title="items", spec=".0f"),))


MAKERS: dict[str, Callable[[PaperData], Block]] = {
    "automatic_all": lambda data: _automatic(data, rated=False),
    "automatic_rated": lambda data: _automatic(data, rated=True),
    **{
        made.__name__: made
        for made in (
            coverage_by_task, ratings_by_task, fold_averages, ratings_by_topic, subtopics, ratings_bars, unified_map,
            best_map, closed_open_map, new_or_returned, error_area_histogram, topic_counts, subtopic_counts,
        )
    },
}  # fmt: skip
