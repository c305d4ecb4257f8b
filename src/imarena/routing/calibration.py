"""How far a judge can be trusted at a score gap: CV-Arena appendix E, from pairs judged by both a judge and people.

`agreement` a(gap) is the share of pairs on which the judge and people choose the same side. The rankings use it
differently: in the mixture (eq. 18), where a guess agrees half the time, the reliability is q = max(0, 2a - 1); the
paper's online update takes q = a.

The paper fits shares of bins (eq. 12) by isotonic regression and reads the result as a step function: method
`piecewise`. Ours, `isotonic`, fits the same shares and draws straight lines between the bins' mean gaps, so that two
pairs on both sides of an edge are not treated as different. Its logistic (eq. 13) is `logistic` with a ridge of 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from imarena.core import FloatArray, UserError, unknown_name

CalibrationMethod = Literal["isotonic", "piecewise", "logistic"]
CALIBRATION_METHODS: tuple[CalibrationMethod, ...] = get_args(CalibrationMethod)

LEAST_PAIRS = 40
"""Minimum number of pairs for a curve: with 40, the error of an agreement of .8 is still .06. Ours."""
BINS = 10
LINES = 100
"""Number of straight lines that replace a logistic curve where only points can be given."""
TABLE_EDGES = (50.0, 100.0, 200.0)
"""Edges of CV-Arena table 5 on its scale of 0 to 1000; `ScoreRange.edges` gives those of another judge."""
FINE_EDGES = (25.0, 50.0, 75.0, 100.0, 150.0, 200.0, 300.0, 400.0)
"""The same, with finer bands."""
RIDGE = 0.25
"""Precision of the weak prior on both logistic coefficients: as much as one agreeing and one disagreeing pair."""
STEP_ROOM = 1e-9
"""Relative tolerance by which floating-point noise may put a gap below a step."""
FLAT = 1e-12
"""Slope below which a logistic curve is flat; also the beta of a flat curve, since eq. 13 wants it above 0."""
LEVEL = 0.95
"""Level of a curve's intervals."""
LIMIT = 50
"""Maximum number of Newton steps in the logistic fit."""


@dataclass(frozen=True)
class Curve:
    """Agreement by score gap at J points: `gap` (J,) rising, `agreement` (J,) never falling, interval ends (J,).

    `empirical` (J,) is the raw share of each equal-count bin and `n` (J,) its pairs.
    """

    method: str
    gap: FloatArray
    agreement: FloatArray
    low: FloatArray
    high: FloatArray
    empirical: FloatArray
    n: FloatArray
    parameters: tuple[float, float] | None = None
    """beta and g0 of the logistic curve (eq. 13)."""
    edges: FloatArray | None = None
    """(J - 1,) gaps at which a piecewise constant curve steps to the next bin."""

    @property
    def steps(self) -> FloatArray | None:
        """(J - 1,) the steps with a tolerance for noise: a gap that should equal an edge is above it."""
        return None if self.edges is None else self.edges * (1 - STEP_ROOM)

    def at(self, gap: FloatArray) -> FloatArray:
        """Return the agreement at any gap (k,): straight lines between the points, flat beyond them; the bin's value if
        piecewise constant; eq. 13 if logistic.
        """
        if self.parameters is not None:
            return _logistic_at(np.asarray(gap, np.float64), self.parameters)
        if self.steps is not None:
            return np.asarray(self.agreement[np.searchsorted(self.steps, gap, side="right")])
        return np.asarray(np.interp(gap, self.gap, self.agreement))


def reliability(agreement: FloatArray, *, paper_compat: bool = False) -> FloatArray:
    """Return q from an agreement rate: max(0, 2a - 1) for the mixture, a itself for the paper's online update."""
    rate = np.asarray(agreement, np.float64)
    return rate if paper_compat else np.maximum(0.0, 2 * rate - 1)


def reliability_points(curve: Curve, widest: float, *, paper_compat: bool = False) -> tuple[tuple[float, float], ...]:
    """Return points (gap, q) that, joined by straight lines, give the reliability at every gap up to `widest`.

    The lines bend at a curve's points and where its agreement passes one half; for a logistic curve, the points are so
    close that the lines are within .001 of it. A step has two points, as close together as floats allow.
    """
    if curve.steps is not None:
        at = np.concatenate([[0.0], *([np.nextafter(step, 0.0), step] for step in curve.steps)])
        q = reliability(curve.at(at), paper_compat=paper_compat)
        return tuple(zip(at.tolist(), q.tolist(), strict=True))
    if curve.parameters is not None:
        at, half = np.linspace(0.0, max(widest, 1e-9), LINES + 1), curve.parameters[1]
    else:
        at, half = curve.gap, float(np.interp(0.5, curve.agreement, curve.gap))
    if at[0] < half < at[-1]:
        at = np.union1d(at, half)
    q = reliability(curve.at(at), paper_compat=paper_compat)
    return tuple(zip(at.tolist(), q.tolist(), strict=True))


def fit_curve(
    gap: FloatArray,
    agrees: FloatArray,
    *,
    method: CalibrationMethod = "isotonic",
    bins: int = BINS,
    rounds: int = 200,
    seed: int = 0,
    what: str = "this judge",
    ridge: float = RIDGE,
) -> Curve:
    """Fit a curve. `gap` (k,) above 0, `agrees` (k,) 1 or 0. Pairs with gap 0 have no side and must not be included.

    `ridge` is the precision of the prior on the logistic coefficients; 0 is plain maximum likelihood.
    """
    gap, agrees = np.asarray(gap, np.float64), np.asarray(agrees, np.float64)
    _check(gap, method, ridge, what)
    n_bins = max(2, min(bins, gap.size // 10))
    binned = _binned(gap, agrees, n_bins)
    points = binned.gap
    parameters = _parameters(gap, agrees, ridge, what) if method == "logistic" else None
    value = _logistic_at(points, parameters) if parameters else _isotonic(binned.share, binned.n)
    draws = _draws(gap, agrees, points, n_bins, method, rounds, seed, ridge)
    ends = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0) if rounds else np.stack([value, value])
    return Curve(
        method,
        points,
        value,
        np.minimum(ends[0], value),
        np.maximum(ends[1], value),
        binned.share,
        binned.n,
        parameters,
        binned.edges if method == "piecewise" else None,
    )


def _check(gap: FloatArray, method: str, ridge: float, judge: str) -> None:
    if method not in CALIBRATION_METHODS:
        raise unknown_name("No calibration method", method, CALIBRATION_METHODS)
    if not (ridge >= 0 and np.isfinite(ridge)):
        raise UserError(f"A ridge of {ridge:g} is not possible.", hint="0: none; 0.25: the usual one.")
    if gap.size < LEAST_PAIRS:
        raise UserError(
            f"Only {gap.size} pairs were decided by both people and {judge}: too few to calibrate.",
            hint=f"At least {LEAST_PAIRS} are needed: collect votes on pairs that the judge scored differently.",
        )
    if np.ptp(gap) == 0:
        raise UserError(f"All pairs of {judge} have the same score gap.", hint="A curve needs different gaps.")


def _draws(
    gap: FloatArray, agrees: FloatArray, points: FloatArray, bins: int, method: str, rounds: int, seed: int,
    ridge: float,
) -> FloatArray:  # fmt: skip
    """Return (rounds, J) the curve at its points, fitted to resampled pairs."""
    rng = np.random.default_rng(seed)
    draws = np.empty((rounds, points.size))
    for index in range(rounds):
        rows = rng.integers(gap.size, size=gap.size)
        if method == "logistic":
            draws[index] = _logistic_at(points, _logistic(gap[rows], agrees[rows], ridge)[0])
            continue
        binned = _binned(gap[rows], agrees[rows], bins)
        level = _isotonic(binned.share, binned.n)
        if method == "piecewise":
            draws[index] = level[np.searchsorted(binned.edges, points, side="right")]
        else:
            draws[index] = np.interp(points, binned.gap, level)
    return draws


@dataclass(frozen=True)
class _Bins:
    """J bins: mean gap, agreeing share (eq. 12) and number of pairs, each (J,); `edges` (J - 1,) between them."""

    gap: FloatArray
    share: FloatArray
    n: FloatArray
    edges: FloatArray


def _binned(gap: FloatArray, agrees: FloatArray, bins: int) -> _Bins:
    """Return equal-count bins. Equal gaps always share a bin."""
    edges = np.unique(np.quantile(gap, np.linspace(0, 1, bins + 1)[1:-1]))
    of = np.searchsorted(edges, gap, side="right")
    counts = np.bincount(of, minlength=edges.size + 1).astype(np.float64)
    filled = counts > 0
    sums = [np.bincount(of, values, edges.size + 1)[filled] / counts[filled] for values in (gap, agrees)]
    return _Bins(sums[0], sums[1], counts[filled], edges[np.flatnonzero(filled)[1:] - 1])


def _isotonic(share: FloatArray, counts: FloatArray) -> FloatArray:
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(share, weights=counts).x, np.float64)


def _parameters(gap: FloatArray, agrees: FloatArray, ridge: float, judge: str) -> tuple[float, float]:
    """Return the fit to store; raise if there is none, which can happen without a ridge."""
    parameters, settled = _logistic(gap, agrees, ridge)
    if not settled:
        raise UserError(
            f"The logistic curve of {judge} has no finite fit: its gaps separate the pairs that agree from the others.",
            hint="Give a --ridge above 0, such as 0.25, or use --method isotonic.",
        )
    return parameters


def _logistic(gap: FloatArray, agrees: FloatArray, ridge: float) -> tuple[tuple[float, float], bool]:
    """Return beta and g0 of eq. 13 by maximum likelihood, and whether the steps converged. The ridge keeps both finite.

    Eq. 13 has beta > 0: if agreement falls with the gap, the curve is flat, as in isotonic regression.
    """
    scale = float(gap.std()) or 1.0
    design = np.column_stack([np.ones(gap.size), gap / scale])
    coefficients = np.zeros(2)
    settled = False
    for _ in range(LIMIT):
        chance = _sigmoid(design @ coefficients)
        slope = design.T @ (agrees - chance) - ridge * coefficients
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + ridge * np.eye(2)
        if not np.linalg.det(curve) > 0:  # every pair is predicted with certainty: the likelihood has no maximum
            break
        move = np.clip(np.linalg.solve(curve, slope), -2, 2)
        coefficients = coefficients + move
        settled = bool(np.abs(move).max() < 1e-10)
        if settled:
            break
    beta = float(coefficients[1]) / scale
    if coefficients[1] < FLAT:
        rate = (float(agrees.sum()) + 2 * ridge) / (gap.size + 4 * ridge)
        return (FLAT, float(np.log(1 / np.clip(rate, FLAT, 1 - FLAT) - 1)) / FLAT), 0 < rate < 1
    return (beta, -float(coefficients[0]) / beta), settled


def _logistic_at(gap: FloatArray, parameters: tuple[float, float]) -> FloatArray:
    return _sigmoid(parameters[0] * (gap - parameters[1]))


def _sigmoid(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * np.asarray(x)))


@dataclass(frozen=True)
class GapRow:
    """One row of CV-Arena table 5: gaps from `low` up to but not including `high` (None: no upper end)."""

    low: float
    high: float | None
    n: int
    agreement: float | None
    fraction: float | None
    """Fraction of all pairs; None for pairs that are in no band."""


def agreement_table(gap: FloatArray, agrees: FloatArray, edges: Sequence[float] = TABLE_EDGES) -> tuple[GapRow, ...]:
    """Return agreement and the fraction of pairs by score gap. `gap` (k,) above 0, `agrees` (k,)."""
    ends = [0.0, *edges, np.inf]
    rows = []
    for low, high in pairwise(ends):
        inside = (gap >= low) & (gap < high)
        n = int(inside.sum())
        agreement = float(agrees[inside].mean()) if n else None
        rows.append(GapRow(low, None if np.isinf(high) else float(high), n, agreement, n / max(gap.size, 1)))
    return tuple(rows)
