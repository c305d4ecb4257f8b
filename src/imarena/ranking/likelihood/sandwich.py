"""Robust (sandwich) covariance: from the scores of battles, items or raters, without resampling."""

from typing import Any

import numpy as np

from imarena.core import FloatArray
from imarena.ranking.likelihood.fit import Fit
from imarena.ranking.resample import Units


def sandwich(base: Fit, units: Units) -> tuple[FloatArray, FloatArray]:
    """Covariance of the strengths (m, m), including the blocks' unknown positions, and of the coefficients (p, p)."""
    scores = _scores(base)
    inside = np.repeat(base.inside, 3)
    if units.touches is not None:
        per_unit = units.touches[:, inside] @ scores
        number = units.number
    else:
        new_row = np.cumsum(inside) - 1
        entry_inside = inside[units.entry]
        per_unit = scores[new_row[units.entry[entry_inside]]]
        number = units.number[entry_inside]
    meat = np.asarray((per_unit.T @ per_unit.multiply(number[:, None])).toarray())
    total = float(units.number.sum())
    if total > 1:
        meat *= total / (total - 1)
    full = base.solution.inverse @ meat @ base.solution.inverse
    free = np.flatnonzero(base.parameter >= 0)
    theta = np.zeros((base.cells.n_models,) * 2)
    theta[np.ix_(free, free)] = full[: free.size, : free.size]
    theta += base.offset_covariance[np.ix_(base.blocks.of, base.blocks.of)]
    return theta, full[free.size : base.problem.n_linear, free.size : base.problem.n_linear]


def model_covariance(base: Fit) -> FloatArray:
    """(m, m) inverse information: the model's own covariance, for cases without variation in resampling (ties only)."""
    free = np.flatnonzero(base.parameter >= 0)
    theta = np.zeros((base.cells.n_models,) * 2)
    theta[np.ix_(free, free)] = base.solution.inverse[: free.size, : free.size]
    for block in np.unique(base.blocks.of[free]):  # the gauge's variance, a common shift of a block, is not an error
        members = base.blocks.of == block
        if not (base.parameter[members] < 0).any():
            turn = np.eye(members.size) - np.outer(members, members) / members.sum()
            theta = turn @ theta @ turn.T
    return theta + base.offset_covariance[np.ix_(base.blocks.of, base.blocks.of)]


def _scores(base: Fit) -> Any:
    """(3 K, P + A) sparse: the score vector of one battle of each cell and outcome."""
    from scipy.sparse import csr_matrix, diags, hstack

    problem, factor = base.problem, base.cells.factor[base.inside]
    eta, aux = problem.eta(base.solution.parameters), problem.aux(base.solution.parameters)
    k = eta.size
    in_eta, in_aux = np.zeros((k, 3)), np.zeros((k, 3))
    for outcome in range(3):
        counts = [np.full(k, float(outcome == index)) for index in range(3)]
        slope, aux_slope = problem.likelihood.gradient(eta, aux, (counts[0], counts[1], counts[2]))
        in_eta[:, outcome] = slope * factor
        if aux_slope is not None:
            in_aux[:, outcome] = aux_slope * factor
    row = np.repeat(np.arange(k), 3)
    linear = diags(in_eta.ravel()) @ problem.matrix[row]
    if problem.n_aux == 0:
        return csr_matrix(linear)
    auxiliary = diags(in_aux.ravel()) @ problem.groups.T.tocsr()[row]
    return hstack([linear, auxiliary]).tocsr()
