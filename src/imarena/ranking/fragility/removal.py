"""What a board would be without some of its units (votes, items or raters), and which units matter most."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.ranking.battles import Battles, FloatArray, IntArray
from imarena.ranking.likelihood.fit import fit_board
from imarena.ranking.likelihood.likelihoods import BradleyTerry, sigmoid
from imarena.ranking.likelihood.pair_counts import PairCells, cell_of, count_pairs
from imarena.ranking.likelihood.separation import find_blocks

NEWTON_STEPS = 40
NEWTON_TOLERANCE = 1e-10
SLOW = 0.2
"""Steps that do not shrink to this share of the step before need a new inverse of the information matrix."""
POINTS = np.array([1.0, 0.5, 0.0])
"""The left side's share of the win, by outcome."""


@dataclass(frozen=True)
class RemovalUnits:
    """What can be removed. Units that are the same for a fit are one kind: all votes for A over B, say.

    `matrix` (kinds, 3 K) holds the battles of one unit of each kind, by entry of ``cells.counts.ravel()``; `available`
    (kinds,) is how many units of the kind there are, and `total` the number of all units.
    """

    matrix: Any
    available: IntArray
    names: tuple[str, ...]
    """Names of items or raters, by kind; empty for votes."""

    @property
    def total(self) -> int:
        return int(self.available.sum())


def removal_units(battles: Battles, cells: PairCells, by: str) -> RemovalUnits:
    """The votes, items or raters of these battles. Rows without the name of an item or rater cannot be removed."""
    from scipy.sparse import csr_matrix, identity

    entry = None if by == "vote" and battles.weight is None else cell_of(battles, cells)
    if entry is None:
        counts = cells.counts.ravel().astype(np.int64)
        kinds = np.flatnonzero(counts)
        return RemovalUnits(identity(counts.size, format="csr")[kinds], counts[kinds], ())
    weight = np.ones(len(battles)) if battles.weight is None else battles.weight
    if by == "vote":
        matrix = csr_matrix((weight, (np.arange(len(battles)), entry)), shape=(len(battles), cells.counts.size))
        return RemovalUnits(matrix, np.ones(len(battles), np.int64), ())
    column = battles.item if by == "item" else battles.rater
    if column is None:
        return RemovalUnits(csr_matrix((0, cells.counts.size)), np.empty(0, np.int64), ())
    named = np.flatnonzero(column.of != (-1 if column.unnamed is None else column.unnamed))
    codes, row = np.unique(column.of[named], return_inverse=True)
    matrix = csr_matrix((weight[named], (row, entry[named])), shape=(codes.size, cells.counts.size))
    return RemovalUnits(matrix, np.ones(codes.size, np.int64), tuple(column.names[code] for code in codes))


class FittedRemovals:
    """Bradley-Terry strengths after removals. Plain Newton steps from the last strengths where a maximum exists."""

    def __init__(self, battles: Battles, by: str) -> None:
        """Count the battles and fit them once."""
        self.cells = count_pairs(battles)
        self.units = removal_units(battles, self.cells, by)
        self.base = self._whole_fit(self.cells.counts)
        self._inverse = self._inverse_at(self.cells.counts, self.base)

    @cached_property
    def _places(self) -> IntArray:
        """(4, K) where a cell enters the flattened information matrix."""
        left, right, m = self.cells.left, self.cells.right, self.cells.n_models
        return np.concatenate([left * m + left, right * m + right, left * m + right, right * m + left])

    def counts_without(self, removed: IntArray) -> FloatArray:
        """(K, 3) battles that are left; `removed` (kinds,) says how many units of each kind go."""
        gone = self.units.matrix.T @ removed.astype(np.float64)
        return np.asarray(np.maximum(self.cells.counts - np.asarray(gone).reshape(-1, 3), 0.0), np.float64)

    def information(self, counts: FloatArray, theta: FloatArray) -> FloatArray:
        """(m, m) information of the strengths, made invertible in the direction of their sum."""
        p = sigmoid(theta[self.cells.left] - theta[self.cells.right])
        weight = counts.sum(axis=1) * p * (1 - p)
        m = self.cells.n_models
        flat = np.bincount(self._places, np.concatenate([weight, weight, -weight, -weight]), m * m)
        return np.asarray(flat.reshape(m, m) + max(float(weight.sum()), 1e-9) / m / m, np.float64)

    def _inverse_at(self, counts: FloatArray, theta: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.pinv(self.information(counts, theta), hermitian=True), np.float64)

    def strengths(self, counts: FloatArray, start: FloatArray) -> FloatArray:
        """(m,) strengths fitted to these counts, as `rank` fits them."""
        if not self._whole(counts):
            return self._whole_fit(counts)
        theta: FloatArray = start - start.mean()
        left, right, m = self.cells.left, self.cells.right, self.cells.n_models
        played = counts.sum(axis=1)
        scored = counts @ POINTS
        before = np.inf
        for _ in range(NEWTON_STEPS):
            error = scored - played * sigmoid(theta[left] - theta[right])
            gradient = np.bincount(left, error, m) - np.bincount(right, error, m)
            step = self._inverse @ gradient
            size = float(np.abs(step).max())
            if size > SLOW * before or size > 0.5:  # the inverse of an earlier board is too far off here
                self._inverse = self._inverse_at(counts, theta)
                step = self._inverse @ gradient
                size = float(np.abs(step).max())
            theta, before = theta + step * min(1.0, 2.0 / max(size, 1e-12)), size
            if size < NEWTON_TOLERANCE:
                return theta
        return self._whole_fit(counts)

    def _whole(self, counts: FloatArray) -> bool:
        """Does a maximum exist, so that no prior is needed to place groups of models?"""
        if not self._whole_before:
            return False
        fewer = _scored(self.cells.counts) & ~_scored(counts)
        return not fewer.any() or find_blocks(replace(self.cells, counts=counts)).whole

    @cached_property
    def _whole_before(self) -> bool:
        return find_blocks(self.cells).whole

    def _whole_fit(self, counts: FloatArray) -> FloatArray:
        theta: FloatArray = fit_board(replace(self.cells, counts=counts), BradleyTerry()).theta
        return theta

    def gains(self, counts: FloatArray, theta: FloatArray, ahead: int, behind: int) -> FloatArray:
        """(kinds,) by how much the lead of `ahead` over `behind` falls when one unit goes, to first order.

        For single votes with the leverage of the vote (one Newton step of the fit without it).
        """
        direction = np.zeros(self.cells.n_models)
        direction[ahead], direction[behind] = 1.0, -1.0
        inverse = self._inverse if self._whole(counts) else self._inverse_at(counts, theta)
        reach = inverse @ direction
        left, right = self.cells.left, self.cells.right
        p = sigmoid(theta[left] - theta[right])
        gain = (POINTS[None, :] - p[:, None]) * (reach[left] - reach[right])[:, None]
        if not self.units.names:
            spread = inverse[left, left] + inverse[right, right] - 2 * inverse[left, right]
            gain = gain / np.maximum(1 - p * (1 - p) * spread, 0.1)[:, None]
        return np.asarray(self.units.matrix @ gain.ravel(), np.float64)

    def still_ranked(self, counts: FloatArray, *models: int) -> bool:
        """Does each of these models have a battle left?"""
        played = counts.sum(axis=1)
        m = self.cells.n_models
        battles = np.bincount(self.cells.left, played, m) + np.bincount(self.cells.right, played, m)
        return bool((battles[list(models)] > 0).all())


def _scored(counts: FloatArray) -> NDArray[np.bool_]:
    """(K, 2) did the left and the right model of each cell win or tie a battle? These links hold a board together."""
    return np.asarray(counts[:, ::2] + counts[:, 1:2] > 0)
