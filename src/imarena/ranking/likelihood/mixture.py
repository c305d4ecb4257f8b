"""The rater-aware mixture of CV-Arena appendix G, fitted by expectation maximisation, independent of order.

A label is credible with the rater's reliability q, else a coin flip (eq. 18). E-step: the posterior credibility of
every outcome (eq. 23). M-step: q is the mean credibility of a rater's labels, strengths are a Bradley-Terry fit
weighted by credibility. It uses counts by pair, outcome and rater, so that more battles cost nothing.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from imarena.core import FloatArray, UserError
from imarena.core.notices import Notice
from imarena.ranking.battles import Battles, CodedColumn
from imarena.ranking.likelihood.fit import fit_board
from imarena.ranking.likelihood.likelihoods import Aux, BradleyTerry, sigmoid
from imarena.ranking.likelihood.pair_counts import PairCells
from imarena.ranking.options import MixtureOptions

PRIOR = (2.0, 0.5)
"""Pseudo labels (credible, not credible) of every free reliability; they keep a rater with three votes off 0 and 1."""
START = 0.85
GAP_BINS = 5


@dataclass(frozen=True)
class Reliability:
    """Which battles share a q: a group per battle, and which groups are free."""

    groups: CodedColumn
    free: "np.ndarray[tuple[int], np.dtype[np.bool_]]"
    fixed_value: float
    notices: tuple[Notice, ...] = ()

    @property
    def aux(self) -> Aux:
        value = self.fixed_value
        fixed = np.inf if value >= 1 else np.log(value / (1 - value))
        start = np.where(self.free, np.log(START / (1 - START)), fixed)
        return Aux(start, self.free, np.repeat(np.array(PRIOR)[:, None], start.size, axis=1))


def reliability_groups(battles: Battles, options: MixtureOptions) -> Reliability:
    """Group the battles that share a reliability. People's is fixed at `q_human` if the source is known."""
    has_source = battles.judged is not None
    names: tuple[str, ...]
    by_judge = battles.judged if battles.judged is not None else np.ones(len(battles), bool)
    if options.reliability == "source":
        if not has_source:
            raise UserError("Reliability by source needs a source column.", hint="Give source: human or judge.")
        names, of = ("judge",), np.zeros(len(battles), np.int32)
    elif options.reliability == "gap":
        names, of = _gap_bins(battles, by_judge, options.gap_bins or GAP_BINS)
    else:
        if battles.rater is None:
            raise UserError("Reliability by rater needs a rater column.", hint="Or use --reliability source or gap.")
        names, of = battles.rater.names, battles.rater.of
    hold = has_source and options.q_human is not None and not by_judge.all()
    if not hold:
        return Reliability(CodedColumn(of, names), np.ones(len(names), bool), 1.0, (Notice(code="reliability_free"),))
    codes, group = np.unique(np.where(by_judge, of, len(names)), return_inverse=True)
    groups = CodedColumn(group.astype(np.int32), tuple((*names, "people")[code] for code in codes))
    return Reliability(groups, codes < len(names), options.q_human or 1.0)


def _gap_bins(
    battles: Battles, by_judge: "np.ndarray[tuple[int], np.dtype[np.bool_]]", bins: int
) -> tuple[tuple[str, ...], "np.ndarray[tuple[int], np.dtype[np.int32]]"]:
    if battles.score_left is None or battles.score_right is None:
        raise UserError("Reliability by gap needs score_left and score_right.", hint="Or use --reliability rater.")
    gap = np.round(np.abs(battles.score_left - battles.score_right), 9)
    if not np.isfinite(gap[by_judge]).all():
        raise UserError("A judge's battle has no scores, so its gap is not known.", hint="Fill both scores.")
    edges = np.unique(np.quantile(gap[by_judge], np.linspace(0, 1, bins + 1)[1:-1])) if by_judge.any() else np.zeros(0)
    of = np.searchsorted(edges, np.where(np.isfinite(gap), gap, 0.0), side="right").astype(np.int32)
    ends = [0.0, *edges.tolist(), float(np.inf)]
    return tuple(f"gap {low:g} to {high:g}" for low, high in pairwise(ends)), of


def expectation_maximisation(
    cells: PairCells, aux: Aux, *, anchors: FloatArray | None = None, limit: int = 1000, tolerance: float = 1e-8
) -> tuple[FloatArray, FloatArray, int]:
    """Strengths (m,), reliabilities (G,) and the number of iterations."""
    q = sigmoid(aux.start)
    theta = fit_board(cells, BradleyTerry(), anchors=anchors).theta
    wins, losses = cells.counts[:, 0] + 0.5 * cells.counts[:, 1], cells.counts[:, 2] + 0.5 * cells.counts[:, 1]
    labels = np.bincount(cells.group, wins + losses, q.size)
    iteration = 0
    while iteration < limit:
        iteration += 1
        # Keep p off 0 and 1, where a label that never errs (q = 1) would have a credibility of 0 / 0.
        p, reliability = np.clip(sigmoid(theta[cells.left] - theta[cells.right]), 1e-12, 1 - 1e-12), q[cells.group]
        win = wins * reliability * p / (reliability * p + 0.5 * (1 - reliability))
        loss = losses * reliability * (1 - p) / (reliability * (1 - p) + 0.5 * (1 - reliability))
        credible = np.bincount(cells.group, win + loss, q.size)
        new_q = np.where(aux.free, (credible + aux.prior[0]) / (labels + aux.prior.sum(axis=0)), q)
        weighted = replace(cells, counts=np.column_stack([win, np.zeros_like(win), loss]))
        new = fit_board(weighted, BradleyTerry(), anchors=anchors, start=theta).theta
        moved = max(float(np.abs(new_q - q).max()), float(np.abs(new - theta).max()))
        q, theta = new_q, new
        if moved < tolerance:
            break
    return theta, q, iteration
