"""Battles from judgments in one or both orders, for whole columns. The rule is `outcome_of_both` in the records."""

from collections import Counter
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import CodeArray, IntArray, outcome_of_both
from imarena.core.records import Outcome
from imarena.tables import ColumnWriter, build_column, row_slices, sorted_parts
from imarena.workflows.views import codes
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.judgments import JudgmentColumns

ONE_ORDER_MISSING = len(codes.STATUSES)
NO_PREFERENCE = ONE_ORDER_MISSING + 1
PROBLEMS = (*codes.STATUSES, "one order missing", "no preference")
"""Why a battle has no outcome; `ok` if it has one."""


@dataclass(frozen=True)
class CombinedPairs:
    """n pairs that a judge was shown, one row per pair and repeat, both orders combined.

    `whose` (n,) numbers the judge and dimension. `outcome` is valid only if `problem` is `codes.OK`. `agreed` (n,): 1
    if both orders agree, 0 if they differ, -1 if there are not two.
    """

    whose: CodeArray
    left: CodeArray
    right: CodeArray
    repeat: CodeArray
    outcome: codes.ByteArray
    problem: codes.ByteArray
    agreed: codes.ByteArray
    created_us: IntArray

    @property
    def decided(self) -> NDArray[np.bool_]:
        """(n,) whether the pair has an outcome."""
        return build_column(self.problem.size, bool, lambda rows: self.problem[rows] == codes.OK)

    def incomplete(self) -> Counter[str]:
        """Number of pairs without an outcome, by reason."""
        counts = np.zeros(len(PROBLEMS), np.int64)
        for rows in row_slices(self.problem.size):
            counts += np.bincount(self.problem[rows], minlength=len(PROBLEMS))
        problems = {f"incomplete: {name}": n for name, n in zip(PROBLEMS, counts.tolist(), strict=True) if n}
        return Counter({name: n for name, n in problems.items() if name != "incomplete: ok"})


@cache
def combinations() -> codes.ByteArray:
    """(6, 6) the combined outcome code for the codes of two orders."""
    table = np.full((len(codes.PREFERENCES), len(codes.PREFERENCES)), codes.NONE, np.int8)
    for first in Outcome:
        for second in Outcome:
            combined = outcome_of_both(first, second).value
            table[codes.PREFERENCES.index(first.value), codes.PREFERENCES.index(second.value)] = (
                codes.PREFERENCES.index(combined)
            )
    table[codes.EQUAL, 1:] = table[1:, codes.EQUAL] = codes.TIE
    table[codes.EQUAL, codes.EQUAL] = codes.EQUAL
    return table


def has_swapped_order(columns: JudgmentColumns, owner: CodeArray) -> NDArray[np.bool_]:
    """For each judge and dimension, whether any of its imported verdicts is in swapped order."""
    imported = columns.of_variants([variant.imported for variant in columns.variants])
    highest = max((int(owner[rows].max()) for rows in row_slices(owner.size)), default=0)
    swapping = np.zeros(highest + 1, bool)
    for rows in row_slices(len(columns)):
        swapped = (columns.order[rows] == codes.RIGHT_FIRST) & imported[rows].astype(bool, copy=False)
        swapping[owner[rows][swapped]] = True
    return swapping


def combine_columns(
    columns: JudgmentColumns, whose: CodeArray, entries: Entries, swapping: NDArray[np.bool_] | None = None
) -> CombinedPairs:
    """Combine the orders of pairwise judgments. `whose` (n,) numbers judge and dimension.

    `swapping`: `has_swapped_order` of all judgments, if `columns` has only those on some pairs.

    For each order the first ok answer counts, else the newest failure. A battle judged here needs both orders unless
    only one was requested; an imported one needs both if its source has any verdict in swapped order. Rows are sorted
    by judge, then by the ids of the outputs, so that a board does not depend on the order of arrival.
    """
    swaps = has_swapped_order(columns, whose) if swapping is None else swapping
    one_owner, outputs = codes.is_constant(whose), entries.seq.size
    names = [field.name for field in fields(CombinedPairs) if not (one_owner and field.name == "whose")]
    arrays = {name: values for name, values in vars(columns).items() if isinstance(values, np.ndarray)}
    moved = [name for name, values in arrays.items() if not codes.is_constant(values)]

    def read_keys(rows: slice) -> list[NDArray[Any]]:
        """Keys for sorting into parts: judgments of a pair share judge and left output, so they come in one part."""
        owner = whose[rows].astype(np.int64) * outputs + entries.order[columns.left[rows]]
        return [owner, *([] if one_owner else [whose[rows]]), *(arrays[name][rows] for name in moved)]

    writers: dict[str, ColumnWriter] = {}
    for owner, *values in sorted_parts(len(columns), read_keys):
        whose_part = codes.constant_column(whose[0], owner.size) if one_owner else values.pop(0)
        moved_values: dict[str, Any] = dict(zip(moved, values, strict=True))
        part_columns = replace(columns.where(slice(owner.size)), **moved_values)
        part = _combine_part(part_columns, whose_part, entries, swaps)
        for name in names:
            writers.setdefault(name, ColumnWriter(part[name].dtype, len(columns))).append(part[name])
    combined: dict[str, Any] = {name: writer.column() for name, writer in writers.items()}
    return CombinedPairs(
        **({"whose": codes.constant_column(whose[0], combined["left"].size)} if one_owner else {}), **combined
    )


def _combine_part(
    columns: JudgmentColumns, owner: CodeArray, entries: Entries, swapping: NDArray[np.bool_]
) -> dict[str, Any]:
    """The columns of `CombinedPairs` for some of the judgments."""
    pair = entries.order[columns.left].astype(np.int64) << 32 | entries.order[columns.right]
    slot = (owner.astype(np.int64) << 24 | columns.repeat) << 3 | columns.order
    ok = columns.ok
    newest_failure = np.where(ok, columns.seq, -columns.seq)
    rows = np.lexsort((newest_failure, ~ok, slot, pair, owner))
    rows = rows[codes.group_starts(owner[rows], pair[rows], slot[rows])]  # one row per order
    start = np.flatnonzero(codes.group_starts(owner[rows], pair[rows], slot[rows] >> 3))
    return _combine_rows(columns, rows, start, owner, swapping)


def _combine_rows(
    columns: JudgmentColumns, rows: IntArray, start: IntArray, owner: CodeArray, swapping: NDArray[np.bool_]
) -> dict[str, Any]:
    """Outcome, problem and agreement of each battle from its one to five rows; `start` is the first row of each."""
    imported = columns.of_variants([variant.imported for variant in columns.variants]).astype(bool, copy=False)
    single = columns.of_variants([bool(variant.orders) for variant in columns.variants]).astype(bool, copy=False)
    number = np.append(start[1:], rows.size) - start
    head = rows[start]
    one_meant = np.logical_or.reduceat(single[rows], start)
    needs_both = np.where(imported[head], swapping[owner[head]], ~one_meant)
    complete = np.logical_or.reduceat(columns.order[rows] == codes.BOTH_ORDERS, start) | ~needs_both | (number > 1)
    preference = columns.preference[rows]
    outcome = preference[start]
    agreed = np.full(start.size, -1, np.int8)
    for position in range(1, int(number.max(initial=0))):
        more = np.flatnonzero(number > position)
        other = preference[start[more] + position]
        agreed[more] = (outcome[more] == other) & (agreed[more] != 0)
        outcome[more] = combinations()[outcome[more], other]
    status = columns.status[rows]
    failed = status != codes.OK
    bad = np.logical_or.reduceat(failed, start)
    worst = np.maximum.reduceat(np.where(failed, status, 0), start)
    unsaid = np.minimum.reduceat(preference, start) == codes.NONE
    problem = np.where(bad, worst, np.where(~complete, ONE_ORDER_MISSING, np.where(unsaid, NO_PREFERENCE, codes.OK)))
    return {
        "whose": owner[head],
        "left": columns.left[head],
        "right": columns.right[head],
        "repeat": columns.repeat[head],
        "outcome": outcome,
        "problem": problem.astype(np.int8),
        "agreed": agreed,
        "created_us": np.maximum.reduceat(columns.created_us[rows], start),
    }
