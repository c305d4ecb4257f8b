"""How often yes-or-no verdicts about edits are those of people: accuracy, PLCC, Cohen's kappa, F1; and the ceiling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from imarena.reports.tables import Column, Table
from imarena.stats import cohen_kappa, pearson


@dataclass(frozen=True)
class BinaryAgreement:
    """One judge against people on one edit type (`overall`: on all). Figures are None where they are not defined."""

    judge: str
    type: str
    n: int
    accuracy: float | None
    plcc: float | None
    kappa: float | None
    f1: float | None
    threshold: float | None = None
    """Where a score was turned into yes or no: at or above this."""


def binary_agreement(
    judge: str, kind: str, said: Sequence[bool], people: Sequence[bool], threshold: float | None = None
) -> BinaryAgreement:
    """The figures of one judge's answers and the people's, in the same order."""
    n = len(said)
    if not n:
        return BinaryAgreement(judge, kind, 0, None, None, None, None, threshold)
    left, right = np.asarray(said, np.float64), np.asarray(people, np.float64)
    hits = float(((left == 1) & (right == 1)).sum())
    wrong = float((left != right).sum())
    f1 = 2 * hits / (2 * hits + wrong) if hits or wrong else None
    return BinaryAgreement(
        judge, kind, n, 1 - wrong / n, pearson(left, right).value, cohen_kappa(left, right).value, f1, threshold
    )


def best_threshold(scores: Sequence[float], people: Sequence[bool]) -> float:
    """The threshold of a score with the highest accuracy on these very edits: a baseline at its best (section 2.5)."""
    order = sorted(set(scores))
    middles = [order[0] - 1.0, *((a + b) / 2 for a, b in pairwise(order)), order[-1] + 1.0]
    values, truth = np.asarray(scores), np.asarray(people)
    return float(max(middles, key=lambda at: float(((values >= at) == truth).mean())))


def rater_ceiling(marks: Mapping[str, Sequence[bool]]) -> tuple[float | None, int]:
    """The share of pairs of raters of the same output who agree, and the number of pairs."""
    same = pairs = 0
    for given in marks.values():
        yes = sum(given)
        no = len(given) - yes
        pairs += len(given) * (len(given) - 1) // 2
        same += yes * (yes - 1) // 2 + no * (no - 1) // 2
    return (same / pairs if pairs else None), pairs


def people_table(lines: Sequence[BinaryAgreement], ceiling: tuple[float | None, int]) -> Table:
    """Figure 4 and table 13: agreement with people by type, with that among raters."""
    rows = [
        (line.type, line.judge, line.n, _percent(line.accuracy), line.plcc, line.kappa, line.f1, line.threshold)
        for line in lines
    ]
    share, pairs = ceiling
    if pairs:
        rows.append(("overall", "raters among themselves", pairs, _percent(share), None, None, None, None))
    columns = (
        Column("type"), Column("judge"), Column("n", ","), Column("accuracy", ".1f"),
        Column("PLCC", ".4f", "undefined"),
        Column("kappa", ".4f", "undefined"), Column("F1", ".4f", "undefined"), Column("threshold", ".4g"),
    )  # fmt: skip
    notes = (
        "A judge with a threshold gives scores; its threshold is the one with the highest accuracy on these very "
        "edits, by type.",
    )
    return Table(columns, tuple(rows), "Agreement with people", notes if any(line.threshold for line in lines) else ())


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
