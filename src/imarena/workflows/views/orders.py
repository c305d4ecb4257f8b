"""Battles from judgments in one or both orders, for whole columns. The rule is `outcome_of_both` of the records."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import outcome_of_both
from imarena.core.records import Outcome
from imarena.tables import ColumnWriter, empty_column, release_pages, row_slices
from imarena.workflows.views import codes
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.fetch import IntArray
from imarena.workflows.views.judgments import JudgmentColumns

ONE_ORDER_MISSING = len(codes.STATUSES)
NO_PREFERENCE = ONE_ORDER_MISSING + 1
PROBLEMS = (*codes.STATUSES, "one order missing", "no preference")
"""Why a battle has no outcome; `ok` where it has one."""
AT_ONCE = 250_000
"""Judgments that are sorted at once: sorting all of ten million takes more memory than they do, and more time."""


@dataclass(frozen=True)
class CombinedPairs:
    """n pairs that a judge was shown, one row per pair and repeat, both orders combined.

    `whose` (n,) numbers the judge and dimension. `outcome` counts only where `problem` is `OK`. `agreed` (n,): 1 both
    orders agree, 0 they differ, -1 there are not two.
    """

    whose: codes.CodeArray
    left: codes.CodeArray
    right: codes.CodeArray
    repeat: codes.CodeArray
    outcome: codes.ByteArray
    problem: codes.ByteArray
    agreed: codes.ByteArray
    created_us: IntArray

    @property
    def decided(self) -> NDArray[np.bool_]:
        """(n,) which have an outcome."""
        return np.asarray(self.problem == codes.OK)

    def incomplete(self) -> Counter[str]:
        """How many have none, by reason."""
        counts = np.zeros(len(PROBLEMS), np.int64)
        for rows in row_slices(self.problem.size, self.problem):
            counts += np.bincount(self.problem[rows], minlength=len(PROBLEMS))
        problems = {f"incomplete: {name}": n for name, n in zip(PROBLEMS, counts.tolist(), strict=True) if n}
        return Counter({name: n for name, n in problems.items() if name != "incomplete: ok"})


@cache
def combinations() -> codes.ByteArray:
    """(6, 6) outcome codes of two orders."""
    table = np.full((len(codes.PREFERENCES), len(codes.PREFERENCES)), codes.NONE, np.int8)
    for first in Outcome:
        for second in Outcome:
            both = outcome_of_both(first, second).value
            table[codes.PREFERENCES.index(first.value), codes.PREFERENCES.index(second.value)] = (
                codes.PREFERENCES.index(both)
            )
    table[codes.EQUAL, 1:] = table[1:, codes.EQUAL] = codes.TIE
    table[codes.EQUAL, codes.EQUAL] = codes.EQUAL
    return table


def has_swapped_order(columns: JudgmentColumns, whose: codes.CodeArray) -> NDArray[np.bool_]:
    """Of each judge and dimension: does the source of its imported verdicts have any in swapped order?"""
    imported = columns.of_forms([form.imported for form in columns.forms]).astype(bool, copy=False)
    swapping = np.zeros(int(whose.max(initial=0)) + 1, bool)
    swapping[whose[(columns.order == codes.RIGHT_FIRST) & imported]] = True
    return swapping


def combine_columns(
    columns: JudgmentColumns, whose: codes.CodeArray, entries: Entries, swapping: NDArray[np.bool_] | None = None
) -> CombinedPairs:
    """Combine the orders of pairwise judgments. `whose` (n,) numbers judge and dimension.

    `swapping`: `has_swapped_order` of all judgments, where these are only the ones on some pairs.

    For each order the first ok answer counts, else the newest failure. A battle that was fought here needs both orders
    unless it was meant to have one; an imported one needs both where its source has any verdict in swapped order. Rows
    come sorted by judge, then by the ids of the outputs: a board must not depend on the order of arrival.
    """
    swaps = has_swapped_order(columns, whose) if swapping is None else swapping
    one = codes.is_constant(whose)
    names = [field.name for field in fields(CombinedPairs) if not (one and field.name == "whose")]
    writers: dict[str, ColumnWriter] = {}
    for rows in rows_by_owner(_owners(columns, whose, entries)):
        part = _combine_part(columns, rows, whose, entries, swaps)
        release_pages(*(values for values in vars(columns).values() if isinstance(values, np.ndarray)))
        for name in names:
            writers.setdefault(name, ColumnWriter(part[name].dtype)).append(part[name])
    arrays: dict[str, Any] = {name: writer.column() for name, writer in writers.items()}
    return CombinedPairs(**({"whose": codes.constant_column(whose[0], arrays["left"].size)} if one else {}), **arrays)


def _owners(columns: JudgmentColumns, whose: codes.CodeArray, entries: Entries) -> NDArray[np.integer]:
    """(n,) a number for judge and left output. All judgments of a pair share it: parts by it are combined in turn."""
    outputs = entries.seq.size
    small = (int(whose.max(initial=0)) + 1) * outputs < 1 << 31
    owner: NDArray[np.integer] = empty_column(len(columns), np.int32 if small else np.int64)
    for rows in row_slices(len(columns), columns.left, owner):
        owner[rows] = whose[rows].astype(np.int64) * outputs + entries.order[columns.left[rows]]
    return owner


def rows_by_owner(owner: NDArray[np.integer]) -> Iterator[IntArray]:
    """Rows with the same owner together, owners in order, about `AT_ONCE` rows at a time."""
    if owner.size <= AT_ONCE:
        yield np.arange(owner.size)
        return
    most = int(owner.max())
    step = max(1, (most + 1) * AT_ONCE // owner.size)
    for begin in range(0, most + 1, step):
        found = [
            rows.start + np.flatnonzero((owner[rows] >= begin) & (owner[rows] < begin + step))
            for rows in row_slices(owner.size, owner)
        ]
        if any(part.size for part in found):
            yield np.concatenate(found)


def _combine_part(
    columns: JudgmentColumns, part: IntArray, whose: codes.CodeArray, entries: Entries, swapping: NDArray[np.bool_]
) -> dict[str, Any]:
    """The columns of `CombinedPairs` for some of the rows."""
    some, owner = (columns, whose) if part.size == len(columns) else (columns.where(part), whose[part])
    pair = entries.order[some.left].astype(np.int64) << 32 | entries.order[some.right]
    slot = (owner.astype(np.int64) << 24 | some.repeat) << 3 | some.order
    ok = some.ok
    newest_failure = np.where(ok, some.seq, -some.seq)
    rows = np.lexsort((newest_failure, ~ok, slot, pair, owner))
    rows = rows[codes.group_starts(owner[rows], pair[rows], slot[rows])]  # one row per order
    start = np.flatnonzero(codes.group_starts(owner[rows], pair[rows], slot[rows] >> 3))
    return _combine_rows(some, rows, start, owner, swapping)


def _combine_rows(
    columns: JudgmentColumns, rows: IntArray, start: IntArray, whose: codes.CodeArray, swapping: NDArray[np.bool_]
) -> dict[str, Any]:
    """Outcome, problem and agreement of each battle from its one to five rows, the first of which is at `start`."""
    imported = columns.of_forms([form.imported for form in columns.forms]).astype(bool, copy=False)
    single = columns.of_forms([bool(form.orders) for form in columns.forms]).astype(bool, copy=False)
    number = np.append(start[1:], rows.size) - start
    head = rows[start]
    one_meant = np.logical_or.reduceat(single[rows], start)
    needs_both = np.where(imported[head], swapping[whose[head]], ~one_meant)
    whole = np.logical_or.reduceat(columns.order[rows] == codes.BOTH_ORDERS, start) | ~needs_both | (number > 1)
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
    problem = np.where(bad, worst, np.where(~whole, ONE_ORDER_MISSING, np.where(unsaid, NO_PREFERENCE, codes.OK)))
    return {
        "whose": whose[head],
        "left": columns.left[head],
        "right": columns.right[head],
        "repeat": columns.repeat[head],
        "outcome": outcome,
        "problem": problem.astype(np.int8),
        "agreed": agreed,
        "created_us": np.maximum.reduceat(columns.created_us[rows], start),
    }
