"""Compare a judge's verdicts on pairs with people's: accuracy by task with intervals; every omission is counted.

`strict` counts a judge's ties and failures as wrong. `paper_compat` leaves them out, like the public code of
GEditBench v2; this favours a judge that answers only when it is sure. Both are reported with the counts. Pairs on
which people tie have no correct answer and are counted separately.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from imarena.core import SEED
from imarena.core.records import Outcome
from imarena.stats import (
    Figure,
    percentile_interval,
    proportion_figure,
    resampled_counts,
    resampled_rows,
    undefined_figure,
)

PairKey = tuple[str, str, str]
"""Item and the two output ids, the smaller id first."""
MACRO = "mean over tasks"
ALL_TASKS = "all"


@dataclass(frozen=True)
class PairTruth:
    """People's verdict on a pair; `left` is the smaller output id."""

    key: PairKey
    dataset: str
    dimension: str
    task: str
    winner: Outcome
    votes: int


@dataclass(frozen=True)
class JudgeAnswer:
    """A judge's verdict on a pair, with the same sides; if `winner` is None, `reason` says why."""

    winner: Outcome | None
    reason: str = ""
    agreed: bool | None = None
    """Did both orders give the same outcome? None if not asked in both."""


@dataclass(frozen=True)
class JudgeRow:
    """The results of one judge on one data set, dimension and task (`all`, or `mean over tasks`)."""

    judge: str
    scheme: str
    """`pairwise`, or `pointwise` (from two scores)."""
    dataset: str
    dimension: str
    task: str
    strict: Figure
    paper_compat: Figure
    consistency: Figure
    pairs: int
    """Number of pairs on which people decide."""
    ties: int
    """Number of the judge's ties on these pairs."""
    failures: Mapping[str, int]
    people_ties: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "judge": self.judge, "scheme": self.scheme, "dataset": self.dataset, "dimension": self.dimension,
            "task": self.task, "pairs": self.pairs, "ties": self.ties, "failures": dict(self.failures),
            "people_ties": self.people_ties, "strict": self.strict.to_json(),
            "paper_compat": self.paper_compat.to_json(), "order_consistency": self.consistency.to_json(),
        }  # fmt: skip


def agreed_truth(
    votes: Sequence[tuple[PairKey, str, str, str, Outcome]],
) -> tuple[PairTruth, ...]:
    """Majority vote: one truth per pair and dimension from single votes (key, data set, dimension, task, outcome).

    It is a tie if both sides have equally many votes, or if ties are at least as many; `both_bad` counts as a tie.
    """
    counts: dict[tuple[PairKey, str, str, str], Counter[Outcome]] = defaultdict(Counter)
    for key, dataset, dimension, task, outcome in votes:
        counts[key, dataset, dimension, task][Outcome.TIE if outcome is Outcome.BOTH_BAD else outcome] += 1
    truths = []
    for (key, dataset, dimension, task), outcomes in sorted(counts.items()):
        left, right, tie = outcomes[Outcome.LEFT], outcomes[Outcome.RIGHT], outcomes[Outcome.TIE]
        winner = Outcome.LEFT if left > right else Outcome.RIGHT
        if left == right or tie >= max(left, right):
            winner = Outcome.TIE
        truths.append(PairTruth(key, dataset, dimension, task, winner, left + right + tie))
    return tuple(truths)


def evaluate_judge(
    judge: str, scheme: str, truths: Sequence[PairTruth], answers: Mapping[PairKey, JudgeAnswer], rounds: int = 1000
) -> tuple[JudgeRow, ...]:
    """Rows by data set and dimension: each task, all pairs together, and the mean over tasks.

    All truths of a call belong to one data set and dimension. A pair that the judge was not asked about is a failure
    with the reason `not asked`.
    """
    if not truths:
        return ()
    by_task: dict[str, list[PairTruth]] = defaultdict(list)
    for truth in truths:
        by_task[truth.task or "not stated"].append(truth)
    rows = [_row(judge, scheme, task, task_truths, answers, rounds) for task, task_truths in sorted(by_task.items())]
    rows.append(_row(judge, scheme, ALL_TASKS, truths, answers, rounds))
    if len(by_task) > 1:
        rows.append(_macro(rows[-1], by_task, answers, rounds))
    return tuple(rows)


def _row(
    judge: str,
    scheme: str,
    task: str,
    truths: Sequence[PairTruth],
    answers: Mapping[PairKey, JudgeAnswer],
    rounds: int,
) -> JudgeRow:
    decided = [truth for truth in truths if truth.winner is not Outcome.TIE]
    verdicts = [answers.get(truth.key, JudgeAnswer(None, "not asked")) for truth in decided]
    right = [answer.winner is truth.winner for truth, answer in zip(decided, verdicts, strict=True)]
    ties = sum(answer.winner in (Outcome.TIE, Outcome.BOTH_BAD) for answer in verdicts)
    failures = Counter(answer.reason or "no verdict" for answer in verdicts if answer.winner is None)
    clear = [at for at, answer in enumerate(verdicts) if answer.winner in (Outcome.LEFT, Outcome.RIGHT)]
    items = [truth.key[0] for truth in decided]
    orders = [answer.agreed for answer in verdicts if answer.agreed is not None]
    strict = proportion_figure("strict_accuracy", sum(right), len(right), "ties and failures of the judge are wrong",
                               reason="people decide no pair")  # fmt: skip
    compat = proportion_figure(
        "paper_compat_accuracy", sum(right[at] for at in clear), len(clear),
        "ties and failures of the judge are left out", reason="the judge decides no pair",
    )  # fmt: skip
    return JudgeRow(
        judge, scheme, truths[0].dataset, truths[0].dimension, task,
        _over_items(strict, right, items, rounds),
        _over_items(compat, [right[at] for at in clear], [items[at] for at in clear], rounds),
        proportion_figure("order_consistency", sum(orders), len(orders), "the same outcome in both orders",
                          reason="not asked in both orders"),
        len(verdicts), ties, dict(sorted(failures.items())), len(truths) - len(decided),
    )  # fmt: skip


def _over_items(figure: Figure, right: Sequence[bool], items: Sequence[str], rounds: int) -> Figure:
    """Add an interval over items if an item has several pairs, which are not independent."""
    if figure.value is None or len(set(items)) == len(items):
        return figure
    return _with_item_interval(figure, [float(mark) for mark in right], items, rounds)


def _with_item_interval(figure: Figure, values: Sequence[float], items: Sequence[str], rounds: int) -> Figure:
    codes = {name: at for at, name in enumerate(sorted(set(items)))}
    groups = np.array([codes[name] for name in items], np.int64)
    sums, sizes = np.bincount(groups, weights=np.array(values)), np.bincount(groups).astype(np.float64)
    draws = np.concatenate([(block @ sums) / (block @ sizes) for block in resampled_counts(len(codes), rounds, SEED)])
    bounds = percentile_interval(draws, 0.95, what=f"items, {rounds} rounds, seed {SEED}")
    return replace(figure, low=bounds.low, high=bounds.high, interval=bounds.method, interval_reason=bounds.reason)


def accuracy_difference(
    truths: Sequence[PairTruth],
    answers: Mapping[PairKey, JudgeAnswer],
    others: Mapping[PairKey, JudgeAnswer],
    rounds: int = 1000,
) -> Figure:
    """Strict accuracy of one judge minus that of another on the same pairs, with a paired bootstrap over items."""
    decided = [truth for truth in truths if truth.winner is not Outcome.TIE]
    method = "paired difference of strict accuracy"
    if len(decided) < 2:
        return undefined_figure("difference", "people decide fewer than two pairs", n=len(decided), method=method)
    none = JudgeAnswer(None)
    gaps = [
        float(answers.get(truth.key, none).winner is truth.winner)
        - float(others.get(truth.key, none).winner is truth.winner)
        for truth in decided
    ]
    figure = Figure("difference", sum(gaps) / len(gaps), len(gaps), method)
    return _with_item_interval(figure, gaps, [truth.key[0] for truth in decided], rounds)


def _macro(
    row: JudgeRow,
    by_task: Mapping[str, Sequence[PairTruth]],
    answers: Mapping[PairKey, JudgeAnswer],
    rounds: int,
) -> JudgeRow:
    """The mean of the tasks' accuracies; the interval resamples items."""
    marks = []
    for task, truths in enumerate(by_task.values()):
        for truth in truths:
            if truth.winner is not Outcome.TIE:
                answer = answers.get(truth.key, JudgeAnswer(None))
                clear = answer.winner in (Outcome.LEFT, Outcome.RIGHT)
                marks.append((truth.key[0], task, float(answer.winner is truth.winner), float(clear)))
    if not marks:
        return _as_macro(row, row.strict, row.paper_compat)
    items = {name: at for at, name in enumerate(sorted({mark[0] for mark in marks}))}
    groups = np.array([items[mark[0]] for mark in marks], np.int64)
    tasks = np.array([mark[1] for mark in marks], np.int64)
    right, decisive = (np.array([mark[at] for mark in marks]) for at in (2, 3))
    figures = []
    for name, base in (("strict_accuracy", np.ones_like(right)), ("paper_compat_accuracy", decisive)):
        value = _mean_of_tasks(tasks, right, base)
        draws = np.array([_mean_of_tasks(tasks[rows], right[rows], base[rows])
                          for rows in resampled_rows(groups, rounds, SEED)])  # fmt: skip
        finite = draws[np.isfinite(draws)]
        low, high = np.quantile(finite, [0.025, 0.975]).tolist() if finite.size else (None, None)
        method = f"mean over {len(by_task)} tasks"
        how = f"percentile bootstrap over items, {rounds} rounds, 95%" if finite.size else ""
        mean = None if np.isnan(value) else float(value)
        reason = "" if mean is not None else "no pair is decided"
        figures.append(Figure(name, mean, len(marks), method, reason, low, high, how))
    return _as_macro(row, figures[0], figures[1])


def _mean_of_tasks(tasks: Any, right: Any, base: Any) -> float:
    hits, totals = np.bincount(tasks, weights=right), np.bincount(tasks, weights=base)
    filled = totals > 0
    return float((hits[filled] / totals[filled]).mean()) if filled.any() else float("nan")


def _as_macro(row: JudgeRow, strict: Figure, compat: Figure) -> JudgeRow:
    return replace(row, task=MACRO, strict=strict, paper_compat=compat)
