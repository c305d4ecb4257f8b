"""Files that `agree` reads: tables of ratings or votes, and what `campaign export` and `export table` write.

The tables of a workspace hold more than ratings: answers to tasks that test the rater are left out, marks on several
scales are put on one scale per criterion, and of two answers of one rater to one question the last one counts.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from imarena.agreement import WORK, Range, RatingColumns, is_battle_file, ratings_from_file, votes_as_ratings
from imarena.core import UserError
from imarena.datasets import RATING_COLUMNS, parse_scale
from imarena.tables import column_names, read_file

CAMPAIGN = frozenset(("purpose", "ratings", "winner", "unit", "rater", "left"))
"""Columns that only `campaign export` writes together."""
WIDE = frozenset(("key", "editor", "rater"))
"""Columns of the ratings of `export table`; the criteria are columns of their own."""
SAVED = frozenset(("unit", "rater", "value", "criterion", "scale_low", "scale_high"))
"""Columns of the ratings that the web application saves."""


class _Mark(NamedTuple):
    unit: str
    rater: str
    criterion: str
    value: float
    model: str
    task: str
    scale: Range | None


def ratings_of_file(path: Path) -> RatingColumns:
    """The ratings or votes of a file, told by its columns."""
    names = frozenset(column_names(path))
    if names >= CAMPAIGN:
        rows = [row for row in _rows(path) if row["purpose"] == WORK]
        if any(row["ratings"] for row in rows):
            return _columns(list(_campaign_marks(path, rows)), str(path))
        return _last(votes_as_ratings(path, by_unit=True))
    if names >= SAVED:
        return _columns(list(_saved_marks(path)), str(path))
    if names >= WIDE and "unit" not in names:
        return _columns(list(_wide_marks(path)), str(path))
    if is_battle_file(path):
        exported = {"key", "id"} <= names
        return _last(votes_as_ratings(path)) if exported else votes_as_ratings(path)
    return ratings_from_file(path)


def _rows(path: Path) -> list[dict[str, Any]]:
    text = frozenset(column_names(path))
    rows: list[dict[str, Any]] = read_file(path, text=text, wanted=None).to_pylist()
    return rows


def _campaign_marks(path: Path, rows: Sequence[dict[str, Any]]) -> Iterator[_Mark]:
    for number, row in enumerate(rows, 1):
        if not row["ratings"]:
            continue
        try:
            given = {str(name): float(value) for name, value in json.loads(row["ratings"]).items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise UserError(f"{path}, row {number}: the ratings are not criteria with numbers ({error}).") from error
        for criterion, value in given.items():
            about = (row["left"] or "", row.get("task") or "")
            yield _Mark(row["unit"], row["rater"], criterion, value, *about, None)


def _wide_marks(path: Path) -> Iterator[_Mark]:
    for number, row in enumerate(_rows(path), 1):
        scale = parse_scale(row["scale"]) if row.get("scale") else None
        for criterion, cell in row.items():
            if criterion in RATING_COLUMNS or cell is None:
                continue
            try:
                value = float(cell)
            except ValueError as error:
                raise UserError(f"{path}, row {number}: {criterion} is '{cell}', not a number.") from error
            yield _Mark(row["key"], row["rater"], criterion, value, row["editor"], "", scale)


def _saved_marks(path: Path) -> Iterator[_Mark]:
    for number, row in enumerate(_rows(path), 1):
        try:
            ends = [float(row[name]) for name in ("scale_low", "scale_high") if row[name]]
            value = float(row["value"])
        except (ValueError, TypeError) as error:
            raise UserError(f"{path}, row {number}: the value or its scale is not a number ({error}).") from error
        scale = (ends[0], ends[1]) if len(ends) == 2 else None
        about = (row.get("model") or "", row.get("task") or "")
        yield _Mark(row["unit"], row["rater"], row["criterion"], value, *about, scale)


def _columns(marks: Sequence[_Mark], source: str) -> RatingColumns:
    scales: dict[str, Counter[Range | None]] = {}
    for mark in marks:
        scales.setdefault(mark.criterion, Counter())[mark.scale] += 1
    common = {criterion: used.most_common(1)[0][0] for criterion, used in scales.items()}
    return _last(
        RatingColumns(
            unit=[mark.unit for mark in marks],
            rater=[mark.rater for mark in marks],
            value=[_on(common[mark.criterion], mark) for mark in marks],
            labels={
                "criterion": [mark.criterion for mark in marks],
                "model": [mark.model for mark in marks],
                **({"task": [mark.task for mark in marks]} if any(mark.task for mark in marks) else {}),
            },
            source=source,
            scales={criterion: scale for criterion, scale in common.items() if scale is not None},
        )
    )


def _on(wanted: Range | None, mark: _Mark) -> float:
    if wanted is None or mark.scale is None or wanted == mark.scale:
        return mark.value
    low, high = mark.scale
    return wanted[0] + (mark.value - low) / (high - low) * (wanted[1] - wanted[0])


def _last(columns: RatingColumns) -> RatingColumns:
    """Of several answers of one rater to one question the last one."""
    names = [name for name in ("criterion", "model", "task") if name in columns.labels]
    keys = zip(columns.unit, columns.rater, *(columns.labels[name] for name in names), strict=True)
    rows = sorted({key: row for row, key in enumerate(keys)}.values())
    values: list[Any] = [columns.value[row] for row in rows]
    return replace(
        columns,
        unit=[columns.unit[row] for row in rows],
        rater=[columns.rater[row] for row in rows],
        value=values,
        labels={name: [column[row] for row in rows] for name, column in columns.labels.items()},
    )
