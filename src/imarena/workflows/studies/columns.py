"""Read a workspace's ratings and scores as columns for `agree` and `align`. For pairs, see `pair_columns`."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import select

from imarena.agreement import RatingColumns, ScaleRange, ScoreColumns
from imarena.judges import CARDS
from imarena.storage import JudgeVariant, Workspace, reading
from imarena.storage.schema import judgments
from imarena.workflows import views

_RatedUnit = tuple[str, str, str]
"""The rated unit (item, turn, mode and sample in one string), the editor, and the task."""
HEADLINES: Mapping[str, ScaleRange] = {"imagenworld": (0.0, 1.0)}
"""Prompts of imported judgments whose overall score has a different scale than the marks by criterion."""
PAGE = 500


def units(view: views.View) -> list[_RatedUnit]:
    """The unit of each output, by its position in the view."""
    entries = view.entries
    task = entries.labels["task"]
    columns = zip(
        entries.item.tolist(), entries.turn.tolist(), entries.mode.tolist(), entries.sample.tolist(), strict=True
    )
    editors = entries.editor.list()
    tasks = task.list()
    return [
        (
            f"{entries.item_id[item]}:{turn}:{views.MODES[mode]}:{sample}",
            editors[position] or f"(not named: {entries.id_of(position)})",
            tasks[item] or "",
        )
        for position, (item, turn, mode, sample) in enumerate(columns)
    ]


def item_labels(view: views.View, positions: Sequence[int], by: Sequence[str]) -> dict[str, list[str]]:
    """For outputs at these positions, their items' values in those columns of `by` that belong to items."""
    labels: dict[str, list[str]] = {}
    for name in by:
        column = view.item_label(name)
        if column is not None:
            of_item = view.entries.item[np.asarray(positions, np.int64)]
            labels[name] = [value or "" for value in column.list(of_item.astype(np.int64))]
    return labels


def ratings_from_store(workspace: Workspace, by: Sequence[str] = ()) -> RatingColumns:
    """Every counted rating by a person, with the overall computed by the rule of its data set.

    `by`: item columns to add to model, task and criterion.
    """
    view = views.View(workspace)
    ratings, keys = views.read_ratings(view), units(view)
    about = [keys[position] for position in ratings.output.tolist()]
    return RatingColumns(
        unit=[unit for unit, _, _ in about],
        rater=[str(rater) for rater in ratings.rater.list()],
        value=ratings.value.tolist(),
        labels={
            **item_labels(view, ratings.output.tolist(), by),
            "criterion": [str(criterion) for criterion in ratings.criterion.list()],
            "model": [model for _, model, _ in about],
            "task": [task for _, _, task in about],
        },
        source="the workspace",
        scales={name: scale for name, scale in ratings.scales.items() if scale is not None},
        rule=ratings.rule,
    )


# ---------------------------------------------------------------- scores


@dataclass
class _Scores:
    """Scores by output, judge and criterion, on the judges' own scales."""

    given: dict[tuple[int, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    scales: dict[str, ScaleRange | None] = field(default_factory=dict)
    directions: dict[str, set[bool]] = field(default_factory=lambda: defaultdict(set))

    def add(self, key: tuple[int, str, str], score: float, variant: JudgeVariant, scale: ScaleRange | None) -> None:
        name = key[1]
        self.given[key].append(score)
        self.directions[name].add(variant.higher_is_better)
        if self.scales.setdefault(name, scale) != scale:
            self.scales[name] = None  # one name, two scales: unknown


def scores_from_store(
    workspace: Workspace,
    judges: Sequence[str] | None = None,
    criteria: Sequence[str] = (),
    by: Sequence[str] = (),
) -> ScoreColumns:
    """Every judge's score of an output: the mean over repeats, from the judge's variant that counts.

    With `criteria`, a judge's headline score is repeated for each of them, and its own mark of the same name is added
    as `JUDGE: CRITERION`, so that a quality mark is compared with people's quality too. `judges` are names as `status`
    shows them, or NAME@VERSION for the judgments of one version.
    """
    view = views.View(workspace)
    scores = _Scores()
    for judge in views.chosen_judges(view, judges or ()):
        single = [variant for variant in judge.variants if not variant.pairwise]
        for dimension in dict.fromkeys(variant.dimension for variant in single):
            _add_scores(
                view, scores, judge, [variant for variant in single if variant.dimension == dimension], criteria
            )
    keys = units(view)
    rows = [
        (keys[position], judge, about, sum(values) / len(values))
        for (position, judge, about), values in scores.given.items()
    ]
    labels = item_labels(view, [position for position, _, _ in scores.given], by)
    labels |= {"model": [unit[1] for unit, *_ in rows], "task": [unit[2] for unit, *_ in rows]}
    return ScoreColumns(
        unit=[unit[0] for unit, *_ in rows],
        judge=[judge for _, judge, _, _ in rows],
        score=[score for *_, score in rows],
        labels={**labels, "criterion": [about for _, _, about, _ in rows]} if criteria else labels,
        source="the workspace's scores",
        scales={name: scale for name, scale in scores.scales.items() if scale is not None},
        lower_is_better=frozenset(name for name, ways in scores.directions.items() if ways == {False}),
    )


def _add_scores(
    view: views.View,
    scores: _Scores,
    judge: views.ChosenJudge,
    variants: Sequence[JudgeVariant],
    criteria: Sequence[str],
) -> None:
    """Add the scores of variants that judge one dimension."""
    judgments = views.first_scores(view.judgments(variants))
    marked = frozenset(criteria)
    bodies = _marks(view, judgments, marked) if marked or any(variant.imported for variant in variants) else {}
    raw = judgments.raw_score
    for row, of in enumerate(judgments.variant.tolist()):
        variant = judgments.variants[of]
        headline = judge.name if variant.dimension == views.WHOLE else f"{judge.name}, {variant.dimension}"
        position, score = int(judgments.left[row]), float(raw[row])
        marks, scale = bodies.get(int(judgments.seq[row]), ({}, None))
        if np.isfinite(score):
            for criterion in criteria or ("",):
                own = HEADLINES.get(variant.prompt_id, scale) if variant.imported else _own_scale(variant)
                scores.add((position, headline, criterion), score, variant, own)
        for criterion, mark in marks.items():
            own = scale if variant.imported else _own_scale(variant)
            scores.add((position, f"{judge.name}: {criterion}", criterion), mark, variant, own)


def _own_scale(variant: JudgeVariant) -> ScaleRange | None:
    """The scale of a judge's scores, from its catalog entry or, for a judge without one, from the parameter `scale`."""
    card = CARDS.get(variant.judge.partition("/")[0])
    ends: Any = card.scale if card is not None else json.loads(variant.params).get("scale")
    numbers = isinstance(ends, list | tuple) and len(ends) == 2 and all(isinstance(end, int | float) for end in ends)
    return (float(ends[0]), float(ends[1])) if numbers and ends[0] < ends[1] else None


def _marks(
    view: views.View, scored: views.JudgmentColumns, criteria: frozenset[str]
) -> dict[int, tuple[dict[str, float], ScaleRange | None]]:
    """Map a judgment's `seq` to its marks on these criteria and the scale that its source states."""
    marks = {}
    for stored in verdict_texts(view, scored, "" if criteria else '"scale"'):
        ends = stored.scale
        scale = (float(ends[0]), float(ends[1])) if isinstance(ends, list) and len(ends) == 2 else None
        marks[stored.seq] = {name: float(stored.scores[name]) for name in criteria & stored.scores.keys()}, scale
    return marks


@dataclass(frozen=True, slots=True)
class VerdictText:
    """The parts of a stored judgment that are not columns."""

    seq: int
    scores: Mapping[str, float]
    reasons: Mapping[str, Any]
    """As the judge gave them: texts, or its facts and checks."""
    confidence: float | None
    scale: Any
    """The scale that an imported judgment's source states, as it is stored."""


def verdict_texts(view: views.View, judged: views.JudgmentColumns, holding: str = "") -> Iterator[VerdictText]:
    """Yield the scores, reasons and confidence of these judgments; `holding`: only those that contain this text."""
    seqs = np.sort(judged.seq)
    for start in range(0, seqs.size, PAGE):
        query = select(judgments.c.seq, judgments.c.body).where(
            judgments.c.seq.in_(seqs[start : start + PAGE].tolist())
        )
        if holding:
            query = query.where(judgments.c.body.contains(holding, autoescape=True))
        with reading(view.workspace.store.engine) as connection:
            columns = views.fetch_columns(connection, query.order_by(judgments.c.seq))
        for seq, body in zip(*columns, strict=True):
            fields = json.loads(body)
            yield VerdictText(
                seq,
                fields.get("scores") or {},
                fields.get("reasons") or {},
                fields.get("confidence"),
                fields.get("params", {}).get("scale"),
            )


def check_judges(workspace: Workspace, judges: Sequence[str]) -> list[str]:
    """Names of the chosen judges (NAME or NAME@VERSION), or of all if none are given; an unknown name raises."""
    return [judge.name for judge in views.chosen_judges(views.View(workspace), judges)]
