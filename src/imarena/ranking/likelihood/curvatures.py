"""The information of many resampled boards at once: one sparse product spreads every cell over its matrix entries."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.likelihood.design import RatingProblem
from imarena.ranking.likelihood.likelihoods import Outcomes


@dataclass(frozen=True)
class CurvatureIndex:
    """Sparse (Q * Q, K): where a cell's second derivatives in eta, in eta and aux, and in aux go."""

    eta: Any
    cross: Any
    aux: Any
    size: int

    def informations(self, problem: RatingProblem, parameters: FloatArray, outcomes: Outcomes) -> FloatArray:
        """(R, Q, Q) Fisher information of every round, without gauge and prior. `parameters` (Q, R)."""
        total = outcomes[0] + outcomes[1] + outcomes[2]
        info = problem.likelihood.information(problem.eta(parameters), problem.aux(parameters), total)
        flat = self.eta @ info.eta
        if self.cross is not None:
            flat = flat + self.cross @ info.cross + self.aux @ info.aux
        return np.ascontiguousarray(flat.T).reshape(-1, self.size, self.size)


def curvature_index(problem: RatingProblem) -> CurvatureIndex:
    """Prepare a problem."""
    from scipy.sparse import csr_matrix

    size = problem.n_linear + problem.n_aux
    k = problem.matrix.shape[0]
    columns, values = _padded(problem.matrix)
    width = columns.shape[1]

    def gather(parts: list[tuple[IntArray, IntArray, FloatArray]]) -> Any:
        cells = np.tile(np.arange(k), len(parts))
        rows, others, weights = (np.concatenate([part[i] for part in parts]) for i in range(3))
        held = (rows >= 0) & (others >= 0)
        entry = rows[held] * size + others[held]
        return csr_matrix((weights[held], (entry, cells[held])), shape=(size * size, k))

    pairs = [(a, b) for a in range(width) for b in range(width)]
    eta = gather([(columns[:, a], columns[:, b], values[:, a] * values[:, b]) for a, b in pairs])
    if problem.n_aux == 0:
        return CurvatureIndex(eta, None, None, size)
    row = np.where(problem.aux_of >= 0, problem.aux_of + problem.n_linear, -1)
    sides = [(columns[:, a], row, values[:, a]) for a in range(width)]
    cross = gather([*sides, *((row, column, value) for column, _, value in sides)])
    return CurvatureIndex(eta, cross, gather([(row, row, np.ones(k))]), size)


def _padded(matrix: Any) -> tuple[IntArray, FloatArray]:
    """A sparse matrix as (K, width) columns and values; column -1 is no entry."""
    length = np.diff(matrix.indptr)
    width = int(length.max(initial=1))
    columns = np.full((length.size, width), -1, np.int64)
    values = np.zeros((length.size, width))
    row = np.repeat(np.arange(length.size), length)
    offset = np.arange(matrix.indices.size) - np.repeat(matrix.indptr[:-1], length)
    columns[row, offset], values[row, offset] = matrix.indices, matrix.data
    return columns, values
