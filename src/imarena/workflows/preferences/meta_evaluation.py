"""Judges against people on every data set of a workspace: accuracy, order consistency, pointwise and pairwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.core import Document, UserError, command_line, grouped
from imarena.core.records import Outcome
from imarena.preferences import (
    ALL_TASKS,
    JudgeAnswer,
    JudgeRow,
    PairKey,
    PairTruth,
    accuracy_difference,
    agreed_truth,
    evaluate_judge,
)
from imarena.stats import Figure
from imarena.storage import JudgeVariant, Workspace
from imarena.workflows import views

Scheme = str


@dataclass(frozen=True)
class JudgeDifference(Document):
    """Strict accuracy of one judge minus that of another on the same pairs."""

    judge: str
    against: str
    dataset: str
    dimension: str
    difference: Figure


@dataclass(frozen=True)
class SchemeComparison:
    """Pairwise and pointwise questions to one model on the same pairs (GEditBench v2, figure 2)."""

    model: str
    dataset: str
    dimension: str
    pairwise: JudgeRow
    pointwise: JudgeRow
    difference: Figure
    """Strict accuracy: pairwise minus pointwise."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "model": self.model, "dataset": self.dataset, "dimension": self.dimension,
            "pairwise": self.pairwise.judge, "pairwise_strict": self.pairwise.strict.to_json(),
            "pointwise": self.pointwise.judge, "pointwise_strict": self.pointwise.strict.to_json(),
            "difference": self.difference.to_json(),
        }  # fmt: skip


@dataclass(frozen=True)
class MetaEvaluation(Document):
    """All rows, both schemes of each model side by side, and differences to one judge if one was named."""

    rows: tuple[JudgeRow, ...]
    schemes: tuple[SchemeComparison, ...]
    differences: tuple[JudgeDifference, ...]


@dataclass(frozen=True)
class _Answers:
    """The verdicts of one judge, in one scheme, on one dimension."""

    judge: str
    scheme: Scheme
    dimension: str
    dimensions: frozenset[str]
    answers: Mapping[PairKey, JudgeAnswer]
    model: str
    """Who answers: the model of a judge that asks one (`kind/model`), else the judge itself."""


def evaluate_workspace(
    workspace: Workspace,
    judges: Sequence[str] = (),
    *,
    datasets: Sequence[str] = (),
    against: str = "",
    rounds: int = 1000,
) -> MetaEvaluation:
    """Compare the stored verdicts of judges (default: all) with people's votes and ratings.

    Each judge is compared with votes on its dimension, as in `imarena align`. For data sets without votes on pairs, the
    outputs' mean ratings count.
    """
    view = views.View(workspace)
    truths = _truths(view, datasets)
    if not truths:
        raise UserError(
            "There are no votes or ratings of people to compare with.",
            hint=f"Import a data set with human data, for example: {command_line('import vcreward FOLDER')}",
        )
    names = [*judges, *([against] if against and judges and against not in judges else [])]
    parts = [part for judge in views.chosen_judges(view, names) for part in _answers_of(view, judge, truths)]
    if not parts:
        raise UserError(
            "There are no verdicts of judges.",
            hint=f"Ask a judge first: {command_line('battle --judge NAME')}, or {command_line('judge')}.",
        )
    by_group = grouped(((truth.dataset, truth.dimension), truth) for truth in truths)
    rows: list[JudgeRow] = []
    schemes: list[SchemeComparison] = []
    differences: list[JudgeDifference] = []
    for (dataset, dimension), group in sorted(by_group.items()):
        fitting = [part for part in parts if _meets(part, dimension, by_group, dataset) and _knows(part, group)]
        figures = [evaluate_judge(part.judge, part.scheme, group, part.answers, rounds) for part in fitting]
        rows += [row for rows_of in figures for row in rows_of]
        schemes += _schemes(fitting, figures, group, rounds)
        differences += _differences(fitting, group, against, dataset, dimension, rounds)
    return MetaEvaluation(tuple(rows), tuple(schemes), tuple(differences))


def _meets(part: _Answers, dimension: str, groups: Mapping[tuple[str, str], Any], dataset: str) -> bool:
    voted = {about for of, about in groups if of == dataset}
    return dimension in views.compared_dimensions(part.dimension, part.dimensions, voted)


def _knows(part: _Answers, truths: Sequence[PairTruth]) -> bool:
    """Return whether the judge was asked about this data set at all."""
    return any(truth.key in part.answers for truth in truths)


def _truths(view: views.View, datasets: Sequence[str]) -> tuple[PairTruth, ...]:
    votes = views.people_battles(view)
    rated = views.rating_battles(view, views.NO_BATTLES, views.WHOLE)
    voted = {_dataset(view, int(index)) for index in votes.left.tolist()}
    truths = list(agreed_truth(list(_votes(view, votes))))
    # mean ratings count only if nobody compared pairs
    truths += [truth for truth in agreed_truth(list(_votes(view, rated))) if truth.dataset not in voted]
    return tuple(truth for truth in truths if not datasets or truth.dataset in datasets)


def _dataset(view: views.View, index: int) -> str:
    labels = view.entries.labels["dataset"]
    code = int(labels.of[view.entries.item[index]])
    return labels.names[code] if code >= 0 else ""


def _votes(view: views.View, battles: views.BattleColumns) -> Any:
    entries = view.entries
    tasks = entries.labels["task"].list()
    dimensions = battles.dimension.list()
    columns = (battles.left.tolist(), battles.right.tolist(), battles.winner.tolist())
    for row, (left, right, code) in enumerate(zip(*columns, strict=True)):
        key, swapped = _key(view, left, right)
        outcome = _outcome(code)
        task = tasks[int(entries.item[left])] or ""
        yield (
            key, _dataset(view, left), str(dimensions[row] or views.WHOLE), task,
            outcome.mirrored() if swapped else outcome,
        )  # fmt: skip


def _key(view: views.View, left: int, right: int) -> tuple[PairKey, bool]:
    entries = view.entries
    first, second = entries.id_of(left), entries.id_of(right)
    item = entries.item_id[int(entries.item[left])]
    return (item, min(first, second), max(first, second)), first > second


def _outcome(code: int) -> Outcome:
    name = views.PREFERENCES[code]
    return Outcome.TIE if name == "equal" else Outcome(name)


def _answers_of(view: views.View, judge: views.ChosenJudge, truths: Sequence[PairTruth]) -> list[_Answers]:
    """Return the pairwise and pointwise answers of one judge, for each dimension separately."""
    parts = []
    model = judge.judge.partition("/")[2] or judge.judge
    for dimension in sorted(judge.dimensions):
        about = [variant for variant in judge.variants if variant.dimension == dimension]
        pairwise = _pairwise(view, [variant for variant in about if variant.pairwise])
        pointwise = _pointwise(view, [variant for variant in about if not variant.pairwise], truths)
        for scheme, answers in (("pairwise", pairwise), ("pointwise", pointwise)):
            if answers:
                parts.append(_Answers(judge.name, scheme, dimension, judge.dimensions, answers, model))
    return parts


def _pairwise(view: views.View, variants: Sequence[JudgeVariant]) -> dict[PairKey, JudgeAnswer]:
    if not variants:
        return {}
    columns = views.live_judgments(view, variants)
    owner = columns.of_variants([0] * len(columns.variants)).astype(np.int32)
    fought = views.combine_columns(columns, owner, view.entries)
    answers: dict[PairKey, JudgeAnswer] = {}
    for row in range(int(fought.left.size)):
        key, swapped = _key(view, int(fought.left[row]), int(fought.right[row]))
        agreed = None if fought.agreed[row] < 0 else bool(fought.agreed[row])
        if not fought.decided[row]:
            answers.setdefault(key, JudgeAnswer(None, views.PROBLEMS[int(fought.problem[row])], agreed))
            continue
        outcome = _outcome(int(fought.outcome[row]))
        earlier = answers.get(key)
        if earlier is None or earlier.winner is None:  # the first repeat counts
            answers[key] = JudgeAnswer(outcome.mirrored() if swapped else outcome, "", agreed)
    return answers


def _pointwise(
    view: views.View, variants: Sequence[JudgeVariant], truths: Sequence[PairTruth]
) -> dict[PairKey, JudgeAnswer]:
    if not variants:
        return {}
    battles = views.judge_battles(view, variants, kinds=("scored",))
    answers: dict[PairKey, JudgeAnswer] = {}
    columns = (battles.left.tolist(), battles.right.tolist(), battles.winner.tolist())
    for left, right, code in zip(*columns, strict=True):
        key, swapped = _key(view, left, right)
        outcome = _outcome(code)
        answers.setdefault(key, JudgeAnswer(outcome.mirrored() if swapped else outcome))
    return {**_score_failures(view, variants, truths), **answers}


def _score_failures(
    view: views.View, variants: Sequence[JudgeVariant], truths: Sequence[PairTruth]
) -> dict[PairKey, JudgeAnswer]:
    """Return pairs with an output that was asked about but got no score, with the status of the last attempt."""
    columns = views.live_judgments(view, variants)
    scored = set(columns.left[columns.ok].tolist())
    reasons = {
        view.entries.id_of(index): views.STATUSES[code]
        for index, code in zip(columns.left.tolist(), columns.status.tolist(), strict=True)
        if index >= 0 and index not in scored
    }
    failed = {}
    for truth in truths:
        why = next((reasons[output] for output in truth.key[1:] if output in reasons), None)
        if why is not None:
            failed[truth.key] = JudgeAnswer(None, why)
    return failed


def _schemes(
    fitting: Sequence[_Answers], figures: Sequence[Sequence[JudgeRow]], truths: Sequence[PairTruth], rounds: int
) -> list[SchemeComparison]:
    """Match pairwise with pointwise judges of the same model, on all pairs of a data set and dimension."""
    wholes = [next(row for row in rows if row.task == ALL_TASKS) for rows in figures]
    judged = list(zip(fitting, wholes, strict=True))
    return [
        SchemeComparison(
            compared.model, row.dataset, row.dimension, row, other,
            accuracy_difference(truths, compared.answers, scored.answers, rounds),
        )
        for compared, row in judged
        for scored, other in judged
        if (compared.scheme, scored.scheme) == ("pairwise", "pointwise") and compared.model == scored.model
    ]  # fmt: skip


def _differences(
    fitting: Sequence[_Answers], truths: Sequence[PairTruth], against: str, dataset: str, dimension: str, rounds: int
) -> list[JudgeDifference]:
    base = next((part for part in fitting if part.judge == against), None)
    if base is None:
        return []
    return [
        JudgeDifference(
            f"{part.judge} ({part.scheme})", against, dataset, dimension,
            accuracy_difference(truths, part.answers, base.answers, rounds),
        )
        for part in fitting
        if part is not base
    ]  # fmt: skip
