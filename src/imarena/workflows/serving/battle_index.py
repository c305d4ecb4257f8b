"""All pairs of outputs that people or judges compared, as arrays, so that a page of a million battles is a slice.

A battle's id is a hash, so finding one requires hashing all: `BattleIds` does so once, in the background of a server,
and later only for new pairs.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import CodeArray, IntArray, content_id, content_number, content_numbers, sha256_hex
from imarena.tables import (
    ColumnWriter,
    build_column,
    joined,
    row_slices,
    rows_where,
    sorted_parts,
    take_in_parts,
    take_rows_at,
)
from imarena.workflows import views

_AT_ONCE = 2_000
_READ_AT_ONCE = 40_000
KIND = "battle"
_AFTER_VOTES = 1 << 40
"""Added to the numbers of judgments, so that every vote comes before them."""


@dataclass(frozen=True)
class BattleIndex:
    """p pairs in the order of their first verdict (votes before judgments), and n verdicts that count.

    `left` and `right` (p,) are positions of outputs, the one with the smaller id left; `named` (p,) increases. The
    verdicts of pair i are rows `start[i]` to `start[i + 1]`. `outcome` (n,) is a preference as seen from the left
    output, `judge` (n,) is -1 for people, `asking` (n,) marks votes of open campaigns.
    """

    left: CodeArray
    right: CodeArray
    named: IntArray
    start: IntArray
    outcome: views.ByteArray
    judge: views.Names
    dimension: views.Names
    created_us: IntArray
    asking: NDArray[np.bool_]
    variants: tuple[int, ...]
    """Ids of the judges' variants whose verdicts are indexed."""
    outputs: IntArray
    """`seq` of the known outputs."""
    voted: str
    """A digest of the indexed votes."""
    seen: views.ReadPosition
    """The position up to which judgments were read."""

    def __len__(self) -> int:
        return int(self.left.size)

    def goes_on_in(self, view: views.View) -> bool:
        """Whether the same variants count in a view, and all outputs are at the same positions."""
        variants = tuple(variant.form_id for variant in view.variants.counting(pairwise=True))
        return variants == self.variants and np.array_equal(self.outputs, view.entries.seq[: self.outputs.size])

    def pair_of(self, left: int, right: int) -> int | None:
        """The number of a pair; None if nobody compared these two, or no verdict counts."""
        for part in row_slices(len(self)):
            matches = np.flatnonzero(self.left[part] == left)
            matches = matches[self.right[part][matches] == right]
            if matches.size:
                return int(part.start + matches[0])
        return None

    def verdicts_of(self, pairs: IntArray | CodeArray) -> tuple[IntArray, IntArray]:
        """Return the rows of the verdicts of these pairs, one pair after the other, and the pair of each row."""
        size = self.start[pairs + 1] - self.start[pairs]
        before = np.cumsum(size) - size
        return np.repeat(self.start[pairs] - before, size) + np.arange(int(size.sum())), np.repeat(pairs, size)

    def has_any(self, pairs: slice, mask_of: Callable[[slice], NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """For each of these pairs, whether at least one verdict is kept. `mask_of` gives a mask for some rows."""
        start = self.start[pairs.start : pairs.stop + 1]
        verdicts = mask_of(slice(int(start[0]), int(start[-1])))
        if verdicts.size == start.size - 1:  # every pair has one verdict: much faster
            return verdicts
        return np.logical_or.reduceat(verdicts, start[:-1] - start[0])


def read_battle_index(view: views.View, before: BattleIndex | None = None) -> BattleIndex:
    """Index the votes and judgments of a view that count. `before`: an earlier index, whose unchanged part is kept."""
    cast, asking = _counting_votes(view)
    earlier = before if before is not None and before.goes_on_in(view) else None
    changes = views.changes_since(view, earlier.seen) if earlier is not None else None
    if earlier is None or changes is None:
        return _index(view, cast, asking, None)
    touched = [changes.pairs]
    if earlier.voted != _digest(cast, asking):
        people = earlier.judge.of
        old = rows_where(len(earlier), lambda part: earlier.has_any(part, lambda rows: people[rows] < 0))
        for left, right in ((earlier.left[old], earlier.right[old]), (cast.left, cast.right)):
            touched.append(views.pair_keys(view.entries, left, right))
    pairs = np.unique(np.concatenate(touched))
    if not pairs.size:
        return replace(earlier, seen=views.view_position(view))
    replaced = views.rows_on(view.entries, earlier.left, earlier.right, pairs)
    return _merge(earlier, replaced, _index(view, cast, asking, pairs))


def _counting_votes(view: views.View) -> tuple[views.VoteColumns, NDArray[np.bool_]]:
    """The votes on pairs that count, and a mask of those from open campaigns."""
    votes = view.votes
    cast = votes.where(votes.counts & (votes.preference != views.NONE) & (votes.right >= 0))
    return cast, np.isin(cast.campaign.of, [n for n, name in enumerate(cast.campaign.names) if name in view.asking])


def _digest(cast: views.VoteColumns, asking: NDArray[np.bool_]) -> str:
    arrays = (cast.seq, cast.left, cast.right, cast.preference, cast.dimension.of, cast.created_us, asking)
    return sha256_hex(b"".join(array.tobytes() for array in arrays) + repr(cast.dimension.names).encode())


def _index(view: views.View, cast: views.VoteColumns, asking: NDArray[np.bool_], pairs: IntArray | None) -> BattleIndex:
    """The index of all verdicts that count, or only of those on these pairs."""
    entries, voted = view.entries, _digest(cast, asking)
    variants = view.variants.counting(pairwise=True)
    if pairs is None:
        judgments = view.judgments(variants)
    else:
        rows = views.rows_on(entries, cast.left, cast.right, pairs)
        cast, asking = cast.where(rows), asking[rows]
        judgments = views.judgments_on(view, variants, pairs)
    ok, outcomes = judgments.ok, judgments.preference
    counting = build_column(len(judgments), bool, lambda part: ok[part] & (outcomes[part] != views.NONE))
    if not all(counting[part].all() for part in row_slices(counting.size)):
        judgments = judgments.where(counting)
    left, right = joined(cast.left, judgments.left), joined(cast.right, judgments.right)
    keys = views.pair_keys(entries, left, right)
    after_votes = build_column(len(judgments), np.int64, lambda part: judgments.seq[part] + _AFTER_VOTES)
    numbers = joined(cast.seq, after_votes)
    rows, start = _group(keys, numbers)
    first = take_in_parts(rows, start[:-1])
    pair = take_in_parts(keys, first)
    judges = tuple(dict.fromkeys(variant.judge for variant in judgments.variants))
    judged = judgments.of_variants(np.array([judges.index(variant.judge) for variant in judgments.variants], np.int32))
    about = tuple(dict.fromkeys(variant.dimension for variant in judgments.variants))
    dimensions = judgments.of_variants(
        np.array([about.index(variant.dimension) for variant in judgments.variants], np.int32)
    )
    dimension = views.joined_names([cast.dimension, views.Names(dimensions, about)])
    preference = joined(cast.preference, judgments.preference)

    def outcome(part: slice) -> views.ByteArray:
        at = rows[part]
        outcomes = take_rows_at(preference, at)
        return np.where(take_rows_at(keys, at) >> 32 != take_rows_at(left, at), views.MIRRORED[outcomes], outcomes)

    no_judge = views.constant_column(np.int32(-1), len(cast))
    no_vote = views.constant_column(np.bool_(False), len(judgments))
    return BattleIndex(
        left=build_column(pair.size, np.int32, lambda part: pair[part] >> 32),
        right=build_column(pair.size, np.int32, lambda part: pair[part] & 0xFFFFFFFF),
        named=take_in_parts(numbers, first),
        start=start,
        outcome=build_column(rows.size, np.int8, outcome),
        judge=views.Names(take_in_parts(joined(no_judge, judged), rows), judges),
        dimension=views.Names(take_in_parts(dimension.of, rows), dimension.names),
        created_us=take_in_parts(joined(cast.created_us, judgments.created_us), rows),
        asking=take_in_parts(joined(asking, no_vote), rows),
        variants=tuple(variant.form_id for variant in judgments.variants),
        outputs=entries.seq,
        voted=voted,
        seen=views.view_position(view),
    )


def _group(keys: IntArray, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Rows sorted by pair, pairs by their first row, and where each pair starts."""

    def numbered(part: slice) -> list[IntArray]:
        return [keys[part], numbers[part], np.arange(part.start, part.stop)]

    by_key, begun = ColumnWriter(np.int64, keys.size), ColumnWriter(np.int64, keys.size)
    for key, number, row in sorted_parts(keys.size, numbered):
        order = np.lexsort((number, key))
        new = views.group_starts(key[order])
        by_key.append(row[order])
        begun.append(number[order][new][np.cumsum(new) - 1])  # for every row, the number of the first row of its pair
    rows, first = by_key.column(), begun.column()
    by_pair, starts, at = ColumnWriter(np.int64, keys.size), ColumnWriter(np.int64, keys.size), 0
    for number, row in sorted_parts(keys.size, lambda part: [first[part], rows[part]]):
        order = np.argsort(number, kind="stable")
        by_pair.append(row[order])
        starts.append(at + np.flatnonzero(views.group_starts(number[order])))
        at += row.size
    starts.append(np.array([at]))
    return by_pair.column(), starts.column()


def _merge(earlier: BattleIndex, removed: IntArray | CodeArray, fresh: BattleIndex) -> BattleIndex:
    """An earlier index with some of its pairs replaced by those of a fresh one."""
    parts = _parts(removed, np.searchsorted(earlier.named, fresh.named), len(earlier))

    def put(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        return joined(*((new if is_new else old)[begin:end] for is_new, begin, end in parts))

    def put_rows(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        cuts = ((fresh.start, new) if is_new else (earlier.start, old) for is_new, _, _ in parts)
        return joined(
            *(rows[start[begin] : start[end]] for (start, rows), (_, begin, end) in zip(cuts, parts, strict=True))
        )

    # a name that is gone belonged to votes, and all of those were replaced
    dimension = earlier.dimension.of
    if earlier.dimension.names != fresh.dimension.names:
        code = {name: number for number, name in enumerate(fresh.dimension.names)}
        codes = np.array([*(code.get(name, -1) for name in earlier.dimension.names), -1], np.int32)
        dimension = take_in_parts(codes, dimension)
    return replace(
        fresh,
        left=put(earlier.left, fresh.left),
        right=put(earlier.right, fresh.right),
        named=put(earlier.named, fresh.named),
        start=_starts(put(_sizes(earlier.start), _sizes(fresh.start))),
        outcome=put_rows(earlier.outcome, fresh.outcome),
        judge=views.Names(put_rows(earlier.judge.of, fresh.judge.of), fresh.judge.names),
        dimension=views.Names(put_rows(dimension, fresh.dimension.of), fresh.dimension.names),
        created_us=put_rows(earlier.created_us, fresh.created_us),
        asking=put_rows(earlier.asking, fresh.asking),
    )


def _sizes(start: IntArray) -> IntArray:
    """(p,) how many verdicts each pair has."""
    return build_column(start.size - 1, np.int64, lambda pairs: np.diff(start[pairs.start : pairs.stop + 1]))


def _starts(sizes: IntArray) -> IntArray:
    """(p + 1,) where the verdicts of each pair start, and where the last ones end."""
    at = 0

    def starts(pairs: slice) -> IntArray:
        nonlocal at
        ends = at + np.cumsum(sizes[pairs])
        at, begins = int(ends[-1]), ends - sizes[pairs]
        return begins

    begins = build_column(sizes.size, np.int64, starts)
    return joined(begins, np.array([at]))


def _parts(removed: IntArray | CodeArray, position: IntArray, size: int) -> list[tuple[bool, int, int]]:
    """An earlier index without the pairs `removed`, and with fresh pair i before the pair `position[i]`, as stretches.

    Each is (fresh?, begin, end). Few pairs change, so copying stretches is much cheaper than picking every row.
    """
    parts: list[tuple[bool, int, int]] = []

    def add(is_new: bool, begin: int, end: int) -> None:
        if parts and parts[-1][0] == is_new and parts[-1][2] == begin:
            begin = parts.pop()[1]
        if begin < end:
            parts.append((is_new, begin, end))

    at = 0
    inserted = [(where, 0, number) for number, where in enumerate(position.tolist())]
    for where, removes, number in sorted([*inserted, *((where, 1, 0) for where in removed.tolist())]):
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
    """Finds a pair by its id. Outputs are stored by `seq`, which never changes, so hashes stay valid."""

    def __init__(self) -> None:
        self._number = np.zeros(0, np.uint64)
        self._pair = np.zeros(0, np.int64)
        """Both sorted by `_number`: the first 64 bits of an id, and `seq` of left and right in one number."""
        self._hashed_pairs: CodeArray | None = None
        """The pairs of the index hashed last; an index with the same pairs shares this array."""
        self._guard = threading.Lock()
        self._waiting: set[str] = set()
        """Battles that requests wait for; the background thread hashes without pauses meanwhile."""

    def find(self, view: views.View, index: BattleIndex, identity: str) -> int | None:
        """The number of the pair in the index."""
        match = self._look(view, index, identity)
        if match is None and self._hashed_pairs is not index.left:
            self._waiting.add(identity)
            try:
                self.read(view, index)
            finally:
                self._waiting.discard(identity)
            match = self._look(view, index, identity)
        return match

    def _look(self, view: views.View, index: BattleIndex, identity: str) -> int | None:
        numbers, pairs = self._number, self._pair
        number = np.uint64(content_number(identity))
        entries = view.entries
        for at in range(int(np.searchsorted(numbers, number)), numbers.size):
            if numbers[at] != number:
                return None
            seq = np.array([pairs[at] >> 32, pairs[at] & 0xFFFFFFFF], np.int64)
            if seq.max() > (entries.seq[-1] if entries.seq.size else 0):
                continue
            left, right = entries.at(seq).tolist()
            if battle_id(entries, left, right) == identity:
                return index.pair_of(left, right)
        return None

    @property
    def known(self) -> tuple[NDArray[np.uint64], IntArray]:
        """The hashes computed so far, and their pairs."""
        return self._number, self._pair

    def start_from(self, number: NDArray[np.uint64], pair: IntArray) -> None:
        """Start with hashes computed by another process, unless some were computed here already."""
        with self._guard:
            if not self._number.size:
                self._number, self._pair = number, pair

    def read(self, view: views.View, index: BattleIndex, pause: Callable[[], bool] = lambda: True) -> None:
        """Hash new pairs. `pause` is called between parts; if it returns False, hashing ends early."""
        with self._guard:
            if self._hashed_pairs is index.left:
                return
            numbers = ColumnWriter(np.uint64)
            new = _new_pairs(_pair_numbers(view.entries, index), self._pair)
            hashing = content_numbers(KIND, _rows(view.entries, new))
            while (part := np.fromiter(islice(hashing, _AT_ONCE), np.uint64)).size:
                numbers.append(part)
                if not self._waiting and not pause():
                    return
            if new.size:
                self._number, self._pair = _by_number(joined(self._number, numbers.column()), joined(self._pair, new))
            self._hashed_pairs = index.left


def _pair_numbers(entries: views.Entries, index: BattleIndex) -> IntArray:
    """(p,) `seq` of left and right of each pair, combined in one number."""
    seq, left, right = entries.seq, index.left, index.right
    return build_column(len(index), np.int64, lambda part: seq[left[part]] << 32 | seq[right[part]])


def _new_pairs(pairs: IntArray, earlier: IntArray) -> IntArray:
    """Those of the pairs (without duplicates) that are not among the known ones."""
    if not earlier.size:
        return pairs
    all_pairs = joined(pairs, earlier)
    fresh = joined(
        *(views.constant_column(np.bool_(is_new), part.size) for is_new, part in ((True, pairs), (False, earlier)))
    )
    new = ColumnWriter(np.int64)
    for pair, is_new in sorted_parts(all_pairs.size, lambda part: [all_pairs[part], fresh[part]]):
        new.append(np.setdiff1d(pair[is_new], pair[~is_new], assume_unique=True))
    return new.column()


def _by_number(numbers: NDArray[np.uint64], pairs: IntArray) -> tuple[NDArray[np.uint64], IntArray]:
    """Both arrays, sorted by number."""
    sorted_numbers, sorted_pairs = ColumnWriter(np.uint64, numbers.size), ColumnWriter(np.int64, pairs.size)
    for number, pair in sorted_parts(numbers.size, lambda part: [numbers[part], pairs[part]]):
        order = np.argsort(number)
        sorted_numbers.append(number[order])
        sorted_pairs.append(pair[order])
    return sorted_numbers.column(), sorted_pairs.column()


def _rows(entries: views.Entries, pairs: IntArray) -> Iterator[tuple[str, str, str]]:
    """Yield item, left and right output of pairs given by `seq`."""
    items, ids = entries.item_id, entries.output_id
    for part in row_slices(pairs.size, _READ_AT_ONCE):
        left, right = entries.at(pairs[part] >> 32), entries.at(pairs[part] & 0xFFFFFFFF)
        sides = zip(entries.item[left].tolist(), ids[left].tolist(), ids[right].tolist(), strict=True)
        yield from ((items[item], left_id.decode(), right_id.decode()) for item, left_id, right_id in sides)
