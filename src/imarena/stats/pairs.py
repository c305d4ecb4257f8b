"""Pairs of outputs of the same unit: does the judge order them as people do?

A pair has two differences, left minus right: people's and the judge's. 0 is a tie. Differences are rounded to nine
decimals, so that floating-point noise does not make a winner.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from imarena.core import FloatArray, IntArray
from imarena.stats.figure import Figure, undefined_figure
from imarena.stats.ratings import round_values


@dataclass(frozen=True)
class ScorePairs:
    """n pairs: people's difference, the judge's difference and the unit, each (n,)."""

    human: FloatArray
    judge: FloatArray
    unit: IntArray

    def __len__(self) -> int:
        return len(self.human)


def pairs_within(units: ArrayLike, human: ArrayLike, judge: ArrayLike) -> ScorePairs:
    """All pairs of rows that share a unit. `units`: (n,) codes; `human`, `judge`: (n,); rows with NaN are left out."""
    unit, first, second = np.asarray(units, np.int64), round_values(human), round_values(judge)
    order = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    order = order[np.argsort(unit[order], kind="stable")]
    _, starts = np.unique(unit[order], return_index=True)
    lefts: list[IntArray] = []
    rights: list[IntArray] = []
    for rows in np.split(order, starts[1:]):
        left, right = np.triu_indices(len(rows), 1)
        lefts.append(rows[left])
        rights.append(rows[right])
    left, right = np.concatenate(lefts), np.concatenate(rights)
    return ScorePairs(round_values(first[left] - first[right]), round_values(second[left] - second[right]), unit[left])


def pair_accuracy(pairs: ScorePairs, *, tie_threshold: float = 0.0) -> Figure:
    """The share of pairs with the same outcome (left, right or tie) for both; the judge ties within `tie_threshold`."""
    method = f"same of left, right, tie; the judge ties where scores differ by {tie_threshold:g} or less"
    if not len(pairs):
        return undefined_figure("pair_accuracy", "there are no pairs", n=0, method=method)
    judge = np.where(np.abs(pairs.judge) <= tie_threshold, 0.0, np.sign(pairs.judge))
    return Figure("pair_accuracy", float((judge == np.sign(pairs.human)).mean()), len(pairs), method)


def decisive_accuracy(pairs: ScorePairs) -> Figure:
    """The share of the pairs that people decide where the judge picks the same side; a judge's tie is a miss."""
    method = "same side among pairs that people decide; a judge's tie is a miss"
    decided = pairs.human != 0
    if not decided.any():
        return undefined_figure("decisive_accuracy", "people decide no pair", n=0, method=method)
    agrees = np.sign(pairs.judge[decided]) == np.sign(pairs.human[decided])
    return Figure("decisive_accuracy", float(agrees.mean()), int(decided.sum()), method)


@dataclass(frozen=True)
class TieCalibration:
    """The threshold with the highest accuracy with ties, and that accuracy."""

    threshold: float
    accuracy: Figure


def calibrate_ties(pairs: ScorePairs) -> TieCalibration:
    """Choose the judge's tie threshold (Deutsch, Foster and Freitag 2023, arXiv 2305.14324, section 5).

    Returns the smallest threshold with the highest accuracy among 0 and every difference that occurs. It is chosen on
    the pairs that it is measured on, so the accuracy is an upper bound for new pairs; the method says so.
    """
    method = "accuracy with ties, threshold chosen on the same pairs (an upper bound)"
    if not len(pairs):
        return TieCalibration(
            0.0, undefined_figure("tie_calibrated_accuracy", "there are no pairs", n=0, method=method)
        )
    gap = np.abs(pairs.judge)
    order = np.argsort(gap, kind="stable")
    gap, human, judge = gap[order], np.sign(pairs.human[order]), np.sign(pairs.judge[order])
    # Correct with threshold t: people's ties among gaps up to t, and same signs among gaps above t.
    tied = np.concatenate([[0], np.cumsum(human == 0)])
    agrees = (human == judge) & (judge != 0)
    above = agrees.sum() - np.concatenate([[0], np.cumsum(agrees)])
    thresholds = np.unique(np.concatenate([[0.0], gap]))
    ends = np.searchsorted(gap, thresholds, side="right")
    accuracy = (tied[ends] + above[ends]) / len(gap)
    best = int(np.argmax(accuracy))
    return TieCalibration(
        float(thresholds[best]), Figure("tie_calibrated_accuracy", float(accuracy[best]), len(gap), method)
    )


@dataclass(frozen=True)
class GapBand:
    """Pairs whose scores differ by at least `low` and less than `high` (None: no limit)."""

    low: float
    high: float | None
    n: int
    agreement: float | None
    """The share of pairs on which judge and people choose the same side; None if the band is empty."""


def agreement_by_gap(pairs: ScorePairs, edges: Sequence[float]) -> tuple[tuple[GapBand, ...], int]:
    """Agreement with people by the size of the judge's score gap, over pairs that people decide.

    Bands are (0, e1), [e1, e2), ... and [ek, infinity). The second result is the number of pairs with gap 0.
    """
    steps = [0.0, *edges]
    if any(high <= low for low, high in pairwise(steps)):
        raise ValueError(f"edges must grow from above 0, got {list(edges)}")
    decided = pairs.human != 0
    human, judge = pairs.human[decided], pairs.judge[decided]
    gap = np.abs(judge)
    bands = []
    for low, high in zip(steps, [*edges, np.inf], strict=True):
        inside = (gap > 0) & (gap >= low) & (gap < high)
        agrees = np.sign(human[inside]) == np.sign(judge[inside])
        share = float(agrees.mean()) if len(agrees) else None
        bands.append(GapBand(low, None if np.isinf(high) else float(high), len(agrees), share))
    return tuple(bands), int((gap == 0).sum())
