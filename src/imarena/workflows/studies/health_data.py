"""Answers of judges and people, arranged for the figures of `health`. `views` decides which answers count."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from imarena.core import canonical_json
from imarena.core.records import Order, Outcome, Status
from imarena.judges import outcomes_from_scores
from imarena.storage import JudgeVariant
from imarena.workflows import views
from imarena.workflows.studies.columns import verdict_texts

OutputIdPair = tuple[str, str]
"""Left and right output, the smaller id first."""
OUTCOMES: tuple[Outcome | None, ...] = (None, *map(Outcome, views.PREFERENCES[1 : views.EQUAL]), Outcome.TIE)
"""Outcomes by code; a tie of unstated kind counts as a tie."""


@dataclass
class JudgeAnswers:
    """The answers of one version of a judge (version, prompt, parameters)."""

    judge: str
    form: str
    dimension: str = "overall"
    version: str = ""
    """The VERSION in `NAME@VERSION`."""
    higher_is_better: bool = True
    pairs: dict[tuple[OutputIdPair, int], dict[str, Outcome | None]] = field(default_factory=lambda: defaultdict(dict))
    """Maps pair and repeat, then order, to the outcome as seen from the smaller id; None if the judgment failed."""
    battles: dict[tuple[OutputIdPair, int], Outcome | None] = field(default_factory=dict)
    """Maps pair and repeat to the combined outcome of all orders, as boards count it; None if there is none."""
    fought: dict[OutputIdPair, list[Outcome]] = field(default_factory=lambda: defaultdict(list))
    """Maps a pair to the outcomes of its decided battles: repeats, and battles with the sides swapped."""
    points: dict[tuple[str, int], float] = field(default_factory=dict)
    """Maps output and repeat to the score; higher is better."""
    dimensions: dict[str, dict[str, float]] = field(default_factory=dict)
    """Maps an output to its scores by dimension, as the judge gave them."""
    units: dict[str, int] = field(default_factory=dict)
    """Maps a scored output to a number for its item, turn and mode."""
    flagged: dict[str, bool] = field(default_factory=dict)
    """Maps an output to whether the judge found text in it that addresses a judge; empty if it looks for none."""
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The judge's name without its dimension."""
        return self.judge.removesuffix(f", {self.dimension}")

    def battle(self, key: OutputIdPair, repeat: int = 0) -> Outcome | None:
        """The battle's outcome: all orders combined, or from the sign of two scores; None if there is none."""
        if (key, repeat) in self.battles:
            return self.battles[key, repeat]
        return self._by_scores(key, repeat)

    def verdicts(self, key: OutputIdPair) -> list[Outcome]:
        """All verdicts of the judge on a pair, as `align` compares them with votes.

        A judge without any decided battle counts by its scores.
        """
        if self.fought:
            return self.fought.get(key, [])
        outcomes = (self._by_scores(key, repeat) for repeat in self._repeats)
        return [outcome for outcome in outcomes if outcome is not None]

    @cached_property
    def _repeats(self) -> list[int]:
        return sorted({repeat for _, repeat in self.points})

    def _by_scores(self, key: OutputIdPair, repeat: int) -> Outcome | None:
        left, right = self.points.get((key[0], repeat)), self.points.get((key[1], repeat))
        return outcomes_from_scores([left], [right])[0]

    def changed_from(self, old: "JudgeAnswers") -> str:
        """What changed since an older form, such as 'temperature 0.0 to 0.7' or 'prompt 1 to 2'."""
        (*was, before), (*now, after) = json.loads(old.form), json.loads(self.form)
        parts = zip(("version", "prompt", "prompt version"), was, now, strict=True)
        changes = [
            f"{name} {old_value or '?'} to {new_value or '?'}"
            for name, old_value, new_value in parts
            if old_value != new_value
        ]
        for name in sorted(before.keys() | after.keys()):
            old_value, new_value = before.get(name), after.get(name)
            if old_value != new_value:
                short = all(isinstance(value, str | int | float | None) for value in (old_value, new_value))
                changes.append(f"{name} {str(old_value)[:12]} to {str(new_value)[:12]}" if short else name)
        return ", ".join(changes)

    def keys(self) -> set[OutputIdPair]:
        """The pairs that the judge was shown in battles."""
        return {key for key, _ in self.battles}

    def score(self, output: str) -> float | None:
        """The first score of an output, as the judge gave it."""
        score = self.points.get((output, 0))
        return score if score is None or self.higher_is_better else -score


def read_judges(view: views.View, judges: Sequence[views.ChosenJudge]) -> dict[str, list[JudgeAnswers]]:
    """Map each judge (and its dimension, unless overall) to its versions, oldest first; the last one counts.

    A judge chosen by version has only that version.
    """
    answers: dict[str, list[JudgeAnswers]] = {}
    for judge in judges:
        for dimension in sorted(judge.dimensions):
            name = judge.name if dimension == views.WHOLE else f"{judge.name}, {dimension}"
            versions = views.versions_of(view, judge, dimension)
            answers[name] = [_answers(view, name, dimension, version) for version in versions]
    return answers


def _answers(view: views.View, name: str, dimension: str, version: views.JudgeVersion) -> JudgeAnswers:
    columns = view.judgments(version.variants)
    answers = JudgeAnswers(name, _form_text(version.newest), dimension, version.name, version.newest.higher_is_better)
    statuses = np.bincount(columns.status, minlength=len(views.STATUSES)).tolist()
    answers.statuses.update({status: n for status, n in zip(views.STATUSES, statuses, strict=True) if n})
    if partial := int(columns.without_verdict.sum()):  # scores of criteria alone are no verdict on the whole
        answers.statuses.update({Status.OK.value: -partial, views.NO_VERDICT: partial})
    _note_pairs(view, answers, columns)
    _note_scores(view, answers, columns)
    return answers


def _form_text(form: JudgeVariant) -> str:
    identity = [form.judge_version, form.prompt_id, form.prompt_version]
    return canonical_json([*identity, json.loads(form.params)])


def _ids(view: views.View, outputs: Any) -> list[str]:
    return [view.entries.id_of(index) for index in outputs.tolist()]


def _note_pairs(view: views.View, answers: JudgeAnswers, judged: views.JudgmentColumns) -> None:
    paired = judged.where(judged.right >= 0)
    columns = (_ids(view, paired.left), _ids(view, paired.right), paired.order, paired.repeat, paired.preference)
    ok = paired.ok
    for row, (left, right, order, repeat, preference) in enumerate(zip(*columns, strict=True)):
        key, flipped = _key(left, right)
        stored_order = views.ORDERS[order] or Order.UNKNOWN.value
        if flipped and stored_order in (Order.LEFT_FIRST.value, Order.RIGHT_FIRST.value):
            stored_order = Order.RIGHT_FIRST.value if stored_order == Order.LEFT_FIRST.value else Order.LEFT_FIRST.value
        outcomes = answers.pairs[key, int(repeat)]
        if outcomes.get(stored_order) is None:
            outcomes[stored_order] = _turn(OUTCOMES[preference] if ok[row] else None, flipped)
    fought = views.combine_columns(paired, np.zeros(len(paired), np.int32), view.entries)
    sides = (_ids(view, fought.left), _ids(view, fought.right), fought.repeat, fought.outcome, fought.decided)
    for left, right, repeat, outcome, decided in zip(*sides, strict=True):
        key, flipped = _key(left, right)
        battle, verdict = (key, int(repeat)), _turn(OUTCOMES[outcome] if decided else None, flipped)
        if verdict is not None:
            answers.fought[key].append(verdict)
        if answers.battles.get(battle) is None:
            answers.battles[battle] = verdict
    for output, has_words in _seen_words(view, paired.where(ok)):
        answers.flagged[output] = has_words


def _note_scores(view: views.View, answers: JudgeAnswers, judged: views.JudgmentColumns) -> None:
    single = views.first_scores(judged)
    single = single.where(np.isfinite(single.score))
    outputs = _ids(view, single.left)
    unit = view.entries.unit[single.left]
    columns = (outputs, single.repeat.tolist(), single.score.tolist(), unit.tolist())
    for output, repeat, score, unit_number in zip(*columns, strict=True):
        answers.points.setdefault((output, repeat), score)  # the first one counts, as on boards
        answers.units[output] = unit_number
    of = dict(zip(single.seq.tolist(), outputs, strict=True))
    for stored in verdict_texts(view, single):
        answers.dimensions[of[stored.seq]] = dict(stored.scores)
        if "injection" in stored.reasons:
            answers.flagged[of[stored.seq]] = bool(stored.reasons["injection"])


def _seen_words(view: views.View, paired: views.JudgmentColumns) -> Iterator[tuple[str, bool]]:
    """Yield the outputs in which the judge looked for text that addresses a judge, and whether it found any."""
    row_of = {seq: row for row, seq in enumerate(paired.seq.tolist())}
    for stored in verdict_texts(view, paired, holding='"injection"'):
        for side, column in (("left", paired.left), ("right", paired.right)):
            marks = stored.reasons.get(side)
            if isinstance(marks, dict) and "injection" in marks:
                yield view.entries.id_of(int(column[row_of[stored.seq]])), bool(marks["injection"])


def _key(left: str, right: str) -> tuple[OutputIdPair, bool]:
    return ((right, left), True) if right < left else ((left, right), False)


def _turn(outcome: Outcome | None, flipped: bool) -> Outcome | None:
    return outcome.mirrored() if outcome is not None and flipped else outcome


@dataclass(frozen=True)
class PeopleVotes:
    """People's votes on pairs."""

    votes: list[tuple[OutputIdPair, Outcome, str]]
    """Pair, outcome as seen from the smaller id, and the item's track (or task)."""
    dimensions: frozenset[str]
    """The dimensions that the votes are about."""


def people_for(answers: JudgeAnswers, judged: Collection[str], people: Mapping[str, PeopleVotes]) -> PeopleVotes:
    """The votes to compare verdicts with, by the same rule as `align`. `judged`: the judge's dimensions."""
    dimensions = views.compared_dimensions(answers.dimension, judged, people)
    return PeopleVotes([vote for name in sorted(dimensions) for vote in people[name].votes], dimensions)


def read_people(view: views.View) -> dict[str, PeopleVotes]:
    """The counted votes on pairs, by the dimension that people were asked about."""
    return _votes_in(view, views.people_battles(view))


def read_rated_pairs(view: views.View) -> PeopleVotes:
    """Pairs of people's mean overall ratings as votes: the higher mean wins, and equal means are a tie."""
    pairs = _votes_in(view, views.rating_battles(view, views.NO_BATTLES, views.WHOLE))
    return pairs.get(views.WHOLE, PeopleVotes([], frozenset()))


def _votes_in(view: views.View, battles: views.BattleColumns) -> dict[str, PeopleVotes]:
    entries = view.entries
    tracks, tasks = (entries.labels[name].list() for name in ("track", "task"))
    votes: dict[str, PeopleVotes] = {}
    columns = (
        _ids(view, battles.left),
        _ids(view, battles.right),
        battles.winner,
        battles.dimension.list(),
        entries.item[battles.left],
    )
    for left, right, winner, about, item in zip(*columns, strict=True):
        key, flipped = _key(left, right)
        outcome = _turn(OUTCOMES[winner], flipped)
        if outcome is not None:
            vote = (key, outcome, tracks[item] or tasks[item] or "(none)")
            votes.setdefault(str(about), PeopleVotes([], frozenset({str(about)}))).votes.append(vote)
    return votes
