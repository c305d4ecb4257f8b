"""The columns that `agree` and `align` work on, from a workspace: ratings, scores, votes and verdicts that count."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import select

from imarena.judges.catalog import CARDS
from imarena.storage import Workspace
from imarena.storage.database import reading
from imarena.storage.forms import Form
from imarena.storage.schema import judgments
from imarena.workflows.columns import Range, RatingColumns, ScoreColumns, VerdictColumns
from imarena.workflows.views import (
    LABELS,
    MODES,
    PREFERENCES,
    WHOLE,
    BattleColumns,
    JudgmentColumns,
    View,
    judge_battles,
    people_battles,
    rating_pairs,
    read_ratings,
)
from imarena.workflows.views.fetch import fetch_columns
from imarena.workflows.views.versions import ChosenJudge, chosen_judges

Unit = tuple[str, str, str]
"""What was looked at (item, turn, mode and sample in one text), the editor, and the task."""
HEADLINES: Mapping[str, Range] = {"imagenworld": (0.0, 1.0)}
"""Prompts of imported judgments whose overall score is on another scale than the marks beside it."""
PAGE = 500


def units(view: View) -> list[Unit]:
    """The unit of each output, by its place."""
    entries = view.entries
    task = entries.labels["task"]
    places = zip(
        entries.item.tolist(), entries.turn.tolist(), entries.mode.tolist(), entries.sample.tolist(), strict=True
    )
    editors = entries.editor.list()
    tasks = task.list()
    return [
        (
            f"{entries.item_id[item]}:{turn}:{MODES[mode]}:{sample}",
            editors[place] or f"(not named: {entries.id_of(place)})",
            tasks[item] or "",
        )
        for place, (item, turn, mode, sample) in enumerate(places)
    ]


def ratings_from_store(workspace: Workspace) -> RatingColumns:
    """Every rating by a person that counts, with the overall by the rule of its data set."""
    view = View(workspace)
    found, known = read_ratings(view), units(view)
    about = [known[place] for place in found.output.tolist()]
    return RatingColumns(
        unit=[unit for unit, _, _ in about],
        rater=[str(rater) for rater in found.rater.list()],
        value=found.value.tolist(),
        labels={
            "criterion": [str(criterion) for criterion in found.criterion.list()],
            "model": [model for _, model, _ in about],
            "task": [task for _, _, task in about],
        },
        source="the workspace",
        scales={name: scale for name, scale in found.scales.items() if scale is not None},
        rule=found.rule,
    )


# ---------------------------------------------------------------- scores


@dataclass
class _Scores:
    """Scores by output, judge and criterion, as the judges gave them."""

    given: dict[tuple[int, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    scales: dict[str, Range | None] = field(default_factory=dict)
    directions: dict[str, set[bool]] = field(default_factory=lambda: defaultdict(set))

    def add(self, key: tuple[int, str, str], score: float, form: Form, scale: Range | None) -> None:
        name = key[1]
        self.given[key].append(score)
        self.directions[name].add(form.higher_is_better)
        if self.scales.setdefault(name, scale) != scale:
            self.scales[name] = None  # two scales under one name


def scores_from_store(
    workspace: Workspace, judges: Sequence[str] | None = None, criteria: Sequence[str] = ()
) -> ScoreColumns:
    """Every judge's score of an output: the mean over repeats, by the form of the judge that counts.

    With `criteria` a judge's headline score stands for each of them, and its own mark of the same name beside it, as
    `JUDGE: CRITERION`: a quality mark is compared with people's quality, not the headline alone. `judges` are names as
    `status` shows them, or NAME@VERSION for the judgments of one version.
    """
    view = View(workspace)
    found = _Scores()
    for judge in chosen_judges(view, judges or ()):
        for form in judge.forms:
            if not form.pairwise:
                _add_scores(view, found, judge, form, criteria)
    known = units(view)
    rows = [
        (known[place], judge, about, sum(given) / len(given)) for (place, judge, about), given in found.given.items()
    ]
    labels = {"model": [unit[1] for unit, *_ in rows], "task": [unit[2] for unit, *_ in rows]}
    return ScoreColumns(
        unit=[unit[0] for unit, *_ in rows],
        judge=[judge for _, judge, _, _ in rows],
        score=[score for *_, score in rows],
        labels={**labels, "criterion": [about for _, _, about, _ in rows]} if criteria else labels,
        source="the workspace's scores",
        scales={name: scale for name, scale in found.scales.items() if scale is not None},
        lower_is_better=frozenset(name for name, ways in found.directions.items() if ways == {False}),
    )


def _add_scores(view: View, found: _Scores, judge: ChosenJudge, form: Form, criteria: Sequence[str]) -> None:
    given = view.judgments([form])
    rows = np.flatnonzero(given.ok)
    marked = frozenset(criteria)
    bodies = _marks(view, given.where(rows), marked) if marked or form.imported else {}
    headline = judge.name if form.dimension == WHOLE else f"{judge.name}, {form.dimension}"
    raw = given.raw_score
    for row in rows.tolist():
        place, score = int(given.left[row]), float(raw[row])
        marks, scale = bodies.get(int(given.seq[row]), ({}, None))
        if np.isfinite(score):
            for criterion in criteria or ("",):
                own = HEADLINES.get(form.prompt_id, scale) if form.imported else _card_scale(form)
                found.add((place, headline, criterion), score, form, own)
        for criterion, mark in marks.items():
            own = scale if form.imported else _card_scale(form)
            found.add((place, f"{judge.name}: {criterion}", criterion), mark, form, own)


def _card_scale(form: Form) -> Range | None:
    card = CARDS.get(form.judge.partition("/")[0])
    return (float(card.scale[0]), float(card.scale[1])) if card is not None and card.scale is not None else None


def _marks(
    view: View, given: JudgmentColumns, criteria: frozenset[str]
) -> dict[int, tuple[dict[str, float], Range | None]]:
    """Judgment (its `seq`) to its marks on these criteria, and the scale that the source states."""
    found = {}
    for start in range(0, len(given), PAGE):
        query = select(judgments.c.seq, judgments.c.body).where(
            judgments.c.seq.in_(given.seq[start : start + PAGE].tolist())
        )
        with reading(view.workspace.store.engine) as connection:
            columns = fetch_columns(connection, query)
        for seq, body in zip(*columns, strict=True):
            content = json.loads(body)
            scores = content.get("scores") or {}
            ends = content.get("params", {}).get("scale")
            scale = (float(ends[0]), float(ends[1])) if isinstance(ends, list) and len(ends) == 2 else None
            found[seq] = {name: float(scores[name]) for name in criteria & scores.keys()}, scale
    return found


# ---------------------------------------------------------------- pairs


def verdicts_from_store(
    workspace: Workspace, judges: Sequence[str], votes: VerdictColumns
) -> tuple[VerdictColumns, tuple[str, ...]]:
    """Every judge's battles, both orders combined, and the names of those that count by their scores.

    A judge that compared nothing directly counts by the sign of two of its scores on what people voted on, as on
    boards and in `health`. A battle without a verdict is not among them.
    """
    view = View(workspace)
    voted = {(item, frozenset(pair)) for item, *pair in zip(votes.item, votes.left, votes.right, strict=True)}
    parts, scored = [], set()
    for judge in chosen_judges(view, judges):
        for dimension in sorted({form.dimension for form in judge.forms}):
            forms = [form for form in judge.forms if form.dimension == dimension]
            direct = judge_battles(view, forms, kinds=("compared",))
            name = judge.name
            if not len(direct):
                direct = judge_battles(view, forms, kinds=("scored",))
                name = judge.name if dimension == WHOLE else f"{judge.name}, {dimension}"
                met = _verdicts(view, direct, [name] * len(direct), "")
                kept = [(met.item[n], frozenset((met.left[n], met.right[n]))) in voted for n in range(len(met))]
                direct = direct.where(np.array(kept, bool))
                scored |= {name} if len(direct) else set()
            parts.append(_verdicts(view, direct, [name] * len(direct), "the workspace's battles"))
    return _joined(parts), tuple(sorted(scored))


def votes_from_store(workspace: Workspace) -> VerdictColumns:
    """Every vote on two outputs that counts."""
    view = View(workspace)
    found = people_battles(view)
    return _verdicts(view, found, [str(rater) for rater in found.rater.list()], "the workspace's votes")


PAIR_RULE = "pairs of outputs for one item: the higher mean rating wins, equal means (to nine decimals) are a tie"


def votes_from_ratings(workspace: Workspace, criterion: str = WHOLE) -> VerdictColumns:
    """People's mean ratings as votes on pairs, for a judge that compares where people only rated (`PAIR_RULE`)."""
    view = View(workspace)
    found, entries = rating_pairs(view, criterion), view.entries
    items = entries.item[found.left].tolist()
    return VerdictColumns(
        [entries.item_id[item] for item in items],
        [entries.id_of(place) for place in found.left.tolist()],
        [entries.id_of(place) for place in found.right.tolist()],
        [PREFERENCES[code] for code in found.winner.tolist()],
        ["people's mean rating"] * len(items),
        {
            **_labels(view, items),
            "dimension": [criterion] * len(items),
        },
        "pairs of the workspace's mean ratings",
    )


def _verdicts(view: View, found: BattleColumns, raters: list[str], source: str) -> VerdictColumns:
    entries = view.entries
    items = entries.item[found.left].tolist()
    return VerdictColumns(
        [entries.item_id[item] for item in items],
        [entries.id_of(place) for place in found.left.tolist()],
        [entries.id_of(place) for place in found.right.tolist()],
        [PREFERENCES[code] for code in found.winner.tolist()],
        raters,
        _labels(view, items),
        source,
    )


def _labels(view: View, items: Sequence[int]) -> dict[str, list[str]]:
    known = {name: view.entries.labels[name].list() for name in LABELS}
    return {name: [values[item] or "" for item in items] for name, values in known.items()}


def _joined(parts: Sequence[VerdictColumns]) -> VerdictColumns:
    return VerdictColumns(
        [item for part in parts for item in part.item],
        [left for part in parts for left in part.left],
        [right for part in parts for right in part.right],
        [winner for part in parts for winner in part.winner],
        [rater for part in parts for rater in part.rater],
        {name: [value for part in parts for value in part.labels[name]] for name in LABELS},
        "the workspace's battles",
    )


def without(verdicts: VerdictColumns, judges: Sequence[str]) -> VerdictColumns:
    """Verdicts of the other judges."""
    rows = [row for row, judge in enumerate(verdicts.rater) if judge not in judges]
    return VerdictColumns(
        [verdicts.item[row] for row in rows],
        [verdicts.left[row] for row in rows],
        [verdicts.right[row] for row in rows],
        [verdicts.winner[row] for row in rows],
        [verdicts.rater[row] for row in rows],
        {name: [column[row] for row in rows] for name, column in verdicts.labels.items()},
        verdicts.source,
    )


def check_judges(workspace: Workspace, judges: Sequence[str]) -> list[str]:
    """The judges that are meant (NAME or NAME@VERSION), all without names; an unknown one raises."""
    return [one.name for one in chosen_judges(View(workspace), judges)]
