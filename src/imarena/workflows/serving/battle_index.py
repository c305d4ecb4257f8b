"""All pairs of outputs that people or judges compared, as arrays: a page of a million battles is a slice.

A battle's id is a hash, so that it cannot be looked up without hashing all: `BattleIds` does so once, in the background
of a server, and later only for pairs that are new.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import content_id, content_number, content_numbers, sha256_hex
from imarena.tables import ColumnWriter, empty_column, joined, looked_up, release_pages, row_slices
from imarena.workflows import views

_AT_ONCE = 2_000
KIND = "battle"
_AFTER_VOTES = 1 << 40
"""What a judgment's number is raised by, so that every vote comes before it."""


@dataclass(frozen=True)
class BattleIndex:
    """p pairs in the order in which they were first named (votes before judgments), and n verdicts that count.

    `left` and `right` (p,) are places of outputs, the one with the smaller id left; `named` (p,) grows. The verdicts of
    pair i are rows `start[i]` to `start[i + 1]`. `outcome` (n,) is a preference as seen from the left output, `judge`
    (n,) is -1 for people, `asking` (n,) is a vote of a campaign that is open.
    """

    left: views.CodeArray
    right: views.CodeArray
    named: views.IntArray
    start: views.IntArray
    outcome: views.ByteArray
    judge: views.Names
    dimension: views.Names
    created_us: views.IntArray
    asking: NDArray[np.bool_]
    forms: tuple[int, ...]
    """Ids of the forms of judges whose verdicts are here."""
    outputs: views.IntArray
    """`seq` of the outputs that were known."""
    voted: str
    """A digest of the votes that are here."""
    seen: views.ReadPosition
    """How far judgments were read."""

    def __len__(self) -> int:
        return int(self.left.size)

    def goes_on_in(self, view: views.View) -> bool:
        """Do the same forms count in a view, and are all outputs at their places?"""
        forms = tuple(form.form_id for form in view.forms.counting(pairwise=True))
        return forms == self.forms and np.array_equal(self.outputs, view.entries.seq[: self.outputs.size])

    def pair_of(self, left: int, right: int) -> int | None:
        """The number of a pair; None where nobody compared these two, or nothing of it counts."""
        matches = np.flatnonzero((self.left == left) & (self.right == right))  # a millisecond for a million
        return int(matches[0]) if matches.size else None

    def verdicts_of(self, pairs: views.IntArray | views.CodeArray) -> views.IntArray:
        """The rows of the verdicts of these pairs, one pair after the other."""
        size = self.start[pairs + 1] - self.start[pairs]
        before = np.cumsum(size) - size
        return np.repeat(self.start[pairs] - before, size) + np.arange(int(size.sum()))

    def has_any(self, verdicts: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(p,) whether at least one of these verdicts is of a pair."""
        if len(self) == verdicts.size:  # every pair has one: a fifth of the time
            return verdicts
        if 4 * self.repeated.size > len(self):
            return np.logical_or.reduceat(verdicts, self.start[:-1])
        found = verdicts[self.start[:-1]]
        if self.repeated.size:
            size = self.start[self.repeated + 1] - self.start[self.repeated]
            rows = verdicts[self.verdicts_of(self.repeated)]
            found[self.repeated] = np.logical_or.reduceat(rows, np.cumsum(size) - size)
        return found

    @cached_property
    def repeated(self) -> views.IntArray:
        """The pairs with more than one verdict."""
        return np.flatnonzero(np.diff(self.start) > 1)


def read_battle_index(view: views.View, before: BattleIndex | None = None) -> BattleIndex:
    """Index the votes and the judgments of a view that count. `before`: an earlier index, of which the rest is kept."""
    cast, asking = _cast(view)
    known = before if before is not None and before.goes_on_in(view) else None
    changes = views.changes_since(view, known.seen) if known is not None else None
    if known is None or changes is None:
        return _indexed(view, cast, asking, None)
    touched = [changes.pairs]
    if known.voted != _digest(cast, asking):
        old = np.flatnonzero(known.has_any(known.judge.of < 0))
        for left, right in ((known.left[old], known.right[old]), (cast.left, cast.right)):
            touched.append(views.pair_keys(view.entries, left, right))
    pairs = np.unique(np.concatenate(touched))
    if not pairs.size:
        return replace(known, seen=views.seen_by(view))
    gone = views.rows_on(view.entries, known.left, known.right, pairs)
    return _merged(known, gone, _indexed(view, cast, asking, pairs))


def _cast(view: views.View) -> tuple[views.VoteColumns, NDArray[np.bool_]]:
    """The votes on pairs that count, and which of them are of a campaign that is open."""
    votes = view.votes
    cast = votes.where(votes.counts & (votes.preference != views.NONE) & (votes.right >= 0))
    return cast, np.isin(cast.campaign.of, [n for n, name in enumerate(cast.campaign.names) if name in view.asking])


def _digest(cast: views.VoteColumns, asking: NDArray[np.bool_]) -> str:
    arrays = (cast.seq, cast.left, cast.right, cast.preference, cast.dimension.of, cast.created_us, asking)
    encoded = repr(cast.dimension.names).encode()
    return sha256_hex(b"".join(array.tobytes() for array in arrays) + encoded)


def _indexed(
    view: views.View, cast: views.VoteColumns, asking: NDArray[np.bool_], pairs: views.IntArray | None
) -> BattleIndex:
    """The index of all verdicts that count, or of those on these pairs only."""
    entries, voted = view.entries, _digest(cast, asking)
    forms = view.forms.counting(pairwise=True)
    if pairs is None:
        judgments = view.judgments(forms)
    else:
        rows = views.rows_on(entries, cast.left, cast.right, pairs)
        cast, asking = cast.where(rows), asking[rows]
        judgments = views.judgments_on(view, forms, pairs)
    counting = judgments.ok & (judgments.preference != views.NONE)
    judgments = judgments if counting.all() else judgments.where(counting)
    left, right = joined(cast.left, judgments.left), joined(cast.right, judgments.right)
    keys = views.pair_keys(entries, left, right)
    named = _named(cast, judgments)
    rows, start = _grouped(keys, named)
    first = looked_up(rows, start[:-1])
    pair = looked_up(keys, first)
    judges = tuple(dict.fromkeys(form.judge for form in judgments.forms))
    judged = judgments.of_forms([judges.index(form.judge) for form in judgments.forms]).astype(np.int32, copy=False)
    about = tuple(dict.fromkeys(form.dimension for form in judgments.forms))
    dimensions = judgments.of_forms([about.index(form.dimension) for form in judgments.forms])
    dimension = views.joined_names([cast.dimension, views.Names(dimensions.astype(np.int32, copy=False), about)])
    preference = joined(cast.preference, judgments.preference)
    outcome = empty_column(rows.size, np.int8)
    for some in row_slices(rows.size, rows, keys, left, preference, outcome):
        at = rows[some]
        outcome[some] = np.where(keys[at] >> 32 != left[at], views.MIRRORED[preference[at]], preference[at])
    no_judge = views.constant_column(np.int32(-1), len(cast))
    no_vote = views.constant_column(np.bool_(False), len(judgments))
    lower, upper = (empty_column(pair.size, np.int32) for _ in range(2))
    for some in row_slices(pair.size, pair, lower, upper):
        lower[some], upper[some] = pair[some] >> 32, pair[some] & 0xFFFFFFFF
    return BattleIndex(
        left=lower,
        right=upper,
        named=looked_up(named, first),
        start=start,
        outcome=outcome,
        judge=views.Names(looked_up(joined(no_judge, judged), rows), judges),
        dimension=views.Names(looked_up(dimension.of, rows), dimension.names),
        created_us=looked_up(joined(cast.created_us, judgments.created_us), rows),
        asking=looked_up(joined(asking, no_vote), rows),
        forms=tuple(form.form_id for form in judgments.forms),
        outputs=entries.seq,
        voted=voted,
        seen=views.seen_by(view),
    )


def _named(cast: views.VoteColumns, judgments: views.JudgmentColumns) -> views.IntArray:
    """(n,) the numbers of votes, and after them those of judgments."""
    named: views.IntArray = joined(cast.seq, judgments.seq)
    for rows in row_slices(named.size, named):
        named[rows][max(0, len(cast) - rows.start) :] += _AFTER_VOTES
    return named


def _grouped(keys: views.IntArray, named: views.IntArray) -> tuple[views.IntArray, views.IntArray]:
    """Rows sorted by pair, pairs by their first row, and where each pair starts."""
    left = empty_column(keys.size, np.int32)
    for some in row_slices(keys.size, keys, left):
        left[some] = keys[some] >> 32
    by_key, begun, sizes = ColumnWriter(np.int64), ColumnWriter(np.int64), ColumnWriter(np.int64)
    for part in views.rows_by_owner(left):
        rows = part[np.lexsort((named[part], keys[part]))]
        begin = np.flatnonzero(views.group_starts(keys[rows]))
        by_key.append(rows)
        begun.append(named[rows[begin]])
        sizes.append(np.diff(np.append(begin, rows.size)))
        release_pages(keys, named)
    size, order = sizes.column(), np.argsort(begun.column(), kind="stable")
    begin, start = empty_column(size.size, np.int64), empty_column(size.size + 1, np.int64)
    np.cumsum(size, out=begin)
    begin -= size
    start[0] = 0
    np.cumsum(looked_up(size, order), out=start[1:])
    rows_of_key, rows_of_pair = by_key.column(), ColumnWriter(np.int64)
    for some in row_slices(order.size, rows_of_key, size, begin, start):
        number = size[order[some]]
        first = np.cumsum(number) - number
        shift = np.repeat(begin[order[some]] - first, number)
        rows_of_pair.append(rows_of_key[np.arange(shift.size) + shift])
    return rows_of_pair.column(), start


def _merged(known: BattleIndex, gone: views.IntArray, fresh: BattleIndex) -> BattleIndex:
    """An earlier index with some of its pairs replaced by those of a fresh one."""
    parts = _parts(gone, np.searchsorted(known.named, fresh.named), len(known))

    def put(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        return joined(*((new if is_new else old)[begin:end] for is_new, begin, end in parts))

    def put_rows(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        cuts = ((fresh.start, new) if is_new else (known.start, old) for is_new, _, _ in parts)
        return joined(
            *(rows[start[begin] : start[end]] for (start, rows), (_, begin, end) in zip(cuts, parts, strict=True))
        )

    # a name that is not there any more was of votes, and all of those were replaced
    dimension = known.dimension.of
    if known.dimension.names != fresh.dimension.names:
        code = {name: number for number, name in enumerate(fresh.dimension.names)}
        dimension = np.array([*(code.get(name, -1) for name in known.dimension.names), -1], np.int32)[dimension]
    return replace(
        fresh,
        left=put(known.left, fresh.left),
        right=put(known.right, fresh.right),
        named=put(known.named, fresh.named),
        start=np.append(0, np.cumsum(put(np.diff(known.start), np.diff(fresh.start)))),
        outcome=put_rows(known.outcome, fresh.outcome),
        judge=views.Names(put_rows(known.judge.of, fresh.judge.of), fresh.judge.names),
        dimension=views.Names(put_rows(dimension, fresh.dimension.of), fresh.dimension.names),
        created_us=put_rows(known.created_us, fresh.created_us),
        asking=put_rows(known.asking, fresh.asking),
    )


def _parts(gone: views.IntArray, position: views.IntArray, size: int) -> list[tuple[bool, int, int]]:
    """An earlier index without the pairs `gone`, and with fresh pair i before the pair `position[i]`, as stretches.

    Each is (fresh?, begin, end). Few pairs change, so that copying stretches is much less than picking every row.
    """
    parts: list[tuple[bool, int, int]] = []

    def add(is_new: bool, begin: int, end: int) -> None:
        if parts and parts[-1][0] == is_new and parts[-1][2] == begin:
            begin = parts.pop()[1]
        if begin < end:
            parts.append((is_new, begin, end))

    at = 0
    inserted = [(where, 0, number) for number, where in enumerate(position.tolist())]
    for where, removes, number in sorted([*inserted, *((where, 1, 0) for where in gone.tolist())]):
        add(False, at, where)
        if not removes:
            add(True, number, number + 1)
        at = where + removes
    add(False, at, size)
    return parts or [(False, 0, 0)]


def battle_id(entries: views.Entries, left: int, right: int) -> str:
    """The id of a pair of outputs, the one with the smaller id first."""
    return content_id(KIND, entries.item_id[entries.item[left]], entries.id_of(left), entries.id_of(right))


class BattleIds:
    """Finds a pair by its id. Outputs are held by `seq`, which never changes: what was hashed stays known."""

    def __init__(self) -> None:
        self._number = np.zeros(0, np.uint64)
        self._pair = np.zeros(0, np.int64)
        """Both sorted by `_number`: the first 64 bits of an id, and `seq` of left and right in one number."""
        self._read: views.CodeArray | None = None
        """The pairs that were hashed last: an index that has the same ones shares the array."""
        self._guard = threading.Lock()
        self._waiting: set[str] = set()
        """Battles that requests wait for: who computes the hashes in the background does not pause meanwhile."""

    def find(self, view: views.View, index: BattleIndex, identity: str) -> int | None:
        """The number of the pair in the index."""
        match = self._look(view, index, identity)
        if match is None and self._read is not index.left:
            self._waiting.add(identity)
            try:
                self.read(view, index)
            finally:
                self._waiting.discard(identity)
            match = self._look(view, index, identity)
        return match

    def _look(self, view: views.View, index: BattleIndex, identity: str) -> int | None:
        numbers, pairs = self._number, self._pair
        wanted = np.uint64(content_number(identity))
        entries = view.entries
        for at in range(int(np.searchsorted(numbers, wanted)), numbers.size):
            if numbers[at] != wanted:
                return None
            seq = np.array([pairs[at] >> 32, pairs[at] & 0xFFFFFFFF], np.int64)
            if seq.max() > (entries.seq[-1] if entries.seq.size else 0):
                continue
            left, right = entries.at(seq).tolist()
            if battle_id(entries, left, right) == identity:
                return index.pair_of(left, right)
        return None

    @property
    def known(self) -> tuple[NDArray[np.uint64], views.IntArray]:
        """What was hashed so far."""
        return self._number, self._pair

    def start_from(self, number: NDArray[np.uint64], pair: views.IntArray) -> None:
        """Take what was hashed before by another process, unless something was hashed here already."""
        with self._guard:
            if not self._number.size:
                self._number, self._pair = number, pair

    def read(self, view: views.View, index: BattleIndex, pause: Callable[[], bool] = lambda: True) -> None:
        """Hash the pairs that are new. `pause` is called between parts; False ends it early."""
        with self._guard:
            if self._read is index.left:
                return
            entries = view.entries
            pairs = empty_column(len(index), np.int64)
            for rows in row_slices(len(index), index.left, index.right, pairs):
                pairs[rows] = entries.seq[index.left[rows]] << 32 | entries.seq[index.right[rows]]
            new = np.arange(len(index))
            if self._pair.size:
                new = np.flatnonzero(np.isin(pairs, self._pair, assume_unique=True, invert=True))
            numbers: list[NDArray[np.uint64]] = []
            hashing = content_numbers(KIND, _rows(entries, index, new))
            while (part := np.fromiter(islice(hashing, _AT_ONCE), np.uint64)).size:
                numbers.append(part)
                if not self._waiting and not pause():
                    return
            if numbers:
                number = joined(self._number, *numbers)
                pair = joined(self._pair, looked_up(pairs, new))
                order = np.argsort(number)
                self._number, self._pair = looked_up(number, order), looked_up(pair, order)
            self._read = index.left


def _rows(entries: views.Entries, index: BattleIndex, pairs: views.IntArray) -> Iterator[tuple[str, str, str]]:
    left, right = index.left[pairs], index.right[pairs]
    items, ids = entries.item_id, entries.output_id
    for begin in range(0, pairs.size, _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        sides = zip(entries.item[left[part]].tolist(), ids[left[part]].tolist(), ids[right[part]].tolist(), strict=True)
        yield from ((items[item], left_id.decode(), right_id.decode()) for item, left_id, right_id in sides)
