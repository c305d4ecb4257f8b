"""A rating problem in the form that Newton's method needs: a design matrix, a likelihood, a gauge and a prior."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.likelihood.likelihoods import Likelihood, OutcomeCounts, sigmoid
from imarena.ranking.likelihood.pair_counts import PairCells

SMALL = 20_000
"""Largest design matrix that is stored dense, in numbers."""


@dataclass(frozen=True)
class RatingProblem:
    """Parameters are [strengths of free models, coefficients (together P), aux (A)].

    eta = matrix @ parameters[:P] + offset; `offset` is (K,), or (K, R) if each round has its own. `aux_of` (K,) is
    the index of a cell's aux parameter, -1 for the fixed value `aux_fixed`. `gauge` (P + A, P + A) is added to the
    information in directions in which the likelihood is flat (a common shift of a block). The prior of each parameter
    is Beta-shaped on the logit scale: `prior` (2, P + A) are pseudo wins and losses, around `centre` (P + A,).
    """

    likelihood: Likelihood
    matrix: Any
    offset: FloatArray
    aux_of: IntArray
    aux_fixed: FloatArray
    n_aux: int
    gauge: FloatArray
    prior: FloatArray
    centre: FloatArray

    @property
    def n_linear(self) -> int:
        return int(self.matrix.shape[1])

    @cached_property
    def design(self) -> Any:
        """The matrix, dense if it is small: then SciPy's bookkeeping takes ten times as long as the arithmetic."""
        return self.matrix.toarray() if np.prod(self.matrix.shape) <= SMALL else self.matrix

    @cached_property
    def transposed(self) -> Any:
        return self.design.T if isinstance(self.design, np.ndarray) else self.matrix.T.tocsr()

    @cached_property
    def groups(self) -> Any:
        """(A, K) one-hot matrix that sums the aux gradients of cells per parameter."""
        from scipy.sparse import csr_matrix

        with_aux = np.flatnonzero(self.aux_of >= 0)
        return csr_matrix(
            (np.ones(with_aux.size), (self.aux_of[with_aux], with_aux)), shape=(self.n_aux, self.aux_of.size)
        )

    def eta(self, parameters: FloatArray) -> FloatArray:
        """(K,) or (K, R) from parameters (P + A,) or (P + A, R)."""
        linear: FloatArray = self.design @ parameters[: self.n_linear]
        linear += self.offset if parameters.ndim == self.offset.ndim else self.offset[:, None]
        return linear

    def of_rounds(self, rounds: IntArray) -> "RatingProblem":
        """The problem for some rounds; the same problem unless each round has its own offset."""
        return self if self.offset.ndim == 1 else replace(self, offset=self.offset[:, rounds])

    def aux(self, parameters: FloatArray) -> FloatArray | None:
        if not self.likelihood.has_aux:
            return None
        fixed = self.aux_fixed if parameters.ndim == 1 else self.aux_fixed[:, None]
        if self.n_aux == 0:
            return np.asarray(fixed)
        free = parameters[self.n_linear :][np.maximum(self.aux_of, 0)]
        has_aux = self.aux_of >= 0 if parameters.ndim == 1 else (self.aux_of >= 0)[:, None]
        return np.where(has_aux, free, fixed)

    def value(self, parameters: FloatArray, outcomes: OutcomeCounts) -> float:
        """Log likelihood plus log prior."""
        lead = parameters - self.centre
        wins, losses = self.prior
        prior = -np.sum(wins * np.logaddexp(0, -lead) + losses * np.logaddexp(0, lead))
        return self.likelihood.value(self.eta(parameters), self.aux(parameters), outcomes) + float(prior)

    def gradient(self, parameters: FloatArray, outcomes: OutcomeCounts) -> FloatArray:
        """(P + A,) or (P + A, R) gradient of `value`."""
        in_eta, in_aux = self.likelihood.gradient(self.eta(parameters), self.aux(parameters), outcomes)
        linear = self.transposed @ in_eta
        full = linear if self.n_aux == 0 or in_aux is None else np.concatenate([linear, self.groups @ in_aux])
        if self.prior.any():
            wins, losses, centre = (*self.prior, self.centre)
            if parameters.ndim == 2:
                wins, losses, centre = wins[:, None], losses[:, None], centre[:, None]
            full = full + wins - (wins + losses) * sigmoid(parameters - centre)
        return np.asarray(full)

    def information(self, parameters: FloatArray, outcomes: OutcomeCounts) -> FloatArray:
        """(P + A, P + A) information, without the gauge."""
        total = outcomes[0] + outcomes[1] + outcomes[2]
        info = self.likelihood.information(self.eta(parameters), self.aux(parameters), total)
        size = self.n_linear + self.n_aux
        full = np.zeros((size, size))
        full[: self.n_linear, : self.n_linear] = self._weighed(self.transposed, info.eta)
        if self.n_aux and info.cross is not None and info.aux is not None:
            cross = self._weighed(self.groups, info.cross)
            full[self.n_linear :, : self.n_linear] = cross
            full[: self.n_linear, self.n_linear :] = cross.T
            diagonal = np.arange(self.n_linear, size)
            full[diagonal, diagonal] = self.groups @ info.aux
        chance = sigmoid(parameters - self.centre)
        full[np.diag_indices(size)] += self.prior.sum(axis=0) * chance * (1 - chance)
        return full

    def _weighed(self, left: Any, weight: FloatArray) -> FloatArray:
        """`left` (n, K) times the design (K, P) with its rows weighted by `weight` (K,), as a dense matrix."""
        if isinstance(self.design, np.ndarray):
            return np.asarray(left @ (self.design * weight[:, None]))
        from scipy.sparse import diags

        return np.asarray((left @ diags(weight) @ self.matrix).toarray())


@dataclass(frozen=True)
class Solution:
    """The result of Newton's method. `inverse` (P + A, P + A) is that of the information with the gauge."""

    parameters: FloatArray
    inverse: FloatArray
    iterations: int
    converged: bool
    value: float


def outcomes_of(counts: FloatArray) -> OutcomeCounts:
    """Split counts (K, 3) or (K, 3, R) into three arrays."""
    return np.ascontiguousarray(counts[:, 0]), np.ascontiguousarray(counts[:, 1]), np.ascontiguousarray(counts[:, 2])


def solve(problem: RatingProblem, outcomes: OutcomeCounts, start: FloatArray, *, limit: int = 100) -> Solution:
    """Newton's method with step halving. Converged if no parameter moves by more than 1e-10 (1e-8 by differences)."""
    parameters = start.copy()
    value = problem.value(parameters, outcomes)
    settled = 1e-10 if problem.likelihood.canonical else 1e-8
    for iteration in range(1, limit + 1):
        step = _solved(_curved(problem, parameters, outcomes), problem.gradient(parameters, outcomes))
        largest = float(np.max(np.abs(step), initial=0.0))
        if largest > 4.0:
            step *= 4.0 / largest
        for _ in range(30):
            moved = problem.value(parameters + step, outcomes)
            if moved >= value - 1e-9 * abs(value) or largest < 1e-8:
                break
            step *= 0.5
        parameters, value = parameters + step, moved
        if largest < settled:
            return Solution(parameters, _inverse(problem, parameters, outcomes), iteration, True, value)
    return Solution(parameters, _inverse(problem, parameters, outcomes), limit, False, value)


def _curved(problem: RatingProblem, parameters: FloatArray, outcomes: OutcomeCounts) -> FloatArray:
    """The curvature, if the likelihood is concave there, else Fisher's information; plus the gauge."""
    if not problem.likelihood.canonical:
        curvature = _curvature(problem, parameters, outcomes) + problem.gauge
        try:
            np.linalg.cholesky(curvature)
        except np.linalg.LinAlgError:
            pass
        else:
            return curvature
    return problem.information(parameters, outcomes) + problem.gauge


def _solved(curvature: FloatArray, gradient: FloatArray) -> FloatArray:
    """Newton's step. Solving costs a third of inverting, which matters for thousands of models."""
    try:
        return np.asarray(np.linalg.solve(curvature, gradient), np.float64)
    except np.linalg.LinAlgError:  # a coefficient diverged: the caller sees that the fit did not converge
        return np.asarray(np.linalg.pinv(curvature) @ gradient, np.float64)


def _inverse(problem: RatingProblem, parameters: FloatArray, outcomes: OutcomeCounts) -> FloatArray:
    curvature = _curved(problem, parameters, outcomes)
    try:
        return np.asarray(np.linalg.inv(curvature), np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(curvature), np.float64)


def _curvature(
    problem: RatingProblem, parameters: FloatArray, outcomes: OutcomeCounts, step: float = 1e-5
) -> FloatArray:
    """(P + A, P + A) negative second derivatives, by central differences of the gradient, in slices to save memory."""
    size = parameters.size
    wide = (outcomes[0][:, None], outcomes[1][:, None], outcomes[2][:, None])
    width = max(1, 2_000_000 // max(outcomes[0].size, 1))
    columns = []
    for begin in range(0, size, width):
        shift = step * np.eye(size)[:, begin : begin + width]
        up = problem.gradient(parameters[:, None] + shift, wide)
        columns.append((problem.gradient(parameters[:, None] - shift, wide) - up) / (2 * step))
    full = np.concatenate(columns, axis=1)
    return np.asarray(0.5 * (full + full.T))


def pair_matrix(cells: PairCells, parameter: IntArray) -> Any:
    """(K, max(parameter) + 1) sparse: +1 at the left model's parameter, -1 at the right's; parameter -1 means none."""
    from scipy.sparse import csr_matrix

    k = np.arange(cells.left.size)
    left, right = parameter[cells.left], parameter[cells.right]
    rows = np.concatenate([k[left >= 0], k[right >= 0]])
    columns = np.concatenate([left[left >= 0], right[right >= 0]])
    signs = np.concatenate([np.ones(int((left >= 0).sum())), -np.ones(int((right >= 0).sum()))])
    return csr_matrix((signs, (rows, columns)), shape=(k.size, int(parameter.max(initial=-1)) + 1))
