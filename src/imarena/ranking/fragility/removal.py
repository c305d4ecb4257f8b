"""A board without some of its units (votes, items or raters), and which units matter most."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray
from imarena.ranking.battles import Battles
from imarena.ranking.islands import islands_of
from imarena.ranking.likelihood.fit import fit_board
from imarena.ranking.likelihood.likelihoods import BradleyTerry, sigmoid
from imarena.ranking.likelihood.pair_counts import PairCells, cell_of, count_pairs, counts_by_pair
from imarena.ranking.likelihood.separation import find_blocks
from imarena.tables import used_codes

NEWTON_STEPS = 40
NEWTON_TOLERANCE = 1e-10
REACH_TOLERANCE = 1e-6
SLOW = 0.2
"""If a step does not shrink to this share of the last one, the information matrix is inverted again."""
FRESH = 0.05
"""The same limit when gains are computed, because the fits that follow start from the same strengths."""
POINTS = np.array([1.0, 0.5, 0.0])
"""The left side's share of the win, by outcome."""
PLAYED = np.ones(3)
SCORED = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
"""Which side won or tied, by outcome."""
NOTHING = 1e-9
"""Rounding errors of weights that were added and removed again stay below this."""
SMALL = 600
"""Fits are cached on boards with at most this many counts, where searches for different pairs try the same removals."""
DENSE_LIMIT = 20_000_000
"""Largest dense table of units by models, or of units by counts."""
BLOCK = 64
"""Matrices with at most this many rows are inverted in one piece."""
DENSE_SHARE = 3
"""A matrix of units is stored dense, which is faster, if more than one in this many entries is not 0."""


@dataclass(frozen=True)
class RemovalUnits:
    """What can be removed. Units that have the same effect on a fit are one kind, such as all votes for A over B.

    `matrix` (kinds, 3 K) has the battles of one unit of each kind, by entry of ``cells.counts.ravel()``; `available`
    (kinds,) is the number of units of each kind, and `total` the number of all units.
    """

    matrix: Any
    available: IntArray
    names: tuple[str, ...] = ()
    """Names of items or raters, by kind; empty for votes."""
    kind_of: IntArray | None = None
    """(n,) the kind of each vote, if the battles name items or raters."""
    squares: FloatArray | None = None
    """(kinds,) the sum of the squared weights of one unit's battles; None for battles without weights."""

    @property
    def total(self) -> int:
        return int(self.available.sum())

    @cached_property
    def _rows(self) -> tuple[IntArray, IntArray]:
        """The rows of the votes sorted by kind, and where each kind begins."""
        kind_of = np.empty(0, np.int64) if self.kind_of is None else self.kind_of
        rows = np.argsort(kind_of, kind="stable")
        return rows, np.searchsorted(kind_of[rows], np.arange(self.available.size))

    def first_rows(self, kind: int, number: int) -> IntArray:
        """The first rows of this kind of vote; none if the battles name neither items nor raters."""
        rows, begin = self._rows
        return rows[begin[kind] : begin[kind] + number]


def removal_units(battles: Battles, cells: PairCells, by: str) -> RemovalUnits:
    """The votes, items or raters of these battles. Rows without an item or rater cannot be removed."""
    from scipy.sparse import csr_matrix

    if by == "vote":
        return _votes(battles, cells)
    entry = cell_of(battles, cells)
    weight = np.ones(len(battles)) if battles.weight is None else battles.weight
    column = battles.item if by == "item" else battles.rater
    if column is None:
        return RemovalUnits(csr_matrix((0, cells.counts.size)), np.empty(0, np.int64))
    rows = np.flatnonzero(column.of != (-1 if column.unnamed is None else column.unnamed))
    used = used_codes(len(column.names), column.of[rows])
    codes, row = np.flatnonzero(used), (np.cumsum(used) - 1)[column.of[rows]]
    matrix = csr_matrix((weight[rows], (row, entry[rows])), shape=(codes.size, cells.counts.size))
    dense = min(DENSE_SHARE * matrix.nnz, DENSE_LIMIT) > codes.size * cells.counts.size
    names = tuple(column.names[code] for code in codes)
    squares = None if battles.weight is None else np.bincount(row, weight[rows] ** 2, codes.size).astype(np.float64)
    return RemovalUnits(matrix.toarray() if dense else matrix, np.ones(codes.size, np.int64), names, squares=squares)


def _votes(battles: Battles, cells: PairCells) -> RemovalUnits:
    """Votes as units: those with the same pair, outcome and weight are one kind."""
    from scipy.sparse import csr_matrix

    has_names = battles.item is not None or battles.rater is not None
    if battles.weight is None:
        counts = cells.counts.ravel().astype(np.int64)
        entries = np.flatnonzero(counts)
        available, weight = counts[entries], np.ones(entries.size)
        kind_of = (np.cumsum(counts > 0) - 1)[cell_of(battles, cells)] if has_names else None
    else:
        weights, code = np.unique(battles.weight, return_inverse=True)
        keys, kind_of, available = np.unique(
            cell_of(battles, cells) * weights.size + code, return_inverse=True, return_counts=True
        )
        entries, weight = keys // weights.size, weights[keys % weights.size]
    matrix = csr_matrix((weight, (np.arange(entries.size), entries)), shape=(entries.size, cells.counts.size))
    return RemovalUnits(matrix, available, (), kind_of, None if battles.weight is None else weight**2)


class FittedRemovals:
    """Bradley-Terry strengths after removals, by plain Newton steps from the last strengths if a maximum exists."""

    def __init__(self, battles: Battles, by: str) -> None:
        """Count the battles and fit them once."""
        self.cells = counts_by_pair(battles) if battles.weight is None else count_pairs(battles)
        self.units = removal_units(battles, self.cells, by)
        self.base = self._whole_fit(self.cells.counts)
        self._base_inverse = self._inverse = self.inverse(self.cells.counts, self.base)
        self._squares = 0.0 if battles.weight is None else float((battles.weight**2).sum())
        self._fitted: dict[tuple[bytes, float], FloatArray] = battles.computed.setdefault("fragility fits", {})

    @property
    def small(self) -> bool:
        return self.cells.counts.size <= SMALL

    @cached_property
    def _cell_at(self) -> IntArray | None:
        """(m, m) the cell of each pair of models, K for a pair without a cell; None if most pairs have none."""
        left, right, m = self.cells.left, self.cells.right, self.cells.n_models
        if m * m > 4 * left.size:
            return None
        cell = np.full((m, m), left.size)
        cell[left, right] = cell[right, left] = np.arange(left.size)
        return cell

    @cached_property
    def _places(self) -> IntArray:
        """(4, K) the positions of a cell in the flattened information matrix."""
        left, right, m = self.cells.left, self.cells.right, self.cells.n_models
        return np.concatenate([left * m + left, right * m + right, left * m + right, right * m + left])

    def counts_after(self, counts: FloatArray, change: IntArray) -> FloatArray:
        """(K, 3) the battles of `counts` that remain when `change` units of each kind are removed (or restored)."""
        kinds = np.flatnonzero(change)
        if 4 * kinds.size > change.size:
            removed = self.units.matrix.T @ change.astype(np.float64)
        else:
            removed = self.units.matrix[kinds].T @ change[kinds].astype(np.float64)
        left = counts - np.asarray(removed, np.float64).reshape(-1, 3)
        return np.asarray(np.where(left < NOTHING, 0.0, left), np.float64)

    def information(self, counts: FloatArray, theta: FloatArray) -> FloatArray:
        """(m, m) information matrix of the strengths, made invertible in the direction of their sum."""
        p = sigmoid(theta[self.cells.left] - theta[self.cells.right])
        weight = counts @ PLAYED * p * (1 - p)
        m = self.cells.n_models
        flat = np.bincount(self._places, np.concatenate([weight, weight, -weight, -weight]), m * m)
        return np.asarray(flat.reshape(m, m) + max(float(weight.sum()), 1e-9) / m / m, np.float64)

    def inverse(self, counts: FloatArray, theta: FloatArray) -> FloatArray:
        """(m, m) inverse of the information; the pseudo-inverse if the data do not place all groups of models."""
        information = self.information(counts, theta)
        if self._has_maximum(counts):
            try:
                return _inverted(information)
            except np.linalg.LinAlgError:
                pass
        return np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)

    def strengths(self, counts: FloatArray, start: FloatArray, removed: IntArray) -> FloatArray:
        """(m,) strengths fitted to these counts, those without the units `removed` (kinds,), as `rank` fits them."""
        scale = self._scale(counts, removed)
        if not self.small:
            return self._fit(counts, start, scale)
        key = counts.tobytes(), scale
        if key not in self._fitted:
            self._fitted[key] = self._fit(counts, start, scale)
        return self._fitted[key]

    def _scale(self, counts: FloatArray, removed: IntArray) -> float:
        """By how much `rank` scales the remaining weights; only a prior depends on it (see `scale_weights`)."""
        if self.units.squares is None:
            return 1.0
        squares = self._squares - float(self.units.squares @ removed)
        return float(counts.sum()) / squares if squares > NOTHING else 1.0

    def _fit(self, counts: FloatArray, start: FloatArray, scale: float) -> FloatArray:
        if not self._has_maximum(counts):
            return self._whole_fit(counts * scale)
        theta: FloatArray = start - start.mean()
        left, right, m = self.cells.left, self.cells.right, self.cells.n_models
        played, won = counts @ PLAYED, counts @ POINTS
        points = np.bincount(left, won, m) + np.bincount(right, played - won, m)
        if self._cell_at is not None:
            played = np.append(played, 0.0)[self._cell_at]
        before = np.inf
        for _ in range(NEWTON_STEPS):
            gradient = points - self._expected(played, theta)
            step = self._inverse @ gradient
            size = float(np.abs(step).max())
            if size > SLOW * before or size > 0.5:  # the inverse of an earlier board is too inaccurate here
                self._inverse = self.inverse(counts, theta)
                step = self._inverse @ gradient
                size = float(np.abs(step).max())
            theta = theta + step * min(1.0, 2.0 / max(size, 1e-12))
            if size * (size / before if before < np.inf else 1.0) < NEWTON_TOLERANCE:  # the next step is that small
                return theta
            before = size
        return self._whole_fit(counts * scale)

    def _expected(self, played: FloatArray, theta: FloatArray) -> FloatArray:
        """(m,) expected points of each model; `played` is by cell, or (m, m) if most models met."""
        if played.ndim == 2:
            odds = np.exp(theta)
            return np.asarray(odds * (played / np.add.outer(odds, odds)).sum(axis=1), np.float64)
        left, right, m = self.cells.left, self.cells.right, self.cells.n_models
        won = played * sigmoid(theta[left] - theta[right])
        return np.asarray(np.bincount(left, won, m) + np.bincount(right, played - won, m), np.float64)

    def _has_maximum(self, counts: FloatArray) -> bool:
        """Does a maximum of the likelihood exist, so that no prior is needed to place groups of models?"""
        if not self._whole_before:
            return False
        fewer = self._scored_before & (counts @ SCORED <= 0)
        return not fewer.any() or find_blocks(replace(self.cells, counts=counts)).whole

    @cached_property
    def _whole_before(self) -> bool:
        return find_blocks(self.cells).whole

    @cached_property
    def _scored_before(self) -> NDArray[np.bool_]:
        """(K, 2) did the left and the right model of each cell win or tie a battle? Such battles connect a board."""
        return np.asarray(self.cells.counts @ SCORED > 0)

    def _whole_fit(self, counts: FloatArray) -> FloatArray:
        theta: FloatArray = fit_board(replace(self.cells, counts=counts), BradleyTerry()).theta
        return theta

    def gains(self, counts: FloatArray, theta: FloatArray, ahead: int, behind: int) -> FloatArray:
        """(kinds,) by how much the lead of `ahead` over `behind` falls when one unit is removed, to first order.

        For single votes, this includes the vote's leverage (one Newton step of the fit without it).
        """
        if counts is self.cells.counts and self._base_gains is not None:
            return self._base_gains[:, ahead] - self._base_gains[:, behind]
        reach = self._reach(counts, theta, ahead, behind)
        effect = self._effect(theta, self._inverse) * (reach[self.cells.left] - reach[self.cells.right])[:, None]
        return np.asarray(self.units.matrix @ effect.ravel(), np.float64)

    def _reach(self, counts: FloatArray, theta: FloatArray, ahead: int, behind: int) -> FloatArray:
        """(m,) how the lead of `ahead` over `behind` depends on the gradient: the information solved for their
        difference, by an inverse from an earlier board and a few corrections.
        """
        left, right, m = self.cells.left, self.cells.right, self.cells.n_models
        p = sigmoid(theta[left] - theta[right])
        weight = counts @ PLAYED * p * (1 - p)
        level = max(float(weight.sum()), 1e-9) / m / m
        reach = self._inverse[ahead] - self._inverse[behind]
        before, slow = float(np.abs(reach).max()), FRESH
        whole = self._has_maximum(counts)
        while whole:
            flow = weight * (reach[left] - reach[right])
            error = np.bincount(right, flow, m) - np.bincount(left, flow, m) - level * reach.sum()
            error[ahead] += 1
            error[behind] -= 1
            step = self._inverse @ error
            reach = reach + step
            size = float(np.abs(step).max())
            if size < REACH_TOLERANCE * float(np.abs(reach).max()):
                return np.asarray(reach, np.float64)
            if size > slow * before:
                break
            before, slow = size, SLOW
        self._inverse = self.inverse(counts, theta)
        return np.asarray(self._inverse[ahead] - self._inverse[behind], np.float64)

    def _effect(self, theta: FloatArray, inverse: FloatArray) -> FloatArray:
        """(K, 3) what a battle with each outcome adds to the gradient of its left model."""
        left, right = self.cells.left, self.cells.right
        p = sigmoid(theta[left] - theta[right])
        effect = POINTS[None, :] - p[:, None]
        if not self.units.names:
            spread = inverse[left, left] + inverse[right, right] - 2 * inverse[left, right]
            effect = effect / np.maximum(1 - p * (1 - p) * spread, 0.1)[:, None]
        return np.asarray(effect, np.float64)

    @cached_property
    def _base_gains(self) -> FloatArray | None:
        """(kinds, m) how far each strength falls when one unit is removed from the whole board; None if too large."""
        from scipy.sparse import csr_matrix

        kinds, m = self.units.available.size, self.cells.n_models
        if kinds * m > DENSE_LIMIT:
            return None
        effect = self._effect(self.base, self._base_inverse).ravel()
        entries = np.arange(effect.size)
        left, right = np.repeat(self.cells.left, 3), np.repeat(self.cells.right, 3)
        gradient = csr_matrix(
            (np.concatenate([effect, -effect]), (np.concatenate([entries] * 2), np.concatenate([left, right]))),
            shape=(effect.size, m),
        )
        return np.asarray((self.units.matrix @ gradient) @ self._base_inverse, np.float64)

    def shares(self, ahead: int, behind: int) -> FloatArray:
        """(kinds,) the share of one unit in the board's information on the distance between two models."""
        left, right = self.cells.left, self.cells.right
        reach = self._base_inverse[ahead] - self._base_inverse[behind]
        p = sigmoid(self.base[left] - self.base[right])
        information = np.repeat(p * (1 - p) * (reach[left] - reach[right]) ** 2, 3)
        share = np.asarray(self.units.matrix @ information) / max(float(reach[ahead] - reach[behind]), 1e-12)
        return np.asarray(np.clip(share, 1 / max(self.units.total, 1), 1.0), np.float64)

    def still_met(self, counts: FloatArray, one: int, other: int) -> bool:
        """Are these two models, which are in one group of the whole board, in one group without these battles?"""
        played = counts.any(axis=1)
        if not (self._played_before & ~played).any():
            return True
        island = islands_of(self.cells.left[played], self.cells.right[played], self.cells.n_models)
        return bool(island[one] == island[other])

    @cached_property
    def _played_before(self) -> NDArray[np.bool_]:
        """(K,) does the cell have battles on the whole board?"""
        return np.asarray(self.cells.counts.any(axis=1))


def _inverted(matrix: FloatArray) -> FloatArray:
    """The inverse of a positive definite matrix, by blocks.

    NumPy's library uses several threads for larger matrices. On a busy machine these wait for each other, and
    inverting for 100 models takes a hundred times the CPU time.
    """
    size = len(matrix)
    if size <= BLOCK:
        return np.asarray(np.linalg.inv(matrix), np.float64)
    upper, lower = slice(size // 2), slice(size // 2, size)
    first = _inverted(matrix[upper, upper])
    across = matrix[lower, upper] @ first
    last = _inverted(matrix[lower, lower] - across @ matrix[upper, lower])
    mixed = last @ across
    return np.block([[first + across.T @ mixed, -mixed.T], [-mixed, last]])
