"""Figures on the samples of each editor on a board: scores, failures, costs and times, read through a view."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from imarena.core import FloatArray, UserError, command_line
from imarena.stats import ModelSamples, SampleFigures, sample_figures, sample_sizes
from imarena.storage import JudgeVariant, reading
from imarena.storage.schema import outputs
from imarena.workflows.boards.default_source import ChosenSource
from imarena.workflows.boards.query import BoardQuery
from imarena.workflows.views import (
    ITEM_LABELS,
    WHOLE,
    Entries,
    OutputCoverage,
    View,
    fetch_columns,
    first_scores,
    live_judgments,
)

ThresholdOrigin = Literal["option", "settings", "judge", ""]
OWN_THRESHOLD = "success_threshold"
"""The name of the parameter that holds a judge's own threshold."""


@dataclass(frozen=True)
class SampleBoard:
    """The figures of every editor on a board, from the scores of one judge."""

    judge: str
    success: float | None
    """The minimum score of a success."""
    success_from: ThresholdOrigin
    higher_is_better: bool
    missing: str
    """exclude or loss: how to treat items that an editor was not asked for."""
    not_judged: int
    """Number of outputs without a score by this judge; left out, because their success is unknown."""
    unpriced: int
    """Number of failed attempts without a stored cost. They count as free."""
    sizes: tuple[int, ...]
    """The k of pass@k and best of k."""
    models: tuple[SampleFigures, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("judge", "success", "success_from", "higher_is_better", "missing", "not_judged", "unpriced")
        document: dict[str, Any] = {name: getattr(self, name) for name in names}
        return {**document, "k": list(self.sizes), "models": [model.to_json() for model in self.models]}


@dataclass(frozen=True)
class _Slots:
    """s samples requested from editors, and the a attempts at them."""

    editor: NDArray[np.int64]
    unit: NDArray[np.int64]
    output: NDArray[np.int64]
    """(s,) the index of the output; -1 if there is none."""
    attempt: NDArray[np.int64]
    """(a,) indices of outputs, failed ones included."""
    slot: NDArray[np.int64]
    """(a,) the sample that each attempt belongs to."""

    @property
    def most(self) -> int:
        """The largest number of samples that one editor has for one unit."""
        return int(np.unique(np.column_stack([self.editor, self.unit]), axis=0, return_counts=True)[1].max(initial=0))

    def spent(self, values: FloatArray) -> FloatArray:
        """(s,) the sum over each sample's attempts; NaN if its output has no value or all of its editor's have none."""
        total = np.bincount(self.slot, np.nan_to_num(values[self.attempt]), self.unit.size)
        measured = np.isfinite(values[self.output]) & (self.output >= 0)
        stores = np.isin(self.editor, self.editor[measured])
        return np.where((measured | (self.output < 0)) & stores, total, np.nan)


def read_sample_board(
    view: View,
    output_coverage: OutputCoverage,
    query: BoardQuery,
    choice: ChosenSource,
    models: Sequence[str],
    units: NDArray[np.bool_],
) -> SampleBoard | None:
    """Return the figures of these models on these units (of `output_coverage`).

    None without scores of one judge, or if nobody requested figures and no editor has several samples.
    """
    variants = _scoring_variants(view, query, choice) if query.samples != "never" else []
    if not variants:
        return None
    slots = _read_slots(view.entries, output_coverage, models, units)
    if query.samples == "auto" and slots.most < 2:
        return None
    unasked = _unasked(output_coverage, models, units) if query.missing == "loss" else {}
    none = np.zeros(0, np.int64)
    return _sample_board(
        view, output_coverage, query, variants, slots, {name: unasked.get(name, none) for name in models}
    )


def _sample_board(
    view: View,
    output_coverage: OutputCoverage,
    query: BoardQuery,
    variants: list[JudgeVariant],
    slots: _Slots,
    unasked: dict[str, NDArray[np.int64]],
) -> SampleBoard:
    success, origin = _threshold(view, query, variants)
    sign = 1.0 if variants[0].higher_is_better else -1.0
    scores = np.where(slots.output < 0, np.nan, _scores(view, query, variants)[slots.output])
    counts = (slots.output < 0) | np.isfinite(scores)
    won = np.nan_to_num(scores, nan=-np.inf) >= sign * (success or 0.0)
    spending = read_spending(view)
    cost, seconds = slots.spent(spending.cost_usd), slots.spent(spending.seconds)
    free = ~view.entries.ok[slots.attempt] & np.isnan(spending.cost_usd[slots.attempt])
    used = np.isin(np.arange(output_coverage.item.size), np.concatenate([slots.unit[counts], *unasked.values()]))
    items = np.unique(output_coverage.item[used])
    item = np.searchsorted(items, output_coverage.item)
    parts: dict[str, ModelSamples] = {}
    for name, lost in unasked.items():
        rows = counts & (slots.editor == output_coverage.editors.index(name))
        units, unit = np.unique(slots.unit[rows], return_inverse=True)
        parts[name] = ModelSamples(
            unit,
            item[units],
            scores[rows],
            None if success is None else won[rows],
            cost[rows],
            seconds[rows],
            item[lost],
        )
    sizes = sample_sizes(max(1, *(int(part.numbers.max(initial=0)) for part in parts.values())))
    figures = sample_figures(
        parts,
        sizes,
        items=items.size,
        lower_is_better=sign < 0,
        rounds=0 if query.options.interval == "none" else query.options.rounds,
        seed=query.options.seed,
        level=query.options.level,
    )
    return SampleBoard(
        variants[0].judge, success, origin, sign > 0, query.missing, int((~counts).sum()), int(free.sum()), sizes,
        tuple(figures),
    )  # fmt: skip


def _read_slots(
    entries: Entries, output_coverage: OutputCoverage, models: Sequence[str], units: NDArray[np.bool_]
) -> _Slots:
    """Read every sample requested from these editors on these units, even if an earlier turn has no output."""
    selected = np.isin(
        np.arange(len(output_coverage.editors)), [output_coverage.editors.index(name) for name in models]
    )
    attempt = np.flatnonzero((entries.editor.of >= 0) & selected[entries.editor.of] & units[output_coverage.unit])
    tried = np.column_stack([entries.editor.of[attempt], output_coverage.unit[attempt], entries.sample[attempt]])
    never = output_coverage.cut_off[selected[output_coverage.cut_off[:, 0]] & units[output_coverage.cut_off[:, 1]]]
    slots, slot = np.unique(np.concatenate([tried.astype(np.int64), never]), axis=0, return_inverse=True)
    slot = slot.ravel()[: attempt.size]
    output = np.full(len(slots), -1, np.int64)
    delivered = entries.ok[attempt]
    output[slot[delivered]] = attempt[delivered]
    return _Slots(slots[:, 0], slots[:, 1], output, attempt, slot)


def _scoring_variants(view: View, query: BoardQuery, choice: ChosenSource) -> list[JudgeVariant]:
    """Return the variants with which the board's one judge scores single outputs; none if the board uses no scores."""
    grouped = query.by is not None and query.by not in (*ITEM_LABELS, "mode")
    if choice.source != "judge" or choice.judge is None or query.kind == "compared" or grouped:
        return []
    variants = view.variants.counting((choice.judge,), query.dimension, pairwise=False)
    overall = [variant for variant in variants if variant.dimension == WHOLE]
    single = len({variant.dimension for variant in variants}) == 1
    return overall or (variants if single else [])


def check_scores(view: View, query: BoardQuery, choice: ChosenSource) -> None:
    """Raise `UserError` if figures over samples were requested and there are no scores of one judge."""
    if query.samples != "always" or _scoring_variants(view, query, choice):
        return
    if query.by is not None and query.by not in (*ITEM_LABELS, "mode"):
        raise UserError(
            f"Samples cannot be grouped by {query.by}.", hint=f"Known: {', '.join((*ITEM_LABELS, 'mode'))}."
        )
    if choice.source != "judge" or choice.judge is None:
        raise UserError("Figures over samples need the scores of one judge.", hint="Choose one with --judge NAME.")
    raise UserError(
        f"{choice.judge} gave no scores to single outputs, and figures over samples need them.",
        hint=f"Run `{command_line('judge --judge', choice.judge.partition('/')[0])}`, or choose another one with "
        "--judge NAME.",
    )


def _threshold(view: View, query: BoardQuery, variants: list[JudgeVariant]) -> tuple[float | None, ThresholdOrigin]:
    """Return the minimum score of a success: as requested, from `imarena.toml`, or the judge's own."""
    if query.success is not None:
        return query.success, "option"
    judge, settings = variants[0].judge, view.workspace.settings.board.success
    for name in (judge, judge.partition("/")[0]):
        if name in settings:
            return settings[name], "settings"
    own = next((json.loads(variant.params).get(OWN_THRESHOLD) for variant in variants), None)
    return (float(own), "judge") if isinstance(own, int | float) else (None, "")


def _scores(view: View, query: BoardQuery, variants: list[JudgeVariant]) -> FloatArray:
    """(k + 1,) the mean score of each output over repeats, NaN if it has none; the last entry stands for no output."""
    columns = first_scores(live_judgments(view, variants, query.window))
    rows = np.flatnonzero(np.isfinite(columns.score))
    size = view.entries.seq.size + 1
    total = np.bincount(columns.left[rows], columns.score[rows], size)
    number = np.bincount(columns.left[rows], minlength=size)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(number > 0, total / number, np.nan))


def _unasked(
    output_coverage: OutputCoverage, models: Sequence[str], units: NDArray[np.bool_]
) -> dict[str, NDArray[np.int64]]:
    """Return, per editor, units that it was not asked for but that another editor on the board has an output for."""
    rows = [output_coverage.editors.index(name) for name in models]
    contested = np.logical_or.reduce([output_coverage.share[row] > 0 for row in rows]) & units
    return {
        name: np.flatnonzero(np.isfinite(output_coverage.share[row]) & ~output_coverage.tried[row] & contested)
        for name, row in zip(models, rows, strict=True)
    }


@dataclass(frozen=True)
class OutputSpending:
    """k outputs in the order of `Entries`, failed attempts included; NaN if nothing is stored."""

    cost_usd: NDArray[np.float64]
    seconds: NDArray[np.float64]


def read_spending(view: View) -> OutputSpending:
    """Read the cost and the latency of every output of a view."""
    cost, seconds = (np.full(view.entries.seq.size, np.nan) for _ in range(2))
    query = select(outputs.c.seq, outputs.c.body).where(outputs.c.seq <= view.marks.outputs).order_by(outputs.c.seq)
    with reading(view.workspace.store.engine) as connection:
        seq, bodies = fetch_columns(connection, query)
    rows = view.entries.at(np.array(seq, np.int64))
    for row, body in zip(rows.tolist(), bodies, strict=True):
        record = json.loads(body)
        for column, name in ((cost, "cost_usd"), (seconds, "latency_s")):
            if record.get(name) is not None:
                column[row] = record[name]
    return OutputSpending(cost, seconds)
