"""Whether a judge orders two outputs of the same unit as people do: figures per judge, criterion and group."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.agreement.matches import Match
from imarena.core import grouped
from imarena.stats import (
    Figure,
    GapBand,
    TieCalibration,
    agreement_by_gap,
    calibrate_ties,
    decisive_accuracy,
    pair_accuracy,
    pairs_within,
)


@dataclass(frozen=True)
class PairOrder:
    """How well one judge orders the pairs of one criterion and group."""

    judge: str
    criterion: str | None
    group: dict[str, str]
    n_pairs: int
    n_human_ties: int
    n_judge_ties: int
    pair_accuracy: Figure
    decisive_accuracy: Figure
    tie_calibrated: TieCalibration
    by_gap: tuple[GapBand, ...] = ()
    """Bands of score gaps; empty if none were requested."""
    n_gap_zero: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        accuracy, decisive, calibrated = self.pair_accuracy, self.decisive_accuracy, self.tie_calibrated
        document: dict[str, Any] = {
            "judge": self.judge, "criterion": self.criterion, "group": self.group,
            "n_pairs": self.n_pairs, "n_human_ties": self.n_human_ties, "n_judge_ties": self.n_judge_ties,
            "pair_accuracy": accuracy.value, "decisive_accuracy": decisive.value, "n_decisive": decisive.n,
            "tie_calibrated_accuracy": calibrated.accuracy.value, "tie_threshold": calibrated.threshold,
            "methods": {
                "pair_accuracy": accuracy.method, "decisive_accuracy": decisive.method,
                "tie_calibrated_accuracy": calibrated.accuracy.method,
            },
            "status": accuracy.status, "reason": accuracy.reason or decisive.reason or None,
        }  # fmt: skip
        if self.by_gap:
            document["by_gap"] = [
                {"low": band.low, "high": band.high, "n": band.n, "agreement": band.agreement} for band in self.by_gap
            ]
            document["n_gap_zero"] = self.n_gap_zero
        return document


def pair_orders(matches: Sequence[Match], by: Sequence[str], gaps: Sequence[float]) -> Iterable[PairOrder]:
    """Yield one row per judge, criterion and group of the columns in `by`; `gaps`: edges of score gaps."""
    # With `model` in `by`, a group has at most one model, and a pair needs two.
    columns = [index for index, name in enumerate(by) if name != "model"]
    groups = grouped(
        ((match.judge, match.criterion, tuple((by[index], match.group[index]) for index in columns)), match)
        for match in matches
    )
    for (judge, criterion, group), rows in sorted(groups.items(), key=str):
        yield _pair_order(judge, criterion, dict(group), rows, gaps)


def _pair_order(
    judge: str, criterion: str | None, group: dict[str, str], rows: Sequence[Match], gaps: Sequence[float]
) -> PairOrder:
    codes = np.unique(np.array([row.unit for row in rows]), return_inverse=True)[1]
    scores = [np.nan if row.score is None else row.score for row in rows]
    pairs = pairs_within(codes, [row.human for row in rows], scores)
    bands, n_equal = agreement_by_gap(pairs, gaps) if gaps else ((), 0)
    return PairOrder(
        judge, criterion, group, len(pairs), int((pairs.human == 0).sum()), int((pairs.judge == 0).sum()),
        pair_accuracy(pairs), decisive_accuracy(pairs), calibrate_ties(pairs), bands, n_equal,
    )  # fmt: skip
