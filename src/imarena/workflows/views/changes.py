"""What judgments changed since something was computed: the pairs and questions that have to be looked at again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import func, select

from imarena.storage.database import reading
from imarena.storage.schema import judgments
from imarena.workflows.views.cached import overlap
from imarena.workflows.views.codes import CodeArray
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.fetch import IntArray, fetch_columns
from imarena.workflows.views.view import View

MOST = 200_000
"""More changes than this are not worth following: everything is computed again."""


@dataclass(frozen=True)
class Seen:
    """How far something was computed: up to a judgment, with so many of the numbers just before it taken."""

    judgments: int
    recent: int


@dataclass(frozen=True)
class Changes:
    """Pairs of outputs (as `pair_keys`, sorted) and questions with a judgment that is new or was superseded."""

    pairs: IntArray
    works: tuple[str, ...]


NO_CHANGES = Changes(np.zeros(0, np.int64), ())


def pair_keys(entries: Entries, left: CodeArray, right: CodeArray) -> IntArray:
    """(n,) one number for each pair of outputs, whichever was left: the output with the smaller id comes first."""
    turned = entries.order[left] > entries.order[right]
    first, second = np.where(turned, right, left), np.where(turned, left, right)
    return np.asarray(first.astype(np.int64) << 32 | second)


def among(keys: IntArray, wanted: IntArray) -> IntArray:
    """The rows whose key is among the few wanted ones, which are sorted. Looking at one side first leaves few rows."""
    if not wanted.size or not keys.size:
        return np.zeros(0, np.int64)
    side, sides = keys >> 32, wanted >> 32
    hit = np.zeros(int(max(side.max(), sides.max())) + 1, bool)
    hit[sides] = True
    rows = np.flatnonzero(hit[side])
    at = np.searchsorted(wanted, keys[rows])
    at[at == wanted.size] = 0
    return rows[wanted[at] == keys[rows]]


def seen_by(view: View) -> Seen:
    """How far what is computed from this view goes."""
    return Seen(view.marks.judgments, view.recent)


def changes_since(view: View, seen: Seen) -> Changes | None:
    """What a view shows otherwise than what was computed then; None where that is too much to follow."""
    upto = view.marks.judgments
    lag = overlap(view)
    if lag and view.count_recent(seen.judgments) == seen.recent:
        lag = 0  # nothing was committed late
    after = max(seen.judgments - lag, 0)
    if upto < seen.judgments or upto - after > MOST:
        return None
    if upto == after:
        return NO_CHANGES
    sides = [func.coalesce(judgments.c[name], 0) for name in ("left_seq", "right_seq")]
    later = judgments.alias("later")
    new = select(*sides, judgments.c.work_id).where(judgments.c.seq > after, judgments.c.seq <= upto)
    gone = select(*sides, judgments.c.work_id).join(later, later.c.supersedes == judgments.c.id)
    columns: list[list[Any]] = [[], [], []]
    with reading(view.workspace.store.engine) as connection:
        for query in (new, gone.where(later.c.seq > after, later.c.seq <= upto)):
            for column, values in zip(columns, fetch_columns(connection, query), strict=True):
                column.extend(values)
    left, right = (np.array(column, np.int64) for column in columns[:2])
    paired = (left > 0) & (right > 0)
    places = view.entries.at(left[paired]), view.entries.at(right[paired])
    return Changes(np.unique(pair_keys(view.entries, *places)), tuple(dict.fromkeys(columns[2])))
