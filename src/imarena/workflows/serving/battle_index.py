"""All pairs of outputs that people or judges compared, as arrays: a page of a million battles is a slice.

A battle's id is a hash, so that it cannot be looked up without hashing all: `BattleIds` does so once, in the background
of a server, and later only for pairs that are new.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from imarena.core import content_id, content_number, content_numbers
from imarena.workflows.views import MIRRORED, NONE, ByteArray, CodeArray, Entries, IntArray, Names, View, joined_names

_AT_ONCE = 2_000
KIND = "battle"


@dataclass(frozen=True)
class BattleIndex:
    """p pairs in the order in which they were first named (votes before judgments), and n verdicts that count.

    `left` and `right` (p,) are places of outputs, the one with the smaller id left. The verdicts of pair i are rows
    `start[i]` to `start[i + 1]`. `outcome` (n,) is a preference as seen from the left output, `judge` (n,) is -1 for
    people, `asking` (n,) is a vote of a campaign that is open.
    """

    left: CodeArray
    right: CodeArray
    start: IntArray
    outcome: ByteArray
    judge: Names
    dimension: Names
    created_us: IntArray
    asking: NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.left.size)

    @cached_property
    def _sorted(self) -> tuple[IntArray, IntArray]:
        keys = self.left.astype(np.int64) << 32 | self.right
        rows = np.argsort(keys)
        return keys[rows], rows

    def pair_of(self, left: int, right: int) -> int | None:
        """The number of a pair; None where nobody compared these two, or nothing of it counts."""
        keys, rows = self._sorted
        key = left << 32 | right
        at = int(np.searchsorted(keys, key))
        return int(rows[at]) if at < keys.size and int(keys[at]) == key else None

    def verdicts_of(self, pairs: IntArray) -> IntArray:
        """The rows of the verdicts of these pairs, one pair after the other."""
        size = self.start[pairs + 1] - self.start[pairs]
        before = np.cumsum(size) - size
        return np.repeat(self.start[pairs] - before, size) + np.arange(int(size.sum()))

    def with_any(self, verdicts: NDArray[np.bool_]) -> IntArray:
        """The pairs of which at least one of these verdicts is."""
        if not len(self):
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.logical_or.reduceat(verdicts, self.start[:-1]))


def read_battle_index(view: View) -> BattleIndex:
    """Index the votes and the judgments of a view that count."""
    entries = view.entries
    votes = view.votes
    cast = votes.where(votes.counts & (votes.preference != NONE) & (votes.right >= 0))
    said = view.judgments(view.forms.counting(pairwise=True))
    said = said.where(said.ok & (said.preference != NONE))
    asking = np.isin(cast.campaign.of, [n for n, name in enumerate(cast.campaign.names) if name in view.asking])
    n, m = len(cast), len(said)
    left, right = np.concatenate([cast.left, said.left]), np.concatenate([cast.right, said.right])
    turned = entries.order[left] > entries.order[right]
    left, right = np.where(turned, right, left), np.where(turned, left, right)
    preference = np.concatenate([cast.preference, said.preference])
    named = np.concatenate([cast.seq, said.seq + (int(cast.seq.max(initial=0)) + 1)])
    rows, start = _grouped(left, right, named)
    first = rows[start[:-1]]
    judges = tuple(dict.fromkeys(form.judge for form in said.forms))
    judged = said.of_forms([judges.index(form.judge) for form in said.forms]).astype(np.int32)
    about = tuple(dict.fromkeys(form.dimension for form in said.forms))
    dimension = joined_names(
        [cast.dimension, Names(said.of_forms([about.index(f.dimension) for f in said.forms]).astype(np.int32), about)]
    )
    return BattleIndex(
        left=left[first],
        right=right[first],
        start=start,
        outcome=np.where(turned, MIRRORED[preference], preference)[rows],
        judge=Names(np.concatenate([np.full(n, -1, np.int32), judged])[rows], judges),
        dimension=Names(dimension.of[rows], dimension.names),
        created_us=np.concatenate([cast.created_us, said.created_us])[rows],
        asking=np.concatenate([asking, np.zeros(m, bool)])[rows],
    )


def _grouped(left: CodeArray, right: CodeArray, named: IntArray) -> tuple[IntArray, IntArray]:
    """Rows sorted by pair, pairs by their first row, and where each pair starts."""
    keys = left.astype(np.int64) << 32 | right
    rows = np.lexsort((named, keys))
    new = np.ones(rows.size, bool)
    new[1:] = keys[rows[1:]] != keys[rows[:-1]]
    begin = np.flatnonzero(new)
    size = np.diff(np.append(begin, rows.size))
    order = np.argsort(named[rows[begin]], kind="stable")
    start = np.append(0, np.cumsum(size[order]))
    shift = np.repeat(begin[order] - start[:-1], size[order])
    return rows[np.arange(rows.size) + shift], start.astype(np.int64)


def battle_id(entries: Entries, left: int, right: int) -> str:
    """The id of a pair of outputs, the one with the smaller id first."""
    return content_id(KIND, entries.item_id[entries.item[left]], entries.id_of(left), entries.id_of(right))


class BattleIds:
    """Finds a pair by its id. Outputs are held by `seq`, which never changes: what was hashed stays known."""

    def __init__(self) -> None:
        self._number = np.zeros(0, np.uint64)
        self._pair = np.zeros(0, np.int64)
        """Both sorted by `_number`: the first 64 bits of an id, and `seq` of left and right in one number."""
        self._read: BattleIndex | None = None
        self._guard = threading.Lock()

    def find(self, view: View, index: BattleIndex, identity: str) -> int | None:
        """The number of the pair in the index."""
        found = self._look(view, index, identity)
        if found is None and self._read is not index:
            self.read(view, index)
            found = self._look(view, index, identity)
        return found

    def _look(self, view: View, index: BattleIndex, identity: str) -> int | None:
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

    def read(self, view: View, index: BattleIndex, pause: Callable[[], bool] = lambda: True) -> None:
        """Hash the pairs that are new. `pause` is called between parts; False ends it early."""
        with self._guard:
            if self._read is index:
                return
            entries = view.entries
            pairs = entries.seq[index.left] << 32 | entries.seq[index.right]
            new = np.flatnonzero(~np.isin(pairs, self._pair)) if self._pair.size else np.arange(len(index))
            numbers: list[int] = []
            hashing = content_numbers(KIND, _rows(entries, index, new))
            while part := list(islice(hashing, _AT_ONCE)):
                numbers += part
                if not pause():
                    return
            number = np.append(self._number, np.array(numbers, np.uint64))
            pair = np.append(self._pair, pairs[new])
            order = np.argsort(number)
            self._number, self._pair = number[order], pair[order]
            self._read = index


def _rows(entries: Entries, index: BattleIndex, pairs: IntArray) -> Iterator[tuple[str, str, str]]:
    left, right = index.left[pairs], index.right[pairs]
    items, ids = entries.item_id, entries.output_id
    for begin in range(0, pairs.size, _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        sides = zip(entries.item[left[part]].tolist(), ids[left[part]].tolist(), ids[right[part]].tolist(), strict=True)
        yield from ((items[item], one.decode(), other.decode()) for item, one, other in sides)
