"""Count battles: a fit only needs how often each pair ended with which outcome, not the battles themselves."""

from dataclasses import dataclass, replace

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.battles import Battles, CodedColumn, ModelTally
from imarena.tables import row_slices

CHUNK = 1 << 17
DENSE_LIMIT = 20_000_000
"""Largest table of counts that is dense while counting."""


@dataclass(frozen=True)
class PairCells:
    """K cells. A cell is a pair of models with its group and covariates; `counts` (K, 3) are its outcomes.

    Columns of `counts`: left wins, ties, right wins, as numbers of battles. `factor` (K,) multiplies a cell in the
    likelihood (balanced dimensions). `group` (K,) is the tie or reliability parameter of the cell.
    """

    n_models: int
    left: IntArray
    right: IntArray
    group: IntArray
    counts: FloatArray
    covariates: FloatArray
    factor: FloatArray

    @property
    def weighted(self) -> FloatArray:
        """(K, 3) counts as the likelihood sees them."""
        return self.counts * self.factor[:, None]


def count_pairs(battles: Battles, *, group: CodedColumn | None = None, sided: bool = False) -> PairCells:
    """Count outcomes by pair and group. `sided`: count (left, right) and (right, left) separately (position term)."""
    m, groups = len(battles.models), len(group.names) if group else 1
    size = groups * m * m * 3
    if size <= min(DENSE_LIMIT, max(64 * len(battles), 1 << 16)):
        table = np.zeros(size)
        for rows in row_slices(len(battles), CHUNK):
            key, weight = _keys(battles, group, m, rows.start)
            table += np.bincount(key, weights=weight, minlength=size)
        full = np.flatnonzero(table)
        sums = table[full]
    else:
        keys = np.concatenate([_keys(battles, group, m, start)[0] for start in range(0, len(battles), CHUNK)])
        full, key_of_row = np.unique(keys, return_inverse=True)
        sums = np.bincount(key_of_row, weights=battles.weight, minlength=full.size).astype(np.float64)
    if not sided:
        full = _turned(full, m)
    key, row = np.unique(full // 3, return_inverse=True)
    counts = np.bincount(row * 3 + full % 3, weights=sums, minlength=3 * key.size).reshape(-1, 3).astype(np.float64)
    return _cells(m, key, counts)


def counts_by_pair(battles: Battles) -> PairCells:
    """Unweighted outcomes by pair of models, cached: enough for records, win shares and a plain fit."""
    if "by_pair" not in battles.computed:
        battles.computed["by_pair"] = count_pairs(replace(battles, weight=None))
    cells: PairCells = battles.computed["by_pair"]
    return cells


def cell_of(
    battles: Battles,
    cells: PairCells,
    begin: int = 0,
    end: int | None = None,
    *,
    group: CodedColumn | None = None,
    sided: bool = False,
) -> IntArray:
    """(n,) the index of each battle's outcome, for all or some battles, in ``cells.counts.ravel()``."""
    m = cells.n_models
    cell_keys = (cells.group * m + cells.left) * m + cells.right
    end = len(battles) if end is None else min(end, len(battles))
    entry = np.empty(end - begin, np.int64)
    for start in range(begin, end, CHUNK):
        key, _ = _keys(battles, group, m, start, min(start + CHUNK, end))
        key = key if sided else _turned(key, m)
        entry[start - begin : start - begin + key.size] = np.searchsorted(cell_keys, key // 3) * 3 + key % 3
    return entry


def battle_cells(battles: Battles, *, group: CodedColumn | None = None, covariates: FloatArray) -> PairCells:
    """Make every battle a cell, for covariates that differ from battle to battle."""
    n = len(battles)
    counts = np.zeros((n, 3))
    counts[np.arange(n), battles.outcome] = 1.0 if battles.weight is None else battles.weight
    return PairCells(
        n_models=len(battles.models),
        left=battles.left.astype(np.int64),
        right=battles.right.astype(np.int64),
        group=np.zeros(n, np.int64) if group is None else group.of.astype(np.int64),
        counts=counts,
        covariates=covariates,
        factor=np.ones(n),
    )


def tally_models(battles: Battles) -> ModelTally:
    """Count battles, wins, losses and ties of each model, unweighted."""
    cells = counts_by_pair(battles)
    m = cells.n_models
    left, tie, right = cells.counts.T
    wins, losses, ties = (
        np.asarray(np.bincount(cells.left, on_left, m) + np.bincount(cells.right, on_right, m), np.float64)
        for on_left, on_right in ((left, right), (right, left), (tie, tie))
    )
    return ModelTally(battles=wins + losses + ties, wins=wins, losses=losses, ties=ties)


def _keys(
    battles: Battles, group: CodedColumn | None, m: int, start: int, end: int | None = None
) -> tuple[IntArray, FloatArray | None]:
    rows = slice(start, start + CHUNK if end is None else end)
    key = battles.left[rows].astype(np.int64)
    if group is not None:
        key += group.of[rows].astype(np.int64) * m
    key *= m
    key += battles.right[rows]
    key *= 3
    key += battles.outcome[rows]
    return key, None if battles.weight is None else battles.weight[rows]


def _turned(key: IntArray, m: int) -> IntArray:
    """The same key with the lower-numbered model on the left."""
    pair, outcome = np.divmod(key, 3)
    ahead, right = np.divmod(pair, m)
    group, left = np.divmod(ahead, m)
    swap = left > right
    low, high = np.where(swap, right, left), np.where(swap, left, right)
    return np.asarray(((group * m + low) * m + high) * 3 + np.where(swap, 2 - outcome, outcome))


def _cells(m: int, key: IntArray, counts: FloatArray) -> PairCells:
    return PairCells(
        n_models=m,
        left=key // m % m,
        right=key % m,
        group=key // (m * m),
        counts=counts,
        covariates=np.empty((key.size, 0)),
        factor=np.ones(key.size),
    )
