"""The five contrasts of ImagenWorld's appendix A.5 on people's mean ratings, on a scale of 0 to 1."""

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from imarena.agreement import AlignOptions, align
from imarena.core import FloatArray, UserError, grouped
from imarena.reports import columns
from imarena.reports.tables import CellValue, Column, Table
from imarena.stats import paired_t, welch_t
from imarena.workflows.reporting.papers.data import NOTHING, Block, OutputValues, PaperData
from imarena.workflows.reporting.papers.imagenworld import EDITING, GENERATION
from imarena.workflows.studies import read_aligned_columns
from imarena.workflows.views import WHOLE

SYMBOLIC = ("information graphics", "i", "screenshots", "s")
PLAIN = ("artworks", "a", "photorealistic images", "p")
"""Topics by title, or by the short name of the taxonomy."""
_HEAD = (
    Column("contrast", wrap=True), Column("criterion"), Column("first mean", ".4f"), Column("second mean", ".4f"),
    Column("n first", ","), Column("n second", ","), Column("difference", "+.4f"), Column("std", ".4f"),
    Column("t", ".2f", "undefined"), Column("p", ".2g", "undefined"), Column("test", wrap=True),
)  # fmt: skip


def contrasts(data: PaperData) -> Block:
    """Appendix A.5: two editors, closed and open models, generation and editing, topics, people and judges."""
    if WHOLE not in data.people:
        return NOTHING
    judged, left_out = _judges(data)
    rows = [*_two_editors(data), *_families(data), *_tasks(data), *_topics(data), *judged]
    notes = (
        "Each value is the mean rating of one output over its raters, from 0 to 1. Paired where both sides rate the "
        "same items, Welch's test where they do not.",
        *left_out,
    )
    return Block((Table(columns(*_HEAD), tuple(rows), notes=notes),)) if rows else NOTHING


def _by_item(data: PaperData, editors: Collection[str], values: FloatArray) -> dict[tuple[int, int], float]:
    """The mean value over these editors for each item and turn."""
    entries = data.view.entries
    rows = [row for row in np.flatnonzero(np.isfinite(values)).tolist() if data.editors[row] in editors]
    values_of = grouped(((int(entries.item[row]), int(entries.turn[row])), float(values[row])) for row in rows)
    return {key: float(np.mean(ratings)) for key, ratings in values_of.items()}


def _row(
    name: str, criterion: str, first: Sequence[float], second: Sequence[float], *, paired: bool = True
) -> tuple[CellValue, ...]:
    test = (paired_t if paired else welch_t)(first, second)
    means = float(np.mean(first)), float(np.mean(second))
    gaps = np.subtract(first, second) if paired else np.array([means[0] - means[1]])
    return (
        name, criterion, *means, len(first), len(second), float(gaps.mean()),
        float(gaps.std(ddof=1)) if gaps.size > 1 else None, test.statistic, test.p_value, test.method,
    )  # fmt: skip


def _sides(
    data: PaperData, name: str, first: Collection[str], second: Collection[str]
) -> Iterator[tuple[CellValue, ...]]:
    values = data.people[WHOLE].on_unit_scale
    left, right = _by_item(data, first, values), _by_item(data, second, values)
    keys = sorted(left.keys() & right.keys())
    if len(keys) > 1:
        yield _row(name, WHOLE, [left[key] for key in keys], [right[key] for key in keys])


def _two_editors(data: PaperData) -> Iterator[tuple[CellValue, ...]]:
    values = data.people[WHOLE].on_unit_scale
    pairs = zip(data.editors, values.tolist(), strict=True)
    ratings = grouped((editor, value) for editor, value in pairs if editor and np.isfinite(value))
    best = sorted(ratings, key=lambda editor: (-float(np.mean(ratings[editor])), editor))[:2]
    if len(best) == 2:
        yield from _sides(data, f"I. {best[0]} and {best[1]} (the two highest means)", (best[0],), (best[1],))


def _families(data: PaperData) -> Iterator[tuple[CellValue, ...]]:
    of = data.kinds
    if all(of.values()):
        yield from _sides(data, "II. closed and open models", of["closed"], of["open"])


def _groups(
    data: PaperData, name: str, label: str, sides: tuple[Collection[str], Collection[str]], criterion: str,
    editors: Collection[str] | None = None,
) -> Iterator[tuple[CellValue, ...]]:  # fmt: skip
    values = data.people[criterion].on_unit_scale
    first, second = (
        [
            value
            for value, of, editor in zip(values.tolist(), data.label(label), data.editors, strict=True)
            if np.isfinite(value) and of.lower() in side and (editors is None or editor in editors)
        ]
        for side in sides
    )
    if min(len(first), len(second)) > 1:
        yield _row(name, criterion, first, second, paired=False)


def _tasks(data: PaperData) -> Iterator[tuple[CellValue, ...]]:
    sides = [name.lower() for name in GENERATION], [name.lower() for name in EDITING]
    name = "III. generation and editing tasks (editors with every task)"
    yield from _groups(data, name, "task", sides, WHOLE, data.unified)


def _topics(data: PaperData) -> Iterator[tuple[CellValue, ...]]:
    for criterion in (WHOLE, "artifacts"):
        if criterion in data.people:
            yield from _groups(data, "IV. non-symbolic and symbolic topics", "topic", (PLAIN, SYMBOLIC), criterion)


def _judges(data: PaperData) -> tuple[list[tuple[CellValue, ...]], list[str]]:
    """Each overall judge against people, on the scale that `imarena align` uses for the bias.

    Also returns a sentence for each judge without such a scale.
    """
    options, people = AlignOptions(rounds=0), data.people[WHOLE]
    try:
        inputs = read_aligned_columns(data.workspace, data.judges, options, only=(f"criterion={WHOLE}",))
        aligned = {group.judge: group for group in align(inputs.scores, inputs.ratings, options).groups}
    except UserError:  # no output has both a judge's score and a rating
        return [], []
    rows, left_out = [], []
    for name, source in data.judged.items():
        mask = np.isfinite(source.values) & np.isfinite(people.values)
        if "," in name or name not in aligned or mask.sum() < 2:
            continue
        if aligned[name].bias is None:
            reason = aligned[name].bias_reason
            left_out.append(f"Contrast V leaves out {name}, which has no common scale with people: {reason}.")
            continue
        scale = (people.scale and inputs.scores.scales.get(name)) or people.scale
        scaled = OutputValues(name, source.values, scale).on_unit_scale
        span = f" (judge's range {scale[0]:g} to {scale[1]:g})" if scale else ""
        label = f"V. judge {name} and people{span}"
        rows.append(_row(label, WHOLE, scaled[mask].tolist(), people.on_unit_scale[mask].tolist()))
    return rows, left_out


MAKERS: dict[str, Callable[[PaperData], Block]] = {"contrasts": contrasts}
