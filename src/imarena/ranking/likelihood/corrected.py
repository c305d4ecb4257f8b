"""Correct a judge by votes: a hierarchical model in which people's votes show how far, and for whom, a judge is right.

A vote on item i between models a and b has the log odds

    theta_a - theta_b + slope_within * (gap_i - mean gap),    theta_m = slope * mean score_m + bias_m,

with bias_m ~ N(0, spread^2) and slope = slope_within + extra. The votes decide the slopes (does a higher score mean a
better output, a better model?) and the spread (how far does the judge favour models?). A judge that is always right has
spread 0, and its scores order the board. A judge without information has slopes of 0 and a wide spread, and the board
depends on the votes alone.

The slopes are tied because they describe the same skill: a judge that can distinguish outputs can also distinguish
models, mostly better (a mean over items has less noise). Every vote is informative about the slope within items. With
untied slopes, votes behind a narrow gate, where all gaps are near 0, showed only the difference of the two slopes;
sometimes the slope between models was estimated near 0 or below, which turned the board upside down.

Because the item's own score gap is in the model, votes that were routed by score do not bias the board: the gap shows
how the item differs from the usual one. Weights by the inverse probability of routing may be given as well.

The centre is the best guess: most judges are mostly right, so a few votes move it little. Intervals must hold for any
judge: they come from draws of the posterior (`corrected_draws`).

All arrays have a leading batch dimension B, so that many seeds are fitted at once. n votes, m models.
"""

from dataclasses import dataclass

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.likelihood.likelihoods import sigmoid

SPREADS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
"""Grid of the spread of bias, in log odds, evenly spaced on a log scale. Results are averaged over it, weighted by how
well each spread explains the votes."""
LEAST_DISPERSION = 0.4
"""Votes never count as more than 2.5 times as certain as coin flips. If routing finds mostly ties (both edits failed),
their small variance says little about the few decisive votes; without this floor, those overrule a good judge."""
STEP = 1.5
"""Largest change of a coefficient in one step of Newton's method."""


@dataclass(frozen=True)
class CorrectedOptions:
    """Priors for scores scaled so that the root mean square gap within an item is 1. All values are our choice."""

    slope_within: tuple[float, float] = (0.4, 0.5)
    """Mean and standard deviation: a judge is half trusted until there are votes."""
    extra: float = 0.7
    """Standard deviation of the difference between the slope between models and that within items."""
    spread: tuple[float, float] = (0.3, 1.0)
    """Median of the spread and standard deviation of its logarithm, for the centre."""
    claimed: float = 0.7
    """For intervals, the spread is gamma distributed with shape 2 and this rate. This avoids 0 (Chung et al. 2013) and
    gives a light tail."""
    dispersion: float = 0.5
    """Expected ratio of the variance of votes to that of coin flips (ties lower it), with the weight of four votes."""


PRIORS = CorrectedOptions()


@dataclass(frozen=True)
class VoteBatch:
    """Votes. `left`, `right` (B, n) models; `points` (B, n) of the left side; `within` (B, n) the item's score gap
    minus the models' mean gap; `means` (B, m) the models' mean scores; `weight` (B, n) or None.
    """

    left: IntArray
    right: IntArray
    points: FloatArray
    within: FloatArray
    means: FloatArray
    weight: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """B, n, m."""
        return (*self.left.shape, self.means.shape[1])


@dataclass(frozen=True)
class SpreadPosterior:
    """Results for one spread: mode and mean of the coefficients (B, K), covariance (B, K, K) and log evidence (B,)."""

    mode: FloatArray
    mean: FloatArray
    covariance: FloatArray
    evidence: FloatArray


@dataclass(frozen=True)
class Posterior:
    """`theta` (B, m) strengths in natural logs and `covariance` (B, m, m) around them, by the best guess of the judge:
    for choosing what to ask, not for intervals; `slopes` (B, 2) within and between; `spread` (B,), `dispersion` (B,);
    `coefficients` (B, m + 2) for a warm start; `parts`, one per value of `SPREADS`.
    """

    theta: FloatArray
    covariance: FloatArray
    slopes: FloatArray
    spread: FloatArray
    dispersion: FloatArray
    coefficients: FloatArray
    parts: tuple[SpreadPosterior, ...]


def fit_corrected(ballot: VoteBatch) -> Posterior:
    """Fit on a grid of spreads and average. Without votes, the result is the prior: the judge's order."""
    batch, n, m = ballot.shape
    design = design_of(ballot)
    centre = np.zeros((batch, m + 2))
    centre[:, 0] = PRIORS.slope_within[0]
    weight = np.ones((batch, n)) if ballot.weight is None else ballot.weight
    start, phi = centre, np.full(batch, PRIORS.dispersion)
    if n:
        start, _, _ = _newton(design, ballot.points, weight, precision_of(0.4, m), centre, centre)
        phi = _dispersion(design, ballot.points, weight, start)
    scaled, parts = weight / phi[:, None], []
    for spread in SPREADS:
        precision = precision_of(spread, m)
        start, curvature, value = _newton(design, ballot.points, scaled, precision, centre, start)
        parts.append(SpreadPosterior(start, *_mean(design, scaled, precision, start, curvature), value))
    return _averaged(parts, to_strengths(ballot.means), phi)


def refit_strengths(ballot: VoteBatch, posterior: Posterior, weight: FloatArray) -> FloatArray:
    """(B, m) strengths with other weights (B, n), such as bootstrap counts; spread and dispersion are kept."""
    m = ballot.shape[2]
    precision = np.tile(precision_of(1.0, m), (posterior.spread.size, 1))
    precision[:, 2:] = 1 / posterior.spread[:, None] ** 2
    centre = np.zeros_like(posterior.coefficients)
    centre[:, 0] = PRIORS.slope_within[0]
    scaled = weight / posterior.dispersion[:, None]
    coefficients, _, _ = _newton(
        design_of(ballot), ballot.points, scaled, precision, centre, posterior.coefficients, rounds=3
    )
    return np.asarray((to_strengths(ballot.means) @ coefficients[..., None])[..., 0])


def design_of(ballot: VoteBatch) -> FloatArray:
    """(B, n, m + 2) the design matrix: the slope within items, the extra slope between models, the biases."""
    batch, n, m = ballot.shape
    design = np.zeros((batch, n, m + 2))
    if not n:
        return design
    rows, columns = np.arange(batch)[:, None], np.arange(n)[None, :]
    design[:, :, 1] = ballot.means[rows, ballot.left] - ballot.means[rows, ballot.right]
    design[:, :, 0] = ballot.within + design[:, :, 1]
    design[rows, columns, ballot.left + 2] = 1.0
    design[rows, columns, ballot.right + 2] = -1.0
    return design


def to_strengths(means: FloatArray) -> FloatArray:
    """(B, m, m + 2) the matrix that maps coefficients to strengths."""
    batch, m = means.shape
    turn = np.zeros((batch, m, m + 2))
    turn[:, :, 0] = turn[:, :, 1] = means
    turn[:, np.arange(m), np.arange(m) + 2] = 1.0
    return turn


def precision_of(spread: float, m: int) -> FloatArray:
    """(1, m + 2) prior precision of the coefficients."""
    slopes = [1 / PRIORS.slope_within[1] ** 2, 1 / PRIORS.extra**2]
    return np.concatenate([slopes, np.full(m, 1 / spread**2)])[None, :]


def _mean(
    design: FloatArray, weight: FloatArray, precision: FloatArray, mode: FloatArray, curvature: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The posterior's mean (B, K) to second order, and the covariance (B, K, K) there.

    With few votes the posterior is skewed outward: its mean is beyond its mode, and its curvature there is smaller.
    """
    inverse = np.linalg.inv(curvature)
    chance = sigmoid((design @ mode[..., None])[..., 0])
    third = weight * chance * (1 - chance) * (2 * chance - 1) * ((design @ inverse) * design).sum(axis=2)
    turned = np.swapaxes(design, 1, 2)
    mean = mode + np.clip(0.5 * (inverse @ (turned @ third[..., None]))[..., 0], -STEP, STEP)
    chance = sigmoid((design @ mean[..., None])[..., 0])
    information = turned @ (design * (weight * chance * (1 - chance))[..., None])
    size = np.arange(mode.shape[1])
    information[:, size, size] += precision
    return mean, np.asarray(np.linalg.inv(information), np.float64)


def _newton(
    design: FloatArray,
    points: FloatArray,
    weight: FloatArray,
    precision: FloatArray,
    centre: FloatArray,
    start: FloatArray,
    rounds: int = 25,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients (B, K), curvature (B, K, K) and the log of the marginal likelihood by Laplace's method (B,)."""
    coefficients, size = start.copy(), start.shape[1]
    turned = np.swapaxes(design, 1, 2)
    curvature = np.zeros((len(start), size, size))
    for _ in range(rounds):
        chance = sigmoid((design @ coefficients[..., None])[..., 0])
        slope = (turned @ (weight * (points - chance))[..., None])[..., 0] - precision * (coefficients - centre)
        curvature = turned @ (design * (weight * chance * (1 - chance))[..., None])
        curvature[:, np.arange(size), np.arange(size)] += precision
        move = np.clip(np.linalg.solve(curvature, slope[..., None])[..., 0], -STEP, STEP)
        coefficients += move
        if float(np.abs(move).max(initial=0.0)) < 1e-5:
            break
    eta = (design @ coefficients[..., None])[..., 0]
    value = (weight * (points * eta - np.logaddexp(0, eta))).sum(axis=1)
    value = value - 0.5 * (precision * (coefficients - centre) ** 2).sum(axis=1) + 0.5 * np.log(precision).sum(axis=1)
    return coefficients, curvature, value - 0.5 * np.linalg.slogdet(curvature)[1]


def _dispersion(design: FloatArray, points: FloatArray, weight: FloatArray, coefficients: FloatArray) -> FloatArray:
    """(B,) ratio of the votes' variance to that of coin flips, reduced only by ties (a quarter each). Estimated from
    residuals of a shrunk fit, votes without a tie gave .7.
    """
    chance = sigmoid((design @ coefficients[..., None])[..., 0])
    coins = (weight * chance * (1 - chance)).sum(axis=1)
    ties = (weight * points * (1 - points)).sum(axis=1)
    return np.asarray(np.clip((coins - ties + PRIORS.dispersion) / (coins + 1.0), LEAST_DISPERSION, 1.0))


def _averaged(parts: list[SpreadPosterior], turn: FloatArray, phi: FloatArray) -> Posterior:
    spreads = np.array(SPREADS)
    evidence = np.broadcast_to(np.stack([part.evidence for part in parts], axis=1), (len(phi), len(parts)))
    share = softmax(evidence - 0.5 * (np.log(spreads / PRIORS.spread[0]) / PRIORS.spread[1]) ** 2)
    coefficients = (share[..., None] * np.stack([part.mode for part in parts], axis=1)).sum(axis=1)
    theta = np.asarray((turn @ coefficients[..., None])[..., 0])
    slopes = np.cumsum(coefficients[:, :2], axis=1)  # within; within and extra
    around = _around(parts, turn, theta, share)
    return Posterior(theta, around, slopes, np.exp(share @ np.log(spreads)), phi, coefficients, tuple(parts))


def _around(parts: list[SpreadPosterior], turn: FloatArray, theta: FloatArray, share: FloatArray) -> FloatArray:
    """(B, m, m) mean square of strengths minus `theta`, averaged over the spreads by their shares (B, S)."""
    total = np.zeros((*theta.shape, theta.shape[1]))
    for spread, part in enumerate(parts):
        off = (turn @ part.mean[..., None])[..., 0] - theta
        around = turn @ part.covariance @ np.swapaxes(turn, 1, 2) + off[:, :, None] * off[:, None, :]
        total += share[:, spread, None, None] * around
    return total


def softmax(log_weight: FloatArray) -> FloatArray:
    """Shares from log weights (..., S); they sum to 1."""
    share = np.exp(log_weight - log_weight.max(axis=-1, keepdims=True))
    return np.asarray(share / share.sum(axis=-1, keepdims=True))
