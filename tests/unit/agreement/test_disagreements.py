"""How far a judge and people are apart: ranks of scores and ratings, opposite sides of votes."""

import pytest

from imarena.agreement.columns import RatingColumns, ScoreColumns, VerdictColumns
from imarena.agreement.disagreements import Disagreement, rating_disagreements, vote_disagreements
from imarena.stats import MIRROR

UNITS = ("a", "b", "c", "d")


def scores(values: dict[str, list[float]], criteria: dict[str, str] | None = None) -> ScoreColumns:
    """One model's scores by judge; `criteria`: the criterion that each judge's rows stand for."""
    rows = [(judge, unit, score) for judge, marks in values.items() for unit, score in zip(UNITS, marks, strict=True)]
    labels = {"model": ["m"] * len(rows)}
    if criteria is not None:
        labels["criterion"] = [criteria[judge] for judge, *_ in rows]
    return ScoreColumns([unit for _, unit, _ in rows], [judge for judge, *_ in rows], [s for *_, s in rows], labels)


def ratings(marks: dict[str, list[float]]) -> RatingColumns:
    rows = [(name, unit, mark) for name, values in marks.items() for unit, mark in zip(UNITS, values, strict=True)]
    labels = {"model": ["m"] * len(rows), "criterion": [name for name, *_ in rows]}
    return RatingColumns([unit for _, unit, _ in rows], ["r"] * len(rows), [mark for *_, mark in rows], labels)


def by_unit(rows: list[Disagreement]) -> dict[str, float | None]:
    return {row.unit: row.difference for row in rows}


def test_the_difference_of_ranks_does_not_depend_on_the_scales() -> None:
    people = ratings({"overall": [1, 2, 3, 3]})
    plain = rating_disagreements(scores({"j": [0.4, 0.3, 0.2, 0.1]}), people)
    assert by_unit(plain) == {"a": 0.75, "b": 0.25, "c": -0.375, "d": -0.625}
    assert by_unit(rating_disagreements(scores({"j": [4000, 300, 20, 1]}), people)) == by_unit(plain)
    low = rating_disagreements(scores({"j": [1, 2, 3, 4]}), people, frozenset({"j"}))
    assert by_unit(low) == by_unit(plain)
    assert [row.judge_value for row in low] == [1, 2, 3, 4], "as the judge gave them"


def test_a_mark_meets_its_criterion_and_a_headline_the_overall() -> None:
    values = {"j": [1.0, 2, 3, 4], "j: PQ": [4.0, 3, 2, 1]}
    people = ratings({"PQ": [1, 2, 3, 4], "SC": [1, 2, 3, 4], "overall": [1, 2, 3, 4]})

    def met(theirs: RatingColumns) -> set[tuple[str, str]]:
        names = dict.fromkeys(theirs.labels["criterion"])
        both = [scores({"j": values["j"]}, {"j": name}) for name in names]
        both.append(scores({"j: PQ": values["j: PQ"]}, {"j: PQ": "PQ"}))
        joined = ScoreColumns(
            [unit for part in both for unit in part.unit], [judge for part in both for judge in part.judge],
            [score for part in both for score in part.score],
            {name: [cell for part in both for cell in part.labels[name]] for name in ("model", "criterion")},
        )  # fmt: skip
        return {(row.judge, row.about) for row in rating_disagreements(joined, theirs)}

    assert met(people) == {("j", "overall"), ("j: PQ", "PQ")}
    assert met(ratings({"PQ": [1, 2, 3, 4], "SC": [1, 2, 3, 4]})) == {("j", "SC"), ("j: PQ", "PQ")}


def battles(rows: list[tuple[str, str, str, str]], gaps: list[float] | None = None) -> VerdictColumns:
    item, left, right, winner = (list(column) for column in zip(*rows, strict=True))
    return VerdictColumns(item, left, right, winner, ["j"] * len(rows), gap=gaps or ())


VOTES = [
    ("i1", "x", "y", "left"), ("i1", "x", "y", "left"), ("i1", "y", "x", "left"), ("i2", "x", "y", "left"),
    ("i3", "x", "y", "tie"), ("i4", "x", "y", "left"), ("i4", "x", "y", "right"),
]  # fmt: skip
VERDICTS = [(item, "x", "y", "right") for item in ("i1", "i2", "i3", "i4")]


def test_only_opposite_sides_disagree_and_more_votes_weigh_more() -> None:
    met = {row.unit: row for row in vote_disagreements(battles(VERDICTS), battles(VOTES))}
    assert {item: row.size for item, row in met.items()} == {"i1": 0.25, "i2": 0.5, "i3": 0, "i4": 0}
    assert (met["i1"].people_value, met["i1"].judge_value) == ("left", "right")
    assert dict(met["i1"].answers) == {"left": 2, "right": 1}
    assert met["i3"].people_value == met["i4"].people_value == "tie"


@pytest.mark.parametrize("flipped", [VOTES, VERDICTS])
def test_exchanging_the_sides_changes_nothing(flipped: list[tuple[str, str, str, str]]) -> None:
    turned = [(item, right, left, MIRROR[winner]) for item, left, right, winner in flipped]
    plain = vote_disagreements(battles(VERDICTS), battles(VOTES))
    verdicts, votes = (VERDICTS, turned) if flipped is VOTES else (turned, VOTES)
    assert vote_disagreements(battles(verdicts), battles(votes)) == plain


def test_the_judges_certainty_is_the_rank_of_its_gap_else_its_confidence() -> None:
    met = {row.unit: row for row in vote_disagreements(battles(VERDICTS, [-9, -1, -2, -3]), battles(VOTES))}
    assert (met["i1"].certainty, met["i2"].certainty) == (0.875, 0.125)
    assert (met["i1"].size, met["i2"].size) == (0.25 * 0.875, 0.5 * 0.125)
    stated = vote_disagreements(battles(VERDICTS), battles(VOTES), {("j", "x", "y"): 0.5})
    assert {row.unit: row.size for row in stated} == {"i1": 0.125, "i2": 0.25, "i3": 0, "i4": 0}


def test_repeats_of_a_judge_that_disagree_with_each_other_weigh_less() -> None:
    repeats = [*VERDICTS, ("i2", "x", "y", "right"), ("i2", "x", "y", "left")]
    met = {row.unit: row.size for row in vote_disagreements(battles(repeats), battles(VOTES))}
    assert met["i2"] == pytest.approx(0.5 / 3)
