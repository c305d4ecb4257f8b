"""Battles from judgments in one or both orders, for whole columns. The rule is `outcome_of_both` of the records."""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import outcome_of_both
from imarena.core.records import Outcome
from imarena.workflows.views.codes import (
    BOTH_ORDERS,
    EQUAL,
    NONE,
    OK,
    PREFERENCES,
    RIGHT_FIRST,
    STATUSES,
    TIE,
    ByteArray,
    CodeArray,
)
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.fetch import IntArray
from imarena.workflows.views.judgments import JudgmentColumns

ONE_ORDER_MISSING = len(STATUSES)
NO_PREFERENCE = ONE_ORDER_MISSING + 1
PROBLEMS = (*STATUSES, "one order missing", "no preference")
"""Why a battle has no outcome; `ok` where it has one."""


@dataclass(frozen=True)
class CombinedPairs:
    """n pairs that a judge was shown, one row per pair and repeat, both orders combined.

    `whose` (n,) numbers the judge and dimension. `outcome` counts only where `problem` is `OK`. `agreed` (n,): 1 both
    orders agree, 0 they differ, -1 there are not two. `first` (n,) is a row of one of its judgments.
    """

    whose: CodeArray
    left: CodeArray
    right: CodeArray
    repeat: CodeArray
    outcome: ByteArray
    problem: ByteArray
    agreed: ByteArray
    created_us: IntArray

    @property
    def decided(self) -> NDArray[np.bool_]:
        """(n,) which have an outcome."""
        return np.asarray(self.problem == OK)

    def incomplete(self) -> Counter[str]:
        """How many have none, by reason."""
        counts = np.bincount(self.problem, minlength=len(PROBLEMS)).tolist()
        found = {f"incomplete: {name}": n for name, n in zip(PROBLEMS, counts, strict=True) if n}
        return Counter({name: n for name, n in found.items() if name != "incomplete: ok"})


@cache
def combinations() -> ByteArray:
    """(6, 6) outcome codes of two orders."""
    table = np.full((len(PREFERENCES), len(PREFERENCES)), NONE, np.int8)
    for one in Outcome:
        for other in Outcome:
            both = outcome_of_both(one, other).value
            table[PREFERENCES.index(one.value), PREFERENCES.index(other.value)] = PREFERENCES.index(both)
    table[EQUAL, 1:] = table[1:, EQUAL] = TIE
    table[EQUAL, EQUAL] = EQUAL
    return table


def has_swapped_order(found: JudgmentColumns, whose: CodeArray) -> NDArray[np.bool_]:
    """Of each judge and dimension: does the source of its imported verdicts have any in swapped order?"""
    imported = found.of_forms([form.imported for form in found.forms]).astype(bool)
    swapping = np.zeros(int(whose.max(initial=0)) + 1, bool)
    swapping[whose[(found.order == RIGHT_FIRST) & imported]] = True
    return swapping


def combine_columns(
    found: JudgmentColumns, whose: CodeArray, entries: Entries, swapping: NDArray[np.bool_] | None = None
) -> CombinedPairs:
    """Combine the orders of pairwise judgments. `whose` (n,) numbers judge and dimension.

    `swapping`: what `swaps` says of all judgments, where these are only the ones on some pairs.

    For each order the first ok answer counts, else the newest failure. A battle that was fought here needs both orders
    unless it was meant to have one; an imported one needs both where its source has any verdict in swapped order. Rows
    come sorted by judge, then by the ids of the outputs: a board must not depend on the order of arrival.
    """
    imported = found.of_forms([form.imported for form in found.forms]).astype(bool)
    single = found.of_forms([bool(form.orders) for form in found.forms]).astype(bool)
    ok = found.ok
    pair = entries.order[found.left].astype(np.int64) << 32 | entries.order[found.right]
    slot = (whose.astype(np.int64) << 24 | found.repeat) << 3 | found.order
    newest_failure = np.where(ok, found.seq, -found.seq)
    rows = np.lexsort((newest_failure, ~ok, slot, pair, whose))
    same = _starts(whose[rows], pair[rows], slot[rows])
    rows = rows[same]  # one row per order
    battle = _starts(whose[rows], pair[rows], slot[rows] >> 3)
    start = np.flatnonzero(battle)
    head = rows[start]
    return CombinedPairs(
        whose=whose[head],
        left=found.left[head],
        right=found.right[head],
        repeat=found.repeat[head],
        **_outcomes(
            found,
            rows,
            start,
            imported,
            single,
            whose,
            has_swapped_order(found, whose) if swapping is None else swapping,
        ),
    )


def _starts(*keys: NDArray[np.int64] | CodeArray) -> NDArray[np.bool_]:
    """(n,) where a new group begins in sorted rows."""
    new = np.zeros(keys[0].size, bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return new


def _outcomes(
    found: JudgmentColumns,
    rows: IntArray,
    start: IntArray,
    imported: NDArray[np.bool_],
    single: NDArray[np.bool_],
    whose: CodeArray,
    swapping: NDArray[np.bool_],
) -> dict[str, Any]:
    """Outcome, problem and agreement of each battle from its one to five rows."""
    if not start.size:
        return {
            "outcome": np.zeros(0, np.int8), "problem": np.zeros(0, np.int8), "agreed": np.zeros(0, np.int8),
            "created_us": np.zeros(0, np.int64),
        }  # fmt: skip
    end = np.append(start[1:], rows.size)
    number = end - start
    head = rows[start]
    one_meant = np.logical_or.reduceat(single[rows], start)
    needs_both = np.where(imported[head], swapping[whose[head]], ~one_meant)
    whole = np.logical_or.reduceat(found.order[rows] == BOTH_ORDERS, start) | ~needs_both | (number > 1)
    preference = found.preference[rows]
    outcome = preference[start]
    agreed = np.full(start.size, -1, np.int8)
    for place in range(1, int(number.max())):
        more = np.flatnonzero(number > place)
        other = preference[start[more] + place]
        agreed[more] = (outcome[more] == other) & (agreed[more] != 0)
        outcome[more] = combinations()[outcome[more], other]
    status = found.status[rows]
    failed = status != OK
    bad = np.logical_or.reduceat(failed, start)
    worst = np.maximum.reduceat(np.where(failed, status, 0), start)
    unsaid = np.minimum.reduceat(preference, start) == NONE
    problem = np.where(bad, worst, np.where(~whole, ONE_ORDER_MISSING, np.where(unsaid, NO_PREFERENCE, OK)))
    return {
        "outcome": outcome,
        "problem": problem.astype(np.int8),
        "agreed": agreed,
        "created_us": np.maximum.reduceat(found.created_us[rows], start),
    }
