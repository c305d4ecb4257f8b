"""What a bootstrap draws: battles, items or raters, as numbers of times each comes up.

Units that touch one cell with one weight are interchangeable, so that only how many there are matters: a bootstrap over
battles costs the same for a thousand and for a billion battles. Below `EXACT_LIMIT` units the draw is multinomial (the
number of units stays), above it Poisson.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.core.notices import Notice
from imarena.ranking.battles import Battles, FloatArray, IntArray

EXACT_LIMIT = 10_000
FEW_UNITS = 10
"""Fewer clusters than this give intervals that are too narrow."""
TOO_NARROW = "few_units"
"""The code of the notice on that."""


def default_cluster(battles: Battles) -> str:
    """Items where they are given, else battles."""
    return "battle" if battles.item is None else "item"


def one_unit(battles: Battles, cluster: str) -> bool:
    """Whether all battles belong to one item or one rater: then there is nothing to resample."""
    codes = {"item": battles.item, "rater": battles.rater, "battle": None}[cluster]
    return codes is not None and int(codes.units().max(initial=0)) < 1


def cluster_notices(battles: Battles, cluster: str, units: int) -> list[Notice]:
    """What a user should know about the units that were resampled."""
    codes = {"item": battles.item, "rater": battles.rater, "battle": None}[cluster]
    if codes is None:
        return []
    notices = []
    if codes.n_unnamed:
        notices.append(Notice(code="unnamed_units", values={"battles": codes.n_unnamed, "cluster": cluster}))
    if units < FEW_UNITS:
        notices.append(Notice(code=TOO_NARROW, values={"units": units, "cluster": cluster}))
    return notices


@dataclass(frozen=True)
class Units:
    """U kinds of unit. `number` (U,) is how many of each there are; `touches` (U, 3K) sparse what one of them adds.

    `touches` is None where kind u is simply entry ``entry[u]`` of the counts.
    """

    number: FloatArray
    entry: IntArray
    touches: Any
    size: int
    """3K."""

    @property
    def total(self) -> int:
        return round(float(self.number.sum()))

    @property
    def exact(self) -> bool:
        return self.total <= EXACT_LIMIT

    def draw(self, rng: np.random.Generator, rounds: int) -> FloatArray:
        """(3K, rounds) counts of that many resampled boards."""
        if self.exact:
            drawn = rng.multinomial(self.total, self.number / self.number.sum(), size=rounds).T.astype(np.float64)
        else:
            drawn = rng.poisson(self.number[:, None], size=(self.number.size, rounds)).astype(np.float64)
        if self.touches is not None:
            return np.ascontiguousarray(self.touches.T @ drawn)
        if self.entry.size == self.size:
            return drawn
        full = np.zeros((self.size, rounds))
        full[self.entry] = drawn
        return full


def battle_units(counts: FloatArray) -> Units:
    """Battles without weights: the counts (K, 3) say all."""
    flat = counts.ravel()
    entry = np.flatnonzero(flat)
    return Units(number=flat[entry], entry=entry, touches=None, size=flat.size)


def grouped_units(entry: IntArray, weight: FloatArray | None, unit: IntArray | None, size: int) -> Units:
    """Weighted battles, or clusters (items, raters).

    `entry` (n,) is where a battle stands in the flat counts, `weight` (n,) what it adds, `unit` (n,) its cluster (None:
    every battle is its own).
    """
    from scipy.sparse import csr_matrix

    values = np.ones(entry.size) if weight is None else weight
    clusters = np.arange(entry.size) if unit is None else unit.astype(np.int64)
    n_units = int(clusters.max(initial=-1)) + 1
    touches = csr_matrix((values, (clusters, entry)), shape=(n_units, size))
    touches.sum_duplicates()
    width = np.diff(touches.indptr)
    single = np.flatnonzero(width == 1)
    first = touches.indptr[single]
    kinds, number = np.unique(
        np.column_stack([touches.indices[first], touches.data[first]]), axis=0, return_counts=True
    )
    merged = csr_matrix((kinds[:, 1], (np.arange(len(kinds)), kinds[:, 0].astype(np.int64))), shape=(len(kinds), size))
    many = touches[width > 1]
    if many.shape[0]:
        from scipy.sparse import vstack

        merged = vstack([merged, many]).tocsr()
    numbers = np.concatenate([number.astype(np.float64), np.ones(many.shape[0])])
    return Units(number=numbers, entry=np.empty(0, np.int64), touches=merged, size=size)
