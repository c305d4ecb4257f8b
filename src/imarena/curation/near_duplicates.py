"""An index of fingerprints that finds the images of a benchmark of which an image is a near-duplicate.

Hashes are found by multi-index hashing (Norouzi et al. 2012): two 64-bit hashes that differ in at most 11 bits have one
of four 16-bit parts that differs in at most 2 (7 bits: in at most 1).
New entries wait in a list, which is searched completely, until there are enough for a new table. Hits are verified
with their grey copies.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numba
import numpy as np
from numpy.typing import NDArray

from imarena.curation.fingerprint import CROPS, THUMB, Fingerprint, compare_thumbs

FARTHEST = 11
LOCAL_DIFFERENCE = 0.4
"""A larger difference in some part of the grey copies means different images, or local edits (ours)."""
_PARTS, _BITS = 4, 16
_WAITING = 2048
_REMEMBERED = 8192
"""Comparisons of grey copies that are remembered, with 2 KB each."""
_MASKS = tuple(
    np.array(
        [sum(1 << bit for bit in bits) for n in range(most + 1) for bits in combinations(range(_BITS), n)], np.uint64
    )
    for most in range(FARTHEST // _PARTS + 1)
)
"""All masks that change at most 0, 1 or 2 bits of a part."""


@dataclass(frozen=True)
class NearDuplicate:
    """An image of which another is a near-duplicate: its key, differing bits, and similarity of the grey copies."""

    key: str
    distance: int
    likeness: float


class DuplicateIndex:
    """Keys and fingerprints. `hash_distance` is at most 11; `least_likeness` is the minimum correlation."""

    def __init__(self, hash_distance: int = 7, least_likeness: float = 0.96) -> None:
        if not 0 <= hash_distance <= FARTHEST:
            raise ValueError(f"hash_distance is 0 to {FARTHEST}")
        self._distance = hash_distance
        self._likeness = least_likeness
        self._keys: list[str] = []
        self._thumbs: list[NDArray[np.uint8]] = []
        self._hashes: list[NDArray[np.uint64]] = []
        self._table: HashTable | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str, fingerprint: Fingerprint) -> None:
        """Add one image."""
        self._keys.append(key)
        self._thumbs.append(fingerprint.thumb)
        self._hashes.append(fingerprint.hashes)
        done = 0 if self._table is None else len(self._table)
        if len(self._keys) - done >= _WAITING:
            self._table = HashTable(np.stack(self._hashes))

    def search(self, fingerprint: Fingerprint) -> list[NearDuplicate]:
        """Near-duplicates of an image, the most similar first."""
        done = 0 if self._table is None else len(self._table)
        hits = [] if self._table is None else self._table.search(fingerprint.hashes, self._distance)
        if len(self._keys) > done:
            waiting = np.stack(self._hashes[done:])
            matches = _search_all(waiting, fingerprint.hashes, self._distance)
            hits += [(at + done, variant, reverse, bits) for at, variant, reverse, bits in matches]
        best: dict[int, NearDuplicate] = {}
        for at, variant, reverse, distance in hits:
            pair = (self._thumbs[at], fingerprint.thumb) if reverse else (fingerprint.thumb, self._thumbs[at])
            score, local = _compare(pair[0].tobytes(), pair[1].tobytes(), variant)
            if score >= self._likeness and local <= LOCAL_DIFFERENCE and (at not in best or best[at].likeness < score):
                best[at] = NearDuplicate(self._keys[at], distance, round(score, 3))
        return sorted(best.values(), key=lambda near: (-near.likeness, near.key))


@lru_cache(_REMEMBERED)
def _compare(first: bytes, other: bytes, variant: int) -> tuple[float, float]:
    """`compare_thumbs`, remembered: a pool is chosen after every round."""
    left, right = (np.frombuffer(thumb, np.uint8).reshape(THUMB, THUMB) for thumb in (first, other))
    return compare_thumbs(left, right, variant % len(CROPS), mirrored=variant >= len(CROPS))


class HashTable:
    """Tables over the parts of hashes, shape (n, variants). Variant 0 is the image itself.

    One set of tables contains the images themselves, and every variant of a query is looked up in it; the other
    contains all variants, and only the query itself is looked up in it.
    """

    def __init__(self, hashes: NDArray[np.uint64]) -> None:
        self._count = len(hashes)
        self._variants = hashes.shape[1]
        self._wholes = _Buckets(hashes[:, 0])
        self._all = _Buckets(hashes.ravel())

    def __len__(self) -> int:
        return self._count

    def search(self, hashes: NDArray[np.uint64], distance: int) -> list[tuple[int, int, bool, int]]:
        """Hits (entry, variant, reverse, distance): a variant of the query matches an entry, or the reverse."""
        return self.search_many(hashes[None, :], distance)[0]

    def search_many(self, hashes: NDArray[np.uint64], distance: int) -> list[list[tuple[int, int, bool, int]]]:
        """Like `search`, for many queries, shape (m, variants)."""
        hits: list[list[tuple[int, int, bool, int]]] = [[] for _ in range(len(hashes))]
        for query, entry, bits in self._wholes.search(hashes.ravel(), distance):
            hits[query // self._variants].append((entry, query % self._variants, False, bits))
        for query, entry, bits in self._all.search(np.ascontiguousarray(hashes[:, 0]), distance):
            if entry % self._variants:
                hits[query].append((entry // self._variants, entry % self._variants, True, bits))
        return hits


class _Buckets:
    """Hashes, shape (n,), sorted by each of their four parts."""

    def __init__(self, hashes: NDArray[np.uint64]) -> None:
        self._hashes = np.ascontiguousarray(hashes, np.uint64)
        self._starts = np.zeros((_PARTS, (1 << _BITS) + 1), np.int64)
        self._order = np.zeros((_PARTS, len(hashes)), np.int32)
        for part in range(_PARTS):
            values = (self._hashes >> np.uint64(_BITS * part)) & np.uint64((1 << _BITS) - 1)
            self._order[part] = np.argsort(values, kind="stable")
            self._starts[part, 1:] = np.cumsum(np.bincount(values.astype(np.int64), minlength=1 << _BITS))

    def search(self, queries: NDArray[np.uint64], distance: int) -> list[tuple[int, int, int]]:
        """Matches (query, entry, differing bits), each pair once."""
        matches = _lookup(self._hashes, self._order, self._starts, queries, _MASKS[distance // _PARTS], distance)
        return list(dict.fromkeys((int(query), int(entry), int(bits)) for query, entry, bits in matches))


def _search_all(
    stored: NDArray[np.uint64], hashes: NDArray[np.uint64], distance: int
) -> list[tuple[int, int, bool, int]]:
    """Search without a table: the query's variants against all entries, and all entries' variants against the query."""
    hits = []
    for reverse, bits in (
        (False, np.bitwise_count(stored[:, :1] ^ hashes[None, :])),
        (True, np.bitwise_count(stored ^ hashes[:1][None, :])),
    ):
        for at, variant in zip(*np.nonzero(bits <= distance), strict=True):
            hits.append((int(at), int(variant), reverse, int(bits[at, variant])))
    return hits


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _bits(value: np.uint64) -> int:
    value = value - ((value >> np.uint64(1)) & np.uint64(0x5555555555555555))
    value = (value & np.uint64(0x3333333333333333)) + ((value >> np.uint64(2)) & np.uint64(0x3333333333333333))
    value = (value + (value >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((value * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _lookup(
    hashes: NDArray[np.uint64],
    order: NDArray[np.int32],
    starts: NDArray[np.int64],
    queries: NDArray[np.uint64],
    masks: NDArray[np.uint64],
    distance: int,
) -> list[tuple[int, int, int]]:
    """Matches (query, entry, distance); a pair is repeated for each part in which it matches."""
    matches = [(0, 0, 0)]
    matches.pop()
    low = np.uint64((1 << 16) - 1)
    for query in range(len(queries)):
        value = queries[query]
        for part in range(4):
            piece = (value >> np.uint64(16 * part)) & low
            for mask in masks:
                bucket = np.int64(piece ^ mask)
                for at in range(starts[part, bucket], starts[part, bucket + 1]):
                    entry = order[part, at]
                    bits = _bits(value ^ hashes[entry])
                    if bits <= distance:
                        matches.append((query, int(entry), bits))
    return matches


def caption_similarity(left: str, right: str) -> float:
    """Similarity of two captions: the share of words that they have in common (Jaccard), 0 to 1."""
    words, other = set(left.casefold().split()), set(right.casefold().split())
    return len(words & other) / len(words | other) if words | other else 0.0
