"""Fit Bradley-Terry, Davidson and the rater-aware mixture by maximum likelihood, with a prior only where needed."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray
from imarena.ranking.likelihood.design import RatingProblem, Solution, outcomes_of, pair_matrix, solve
from imarena.ranking.likelihood.likelihoods import NO_AUX, Aux, Likelihood
from imarena.ranking.likelihood.pair_counts import PairCells
from imarena.ranking.likelihood.separation import ModelBlocks, find_blocks

PRIOR = 1.0
"""Pseudo wins and losses of a block against an average model, which make its win probability uniform on (0, 1)."""
STRENGTH_PRIOR = 0.5
"""Pseudo wins and losses of a model against an average one, where the data of a mixture do not bound its strength."""
RUNAWAY = 15.0
"""A coefficient beyond this has no maximum: its covariate predicts every outcome. So does a mixture's difference of
strengths of two models that met: all losses of one can be coin flips."""


@dataclass(frozen=True)
class Fit:
    """A fitted board in natural-log strengths."""

    cells: PairCells
    blocks: ModelBlocks
    problem: RatingProblem
    solution: Solution
    inside: NDArray[np.bool_]
    theta: FloatArray
    """(m,) strengths after blocks were placed."""
    within: FloatArray
    """(m,) strengths before blocks were placed."""
    beta: FloatArray
    """(p,) coefficients of the covariates."""
    aux: FloatArray
    """(G,) extra parameters of the groups."""
    aux_free: NDArray[np.bool_]
    offset_covariance: FloatArray
    """(B, B) covariance of the blocks' positions; zero where the data fix them."""
    parameter: IntArray
    """(m,) the index of each model's strength in the parameters, -1 for an anchored model."""
    strength_prior: float = 0.0
    coefficient_prior: float = 0.0
    """The pseudo wins and losses of the fit; a resampled round gets the same."""

    @property
    def converged(self) -> bool:
        return self.solution.converged


def fit_board(
    cells: PairCells,
    likelihood: Likelihood,
    *,
    aux: Aux = NO_AUX,
    anchors: FloatArray | None = None,
    start: FloatArray | None = None,
    coefficient_prior: float = 0.0,
    strength_prior: float = 0.0,
    island: IntArray | None = None,
) -> Fit:
    """Fit all blocks at once, then place them.

    `anchors` (m,) are fixed strengths, NaN for free models; `start` (m,) are initial strengths.
    `coefficient_prior` and `strength_prior` are pseudo wins and losses that bound the covariates' coefficients and the
    strengths if the data do not.
    `island`: see `find_blocks`.
    """
    m = cells.n_models
    aux = likelihood.ready(aux, cells)
    anchored = np.full(m, np.nan) if anchors is None else anchors
    blocks = find_blocks(cells, None if anchors is None else np.isfinite(anchored), island)
    inside = blocks.inside(cells)
    inner = cells if inside.all() else _subset(cells, inside)
    parameter = np.full(m, -1, np.int64)
    parameter[~np.isfinite(anchored)] = np.arange(int((~np.isfinite(anchored)).sum()))
    problem = _problem(inner, likelihood, aux, blocks, anchored, parameter)
    problem.prior[:, : int((parameter >= 0).sum())] = strength_prior
    if strength_prior:  # the prior fixes the mean; a gauge too would make each step towards it tiny
        problem.gauge[:] = 0.0
    problem.prior[:, int((parameter >= 0).sum()) : problem.n_linear] = coefficient_prior
    first = np.concatenate([np.zeros(problem.n_linear), aux.start[aux.free]])
    if start is not None:
        first[: int((parameter >= 0).sum())] = _centred(start, blocks, anchored)[parameter >= 0]
    solution = solve(problem, outcomes_of(inner.weighted), first)
    within = np.where(np.isfinite(anchored), anchored, 0.0)
    within[parameter >= 0] = solution.parameters[parameter[parameter >= 0]]
    free_models = int((parameter >= 0).sum())
    beta = solution.parameters[free_models : problem.n_linear]
    values = aux.start.copy()
    values[aux.free] = solution.parameters[problem.n_linear :]
    shift, covariance = np.zeros(blocks.n), np.zeros((blocks.n, blocks.n))
    if not blocks.placed:
        shift, covariance = _place_blocks(cells, likelihood, blocks, within, beta, values)
    return Fit(
        cells,
        blocks,
        problem,
        solution,
        inside,
        within + shift[blocks.of],
        within,
        beta,
        values,
        aux.free,
        covariance,
        parameter,
        strength_prior,
        coefficient_prior,
    )


def runs_away(fit: Fit) -> bool:
    """Whether the strengths of two models that met have no bound."""
    met = fit.cells.counts.sum(axis=1) > 0
    lead = np.abs(fit.theta[fit.cells.left] - fit.theta[fit.cells.right])
    return bool(lead[met].max(initial=0.0) > RUNAWAY)


def _centred(start: FloatArray, blocks: ModelBlocks, anchored: FloatArray) -> FloatArray:
    """The start with a mean of 0 in each block without an anchor, since a fit never moves the mean of such a block."""
    mean = np.bincount(blocks.of, start, blocks.n) / np.bincount(blocks.of, minlength=blocks.n)
    mean[blocks.of[np.isfinite(anchored)]] = 0.0
    return start - mean[blocks.of]


def _subset(cells: PairCells, mask: NDArray[np.bool_]) -> PairCells:
    return replace(
        cells,
        left=cells.left[mask],
        right=cells.right[mask],
        group=cells.group[mask],
        counts=cells.counts[mask],
        covariates=cells.covariates[mask],
        factor=cells.factor[mask],
    )


def _problem(
    cells: PairCells, likelihood: Likelihood, aux: Aux, blocks: ModelBlocks, anchored: FloatArray, parameter: IntArray
) -> RatingProblem:
    from scipy.sparse import csr_matrix, hstack

    free_models = int((parameter >= 0).sum())
    matrix: Any = pair_matrix(cells, parameter)
    matrix.resize((cells.left.size, free_models))
    if cells.covariates.shape[1]:
        matrix = hstack([matrix, csr_matrix(cells.covariates)]).tocsr()
    fixed = np.where(np.isfinite(anchored), anchored, 0.0)
    n_aux = int(aux.free.sum())
    aux_place = np.full(aux.free.size, -1, np.int64)
    aux_place[aux.free] = np.arange(n_aux)
    group = cells.group if likelihood.has_aux else np.zeros_like(cells.group)
    linear = matrix.shape[1]
    size = linear + n_aux
    gauge = np.zeros((size, size))
    level = max(float(cells.weighted.sum()) / max(cells.n_models, 1) / 4, 1e-6)
    for block in range(blocks.n):
        members = parameter[blocks.of == block]
        if (members >= 0).all():
            gauge[np.ix_(members, members)] += level / members.size
    prior = np.zeros((2, size))
    prior[:, linear:] = aux.prior[:, aux.free]
    return RatingProblem(
        likelihood=likelihood,
        matrix=matrix,
        offset=fixed[cells.left] - fixed[cells.right],
        aux_of=aux_place[group],
        aux_fixed=aux.start[group],
        n_aux=n_aux,
        gauge=gauge,
        prior=prior,
        centre=np.zeros(size),
    )


def _place_blocks(
    cells: PairCells, likelihood: Likelihood, blocks: ModelBlocks, within: FloatArray, beta: FloatArray, aux: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Shift (B,) of every block and its covariance (B, B), from battles between blocks and the weak prior."""
    level = np.zeros(blocks.n)
    for number in range(blocks.n_islands):
        members = blocks.island == number
        if blocks.fixed[blocks.of[members]].any():
            level[blocks.of[members]] = within[members & blocks.reference].mean()
    problem, block_place = placing_problem(cells, likelihood, blocks, within, beta=beta, aux=aux, level=level)
    between = _subset(cells, ~blocks.inside(cells))
    solution = solve(problem, outcomes_of(between.weighted), problem.centre)
    shift, covariance = np.zeros(blocks.n), np.zeros((blocks.n, blocks.n))
    free = np.flatnonzero(block_place >= 0)
    shift[free] = solution.parameters
    covariance[np.ix_(free, free)] = solution.inverse
    return shift, covariance


def placing_problem(
    cells: PairCells,
    likelihood: Likelihood,
    blocks: ModelBlocks,
    within: FloatArray,
    *,
    beta: FloatArray | None = None,
    aux: FloatArray | None = None,
    level: FloatArray | None = None,
) -> tuple[RatingProblem, IntArray]:
    """The problem of placing blocks by the battles between them, and the parameter (B,) of each block, -1 if fixed.

    `within` (m,) or (m, R) are the strengths inside the blocks; `level` (B,) is the centre of the prior.
    """
    between = _subset(cells, ~blocks.inside(cells))
    block_place = np.where(blocks.fixed, -1, np.cumsum(~blocks.fixed) - 1)
    size = int((block_place >= 0).sum())
    matrix = pair_matrix(between, block_place[blocks.of])
    matrix.resize((between.left.size, size))
    offset = within[between.left] - within[between.right]
    problem = RatingProblem(
        likelihood=likelihood,
        matrix=matrix,
        offset=offset if beta is None else offset + between.covariates @ beta,
        aux_of=np.full(between.left.size, -1),
        aux_fixed=aux[between.group] if aux is not None and likelihood.has_aux else np.zeros(between.left.size),
        n_aux=0,
        gauge=np.zeros((size, size)),
        prior=np.full((2, size), PRIOR),
        centre=np.zeros(size) if level is None else level[~blocks.fixed],
    )
    return problem, block_place
