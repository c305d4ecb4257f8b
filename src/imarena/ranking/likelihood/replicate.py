"""Refit many resampled boards at once.

All rounds start at the full fit and use its information (the chord method): an iteration is two sparse products and
one dense one for the whole batch. Rounds that move far get their own information (Newton, all at once). Rounds that
still do not converge (a model is unbeaten) are fitted together with those that have the same blocks of models, or
alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray
from imarena.ranking.likelihood.design import RatingProblem, outcomes_of
from imarena.ranking.likelihood.fit import RUNAWAY, STRENGTH_PRIOR, Fit, fit_board, placing_problem, runs_away
from imarena.ranking.likelihood.likelihoods import Aux, Mixture, OutcomeCounts, sigmoid
from imarena.ranking.likelihood.separation import block_labels
from imarena.ranking.resample import Units


@dataclass(frozen=True)
class CurvatureIndex:
    """Sparse (Q * Q, K): where to add a cell's second derivatives in eta, in eta and aux, and in aux."""

    eta: Any
    cross: Any
    aux: Any
    size: int

    def informations(self, problem: RatingProblem, parameters: FloatArray, outcomes: OutcomeCounts) -> FloatArray:
        """(R, Q, Q) Fisher information of every round, without gauge and prior. `parameters` (Q, R)."""
        total = outcomes[0] + outcomes[1] + outcomes[2]
        info = problem.likelihood.information(problem.eta(parameters), problem.aux(parameters), total)
        flat = self.eta @ info.eta
        if self.cross is not None:
            flat = flat + self.cross @ info.cross + self.aux @ info.aux
        return np.ascontiguousarray(flat.T).reshape(-1, self.size, self.size)


def curvature_index(problem: RatingProblem) -> CurvatureIndex:
    """Prepare the index for a problem."""
    from scipy.sparse import csr_matrix

    size = problem.n_linear + problem.n_aux
    k = problem.matrix.shape[0]
    columns, values = _padded(problem.matrix)
    width = columns.shape[1]

    def gather(parts: list[tuple[IntArray, IntArray, FloatArray]]) -> Any:
        cells = np.tile(np.arange(k), len(parts))
        rows, columns, weights = (np.concatenate([part[i] for part in parts]) for i in range(3))
        inside = (rows >= 0) & (columns >= 0)
        entry = rows[inside] * size + columns[inside]
        return csr_matrix((weights[inside], (entry, cells[inside])), shape=(size * size, k))

    pairs = [(a, b) for a in range(width) for b in range(width)]
    eta = gather([(columns[:, a], columns[:, b], values[:, a] * values[:, b]) for a, b in pairs])
    if problem.n_aux == 0:
        return CurvatureIndex(eta, None, None, size)
    row = np.where(problem.aux_of >= 0, problem.aux_of + problem.n_linear, -1)
    sides = [(columns[:, a], row, values[:, a]) for a in range(width)]
    cross = gather([*sides, *((row, column, value) for column, _, value in sides)])
    return CurvatureIndex(eta, cross, gather([(row, row, np.ones(k))]), size)


def _padded(matrix: Any) -> tuple[IntArray, FloatArray]:
    """A sparse matrix as (K, width) columns and values; column -1 means no entry."""
    length = np.diff(matrix.indptr)
    width = int(length.max(initial=1))
    columns = np.full((length.size, width), -1, np.int64)
    values = np.zeros((length.size, width))
    row = np.repeat(np.arange(length.size), length)
    offset = np.arange(matrix.indices.size) - np.repeat(matrix.indptr[:-1], length)
    columns[row, offset], values[row, offset] = matrix.indices, matrix.data
    return columns, values


Flags = NDArray[np.bool_]

BATCH_NUMBERS = 1_000_000
"""Cells times rounds in one batch, small enough to keep its arrays in the CPU cache."""
SETTLED = 1e-7
"""Largest last step of a converged round, in natural-log strength: 2e-5 Elo."""
CHORD_STEPS = 25
NEWTON_STEPS = 25
NEWTON_NUMBERS = 4_000_000
"""Number of entries in all information matrices of one batch."""
MOST_GROUPED = 100
"""Largest board (number of models) whose rounds are grouped by their blocks: grouping costs m cubed."""


@dataclass(frozen=True)
class Replicates:
    """R refits: strengths (R, m), coefficients (R, p), aux (R, G)."""

    theta: FloatArray
    beta: FloatArray
    aux: FloatArray
    alone: int
    """How many rounds did not converge with the others and were then fitted by blocks or alone."""
    with_prior: int = 0
    """In how many rounds of a mixture the data do not bound a strength, so that a weak prior does."""


def replicate(base: Fit, units: Units, aux: Aux, *, rounds: int, seed: int) -> Replicates:
    """Draw `rounds` boards and refit each."""
    rng = np.random.default_rng(seed)
    parts = [_batch(base, counts, aux) for counts in _draws(base, units, rng, rounds)]
    theta = np.concatenate([part.theta for part in parts])
    if not base.blocks.placed:
        theta = theta + _unknown_places(base, rng, rounds)
    return Replicates(
        theta=theta,
        beta=np.concatenate([part.beta for part in parts]),
        aux=np.concatenate([part.aux for part in parts]),
        alone=sum(part.alone for part in parts),
        with_prior=sum(part.with_prior for part in parts),
    )


def _draws(base: Fit, units: Units, rng: np.random.Generator, rounds: int) -> Iterator[FloatArray]:
    k = base.cells.left.size
    size = int(np.clip(BATCH_NUMBERS // max(k, 1), 8, 512))
    for start in range(0, rounds, size):
        yield units.draw(rng, min(size, rounds - start)).reshape(k, 3, -1)


def _unknown_places(base: Fit, rng: np.random.Generator, rounds: int) -> FloatArray:
    """(R, m) random shifts of the blocks, whose positions the data do not fix, drawn from their posterior."""
    values, vectors = np.linalg.eigh(base.offset_covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    noise = rng.standard_normal((rounds, base.blocks.n)) @ root.T
    return np.asarray(noise[:, base.blocks.of])


def _batch(base: Fit, counts: FloatArray, aux: Aux) -> Replicates:
    """Refit the rounds with counts (K, 3, R) on all cells."""
    weighted = counts * base.cells.factor[:, None, None]
    inner = weighted if base.inside.all() else weighted[base.inside]
    parameters, settled = _settle(base, inner)
    m, rounds = base.cells.n_models, counts.shape[2]
    free = base.parameter >= 0
    theta = np.repeat(base.theta[:, None], rounds, axis=1)
    shift = base.theta - base.within
    theta[free] = parameters[base.parameter[free]] + shift[free, None]
    linear = base.problem.n_linear
    beta = parameters[int(free.sum()) : linear].copy()
    values = np.repeat(base.aux[:, None], rounds, axis=1)
    values[base.aux_free] = parameters[linear:]
    unsettled = np.flatnonzero(~settled)
    alone = _fit_by_blocks(base, counts, unsettled, theta)
    anchors = np.where(free, np.nan, base.theta) if not free.all() else None
    warm = replace(aux, start=np.where(aux.free, base.aux, aux.start)) if aux.free.any() else aux
    may_run = isinstance(base.problem.likelihood, Mixture) and not base.strength_prior
    running = _runaway_rounds(base, counts, theta) if may_run else np.empty(0, np.int64)
    with_prior = 0
    for r in np.union1d(alone, running).tolist():
        fit = partial(
            fit_board, replace(base.cells, counts=counts[:, :, r]), base.problem.likelihood,
            anchors=anchors, coefficient_prior=base.coefficient_prior, island=base.blocks.island,
        )  # fmt: skip
        refit = fit(aux=warm, start=base.within, strength_prior=base.strength_prior)
        if may_run and runs_away(refit):  # the board itself would get the prior if these were its battles
            refit, with_prior = fit(aux=aux, strength_prior=STRENGTH_PRIOR), with_prior + 1
        theta[:, r] = refit.theta[:m] if anchors is not None else base.blocks.centred(refit.theta[None])[0]
        beta[:, r], values[:, r] = refit.beta, refit.aux
    return Replicates(theta.T, beta.T, values.T, int(unsettled.size), with_prior)


def _runaway_rounds(base: Fit, counts: FloatArray, theta: FloatArray) -> IntArray:
    """Rounds in which the strengths `theta` (m, R) of two models that met are too far apart to have a bound."""
    lead = np.abs(theta[base.cells.left] - theta[base.cells.right]) * (counts.sum(axis=1) > 0)
    return np.flatnonzero(lead.max(axis=0, initial=0.0) > RUNAWAY)


def _fit_by_blocks(base: Fit, counts: FloatArray, unsettled: IntArray, theta: FloatArray) -> IntArray:
    """Fit rounds with the same blocks together, into `theta` (m, R); returns the remaining rounds.

    Only for boards without covariates, anchors and extra parameters.
    """
    m, likelihood = base.cells.n_models, base.problem.likelihood
    plain = likelihood.canonical and not likelihood.has_aux and base.problem.n_linear == m
    if not plain or (base.parameter < 0).any() or m > MOST_GROUPED:
        return unsettled
    labels = block_labels(base.cells, counts[:, :, unsettled])
    left_over = []
    for of in np.unique(labels, axis=0):
        rounds = unsettled[(labels == of).all(axis=1)]
        if rounds.size == 1:
            left_over.append(rounds)
            continue
        grouped = counts[:, :, rounds]
        first = replace(base.cells, counts=grouped[:, :, 0])
        fit = fit_board(first, likelihood, start=base.within, island=base.blocks.island)
        weighted = grouped * base.cells.factor[:, None, None]
        within, settled = _newton(fit.problem, fit.solution.parameters, weighted[fit.inside])
        _centre_blocks(fit, within)
        problem, index = placing_problem(base.cells, likelihood, fit.blocks, within)
        shift, placed = _newton(problem, np.zeros(problem.n_linear), weighted[~fit.inside])
        strengths = within + np.vstack([shift, np.zeros((1, rounds.size))])[index[fit.blocks.of]]
        theta[:, rounds] = base.blocks.centred(strengths.T).T
        left_over.append(rounds[~(settled & placed)])
    return np.concatenate([np.empty(0, np.int64), *left_over])


def _settle(base: Fit, counts: FloatArray) -> tuple[FloatArray, Flags]:
    """Parameters (P + A, R) of all rounds, and which of them settled (R,)."""
    parameters, settled = _chord(base, counts)
    left_open = np.flatnonzero(~settled)
    if left_open.size and base.problem.likelihood.canonical:
        refitted, done = _newton(base.problem, base.solution.parameters, counts[:, :, left_open])
        parameters[:, left_open[done]] = refitted[:, done]
        settled[left_open[done]] = True
    if (base.parameter >= 0).all():
        _centre_blocks(base, parameters)
    return parameters, settled


def _centre_blocks(base: Fit, parameters: FloatArray) -> None:
    """Set each block's mean strength to 0, in place: a shortened step moves it, and nothing else fixes it."""
    of, strengths = base.blocks.of, parameters[: base.parameter.size]
    member = np.eye(base.blocks.n)[of]
    strengths -= member @ (member.T @ strengths / np.bincount(of)[:, None])


def _chord(base: Fit, counts: FloatArray) -> tuple[FloatArray, Flags]:
    """Parameters (P + A, R) of all rounds, and which of them settled (R,)."""
    rounds = counts.shape[2]
    parameters = np.repeat(base.solution.parameters[:, None], rounds, axis=1)
    settled: Flags = np.zeros(rounds, bool)
    active = np.arange(rounds)
    left, tie, right = outcomes_of(counts)
    current = parameters.copy()
    for _ in range(CHORD_STEPS):
        step = base.solution.inverse @ base.problem.gradient(current, (left, tie, right))
        np.clip(step, -2.0, 2.0, out=step)
        current += step
        done = np.max(np.abs(step), axis=0, initial=0.0) < SETTLED
        if done.any():
            parameters[:, active[done]] = current[:, done]
            settled[active[done]] = True
            active = active[~done]
            if active.size == 0:
                break
            current = np.ascontiguousarray(current[:, ~done])
            left, tie, right = (np.ascontiguousarray(part[:, ~done]) for part in (left, tie, right))
    return parameters, settled


def _newton(problem: RatingProblem, start: FloatArray, counts: FloatArray) -> tuple[FloatArray, Flags]:
    """Parameters (P + A, R) of all rounds, each with its own information, and which of them converged (R,)."""
    rounds = counts.shape[2]
    parameters = np.repeat(start[:, None], rounds, axis=1)
    settled: Flags = np.zeros(rounds, bool)
    shape = curvature_index(problem)
    ridge = problem.gauge + 1e-10 * np.eye(shape.size)
    width = max(1, NEWTON_NUMBERS // max(shape.size, 1) ** 2)
    for begin in range(0, rounds, width):
        active = np.arange(begin, min(begin + width, rounds))
        for _ in range(NEWTON_STEPS):
            part, current, outcomes = (
                problem.of_rounds(active),
                parameters[:, active],
                outcomes_of(counts[:, :, active]),
            )
            curvature = shape.informations(part, current, outcomes) + ridge
            chance = sigmoid(current - problem.centre[:, None])
            curvature[:, np.arange(shape.size), np.arange(shape.size)] += (
                problem.prior.sum(axis=0)[:, None] * chance * (1 - chance)
            ).T
            step = np.linalg.solve(curvature, part.gradient(current, outcomes).T[:, :, None])[:, :, 0].T
            parameters[:, active] = current + np.clip(step, -2.0, 2.0)
            done = np.max(np.abs(step), axis=0, initial=0.0) < SETTLED
            settled[active[done]] = True
            active = active[~done]
            if active.size == 0:
                break
    return parameters, settled
