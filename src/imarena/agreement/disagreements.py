"""How far a judge and people disagree on every output and every pair that both answered.

Ratings: scores and mean ratings of one judge and criterion are converted to ranks from 0 to 1 (ties share theirs),
because their scales differ; the disagreement is the difference of the two ranks. Votes: if people and the judge choose
opposite sides, the disagreement grows with people's margin and with the judge's certainty.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from imarena.agreement.columns import RatingColumns, ScoreColumns, VerdictColumns
from imarena.agreement.judges import KEYS
from imarena.agreement.matches import Match, match_scores, people_by_key
from imarena.agreement.verdicts import most_frequent
from imarena.core import grouped
from imarena.stats import MIRROR

SIDES = ("left", "right")
RATING_RULE = "rank of the judge's score less rank of people's mean rating, both from 0 to 1"
VOTE_RULE = (
    "opposite sides: (votes for people's side - votes for the judge's side) / (votes + 1), times the judge's certainty "
    "(rank of its score gap, or its confidence, from 0 to 1; 1 where it states neither)"
)


@dataclass(frozen=True)
class Disagreement:
    """One output (`kind` rating) or one pair (vote) that a judge and people answered."""

    kind: Literal["rating", "vote"]
    judge: str
    about: str
    """The criterion of the ratings, or the dimension of the votes."""
    unit: str
    """The rated unit, or the item of the pair."""
    outputs: tuple[str, ...]
    """The model of a rating, or the two sides of a vote in sorted order."""
    size: float
    """0 to 1; 0 if they agree, or if one of them does not decide."""
    judge_value: float | str
    """The score, or the side: `left`, `right`, `tie`, `both_bad`, `equal`."""
    people_value: float | str
    """The mean rating, or the side that most people chose; a tie if no side has the most votes."""
    difference: float | None = None
    """Ratings: above 0 if the judge is too generous."""
    certainty: float | None = None
    answers: tuple[tuple[str, float], ...] = ()
    """The ratings of each rater, or the number of votes for each outcome."""


# ---------------------------------------------------------------- ratings


def rating_disagreements(
    scores: ScoreColumns, ratings: RatingColumns, lower_is_better: frozenset[str] = frozenset()
) -> list[Disagreement]:
    """Return each scored and rated output once per judge and criterion of the judge's score.

    A mark is compared with the criterion of its name, a headline score with people's `overall`; if people have none,
    with every criterion for which the judge gives no mark.
    """
    keys = [name for name in KEYS if name in scores.labels and name in ratings.labels]
    low = lower_is_better | scores.lower_is_better
    matches, _ = match_scores(scores, people_by_key(ratings, keys), keys, (), low)
    fitting = _about_the_same([match for match in matches if match.score is not None])
    groups = grouped(((match.judge, match.criterion), match) for match in fitting)
    shared = ["unit", *(name for name in keys if name != "criterion")]
    models = shared.index("model") if "model" in shared else None
    return [row for rows in groups.values() for row in _ranked(rows, low, models)]


def _about_the_same(matches: Sequence[Match]) -> list[Match]:
    criteria = {match.criterion for match in matches}
    marked = {(match.judge, match.criterion) for match in matches if is_mark(match.judge, match.criterion)}
    judges_with_mark = {(judge.removesuffix(f": {criterion}"), criterion) for judge, criterion in marked}

    def fits(match: Match) -> bool:
        if (match.judge, match.criterion) in marked:
            return True
        own = next((name for name in criteria if name and match.judge.endswith(f", {name}")), None)
        if own is not None or "overall" in criteria:
            return match.criterion == (own or "overall")
        return (match.judge, match.criterion) not in judges_with_mark

    return [match for match in matches if fits(match)]


def is_mark(judge: str, criterion: str | None) -> bool:
    """Return whether this is the judge's own mark on a criterion, not its headline score."""
    return bool(criterion) and judge.endswith(f": {criterion}")


def _ranked(rows: Sequence[Match], low: frozenset[str], models: int | None) -> Iterable[Disagreement]:
    score = np.array([row.score for row in rows], np.float64)
    judged, rated = _ranks(score), _ranks(np.array([row.human for row in rows], np.float64))
    for row, value, theirs, ours in zip(rows, score.tolist(), rated.tolist(), judged.tolist(), strict=True):
        difference = round(ours - theirs, 9)
        yield Disagreement(
            "rating", row.judge, row.criterion or "", row.unit, (row.key[models],) if models is not None else (),
            abs(difference), -value if row.judge in low else value, row.human, difference, None, row.ratings,
        )  # fmt: skip


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) ranks between 0 and 1; equal values share their mean rank."""
    return np.asarray((rankdata(np.round(values, 9)) - 0.5) / values.size)


# ---------------------------------------------------------------- votes

_PairOnItem = tuple[str, str, str]
"""Item and the two sides, the smaller id first."""


def vote_disagreements(
    verdicts: VerdictColumns, votes: VerdictColumns, confidence: Mapping[tuple[str, str, str], float] | None = None
) -> list[Disagreement]:
    """Return every pair with votes and a verdict, once per judge and dimension of the votes.

    `confidence`: by (judge, left, right) with sorted sides, if a judge states it.
    """
    cast = _votes_by_pair(votes)
    answers_by_pair: dict[tuple[str, _PairOnItem], list[tuple[str, float | None]]] = {}
    for row, judge in enumerate(verdicts.rater):
        pair, flipped = _pair(verdicts, row)
        winner = verdicts.winner[row]
        if winner is not None:
            gap = verdicts.gap[row] if verdicts.gap else None
            answers_by_pair.setdefault((judge, pair), []).append((MIRROR[winner] if flipped else winner, gap))
    by_judge: dict[str, list[Disagreement]] = {}
    for (judge, pair), answers in answers_by_pair.items():
        covers = verdicts.covers.get(judge)
        for dimension, counts in cast.get(pair, {}).items():
            if covers is None or dimension in covers:
                by_judge.setdefault(judge, []).append(_disagreement(judge, dimension, pair, answers, counts))
    confidences = confidence or {}
    return [row for rows in by_judge.values() for row in _with_certainty(rows, answers_by_pair, confidences)]


def _votes_by_pair(votes: VerdictColumns) -> dict[_PairOnItem, dict[str, Counter[str]]]:
    """Return the number of votes for each outcome by pair, then by dimension, with the sides in sorted order."""
    dimensions = votes.labels.get("dimension", [""] * len(votes))
    cast: dict[_PairOnItem, dict[str, Counter[str]]] = {}
    for row, winner in enumerate(votes.winner):
        if winner is None:
            continue
        pair, flipped = _pair(votes, row)
        counts = cast.setdefault(pair, {}).setdefault(dimensions[row], Counter())
        counts[MIRROR[winner] if flipped else winner] += 1
    return cast


def _pair(columns: VerdictColumns, row: int) -> tuple[_PairOnItem, bool]:
    first, second = columns.left[row], columns.right[row]
    return (columns.item[row], min(first, second), max(first, second)), first > second


def _disagreement(
    judge: str, dimension: str, pair: _PairOnItem, answers: Sequence[tuple[str, float | None]], counts: Counter[str]
) -> Disagreement:
    """Return people's side, the judge's side, and people's margin; the certainty comes later."""
    verdicts = Counter(winner for winner, _ in answers)
    people, machine = most_frequent(counts), most_frequent(verdicts)
    opposite = people in SIDES and machine in SIDES and people != machine
    margin = (counts[people] - counts[machine]) / (counts.total() + 1) if opposite else 0.0
    share = (verdicts[machine] - verdicts[people]) / verdicts.total() if opposite else 0.0
    return Disagreement(
        "vote", judge, dimension, pair[0], pair[1:], margin * share, machine, people,
        answers=tuple(sorted((outcome, float(number)) for outcome, number in counts.items())),
    )  # fmt: skip


def _with_certainty(
    rows: Sequence[Disagreement],
    answers: Mapping[tuple[str, _PairOnItem], Sequence[tuple[str, float | None]]],
    confidence: Mapping[tuple[str, str, str], float],
) -> Iterable[Disagreement]:
    """Yield rows with size times certainty: the gap's rank among the judge's gaps, else the confidence, else 1."""
    gaps = [_gap(answers[row.judge, (row.unit, row.outputs[0], row.outputs[1])]) for row in rows]
    ranks: NDArray[np.float64] | None = None
    if any(gap is not None for gap in gaps):
        ranks = _ranks(np.array([0.0 if gap is None else gap for gap in gaps]))
    for number, row in enumerate(rows):
        confident = confidence.get((row.judge, row.outputs[0], row.outputs[1]))
        certainty = float(ranks[number]) if ranks is not None else confident
        size = row.size * (1.0 if certainty is None else certainty)
        yield replace(row, size=round(size, 9), certainty=certainty)


def _gap(answers: Sequence[tuple[str, float | None]]) -> float | None:
    gaps = [gap for _, gap in answers if gap is not None]
    return abs(sum(gaps) / len(gaps)) if gaps else None
