"""Read the files that `agree` accepts: tables of ratings or votes, and exports of `campaign export` and `export table`.

Exported tables hold more than ratings: answers to check tasks are skipped, marks on several scales are converted to
one scale per criterion, and if a rater answered a question twice, the last answer counts.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from imarena import agreement
from imarena.core import NOT_COUNTED, UserError, grouped
from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Mode
from imarena.datasets import RATING_DETAIL_COLUMNS, parse_scale
from imarena.tables import NOT_A_NUMBER, TablePath, column_names, read_file

CAMPAIGN = frozenset(("purpose", "ratings", "winner", "unit", "rater", "left"))
"""Columns that occur together only in tables of `campaign export`."""
WIDE = frozenset(("key", "editor", "rater"))
"""Columns of ratings written by `export table`, which adds one column per criterion."""
SAVED = frozenset(("unit", "rater", "value", "criterion", "scale_low", "scale_high"))
"""Columns of ratings that the web application saves."""

BAD_VALUES = "ratings_not_numbers"
"""Code of the notice about values that are not numbers; a command that reports it succeeded only in part."""
_SHOWN = 60


class _Mark(NamedTuple):
    unit: str
    rater: str
    criterion: str
    value: float
    model: str
    task: str
    scale: agreement.ScaleRange | None


def is_written_here(names: frozenset[str]) -> bool:
    """Whether these are the columns of a file of ratings or votes that imarena wrote."""
    return names >= CAMPAIGN or names >= SAVED or (names >= WIDE and not names & {"unit", "value", "rating"})


def holds_ratings(path: TablePath, names: frozenset[str]) -> bool:
    """Whether a table of `campaign export`, which has columns for ratings and for votes, holds ratings."""
    return names >= CAMPAIGN and any(row["ratings"] for row in _rows(path) if row["purpose"] == agreement.WORK)


def ratings_of_file(path: TablePath, *, all_votes: bool = False) -> agreement.RatingColumns:
    """Read ratings or votes from a file, detected by its columns. `all_votes`: include those marked as not counted."""
    names = frozenset(column_names(path))
    if names >= CAMPAIGN:
        rows = [
            row for row in _rows(path) if all_votes or (row["purpose"] == agreement.WORK and not row.get(NOT_COUNTED))
        ]
        if any(row["ratings"] for row in rows):
            return _columns(list(_campaign_marks(path, rows)), str(path))
        return agreement.last_answers(agreement.votes_as_ratings(path, by_unit=True, all_votes=all_votes))
    if names >= SAVED:
        return _columns(list(_saved_marks(path)), str(path))
    if names >= WIDE and "unit" not in names:
        bad: dict[int, str] = {}
        return replace(_columns(list(_wide_marks(path, bad)), str(path)), bad_values=bad)
    if agreement.is_battle_file(path):
        exported = {"key", "id"} <= names
        votes = agreement.votes_as_ratings(path, all_votes=all_votes)
        return agreement.last_answers(votes) if exported else votes
    return agreement.ratings_from_file(path, skip_bad=True)


NAMES: Mapping[str, tuple[str, ...]] = {
    "unit": ("unit", "item", "key"), "model": ("editor", "model"), "value": ("value", "rating"),
}  # fmt: skip
"""Required columns of a file of ratings, and the names that each may have."""
_CALLED = {"unit": "item", "model": "editor", "value": "value"}
EXPECTED = (
    "Ratings: item (or key, unit), editor (or model), value (or rating); optional: rater, criterion, dataset, turn, "
    "mode, sample. Votes: item (or key), left, right, winner; optional: rater, dimension, dataset."
)


def plain_ratings(path: TablePath, names: frozenset[str], *, by_key: bool = False) -> agreement.RatingColumns:
    """Read ratings of outputs, one per row, for `align`; without a column `rater`, each row counts as another rater.

    Values that are not numbers are skipped and listed in `bad_values`. With `turn` (from 0), `mode` or `sample` the
    unit is `KEY:TURN:MODE:SAMPLE`, as in the table of `export scores`. `by_key`: prefer a column with the item's key to
    one with the unit.
    """
    columns = {name: next((word for word in spellings if word in names), "") for name, spellings in NAMES.items()}
    if by_key:
        columns["unit"] = next((word for word in ("item", "key", "unit") if word in names), "")
    lacking = [_CALLED[name] for name in NAMES if not columns[name]]
    if lacking:
        raise UserError(
            f"{path} has no column for the {' and the '.join(lacking)}. It has: {', '.join(sorted(names))}.",
            hint=f"Expected columns. {EXPECTED}",
        )
    rows = _rows(path)
    cells = [row[columns["value"]] for row in rows]
    values = [_number(cell) for cell in cells]
    bad = {
        number: cell.strip()[:_SHOWN]
        for number, (cell, value) in enumerate(zip(cells, values, strict=True), 1)
        if value is None and cell and cell.strip() not in ("", *NOT_A_NUMBER)
    }
    if bad and 2 * len(bad) >= sum(bool(cell and cell.strip()) for cell in cells):
        number, cell = next(iter(bad.items()))
        raise UserError(
            f"{path}, row {number}: the value '{cell}' is not a number, as in {len(bad):,} of {len(rows):,} rows.",
            hint=f"Expected columns. {EXPECTED}",
        )
    used = {*columns.values(), "rater", *PLACE}
    labels = {name: [row[name] or "" for row in rows] for name in names if name not in used}
    return agreement.RatingColumns(
        [_unit(row, columns["unit"]) for row in rows],
        [row.get("rater") or f"row {number}" for number, row in enumerate(rows, 1)],
        values, {**labels, "model": [row[columns["model"]] or "" for row in rows]}, str(path), bad_values=bad,
    )  # fmt: skip


PLACE = ("turn", "mode", "sample")
"""Columns that identify one of an editor's outputs for an item, as in the table of `export scores`."""


def _unit(row: Mapping[str, str | None], column: str) -> str:
    """The unit of a row as `export scores` writes it; the key alone for the first output of a single-turn edit."""
    key = row[column] or ""
    turn, mode, sample = (row.get(name) or "" for name in PLACE)
    if column == "unit" or not (turn or mode or sample):
        return key
    mode = mode or (Mode.MULTI_TURN.value if turn else Mode.SINGLE.value)
    slot = (turn or "0", mode, sample or "0")
    return key if slot == ("0", Mode.SINGLE.value, "0") else ":".join((key, *slot))


def _number(cell: str | None) -> float | None:
    try:
        value = float(cell) if cell else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) else None


def has_bad_values(notices: Iterable[Notice]) -> bool:
    """Return whether a part of a file was left out that its author must fix."""
    return any(notice.code == BAD_VALUES for notice in notices)


def bad_value_notices(ratings: agreement.RatingColumns) -> tuple[Notice, ...]:
    """A notice that lists a file's values that are not numbers, by row."""
    if not ratings.bad_values:
        return ()
    rows: JsonDict = {str(row): cell for row, cell in ratings.bad_values.items()}
    return (Notice(code=BAD_VALUES, values={"file": Path(ratings.source).name, "rows": rows}),)


def _rows(path: TablePath) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_file(path, text=frozenset(column_names(path)), wanted=None).to_pylist()
    return rows


def _campaign_marks(path: TablePath, rows: Sequence[dict[str, Any]]) -> Iterator[_Mark]:
    for number, row in enumerate(rows, 1):
        if not row["ratings"]:
            continue
        try:
            marks = {str(name): float(value) for name, value in json.loads(row["ratings"]).items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise UserError(f"{path}, row {number}: the ratings are not criteria with numbers ({error}).") from error
        for criterion, value in marks.items():
            about = (row["left"] or "", row.get("task") or "")
            yield _Mark(row["unit"], row["rater"], criterion, value, *about, None)


def _wide_marks(path: TablePath, bad: dict[int, str]) -> Iterator[_Mark]:
    """Yield marks from one column per criterion; cells that are not numbers go into `bad`."""
    for number, row in enumerate(_rows(path), 1):
        scale = parse_scale(row["scale"]) if row.get("scale") else None
        for criterion, cell in row.items():
            if criterion in RATING_DETAIL_COLUMNS or cell is None:
                continue
            value = _number(cell)
            if value is None:
                bad[number] = f"{criterion}: {cell}"[:_SHOWN]
                continue
            yield _Mark(row["key"], row["rater"], criterion, value, row["editor"], "", scale)


def _saved_marks(path: TablePath) -> Iterator[_Mark]:
    for number, row in enumerate(_rows(path), 1):
        try:
            ends = [float(row[name]) for name in ("scale_low", "scale_high") if row[name]]
            value = float(row["value"])
        except (ValueError, TypeError) as error:
            raise UserError(f"{path}, row {number}: the value or its scale is not a number ({error}).") from error
        scale = (ends[0], ends[1]) if len(ends) == 2 else None
        about = (row.get("model") or "", row.get("task") or "")
        yield _Mark(row["unit"], row["rater"], row["criterion"], value, *about, scale)


def _columns(marks: Sequence[_Mark], source: str) -> agreement.RatingColumns:
    scales = grouped((mark.criterion, mark.scale) for mark in marks)
    common = {criterion: Counter(used).most_common(1)[0][0] for criterion, used in scales.items()}
    return agreement.last_answers(
        agreement.RatingColumns(
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


def _on(target: agreement.ScaleRange | None, mark: _Mark) -> float:
    if target is None or mark.scale is None or target == mark.scale:
        return mark.value
    low, high = mark.scale
    return target[0] + (mark.value - low) / (high - low) * (target[1] - target[0])
