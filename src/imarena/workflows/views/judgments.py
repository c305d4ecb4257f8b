"""Judgments that count, as columns: not superseded by a later reading, and by a variant of the judge that counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, case, select

from imarena.core import CodeArray, FloatArray, IntArray
from imarena.storage import JudgeVariant
from imarena.storage.schema import judgments
from imarena.tables import ColumnWriter, build_column, joined, take_in_parts
from imarena.workflows.views.codes import (
    EQUAL,
    NONE,
    OK,
    ORDERS,
    PREFERENCES,
    STATUSES,
    ByteArray,
    ColumnTable,
    code_column,
    constant_column,
)
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.fetch import counted_before, fetch_columns, fetch_integers, integer_pages

_BITS = 3
_MASK = (1 << _BITS) - 1
_SIDE, _VERDICT = 31, 24
"""Bits of an output's number, and of a judgment's codes with its repeat: packing transfers three values per row
instead of seven. Numbers of judgments stay below 2 ** 39, and repeats below 2 ** 15."""


NO_VERDICT = "no_verdict"
"""In counts by status: answers with scores of criteria only, without an overall score or preference."""


@dataclass(frozen=True)
class JudgmentColumns(ColumnTable):
    """n live judgments. `left` and `right` are positions of outputs; `right` is -1 if one output was scored.

    `score` is NaN if there is none, and its sign is changed if lower scores are better: here, higher is always better.
    """

    variants: tuple[JudgeVariant, ...]
    variant: CodeArray
    seq: IntArray
    left: CodeArray
    right: CodeArray
    order: ByteArray
    repeat: CodeArray
    status: ByteArray
    preference: ByteArray
    score: FloatArray
    created_us: IntArray

    def __len__(self) -> int:
        return int(self.seq.size)

    @property
    def ok(self) -> NDArray[np.bool_]:
        """(n,) whether the judgment has a verdict."""
        return build_column(len(self), bool, lambda rows: self.status[rows] == OK)

    @property
    def without_verdict(self) -> NDArray[np.bool_]:
        """(n,) whether the status is ok, but the answer has neither a score nor a preference of its own, only parts."""

        def without(rows: slice) -> NDArray[np.bool_]:
            nothing = (self.preference[rows] == NONE) & ~np.isfinite(self.score[rows])
            return np.asarray((self.status[rows] == OK) & nothing)

        return build_column(len(self), bool, without)

    @property
    def raw_score(self) -> FloatArray:
        """(n,) the scores as the judges gave them: low is good if the variant says so."""
        return np.where(
            self.of_variants([variant.higher_is_better for variant in self.variants]).astype(bool),
            self.score,
            -self.score,
        )

    def of_variants(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
        """(n,) a value of each variant, spread over its judgments."""
        array = np.asarray(values)
        if not len(self.variants):
            return np.zeros(0, array.dtype)
        return constant_column(array[0], len(self)) if (array == array[0]).all() else take_in_parts(array, self.variant)


_ARRAYS = tuple(field.name for field in fields(JudgmentColumns) if field.name != "variants")


def read_judgments(
    connection: Connection,
    variant: JudgeVariant,
    entries: Entries,
    *,
    after: int,
    until_seq: int,
    before_us: int | None = None,
) -> JudgmentColumns:
    """The judgments of one variant that nothing superseded, with `seq` above `after` and up to `until_seq`.

    With `before_us`, those that existed before this moment and that nothing had superseded by then.
    """
    # find the few added after a view was made by number, and all of a variant by the variant's index
    owner: Any = judgments.c.form_id + 0 if after else judgments.c.form_id
    where = (
        owner == variant.form_id,
        judgments.c.superseded == 0 if before_us is None else counted_before(judgments, before_us),
        judgments.c.seq > after,
        judgments.c.seq <= until_seq,
    )
    if variant.pairwise:
        sides = judgments.c.left_seq * (1 << _SIDE) + judgments.c.right_seq
        numbered = judgments.c.seq * (1 << _VERDICT) + _packed_column()
        query = select(sides, numbered, judgments.c.created_us).where(*where)
        arrays = _join_pages(_unpacked_pairs(rows, entries) for rows in integer_pages(connection, query))
        score = missing_scores(arrays["seq"].size)
    else:
        names = (judgments.c.seq, judgments.c.left_seq, _packed_column(), judgments.c.created_us, judgments.c.score)
        columns = fetch_columns(connection, select(*names).where(*where))
        seq, left, packed, created = (np.array(column, np.int64) for column in columns[:4])
        arrays = _unpack(seq, entries.at(left), entries.at(np.zeros(seq.size, np.int64)), packed, created)
        score = np.array(columns[4], np.float64)
    return JudgmentColumns(
        variants=(variant,),
        variant=constant_variant(arrays["seq"].size),
        score=score if variant.higher_is_better else -score,
        **arrays,
    )


def _unpacked_pairs(rows: IntArray, entries: Entries) -> dict[str, Any]:
    """A page of pairs as columns, which are a third smaller than the page."""
    pair, packed_pair, created = rows.T
    left, right = pair >> _SIDE, pair & ((1 << _SIDE) - 1)
    packed = packed_pair & ((1 << _VERDICT) - 1)
    return _unpack(packed_pair >> _VERDICT, entries.at(left), entries.at(right), packed, created.copy())


def _unpack(seq: IntArray, left: CodeArray, right: CodeArray, packed: IntArray, created: IntArray) -> dict[str, Any]:
    return {
        "seq": seq,
        "left": left,
        "right": right,
        "order": ((packed >> 2 * _BITS) & _MASK).astype(np.int8),
        "repeat": (packed >> 3 * _BITS).astype(np.int32),
        "status": ((packed >> _BITS) & _MASK).astype(np.int8),
        "preference": (packed & _MASK).astype(np.int8),
        "created_us": created,
    }


def _no_rows() -> dict[str, Any]:
    none, nobody = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return _unpack(none, nobody, nobody, none, none)


def _join_pages(pages: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Join all pages."""
    writers = {name: ColumnWriter(column.dtype) for name, column in _no_rows().items()}
    for page in pages:
        for name, writer in writers.items():
            writer.append(page[name])
    return {name: writer.column() for name, writer in writers.items()}


def _packed_column() -> ColumnElement[int]:
    """Repeat, order, status and preference packed in one number, to transfer fewer values."""
    plain = code_column(judgments.c.preference, PREFERENCES)
    preference = case((judgments.c.tie_unstated == 1, EQUAL), else_=plain)
    code: Any = judgments.c.repeat
    for column in (code_column(judgments.c.order, ORDERS), code_column(judgments.c.status, STATUSES), preference):
        code = code * (1 << _BITS) + column
    return code  # type: ignore[no-any-return]


def first_scores(columns: JudgmentColumns) -> JudgmentColumns:
    """The counting ok judgments of single outputs, of one judge and dimension: one per output and repeat.

    If there are several, the first with a score counts, as on boards.
    """
    rows = np.flatnonzero(columns.ok & (columns.right < 0))
    rows = rows[np.lexsort((columns.seq[rows], np.isnan(columns.score[rows])))]
    _, first = np.unique(columns.left[rows].astype(np.int64) << 32 | columns.repeat[rows], return_index=True)
    rows = rows[first]
    return columns.where(rows[np.argsort(columns.seq[rows])])


def superseded_since(connection: Connection, after: int) -> IntArray:
    """`seq` of judgments that were superseded by records after `after`."""
    later = judgments.alias("later")
    query = select(judgments.c.seq).join(later, later.c.supersedes == judgments.c.id).where(later.c.seq > after)
    return fetch_integers(connection, query).ravel()


def missing_scores(n: int) -> FloatArray:
    """(n,) missing scores, for pairs: one value repeated n times."""
    return constant_column(np.float64(np.nan), n)


def constant_variant(n: int) -> CodeArray:
    """(n,) the variant of judgments that share it: one value repeated n times."""
    return constant_column(np.int32(0), n)


def join_same_form(earlier: JudgmentColumns, new: JudgmentColumns) -> JudgmentColumns:
    """Join two parts of the judgments of one variant."""
    n = len(earlier) + len(new)
    arrays = _joined_arrays([earlier, new], earlier.variants)
    return JudgmentColumns(variants=earlier.variants, variant=constant_variant(n), **arrays)


def join_judgments(parts: Sequence[JudgmentColumns]) -> JudgmentColumns:
    """Join the judgments of several variants."""
    if len(parts) == 1:
        return parts[0]
    variants = tuple(variant for part in parts for variant in part.variants)
    shift = np.cumsum([0, *(len(part.variants) for part in parts)])
    # each part has one variant, so its column takes no memory
    variant = joined(*(constant_column(np.int32(at), len(part)) for part, at in zip(parts, shift, strict=False)))
    return JudgmentColumns(variants=variants, variant=variant, **_joined_arrays(parts, variants))


def _joined_arrays(parts: Sequence[JudgmentColumns], variants: Sequence[JudgeVariant]) -> dict[str, Any]:
    """All columns but `variant`; pairs have no scores."""
    pairwise = all(variant.pairwise for variant in variants)
    names = [name for name in _ARRAYS if name != "variant" and not (pairwise and name == "score")]
    arrays: dict[str, Any] = {name: joined(*(getattr(part, name) for part in parts)) for name in names}
    return arrays | ({"score": missing_scores(arrays["seq"].size)} if pairwise else {})


NOTHING = JudgmentColumns(variants=(), variant=np.zeros(0, np.int32), score=np.zeros(0), **_no_rows())
