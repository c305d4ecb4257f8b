"""A judge's verdicts on battles against people's votes on the same battles.

A battle is an item and two models; a judge that saw the sides the other way round is mirrored. Every vote meets every
verdict of the judge on the same battle.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from imarena.core.errors import UserError
from imarena.stats.verdicts import EQUAL, MIRROR, OUTCOMES, Missing, VerdictFigures, matches, verdict_figures
from imarena.workflows.align_compare import compare_verdicts
from imarena.workflows.columns import VerdictColumns, check_groups

HUMAN_WORDS = OUTCOMES
JUDGE_WORDS = (*OUTCOMES, EQUAL)
SHARED = ("task", "dimension")


@dataclass(frozen=True)
class VerdictAlignment:
    """Accuracies per judge and group, and what they rest on."""

    settings: dict[str, Any]
    n_verdicts: int
    n_votes: int
    excluded: dict[str, int]
    groups: tuple[dict[str, Any], ...]
    comparisons: tuple[dict[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "kind": "verdicts", "settings": self.settings, "n_verdicts": self.n_verdicts, "n_votes": self.n_votes,
            "excluded": self.excluded, "groups": list(self.groups), "comparisons": list(self.comparisons),
        }  # fmt: skip


def align_verdicts(
    verdicts: VerdictColumns,
    votes: VerdictColumns,
    *,
    by: Sequence[str] = (),
    missing: Missing = "exclude",
    compare: bool = False,
) -> VerdictAlignment:
    """Each judge in `verdicts` against the people in `votes`, per group of columns of the votes.

    With `compare` every two judges are tested against each other, over all votes.
    """
    check_groups(votes.labels, by, votes.source)
    keys = [name for name in SHARED if name in verdicts.labels and name in votes.labels]
    said: dict[str, dict[tuple[str, ...], list[str | None]]] = {}
    for row, judge in enumerate(verdicts.rater):
        key, flipped = _battle(verdicts, row, keys)
        said.setdefault(judge, {}).setdefault(key, []).append(_turned(verdicts.winner[row], flipped))
    meets = {key for answers in said.values() for key in answers}
    groups: dict[tuple[str, ...], list[int]] = {}
    unsaid = 0
    for row, winner in enumerate(votes.winner):
        unsaid += winner is None
        if winner is not None:
            groups.setdefault(tuple(votes.labels[name][row] for name in by), []).append(row)
    if not any(_battle(votes, row, keys)[0] in meets for rows in groups.values() for row in rows):
        raise UserError(
            f"No verdict in {verdicts.source} is on a battle in {votes.source}.",
            hint="They meet by item and the two models: check that the names are the same in both tables.",
        )
    documents = [
        _document(judge, dict(zip(by, group, strict=True)), _compared(votes, rows, answers, keys), missing)
        for judge, answers in sorted(said.items())
        for group, rows in sorted(groups.items())
    ]
    settings = {
        "source": verdicts.source, "against": votes.source, "by": list(by), "missing": missing,
        "matched_by": ["item", "left", "right", *keys], "equal": "right for tie and for both_bad",
    }  # fmt: skip
    compared = compare_verdicts(_cast(votes, keys), said, matches) if compare else []
    excluded = {"votes_without_winner": unsaid}
    return VerdictAlignment(settings, len(verdicts), len(votes), excluded, tuple(documents), tuple(compared))


def _cast(votes: VerdictColumns, keys: Sequence[str]) -> list[tuple[tuple[str, ...], str]]:
    """Every vote's battle and its outcome, with the sides in the battle's own order."""
    found = []
    for row in range(len(votes.winner)):
        key, flipped = _battle(votes, row, keys)
        outcome = _turned(votes.winner[row], flipped)
        if outcome is not None:
            found.append((key, outcome))
    return found


def _battle(columns: VerdictColumns, row: int, keys: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The battle's name, the same whichever side a model stands on, and whether the sides were turned for it."""
    left, right = columns.left[row], columns.right[row]
    flipped = left > right
    first, second = (right, left) if flipped else (left, right)
    return (columns.item[row], first, second, *(columns.labels[name][row] for name in keys)), flipped


def _turned(winner: str | None, flipped: bool) -> str | None:
    return MIRROR[winner] if winner is not None and flipped else winner


def _compared(
    votes: VerdictColumns, rows: Iterable[int], answers: dict[tuple[str, ...], list[str | None]], keys: Sequence[str]
) -> list[tuple[str, str | None]]:
    """People's outcome and the judge's, both with the sides as the voter saw them."""
    pairs: list[tuple[str, str | None]] = []
    for row in rows:
        key, flipped = _battle(votes, row, keys)
        vote = votes.winner[row]
        if vote is not None:
            pairs += [(vote, _turned(verdict, flipped)) for verdict in answers.get(key, [None])]
    return pairs


def _document(
    judge: str, group: dict[str, str], pairs: list[tuple[str, str | None]], missing: Missing
) -> dict[str, Any]:
    found: VerdictFigures = verdict_figures([vote for vote, _ in pairs], [said for _, said in pairs], missing=missing)
    figures = (
        found.four_way_accuracy, found.three_way_accuracy, found.decisive_accuracy, found.both_decisive_accuracy,
        found.macro_f1,
    )  # fmt: skip
    reasons = {figure.name: figure.reason for figure in figures if figure.value is None}
    return {
        "judge": judge, "group": group, **{figure.name: figure.value for figure in figures},
        "f1": {outcome: figure.value for outcome, figure in found.f1.items()},
        "n": found.n, "n_missing": found.n_missing, "n_decisive": found.decisive_accuracy.n,
        "confusion": found.confusion, "methods": {figure.name: figure.method for figure in figures},
        "status": "ok" if found.four_way_accuracy.value is not None else "undefined",
        "reason": "; ".join(dict.fromkeys(reasons.values())) or None,
    }  # fmt: skip
