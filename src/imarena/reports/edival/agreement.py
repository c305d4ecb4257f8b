"""Agreement of yes-or-no verdicts about edits with people: accuracy, PLCC, Cohen's kappa, F1, and the ceiling."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from imarena.core import grouped
from imarena.reports.edival.scored import known_mean, percent
from imarena.reports.tables import CellValue, Column, Table
from imarena.stats import cohen_kappa, pearson


@dataclass(frozen=True)
class BinaryAgreement:
    """One judge against people on one edit type (`overall`: on all). Figures are None if undefined."""

    judge: str
    type: str
    n: int
    accuracy: float | None
    plcc: float | None
    kappa: float | None
    f1: float | None
    threshold: float | None = None
    """For a judge with scores: the score from which the answer counts as yes."""


def binary_agreement(
    judge: str, kind: str, verdicts: Sequence[bool], people: Sequence[bool], threshold: float | None = None
) -> BinaryAgreement:
    """The figures from the answers of one judge and of people, in the same order."""
    n = len(verdicts)
    if not n:
        return BinaryAgreement(judge, kind, 0, None, None, None, None, threshold)
    left, right = np.asarray(verdicts, np.float64), np.asarray(people, np.float64)
    hits = float(((left == 1) & (right == 1)).sum())
    wrong = float((left != right).sum())
    f1 = 2 * hits / (2 * hits + wrong) if hits or wrong else None
    return BinaryAgreement(
        judge, kind, n, 1 - wrong / n, pearson(left, right).value, cohen_kappa(left, right).value, f1, threshold
    )


def best_threshold(scores: Sequence[float], people: Sequence[bool]) -> float:
    """The score threshold with the highest accuracy on these same edits: a baseline at its best (section 2.5)."""
    order = sorted(set(scores))
    middles = [order[0] - 1.0, *((a + b) / 2 for a, b in pairwise(order)), order[-1] + 1.0]
    values, truth = np.asarray(scores), np.asarray(people)
    return float(max(middles, key=lambda at: float(((values >= at) == truth).mean())))


def rater_ceiling(marks: Mapping[str, Sequence[bool]]) -> tuple[float | None, int]:
    """The share of agreeing pairs among all pairs of raters of the same output, and the number of pairs."""
    agreeing = pairs = 0
    for answers in marks.values():
        yes = sum(answers)
        no = len(answers) - yes
        pairs += len(answers) * (len(answers) - 1) // 2
        agreeing += yes * (yes - 1) // 2 + no * (no - 1) // 2
    return (agreeing / pairs if pairs else None), pairs


def people_table(lines: Sequence[BinaryAgreement], ceiling: tuple[float | None, int]) -> Table:
    """Figure 4 and table 13: agreement with people by type, and among raters."""
    rows = [
        (line.type, line.judge, line.n, percent(line.accuracy), line.plcc, line.kappa, line.f1, line.threshold)
        for line in lines
    ]
    share, pairs = ceiling
    if pairs:
        rows.append(("overall", "raters among themselves", pairs, percent(share), None, None, None, None))
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


@dataclass(frozen=True)
class StyleAnswer:
    """The answers of a model and of people about the style of one output; None: no answer."""

    judge: str
    editor: str
    mode: str
    shape: str
    """Shape of the source image: `square` or `padded`."""
    yes: bool | None
    why: str = ""
    """Why there is no answer."""
    people: bool | None = None


def style_table(answers: Sequence[StyleAnswer]) -> Table:
    """Share of yes by judge, editor, mode and shape, that of people, and how often the two agree."""
    groups = grouped(((answer.judge, answer.editor, answer.mode, answer.shape), answer) for answer in answers)
    rows: list[tuple[CellValue, ...]] = []
    for key, group in sorted(groups.items()):
        answered = [answer for answer in group if answer.yes is not None]
        rated = [answer for answer in answered if answer.people is not None]
        why = Counter(answer.why for answer in group if answer.yes is None)
        rows.append(
            (
                *key, len(answered), percent(known_mean([answer.yes for answer in answered])), len(rated),
                percent(known_mean([answer.people for answer in rated])),
                percent(known_mean([answer.yes == answer.people for answer in rated])),
                sum(why.values()), ", ".join(f"{reason} {number}" for reason, number in why.most_common(2)),
            )
        )  # fmt: skip
    columns = (
        Column("judge"), Column("editor"), Column("mode"), Column("source"), Column("answers", ","),
        Column("yes", ".1f"), Column("rated", ","), Column("people: yes", ".1f"), Column("agreement", ".1f"),
        Column("no answer", ","), Column("why", wrap=True, drop=1),
    )  # fmt: skip
    notes = (
        "Answers of a model to 'is this image in the style that was asked for?'. In the paper models answer no even "
        "where people agree on yes: read it beside the people's columns. It is no part of EdiVal-IF.",
    )
    return Table(columns, tuple(rows), "Style check, percent", notes).filled
