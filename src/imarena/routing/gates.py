"""The two gates of CV-Arena (eq. 4, 21), thresholds for them, and information per cost (appendix F).

The paper gives neither tau nor Delta. Ours are chosen so that a third of all pairs (33.7%, its deferral rate) pass.
"""

from dataclasses import dataclass

import numpy as np

from imarena.core import FloatArray, Mask, UserError, command_line
from imarena.routing.pool import Pool

DEFERRAL = 0.337
"""Share of pairs that go to people (000, appendix K.2)."""
STEPS = 41
SHIFT = 50.0
"""Shift of both thresholds in table 9, on its scale of 0 to 1000; `ScoreRange.points` converts it for any judge."""
DIGITS = 9
"""Decimals of a score gap: for fractional scores, gaps that should be equal differ in the last bit."""


@dataclass(frozen=True)
class Gates:
    """Quality gate min(s) >= tau and ambiguity gate gap < delta; None disables a gate."""

    tau: float | None = None
    delta: float | None = None

    def passes(self, lower: FloatArray, gap: FloatArray) -> Mask:
        """(k,) which pairs go to people. `lower` (k,) is the lower of both scores, `gap` (k,) their difference."""
        through = np.isfinite(lower) & np.isfinite(gap)
        if self.tau is not None:
            through &= lower >= self.tau
        if self.delta is not None:
            through &= _plain(gap) < round(self.delta, DIGITS)
        return through

    def moved(self, by: float) -> "Gates":
        """Return the gates loosened by `by` (tau down, delta up) or, if negative, tightened: CV-Arena table 9."""
        return Gates(
            None if self.tau is None else round(self.tau - by, DIGITS),
            None if self.delta is None else round(self.delta + by, DIGITS),
        )


def explicit_gates(tau: float | None, delta: float | None) -> Gates | None:
    """Return the gates that a user gives; None without thresholds, so that they are chosen from the scores."""
    return None if tau is None and delta is None else Gates(tau, delta)


def choose_gates(pool: Pool, gold: Mask, tau: float | None, delta: float | None, deferral: float = DEFERRAL) -> Gates:
    """Return the given gates, or thresholds for a deferral rate outside the gold set; `gold` (N,)."""
    given = explicit_gates(tau, delta)
    return given or gates_for(pool.lower[~gold].ravel(), np.abs(pool.gap[~gold]).ravel(), deferral=deferral)


def gates_for(lower: FloatArray, gap: FloatArray, *, deferral: float = DEFERRAL) -> Gates:
    """Return the thresholds whose deferral rate is nearest to `deferral`.

    Many pairs of thresholds are near: of those within half a point of the best on a grid of quantiles, the one with the
    most equal shares of the two gates is taken. Delta then moves from the grid, whose steps are 2.5 points wide, to the
    score gap with the nearest rate.
    """
    if not 0 < deferral <= 1:
        raise UserError(f"A deferral rate of {deferral:g} routes nothing.", hint="Give a share above 0, up to 1.")
    finite = np.isfinite(lower) & np.isfinite(gap)
    if not finite.any():
        raise UserError("No pair has two scores.", hint=f"Judge the outputs first: {command_line('judge')}")
    low, wide = lower[finite], _plain(gap[finite])
    taus, deltas = _steps(low), np.append(_steps(wide)[1:], np.inf)
    table, quality_share, ambiguity_share = _shares(low, wide, taus, deltas)
    miss = np.abs(table - deferral)
    unbalanced = np.abs(quality_share[:, None] - ambiguity_share[None, :])
    near = miss <= miss.min() + 0.005
    best = np.unravel_index(int(np.argmin(np.where(near & (table > 0), unbalanced, np.inf))), table.shape)
    tau = float(taus[best[0]])
    delta = _nearest(wide[low >= tau], deferral * low.size)
    # the exact gap, not the rounded one
    gates = Gates(tau, float(gap[finite][wide == delta].min()) if np.isfinite(delta) else None)
    if not gates.passes(low, wide).any():
        raise UserError("No thresholds let any pair through.", hint="The scores may all be equal: check the judge.")
    return gates


def _plain(gap: FloatArray) -> FloatArray:
    return np.asarray(np.round(gap, DIGITS))


def _nearest(values: FloatArray, target: float) -> float:
    """Return the threshold with a share below it as near to `target` as ties allow, but never an empty share."""
    ordered = np.sort(values)
    at = ordered[min(int(target), ordered.size - 1)]
    below, upto = (int(np.searchsorted(ordered, at, side=side)) for side in ("left", "right"))
    if below and target - below <= upto - target:
        return float(at)
    return float(ordered[upto]) if upto < ordered.size else np.inf


def _steps(values: FloatArray) -> FloatArray:
    return np.unique(np.quantile(values, np.linspace(0, 1, STEPS), method="lower"))


def _shares(
    low: FloatArray, wide: FloatArray, taus: FloatArray, deltas: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the shares of pairs that pass both gates (T, D), the quality gate (T,) and the ambiguity gate (D,)."""
    row = np.searchsorted(taus, low, side="right")
    column = np.searchsorted(deltas, wide, side="right")
    shape = (taus.size + 1, deltas.size + 1)
    counts = np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1]).reshape(shape) / low.size
    # a pair passes tau[t] if row > t, and delta[d] if column <= d
    above = counts[::-1].cumsum(axis=0)[::-1][1:]
    return above.cumsum(axis=1)[:, :-1], above.sum(axis=1), counts.sum(axis=0).cumsum()[:-1]


def check_routed(through: Mask, gates: Gates) -> None:
    """Reject gates that let no pair through."""
    if not through.any():
        thresholds = ", ".join(
            f"{name} {value:g}" for name, value in (("tau", gates.tau), ("delta", gates.delta)) if value is not None
        )
        raise UserError(
            f"The gates let nothing through ({thresholds}).", hint="Lower --tau, raise --delta, or give neither."
        )


def information(q: FloatArray, p: FloatArray, scale: FloatArray | float = 1.0) -> FloatArray:
    """Fisher information of one label about the rating difference: (q p (1 - p) / S)^2 / (p_eff (1 - p_eff))."""
    q, p = np.asarray(q, np.float64), np.asarray(p, np.float64)
    effective = q * p + 0.5 * (1 - q)
    noise = effective * (1 - effective)
    slope = q * p * (1 - p) / np.maximum(np.asarray(scale, np.float64), 1e-9)
    return np.asarray(np.divide(slope**2, noise, out=np.zeros(np.broadcast(slope, noise).shape), where=noise > 0))


def information_paper(q: FloatArray, p: FloatArray) -> FloatArray:
    """Equation 20 as printed: p_eff (1 - p_eff). It falls as q rises, so it never routes anything to people."""
    effective = np.asarray(q) * np.asarray(p) + 0.5 * (1 - np.asarray(q))
    return np.asarray(effective * (1 - effective))


def prefers_people(
    q_judge: FloatArray,
    p: FloatArray,
    *,
    cost_vote: float,
    cost_judgment: float,
    q_human: float = 0.99,
    paper_compat: bool = False,
) -> Mask:
    """(N, P) chances. `filled` (N, m) standardised scores; `item`, `pair` (n,) of the votes; `decided` (n,) 1 or 0."""
    if cost_vote <= 0 or cost_judgment <= 0:
        raise UserError("Costs must be above 0.", hint="Such as --cost-vote 0.10 --cost-judgment 0.01.")
    measure = information_paper if paper_compat else information
    human = measure(np.full_like(np.asarray(p, np.float64), q_human), p) / cost_vote
    return np.asarray(human > measure(q_judge, p) / cost_judgment)
