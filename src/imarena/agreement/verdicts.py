"""A judge's verdicts on battles compared with people's votes on the same battles.

A battle is an item and two sides (models in a table, outputs in a workspace); verdicts on swapped sides are mirrored.
Every vote is paired with every verdict of the judge on the same battle, or is missing with a reason.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from imarena.agreement.columns import VerdictColumns, check_groups
from imarena.agreement.paired_tests import compare_verdicts
from imarena.agreement.verdict_alignment import MajorityAlignment, VerdictAlignment, VerdictGroup
from imarena.core import UserError
from imarena.stats import (
    MIRROR,
    UNSTATED_TIE,
    VERDICT_OUTCOMES,
    MissingVerdicts,
    ScorePairs,
    TieCalibration,
    calibrate_ties,
    verdict_figures,
    verdict_matches,
)

HUMAN_OUTCOMES = VERDICT_OUTCOMES
JUDGE_OUTCOMES = (*VERDICT_OUTCOMES, UNSTATED_TIE)
SHARED = ("task", "dimension")
RATER = "rater"
"""Votes can also be grouped by the rater who cast them."""
NO_VERDICT = "no verdict on the battle"

Battle = tuple[str, ...]


@dataclass
class _Answers:
    """One judge's answers, with the sides in each battle's own order."""

    verdicts_of: dict[Battle, list[str | None]] = field(default_factory=dict)
    gaps: dict[Battle, list[float | None]] = field(default_factory=dict)
    reasons: dict[Battle, str] = field(default_factory=dict)
    covers: frozenset[str] | None = None
    """Dimensions of the votes that it is compared with; None: all."""


@dataclass(frozen=True)
class _Meeting:
    """One vote with one verdict, both with the sides as the voter saw them."""

    vote: str
    verdict: str | None
    gap: float | None
    reason: str


def align_verdicts(
    verdicts: VerdictColumns,
    votes: VerdictColumns,
    *,
    by: Sequence[str] = (),
    missing: MissingVerdicts = "exclude",
    compare: bool = False,
) -> VerdictAlignment:
    """Compare each judge in `verdicts` with the people in `votes`, per group of columns of the votes (or per `rater`).

    With `compare`, all pairs of judges are tested against each other, over all votes.
    """
    check_groups({**votes.labels, RATER: votes.rater}, by, votes.source)
    keys = [name for name in SHARED if name in verdicts.labels and name in votes.labels]
    if verdicts.covers:  # `covers` matches dimensions
        keys = [name for name in keys if name != "dimension"]
    judges = _answers(verdicts, keys)
    meets = {key for answers in judges.values() for key in answers.verdicts_of}
    cast = [row for row, winner in enumerate(votes.winner) if winner is not None]
    if not any(_battle(votes, row, keys)[0] in meets for row in cast):
        raise UserError(
            f"No verdict in {verdicts.source} is on a battle in {votes.source}.",
            hint="Rows are matched by item and the two models: check that both tables use the same names.",
        )
    groups = _groups(votes, judges, keys, by, missing)
    merged = majority_of(votes, keys)
    settings = {
        "source": verdicts.source, "against": votes.source, "by": list(by), "missing": missing,
        "matched_by": ["item", "left", "right", *keys], "equal": "right for tie and for both_bad",
    }  # fmt: skip
    majority = None
    if merged is not None:
        names = tuple(name for name in by if name != RATER)
        majority = MajorityAlignment(RULE, len(merged), names, tuple(_groups(merged, judges, keys, names, missing)))
    compared = compare_verdicts(_cast(votes, keys), _by_vote(judges, votes), verdict_matches) if compare else []
    excluded = {"votes_without_winner": len(votes) - len(cast)}
    n_given = sum(winner is not None for winner in verdicts.winner)
    return VerdictAlignment(settings, n_given, len(votes), excluded, tuple(groups), majority, tuple(compared))


def _answers(verdicts: VerdictColumns, keys: Sequence[str]) -> dict[str, _Answers]:
    judges: dict[str, _Answers] = {}
    for row, judge in enumerate(verdicts.rater):
        key, flipped = _battle(verdicts, row, keys)
        answers = judges.setdefault(judge, _Answers(covers=verdicts.covers.get(judge)))
        gap = verdicts.gap[row] if verdicts.gap else None
        answers.verdicts_of.setdefault(key, []).append(_turned(verdicts.winner[row], flipped))
        answers.gaps.setdefault(key, []).append(-gap if gap is not None and flipped else gap)
        if verdicts.reason and verdicts.reason[row]:
            answers.reasons[key] = verdicts.reason[row]
    return judges


def _groups(
    votes: VerdictColumns,
    judges: Mapping[str, _Answers],
    keys: Sequence[str],
    by: Sequence[str],
    missing: MissingVerdicts,
) -> Iterator[VerdictGroup]:
    """Yield one row per judge and group of votes."""
    labels = {**votes.labels, RATER: votes.rater}
    dimension = votes.labels.get("dimension")
    for judge, answers in sorted(judges.items()):
        groups: dict[tuple[str, ...], list[int]] = {}
        elsewhere: Counter[tuple[str, ...]] = Counter()
        for row, winner in enumerate(votes.winner):
            group = tuple(labels[name][row] for name in by)
            if winner is None:
                continue
            if dimension is not None and answers.covers is not None and dimension[row] not in answers.covers:
                elsewhere[group] += 1
            else:
                groups.setdefault(group, []).append(row)
        for group, rows in sorted(groups.items()):
            group_labels = dict(zip(by, group, strict=True))
            meetings = _meetings(votes, rows, answers, keys)
            people, machine = [meeting.vote for meeting in meetings], [meeting.verdict for meeting in meetings]
            yield VerdictGroup(
                judge, group_labels,
                verdict_figures(people, machine, missing=missing),
                verdict_figures(people, machine, missing="wrong").four_way_accuracy,
                _tie_calibrated(meetings),
                dict(sorted(Counter(meeting.reason for meeting in meetings if meeting.verdict is None).items())),
                len(rows), elsewhere[group],
            )  # fmt: skip


def _cast(votes: VerdictColumns, keys: Sequence[str]) -> list[tuple[Battle, str]]:
    """Return every vote's battle and dimension, and its outcome, with the sides in the battle's own order."""
    dimension = votes.labels.get("dimension", [""] * len(votes))
    votes_cast = []
    for row in range(len(votes.winner)):
        key, flipped = _battle(votes, row, keys)
        outcome = _turned(votes.winner[row], flipped)
        if outcome is not None:
            votes_cast.append(((*key, dimension[row]), outcome))
    return votes_cast


def _by_vote(judges: Mapping[str, _Answers], votes: VerdictColumns) -> dict[str, dict[Battle, list[str | None]]]:
    """Return each judge's verdicts by battle and by the dimension of the votes that they are compared with."""
    dimensions = frozenset(votes.labels.get("dimension", [""]))
    return {
        judge: {
            (*battle, dimension): verdict
            for battle, verdict in answers.verdicts_of.items()
            for dimension in (dimensions if answers.covers is None else answers.covers)
        }
        for judge, answers in judges.items()
    }


def _battle(columns: VerdictColumns, row: int, keys: Sequence[str]) -> tuple[Battle, bool]:
    """Return the key of a battle, independent of its sides, and whether the sides were swapped for it."""
    left, right = columns.left[row], columns.right[row]
    flipped = left > right
    first, second = (right, left) if flipped else (left, right)
    return (columns.item[row], first, second, *(columns.labels[name][row] for name in keys)), flipped


def _turned(winner: str | None, flipped: bool) -> str | None:
    return MIRROR[winner] if winner is not None and flipped else winner


def _meetings(votes: VerdictColumns, rows: Iterable[int], answers: _Answers, keys: Sequence[str]) -> list[_Meeting]:
    """Return every vote with every verdict on its battle, or with the reason why there is none."""
    meetings: list[_Meeting] = []
    for row in rows:
        key, flipped = _battle(votes, row, keys)
        vote = votes.winner[row]
        if vote is None:
            continue
        reason = answers.reasons.get(key, NO_VERDICT)
        gaps = answers.gaps.get(key, [None])
        for verdict, gap in zip(answers.verdicts_of.get(key, [None]), gaps, strict=True):
            turned = -gap if gap is not None and flipped else gap
            meetings.append(_Meeting(vote, _turned(verdict, flipped), turned, "" if verdict is not None else reason))
    return meetings


def _tie_calibrated(meetings: Sequence[_Meeting]) -> TieCalibration | None:
    """Return the accuracy with the best tie threshold instead of the judge's own; both kinds of tie count as one."""
    side = {"left": 1.0, "right": -1.0}
    gaps = [
        (side.get(meeting.vote, 0.0), meeting.gap)
        for meeting in meetings
        if meeting.verdict is not None and meeting.gap is not None
    ]
    if not gaps:
        return None
    human, judge = (np.array(column, np.float64) for column in zip(*gaps, strict=True))
    return calibrate_ties(ScorePairs(human, judge, np.arange(len(gaps))))


MAJORITY = "majority"
RULE = "the outcome with the most votes on the battle; a tie where two or more outcomes have the most"


def majority_of(votes: VerdictColumns, keys: Sequence[str]) -> VerdictColumns | None:
    """Return one row per battle (and per dimension if votes have one); None if no battle has two votes.

    Outcomes are counted with the sides in one order, so it does not matter on which side a voter saw an output.
    """
    names = list(dict.fromkeys((*keys, *(["dimension"] if "dimension" in votes.labels else []))))
    counts: dict[tuple[str, ...], Counter[str]] = {}
    first_row: dict[tuple[str, ...], int] = {}
    for row, winner in enumerate(votes.winner):
        battle, flipped = _battle(votes, row, names)
        outcome = _turned(winner, flipped)
        if outcome is not None:
            counts.setdefault(battle, Counter())[outcome] += 1
            first_row.setdefault(battle, row)
    if all(count.total() < 2 for count in counts.values()):
        return None
    rows = list(first_row.values())
    return VerdictColumns(
        [battle[0] for battle in counts],
        [battle[1] for battle in counts],
        [battle[2] for battle in counts],
        [most_frequent(count) for count in counts.values()],
        [MAJORITY] * len(counts),
        {name: [column[row] for row in rows] for name, column in votes.labels.items()},
        f"the majority of {votes.source}",
    )


def most_frequent(count: Counter[str]) -> str:
    """Return the outcome with the highest count; a tie if several have it."""
    most = max(count.values())
    leading = [outcome for outcome, number in count.items() if number == most]
    return leading[0] if len(leading) == 1 else "tie"
