"""Battles of a workspace as columns: people's votes, judges' verdicts in both orders, and pairs of scores."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import CodeArray, FloatArray, IntArray
from imarena.storage import JudgeVariant
from imarena.tables import build_column, joined, row_slices, take_in_parts
from imarena.workflows.views.codes import (
    LEFT,
    MODES,
    NONE,
    RIGHT,
    TIE,
    ByteArray,
    ColumnTable,
    Names,
    column_part,
    computed_column,
    constant_column,
    group_starts,
    is_constant,
)
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.judgments import JudgmentColumns
from imarena.workflows.views.orders import CombinedPairs, combine_columns
from imarena.workflows.views.view import View
from imarena.workflows.views.votes import VoteColumns
from imarena.workflows.views.window import EVERYTHING, BattleKind, Window

WHOLE = "overall"
"""The dimension of an overall verdict."""
SCORED_TOO = "scores of a pair that the judge also compared directly"
EDITORS_NOT_NAMED = "the source does not name the models"
SAME_EDITOR = "both sides are the same editor"


@dataclass(frozen=True)
class BattleColumns(ColumnTable):
    """n battles. `left` and `right` are positions of outputs, `winner` is a preference code.

    `judge` or `rater` names the author of the verdict; neither is set for pairs of mean ratings.
    """

    left: CodeArray
    right: CodeArray
    winner: ByteArray
    judge: Names
    rater: Names
    dimension: Names
    score_left: FloatArray
    score_right: FloatArray
    created_us: IntArray
    excluded: Counter[str] = field(default_factory=Counter)
    """Number of battles excluded earlier, by reason; `where` does not change it."""

    def __len__(self) -> int:
        return int(self.left.size)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """(n,) whether a judge gave the verdict."""
        return computed_column(self.judge.of, bool, lambda codes: codes >= 0)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """(n,) whether the battle was not compared directly, but comes from two scores or mean ratings."""
        return computed_column(self.score_left, bool, np.isfinite)

    @property
    def n_judged(self) -> int:
        """Number of verdicts by judges."""
        judged = self.judged
        return sum(int(np.count_nonzero(judged[rows])) for rows in row_slices(len(self)))

    @property
    def n_by_scores(self) -> int:
        """Number of verdicts by judges that come from two scores."""
        judged, scored = self.judged, self.scored
        return sum(int(np.count_nonzero(judged[rows] & scored[rows])) for rows in row_slices(len(self)))

    def of_outputs(self, chosen: NDArray[np.bool_], *, both: bool = True) -> "BattleColumns":
        """The battles whose outputs (or, without `both`, left outputs) are among the chosen ones (k,)."""
        left, right = self.left, self.right
        return self.where(
            build_column(len(self), bool, lambda rows: chosen[left[rows]] & (chosen[right[rows]] if both else True))
        )

    @property
    def judges(self) -> list[str]:
        """The judges who gave these verdicts."""
        return self.judge.used()


def battles_between_named(table: BattleColumns, entries: Entries, editors: Collection[str] = ()) -> BattleColumns:
    """The battles between two different, named editors, which boards are made from. The rest is counted.

    `editors`: a board of only these; battles of others are neither kept nor counted. Empty: all.
    """
    if editors:
        names = entries.editor.names
        by_editors = np.isin(entries.editor.of, [names.index(name) for name in editors if name in names])
        table = table.of_outputs(by_editors)
    lost: Counter[str] = Counter()

    def is_battle(rows: slice) -> NDArray[np.bool_]:
        left, right = entries.editor.of[table.left[rows]], entries.editor.of[table.right[rows]]
        unknown = (left < 0) | (right < 0)
        same_editor = ~unknown & (left == right)
        lost.update({EDITORS_NOT_NAMED: int(unknown.sum()), SAME_EDITOR: int(same_editor.sum())})
        mask: NDArray[np.bool_] = ~(unknown | same_editor)
        return mask

    between = build_column(len(table), bool, is_battle)
    return replace(table.where(between) if lost.total() else table, excluded=table.excluded + lost)


def people_battles(view: View, *, dimension: str | None = None, window: Window = EVERYTHING) -> BattleColumns:
    """People's preferences that count, in the order in which they were given; on one dimension or on all."""
    votes = live_votes(view, window)
    mask = (votes.preference != NONE) & (votes.right >= 0)
    if dimension is not None:
        names = votes.dimension.names
        mask &= votes.dimension.of == (names.index(dimension) if dimension in names else -2)
    cast = votes.where(mask)
    none = np.full(len(cast), np.nan)
    return BattleColumns(
        left=cast.left,
        right=cast.right,
        winner=cast.preference,
        judge=Names(np.full(len(cast), -1, np.int32), ()),
        rater=cast.rater,
        dimension=cast.dimension,
        score_left=none,
        score_right=none,
        created_us=cast.created_us,
    )


def joined_battles(parts: Sequence[BattleColumns]) -> BattleColumns:
    """Battles of several sources, one after the other."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return NO_BATTLES
    names = ("left", "right", "winner", "score_left", "score_right", "created_us")
    arrays: dict[str, Any] = {name: joined(*(getattr(part, name) for part in parts)) for name in names}
    coded: dict[str, Any] = {
        name: joined_names([getattr(part, name) for part in parts]) for name in ("judge", "rater", "dimension")
    }
    return BattleColumns(**arrays, **coded, excluded=sum((part.excluded for part in parts), Counter[str]()))


def joined_names(parts: Sequence[Names]) -> Names:
    names = sorted({name for part in parts for name in part.names})
    code_of = {name: code for code, name in enumerate(names)}
    lookups = (np.array([*(code_of[name] for name in part.names), -1], np.int32) for part in parts)
    codes = [take_in_parts(lookup, part.of) for lookup, part in zip(lookups, parts, strict=True)]
    return Names(joined(*codes), tuple(names))


def live_votes(view: View, window: Window = EVERYTHING) -> VoteColumns:
    """The votes that count and lie in the window."""
    return view.votes.where(live_vote_rows(view, window))


def live_vote_rows(view: View, window: Window = EVERYTHING) -> NDArray[np.bool_]:
    """(n,) which of all votes count and lie in the window."""
    votes = view.votes
    mask = votes.counts & window.sees(votes.created_us)
    if window.released:
        hidden = [code for code, name in enumerate(votes.campaign.names) if name in view.asking]
        mask &= ~np.isin(votes.campaign.of, hidden)
    return mask


def live_judgments(view: View, variants: Sequence[JudgeVariant], window: Window = EVERYTHING) -> JudgmentColumns:
    """The judgments of these variants that nothing superseded and that lie in the window."""
    columns = view.judgments(variants)
    return columns.where(window.sees(columns.created_us)) if window.since or window.until else columns


def judge_battles(
    view: View,
    variants: Sequence[JudgeVariant],
    *,
    once: bool = False,
    window: Window = EVERYTHING,
    kinds: Sequence[BattleKind] = ("compared", "scored"),
) -> BattleColumns:
    """Battles of these variants of judges: pairs that they compared, and pairs of their scores on one item.

    `once`: a pair that a judge compared counts by the comparison, not by its scores too. A judge without any
    successful comparison counts by its scores.
    """
    owners = sorted({(variant.judge, variant.dimension) for variant in variants})
    number = {owner: code for code, owner in enumerate(owners)}
    compared, owner_codes = _rows(view, [variant for variant in variants if variant.pairwise], number, window)
    fought = combine_columns(compared, owner_codes, view.entries)
    excluded = fought.incomplete()
    points, owner = _rows(view, [variant for variant in variants if not variant.pairwise], number, window)
    scored = _score_pairs(points, owner, view.entries)
    if once:
        scored = _unfought(scored, fought, excluded, int(view.entries.seq.size))
    if "scored" not in kinds:
        scored = scored.where(slice(0))
    decided: NDArray[np.bool_] | slice = fought.decided if "compared" in kinds else slice(0)
    if not isinstance(decided, slice) and all(decided[rows].all() for rows in row_slices(decided.size)):
        decided = slice(None)
    columns = vars(fought).copy()
    del fought, compared  # columns of millions of battles: each is freed as soon as it is copied

    def followed(name: str, more: NDArray[Any]) -> NDArray[Any]:
        part = column_part(columns.pop(name), decided)
        return joined(part, more) if more.size else part

    gap = np.round(scored.score_left - scored.score_right, 9)
    winner = np.where(gap == 0, TIE, np.where(gap > 0, LEFT, RIGHT)).astype(np.int8)
    left, whose_all = followed("left", scored.left), followed("whose", scored.whose)
    none = constant_column(np.float64(np.nan), left.size - scored.left.size)
    judges, dimensions = (sorted({owner[part] for owner in owners}) for part in (0, 1))
    return BattleColumns(
        left=left,
        right=followed("right", scored.right),
        winner=followed("outcome", winner),
        judge=_names_of_owners(whose_all, [judges.index(owner[0]) for owner in owners], judges),
        rater=Names(constant_column(np.int32(-1), whose_all.size), ()),
        dimension=_names_of_owners(whose_all, [dimensions.index(owner[1]) for owner in owners], dimensions),
        score_left=joined(none, scored.score_left) if scored.left.size else none,
        score_right=joined(none, scored.score_right) if scored.left.size else none,
        created_us=followed("created_us", scored.created_us),
        excluded=excluded,
    )


def _names_of_owners(owner: CodeArray, codes: list[int], names: list[str]) -> Names:
    code_array = np.array(codes or [0], np.int32)
    if is_constant(owner):
        return Names(constant_column(code_array[owner[0]], owner.size), tuple(names))
    return Names(take_in_parts(code_array, owner), tuple(names))


def _rows(
    view: View, variants: list[JudgeVariant], number: dict[tuple[str, str], int], window: Window
) -> tuple[JudgmentColumns, CodeArray]:
    columns = live_judgments(view, variants, window)
    owner = columns.of_variants(
        np.array([number[variant.judge, variant.dimension] for variant in columns.variants], np.int32)
    )
    return columns, owner.astype(np.int32, copy=False)


@dataclass(frozen=True)
class ScorePairColumns(ColumnTable):
    """Every two scores of one judge on the same item, turn, mode and repeat."""

    whose: CodeArray
    left: CodeArray
    right: CodeArray
    score_left: FloatArray
    score_right: FloatArray
    created_us: IntArray


def pairs_of_units(entries: Entries, output: CodeArray) -> tuple[IntArray, IntArray]:
    """Every two of these outputs (distinct positions) that share an item, a turn and a mode, as rows of `output`."""
    rows = np.lexsort((entries.order[output], _within(entries, output), _item_order(entries)[entries.item[output]]))
    first, second = _pairs_within(np.flatnonzero(group_starts(entries.unit[output[rows]])), rows.size)
    return rows[first], rows[second]


def _within(entries: Entries, output: CodeArray) -> IntArray:
    """(n,) turn and mode of outputs as one number, modes in the order of their names."""
    by_name = np.argsort(np.argsort(MODES)).astype(np.int64)
    return entries.turn[output].astype(np.int64) * len(MODES) + by_name[entries.mode[output]]


def _score_pairs(columns: JudgmentColumns, owner: CodeArray, entries: Entries) -> ScorePairColumns:
    """Sorted by judge, dimension, item, turn, mode and repeat, then by output id; the first score of each counts."""
    rows = np.flatnonzero(columns.ok & np.isfinite(columns.score))
    ranks = _item_order(entries)
    keys = (
        columns.seq[rows],
        entries.order[columns.left[rows]],
        columns.repeat[rows],
        _within(entries, columns.left[rows]),
        ranks[entries.item[columns.left[rows]]],
        owner[rows],
    )
    rows = rows[np.lexsort(keys)]
    new = group_starts(owner[rows], entries.unit[columns.left[rows]], columns.repeat[rows])
    fresh = new | group_starts(columns.left[rows])
    rows, new = rows[fresh], new[fresh]
    first, second = _pairs_within(np.flatnonzero(new), rows.size)
    left, right = rows[first], rows[second]
    return ScorePairColumns(
        whose=owner[left],
        left=columns.left[left],
        right=columns.left[right],
        score_left=columns.score[left],
        score_right=columns.score[right],
        created_us=np.maximum(columns.created_us[left], columns.created_us[right]),
    )


def _item_order(entries: Entries) -> IntArray:
    """(m,) rank of each item when sorted by id."""
    rank = np.empty(len(entries.item_id), np.int64)
    rank[np.argsort(np.array(entries.item_id or [""], "S")[: len(entries.item_id)], kind="stable")] = np.arange(
        len(entries.item_id)
    )
    return rank


def _pairs_within(start: IntArray, total: int) -> tuple[IntArray, IntArray]:
    """Every two rows of each group, groups in order. `start` (g,): the first row of each group."""
    size = np.diff(np.append(start, total))
    parts: list[tuple[IntArray, IntArray, IntArray]] = []
    for n in np.unique(size[size > 1]).tolist():
        first, second = np.triu_indices(n, 1)
        begin = start[size == n]
        order = np.repeat(np.flatnonzero(size == n), first.size)
        parts.append((order, (begin[:, None] + first).ravel(), (begin[:, None] + second).ravel()))
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order, first, second = (np.concatenate(column) for column in zip(*parts, strict=True))
    sorted_rows = np.argsort(order, kind="stable")
    return first[sorted_rows], second[sorted_rows]


def _unfought(
    scored: ScorePairColumns, fought: CombinedPairs, excluded: Counter[str], outputs: int
) -> ScorePairColumns:
    """Drop pairs that a judge compared directly, if the judge has any successful comparison."""
    if not scored.left.size or not fought.left.size:
        return scored
    direct = np.isin(fought.whose, np.unique(fought.whose[fought.decided]))
    compared = np.unique(_pair_codes(fought.whose[direct], fought.left[direct], fought.right[direct], outputs))
    double = np.isin(_pair_codes(scored.whose, scored.left, scored.right, outputs), compared)
    if double.any():
        excluded[SCORED_TOO] += int(double.sum())
        return scored.where(~double)
    return scored


def _pair_codes(owner: CodeArray, left: CodeArray, right: CodeArray, outputs: int) -> IntArray:
    low, high = np.minimum(left, right).astype(np.int64), np.maximum(left, right)
    return (owner.astype(np.int64) * outputs + low) * outputs + high


_NOBODY = Names(np.zeros(0, np.int32), ())
NO_BATTLES = BattleColumns(
    left=np.zeros(0, np.int32),
    right=np.zeros(0, np.int32),
    winner=np.zeros(0, np.int8),
    judge=_NOBODY,
    rater=_NOBODY,
    dimension=_NOBODY,
    score_left=np.zeros(0),
    score_right=np.zeros(0),
    created_us=np.zeros(0, np.int64),
)


def compared_dimensions(
    dimension: str, judged: Collection[str], voted: Collection[str], *, separate: bool = False
) -> frozenset[str]:
    """Dimensions of the votes to compare verdicts about `dimension` with.

    Votes about the same dimension, if there are any; otherwise overall votes; otherwise votes about every dimension
    on which the judge has no verdicts. If the judge has overall verdicts, those cover the dimensions without
    verdicts, so its verdicts about one dimension are compared only with votes about that dimension.

    `judged`: all dimensions of the judge's verdicts. `voted`: all dimensions of the votes. `separate`: each dimension
    of the votes has separate figures, so that votes about other dimensions are kept too.
    """
    matching = frozenset(voted) & {dimension}
    if dimension != WHOLE and WHOLE in judged:
        return matching
    unjudged = frozenset(voted).difference(judged)
    if separate:
        return matching | unjudged
    return matching or (unjudged & {WHOLE}) or unjudged
