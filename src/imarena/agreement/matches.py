"""Scores matched with the ratings of the same things: the rows behind every figure about a judge and people.

They match by `unit` and, if both tables have them, `model`, `task` and `criterion`. People's value of a unit is the
mean of its ratings, rounded to nine decimals.
"""

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.agreement.columns import RatingColumns, ScoreColumns
from imarena.core import UserError
from imarena.stats import round_values

People = dict[tuple[str | None, tuple[str, ...]], list[tuple[str, float]]]
"""(criterion, key) to the raters and their values; the key is `unit` and the shared columns except the criterion."""


@dataclass(frozen=True)
class Match:
    """One score, and the ratings of the same thing."""

    judge: str
    criterion: str | None
    group: tuple[str, ...]
    unit: str
    key: tuple[str, ...]
    score: float | None
    """None: the judge gave none. The sign is already reversed if low scores are good."""
    human: float
    ratings: tuple[tuple[str, float], ...]


def people_by_key(ratings: RatingColumns, keys: Sequence[str]) -> People:
    """Map (criterion, key) to its ratings; the key is `unit` and the shared columns except the criterion."""
    criteria = ratings.labels.get("criterion")
    shared = [ratings.labels[name] for name in keys if name != "criterion"]
    people: People = {}
    for row, value in enumerate(ratings.value):
        if isinstance(value, str):
            raise UserError(
                f"{ratings.source}, row {row + 1}: '{value}' is not a number.",
                hint="align needs numbers; for verdicts give two tables of battles.",
            )
        if value is None:
            continue
        key = (ratings.unit[row], *(column[row] for column in shared))
        marks = people.setdefault((criteria[row] if criteria else None, key), [])
        if any(rater == ratings.rater[row] for rater, _ in marks):
            raise UserError(
                f"{ratings.source}, row {row + 1}: rater '{ratings.rater[row]}' rated '{ratings.unit[row]}' twice.",
                hint="Keep one rating for each unit and rater; a model, task or criterion column distinguishes units.",
            )
        marks.append((ratings.rater[row], value))
    return people


def match_scores(
    scores: ScoreColumns, people: People, keys: Sequence[str], by: Sequence[str], lower_is_better: Container[str]
) -> tuple[list[Match], dict[str, int]]:
    """Return each score with the ratings of the same thing, and the number of scores without ratings.

    `by`: the columns of groups. `lower_is_better`: judges whose scores change sign.
    """
    shared = [scores.labels[name] for name in keys if name != "criterion"]
    own = scores.labels.get("criterion")
    criteria = sorted({criterion for criterion, _ in people}, key=str)
    groups = [scores.labels[name] for name in by]
    matches: list[Match] = []
    first_rows: dict[tuple[Any, ...], int] = {}
    unrated = 0
    for row, judge in enumerate(scores.judge):
        key = (scores.unit[row], *(column[row] for column in shared))
        scored = (judge, own[row] if own else None, key)
        if first_rows.setdefault(scored, row) != row:
            _refuse_repeat(scores, row, first_rows[scored], keys)
        rated = False
        for theirs in [own[row]] if own and "criterion" in keys else criteria:
            marks = people.get((theirs, key))
            if marks is None:
                continue
            rated = True
            criterion = theirs if theirs is not None else (own[row] if own else None)
            group = tuple(column[row] for column in groups)
            human = float(round_values(np.mean(sorted(value for _, value in marks))))
            score = scores.score[row]
            if score is not None and judge in lower_is_better:
                score = -score
            matches.append(Match(judge, criterion, group, scores.unit[row], key, score, human, tuple(marks)))
        unrated += not rated
    # Sorted, so that the order of rows does not matter, not even for the last bit of a sum.
    matches.sort(key=lambda match: (match.judge, str(match.criterion), match.group, match.key))
    return matches, {"scores_without_rating": unrated}


def absent_outputs(
    matches: Sequence[Match], people: People, ratings: RatingColumns, keys: Sequence[str], by: Sequence[str]
) -> Counter[tuple[Any, ...]]:
    """Count rated outputs without a row in the scores, by judge, criterion and group.

    The group of such an output comes from another judge's score of it, or from the ratings; otherwise it is counted
    under None.
    """
    groups = {match.key: match.group for match in matches}
    columns = [ratings.labels[name] for name in keys if name != "criterion"]
    row_of = {key: row for row, key in enumerate(zip(ratings.unit, *columns, strict=True))}
    keys_by_judge: dict[tuple[str, str | None], set[tuple[str, ...]]] = {}
    for match in matches:
        keys_by_judge.setdefault((match.judge, match.criterion), set()).add(match.key)
    criteria = {criterion for criterion, _ in people}
    absent: Counter[tuple[Any, ...]] = Counter()
    for (judge, criterion), scored in keys_by_judge.items():
        theirs = {key for own, key in people if own == criterion or criterion not in criteria}
        for key in theirs - scored:
            if key not in groups and all(name in ratings.labels for name in by):
                groups[key] = tuple(ratings.labels[name][row_of[key]] for name in by)
            absent[judge, criterion, groups.get(key)] += 1
    return absent


def _refuse_repeat(scores: ScoreColumns, row: int, first: int, keys: Sequence[str]) -> None:
    hint = "Keep one score for each unit, model and judge."
    if "model" not in keys:
        hint = "The ratings have no column 'model', so the rated output is not known."
    raise UserError(
        f"{scores.source}, row {row + 1}: judge '{scores.judge[row]}' scored '{scores.unit[row]}' already in row "
        f"{first + 1}.",
        hint=hint,
    )
