"""Bootstrap draws of battles, items or raters, as the number of times each unit is drawn.

Units that add to one cell with the same weight are interchangeable, so only their number matters: a bootstrap over
battles costs the same for a thousand and for a billion battles. A bootstrap over items or raters stores what each of
them adds to the counts: one small number per item, pair and outcome that occurs, not per battle. Up to `EXACT_LIMIT`
units, the draw is multinomial (with a fixed number of units), above it Poisson.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray
from imarena.core.notices import Notice
from imarena.ranking.battles import Battles
from imarena.stats import FEW_UNITS
from imarena.tables import ColumnWriter, build_column, filter_column, joined, release_pages, row_slices, sorted_parts

EXACT_LIMIT = 10_000
DRAWN_AT_ONCE = 1 << 20
"""Units times rounds in memory at once."""
UNITS_AT_ONCE = 2048
TOO_NARROW = "few_units"
"""Code of the notice about too few clusters."""


def default_cluster(battles: Battles) -> str:
    """Items if they are given, else battles."""
    return "battle" if battles.item is None else "item"


def one_unit(battles: Battles, cluster: str) -> bool:
    """Do all battles belong to one item or rater, so that there is nothing to resample?"""
    codes = {"item": battles.item, "rater": battles.rater, "battle": None}[cluster]
    return codes is not None and codes.n_units <= 1


def cluster_notices(battles: Battles, cluster: str, units: int) -> list[Notice]:
    """Notices for the user about the resampled units."""
    codes = {"item": battles.item, "rater": battles.rater, "battle": None}[cluster]
    if codes is None:
        return []
    notices = []
    if codes.n_unnamed:
        notices.append(Notice(code="unnamed_units", values={"battles": codes.n_unnamed, "cluster": cluster}))
    if units < FEW_UNITS:
        notices.append(Notice(code=TOO_NARROW, values={"units": units, "cluster": cluster}))
    return notices


def group_units(battles: Battles, groups: Sequence[IntArray], cluster: object) -> list[int]:
    """The number of items, raters or battles of each group of models that never met, given by the models' indices."""
    of = np.zeros(len(battles.models), np.int64)
    for number, group in enumerate(groups):
        of[group] = number
    codes = {"item": battles.item, "rater": battles.rater}.get(str(cluster))
    if codes is None:
        return [int(count) for count in np.bincount(of[battles.left], minlength=len(groups))]
    masks = [np.zeros(codes.n_units, bool) for _ in groups]
    for rows in row_slices(len(battles)):
        unit, group_of = codes.units(rows.start, rows.stop), of[battles.left[rows]]
        for number, mask in enumerate(masks):
            mask[unit[group_of == number]] = True
    return [int(mask.sum()) for mask in masks]


def narrow_group_notices(units: Sequence[int], settings: Mapping[str, object], bounded: Sequence[bool]) -> list[Notice]:
    """A notice for each group with few items or raters and with intervals (`bounded`).

    None if the whole board has few, which has its own notice.
    """
    every, cluster = settings.get("units"), settings.get("cluster")
    if not units or cluster not in ("item", "rater") or not isinstance(every, int) or every < FEW_UNITS:
        return []
    shown = zip(units, bounded, strict=True)
    few = ((number, count) for number, (count, has) in enumerate(shown, 1) if has and count < FEW_UNITS)
    return [Notice(code=TOO_NARROW, values={"units": n, "cluster": str(cluster), "group": at}) for at, n in few]


@dataclass(frozen=True)
class Units:
    """U kinds of units. `number` (U,): how many units of each kind; `touches` (U, 3K) sparse: what one of them adds.

    `touches` is None if kind u is simply entry ``entry[u]`` of the counts.
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
        """(3K, rounds) counts of `rounds` resampled boards."""
        if self.touches is not None:
            return self._draw_exact(rng, rounds) if self.exact else self._draw_poisson(rng, rounds)
        if self.exact:
            counts = rng.multinomial(self.total, self._shares, size=rounds).T.astype(np.float64)
        else:
            counts = rng.poisson(self.number[:, None], size=(self.number.size, rounds)).astype(np.float64)
        if self.entry.size == self.size:
            return counts
        full = np.zeros((self.size, rounds))
        full[self.entry] = counts
        return full

    @property
    def _shares(self) -> FloatArray:
        return np.asarray(self.number / self.number.sum())

    def _draw_exact(self, rng: np.random.Generator, rounds: int) -> FloatArray:
        """Draw some rounds at a time, with the same result as in one call."""
        full = np.empty((self.size, rounds))
        step = max(1, DRAWN_AT_ONCE // self.number.size)
        for begin in range(0, rounds, step):
            size = min(step, rounds - begin)
            counts = rng.multinomial(self.total, self._shares, size=size).T.astype(np.float64)
            full[:, begin : begin + size] = self._sum(counts, 0)
        return full

    def _draw_poisson(self, rng: np.random.Generator, rounds: int) -> FloatArray:
        """Draw some units at a time, with the same result as in one call."""
        number = self.number[:, None]
        if self.touches.dtype.kind == "f":  # floating-point sums of weights depend on grouping
            return self._sum(rng.poisson(number, size=(number.size, rounds)).astype(np.float64), 0)
        full = np.zeros((self.size, rounds))
        step = max(1, DRAWN_AT_ONCE // rounds)
        for begin in range(0, number.size, step):
            part = number[begin : begin + step]
            full += self._sum(rng.poisson(part, size=(part.size, rounds)).astype(np.float64), begin)
        return full

    def _sum(self, counts: FloatArray, begin: int) -> FloatArray:
        """(3K, rounds) what units from `begin` on add; `counts` (some, rounds) is how often each is drawn."""
        if self.touches.dtype.kind == "f":
            return np.ascontiguousarray(self.touches.T @ counts)
        full = np.zeros((self.size, counts.shape[1]))
        for start in range(0, len(counts), UNITS_AT_ONCE):  # the product temporarily needs eight bytes per count
            part = counts[start : start + UNITS_AT_ONCE]
            full += self.touches[begin + start : begin + start + len(part)].T @ part
            release_pages()
        return full


def battle_units(counts: FloatArray) -> Units:
    """Units for battles without weights, from the counts (K, 3) alone."""
    flat = counts.ravel()
    entry = np.flatnonzero(flat)
    return Units(number=flat[entry], entry=entry, touches=None, size=flat.size)


@dataclass(frozen=True)
class BattleParts:
    """n battles whose entries in the counts and whose units are computed for some rows at a time."""

    n: int
    entry: Callable[[int, int], IntArray]
    """Entries in the flat counts of the battles from one row up to another."""
    unit: Callable[[int, int], IntArray]
    """Clusters of the battles from one row up to another."""
    weight: FloatArray | None = None
    """(n,) what each battle adds; None: 1."""


def grouped_units(battles: BattleParts, n_units: int, size: int) -> Units:
    """Units for weighted battles or clusters (items, raters)."""
    from scipy.sparse import csr_matrix

    touches = _added_up(battles, (n_units, size))
    width = np.diff(touches.indptr)
    first = touches.indptr[:-1][width == 1]
    values, value = np.unique(touches.data[first], return_inverse=True)
    kinds, number = np.unique(touches.indices[first].astype(np.int64) * values.size + value, return_counts=True)
    if kinds.size:
        many = build_column(touches.data.size, bool, lambda rows: np.ones(rows.stop - rows.start, bool))
        many[first] = False
        ends = kinds.size + np.cumsum(width[width > 1], dtype=np.int64)
        touches = csr_matrix(
            (
                joined(values[kinds % values.size], filter_column(touches.data, many)),
                joined((kinds // values.size).astype(np.int32), filter_column(touches.indices, many)),
                np.concatenate([np.arange(kinds.size + 1), ends]),
            ),
            shape=(kinds.size + ends.size, size),
        )
    numbers = np.concatenate([number.astype(np.float64), np.ones(int((width > 1).sum()))])
    return Units(number=numbers, entry=np.empty(0, np.int64), touches=touches, size=size)


def _added_up(battles: BattleParts, shape: tuple[int, int]) -> Any:
    """(units, 3K) sparse: what each unit adds, in the smallest sufficient number type."""
    from scipy.sparse import csr_matrix

    if battles.weight is not None:  # floating-point sums depend on the order: all at once
        unit, entry = (column(0, battles.n).astype(np.int32) for column in (battles.unit, battles.entry))
        weighted = csr_matrix((battles.weight, (unit, entry)), shape=shape)
        weighted.sum_duplicates()
        return weighted
    number = np.zeros(shape[0], np.int64)
    for rows in row_slices(battles.n):
        number += np.bincount(battles.unit(rows.start, rows.stop), minlength=shape[0])
    indices, data = ColumnWriter(np.int32), ColumnWriter(np.min_scalar_type(int(number.max(initial=0))))
    width = np.zeros(shape[0] + 1, np.int64)

    def entries(rows: slice) -> list[NDArray[Any]]:
        return [part(rows.start, rows.stop).astype(np.int32) for part in (battles.unit, battles.entry)]

    for unit, entry in sorted_parts(battles.n, entries):
        keys, repeats = np.unique(unit.astype(np.int64) * shape[1] + entry, return_counts=True)
        indices.append(keys % shape[1])
        data.append(repeats)
        width[1:] += np.bincount(keys // shape[1], minlength=shape[0])
    return csr_matrix((data.column(), indices.column(), np.cumsum(width)), shape=shape)
