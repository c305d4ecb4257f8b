"""Changes in judgments since something was computed: the pairs and questions to read again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import func, select

from imarena.core import CodeArray, IntArray
from imarena.storage import JudgeVariant, reading
from imarena.storage.schema import judgments
from imarena.tables import build_column, rows_where
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.fetch import fetch_columns
from imarena.workflows.views.judgments import NOTHING, JudgmentColumns, join_judgments
from imarena.workflows.views.view import View

MOST = 200_000
"""Maximum number of changes to follow; beyond it, everything is computed again."""


@dataclass(frozen=True)
class ReadPosition:
    """The judgment up to which something was computed; `recent`: how many numbers just before it were taken."""

    judgments: int
    recent: int


@dataclass(frozen=True)
class ChangedQuestions:
    """Pairs of outputs (as `pair_keys`, sorted) and questions with a judgment that is new or was superseded."""

    pairs: IntArray
    works: tuple[str, ...]


NO_CHANGES = ChangedQuestions(np.zeros(0, np.int64), ())


def pair_keys(entries: Entries, left: CodeArray, right: CodeArray) -> IntArray:
    """(n,) one number for each pair of outputs, regardless of sides: the output with the smaller id comes first."""

    def keys(rows: slice) -> IntArray:
        turned = entries.order[left[rows]] > entries.order[right[rows]]
        first = np.where(turned, right[rows], left[rows]).astype(np.int64)
        return first << 32 | np.where(turned, left[rows], right[rows])

    return build_column(left.size, np.int64, keys)


def rows_on(entries: Entries, left: CodeArray, right: CodeArray, pairs: IntArray) -> IntArray | CodeArray:
    """The rows on one of these sorted pairs. Only rows whose outputs both occur in some pair are compared."""
    if not pairs.size:
        return np.zeros(0, np.int64)
    touched = np.zeros(entries.seq.size, bool)
    touched[pairs >> 32] = touched[pairs & 0xFFFFFFFF] = True
    rows = rows_where(left.size, lambda part: touched[left[part]] & touched[right[part]])
    keys = pair_keys(entries, left[rows], right[rows])
    at = np.searchsorted(pairs, keys)
    at[at == pairs.size] = 0
    return np.asarray(rows[pairs[at] == keys])


def judgments_on(view: View, variants: Sequence[JudgeVariant], pairs: IntArray) -> JudgmentColumns:
    """The live judgments of these variants on these pairs. Each variant is searched in place: nothing is copied."""
    parts = [view.judgments([variant]) for variant in variants]
    matches = [part.where(rows_on(view.entries, part.left, part.right, pairs)) for part in parts]
    return join_judgments(matches) if matches else NOTHING


def view_position(view: View) -> ReadPosition:
    """The read position of results computed from this view."""
    return ReadPosition(view.marks.judgments, view.recent)


def changes_since(view: View, position: ReadPosition) -> ChangedQuestions | None:
    """What changed in a view since an earlier position; None if that is too much to follow."""
    until_seq = view.marks.judgments
    after = max(position.judgments - view.lag(position.judgments, position.recent), 0)
    if until_seq < position.judgments or until_seq - after > MOST:
        return None
    if until_seq == after:
        return NO_CHANGES
    sides = [func.coalesce(judgments.c[name], 0) for name in ("left_seq", "right_seq")]
    later = judgments.alias("later")
    new = select(*sides, judgments.c.work_id).where(judgments.c.seq > after, judgments.c.seq <= until_seq)
    replaced = select(*sides, judgments.c.work_id).join(later, later.c.supersedes == judgments.c.id)
    columns: list[list[Any]] = [[], [], []]
    with reading(view.workspace.store.engine) as connection:
        for query in (new, replaced.where(later.c.seq > after, later.c.seq <= until_seq)):
            for column, values in zip(columns, fetch_columns(connection, query), strict=True):
                column.extend(values)
    left, right = (np.array(column, np.int64) for column in columns[:2])
    paired = (left > 0) & (right > 0)
    indices = view.entries.at(left[paired]), view.entries.at(right[paired])
    return ChangedQuestions(np.unique(pair_keys(view.entries, *indices)), tuple(dict.fromkeys(columns[2])))
