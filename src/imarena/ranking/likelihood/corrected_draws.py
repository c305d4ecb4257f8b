"""Draw boards from the posterior of votes and a corrected judge, for intervals and probabilities.

Importance sampling (Owen 2013, chapter 9): for every spread of the bias, Laplace's method gives a centre and a
covariance; draws come from Student's t around it and are weighted by the exact posterior. Symmetric intervals (the
centre plus and minus two standard errors) are not enough: a model that won 31 of 33 votes is surely ahead, but nobody
knows by how much, so its interval is short on one side and long on the other. A symmetric one reaches far too high and
far too low.

The prior of the spread differs from that for the centre (see `CorrectedOptions`). With the centre's prior, few votes
and a judge that favours models strongly, intervals covered .86 instead of .95.
"""

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.likelihood.corrected import (
    PRIORS,
    SPREADS,
    Posterior,
    SpreadPosterior,
    VoteBatch,
    design_of,
    precision_of,
    softmax,
    to_strengths,
)

PROPOSALS = 4000
TAIL = 20.0
"""Degrees of freedom of the proposals: tails a little heavier than the posterior's. With 5, the effective number of
draws was half as large on boards with many models."""
CHUNK = 1000


def draw_boards(ballot: VoteBatch, posterior: Posterior, rounds: int, *, seed: int = 0, at: int = 0) -> FloatArray:
    """(rounds, m) equally likely strengths for the ballot with index `at` in the batch."""
    rng = np.random.default_rng(seed)
    many = max(PROPOSALS, 2 * rounds)
    parts = [
        SpreadPosterior(part.mode[at], part.mean[at], part.covariance[at], part.evidence[at])
        for part in posterior.parts
    ]
    spread = _spread_indices(parts, many, rng)
    proposals, weight = _proposals(parts, spread, rng)
    weight += _likelihood(ballot, posterior, at, proposals)
    # No draw weighs more than sqrt(n) others (Ionides 2008): if the proposals fit badly, the result is biased towards
    # them but does not depend on a single draw.
    share = softmax(weight)
    rows = _resampled(np.minimum(share, share.size**-0.5), rounds, rng)
    return np.asarray(proposals[rows] @ to_strengths(ballot.means[at : at + 1])[0].T)


def _log_prior(spread: FloatArray) -> FloatArray:
    """Log prior, up to a constant, of a spread on a grid that is evenly spaced on a log scale."""
    return np.asarray(2 * np.log(spread) - PRIORS.claimed * spread)


def _spread_indices(parts: list[SpreadPosterior], many: int, rng: np.random.Generator) -> IntArray:
    """(many,) indices into `SPREADS`, drawn by their approximate shares."""
    share = softmax(np.array([part.evidence for part in parts]) + _log_prior(np.array(SPREADS)))
    return _resampled(share, many, rng)


def _proposals(
    parts: list[SpreadPosterior], spread: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Coefficients (n, K) and the log of prior over proposal (n,), up to a constant.

    The share of a spread cancels against its prior; only its approximate evidence remains.
    """
    size = parts[0].mode.size
    proposals, weight = np.empty((spread.size, size)), np.empty(spread.size)
    centre = np.zeros(size)
    centre[0] = PRIORS.slope_within[0]
    for index in np.unique(spread):
        rows, part = np.flatnonzero(spread == index), parts[index]
        root = np.linalg.cholesky(part.covariance)
        scale = np.sqrt(rng.chisquare(TAIL, (rows.size, 1)) / TAIL)
        step = rng.standard_normal((rows.size, size)) / scale
        proposals[rows] = part.mean + step @ root.T
        precision = precision_of(SPREADS[index], size - 2)[0]
        prior = 0.5 * np.log(precision).sum() - 0.5 * (proposals[rows] - centre) ** 2 @ precision
        tail = 0.5 * (TAIL + size) * np.log1p((step**2).sum(axis=1) / TAIL)
        weight[rows] = prior + tail + np.log(np.diag(root)).sum() - part.evidence
    return proposals, weight


def _likelihood(ballot: VoteBatch, posterior: Posterior, at: int, proposals: FloatArray) -> FloatArray:
    """(n,) log likelihood of every draw, computed for a thousand votes at a time to save memory."""
    left, right = ballot.left[at], ballot.right[at]
    total = np.zeros(len(proposals))
    for first in range(0, left.size, CHUNK):
        rows = slice(first, first + CHUNK)
        part = VoteBatch(
            left[None, rows], right[None, rows], ballot.points[None, at, rows], ballot.within[None, at, rows],
            ballot.means[None, at],
        )  # fmt: skip
        weight = np.full(part.left.size, 1 / posterior.dispersion[at])
        if ballot.weight is not None:
            weight = weight * ballot.weight[at, rows]
        lead = proposals @ design_of(part)[0].T
        # log(1 + exp(x)) from vectorised functions: four times as fast as logaddexp
        total += lead @ (weight * part.points[0]) - np.maximum(lead, 0.0) @ weight
        total -= np.log(1.0 + np.exp(-np.abs(lead))) @ weight
    return total


def _resampled(share: FloatArray, many: int, rng: np.random.Generator) -> IntArray:
    """(many,) indices by systematic resampling."""
    steps = np.cumsum(share)
    comb = (np.arange(many) + rng.random()) / many * steps[-1]
    return np.asarray(np.minimum(np.searchsorted(steps, comb), share.size - 1), np.int64)
