"""Compare a judge's verdicts on battles with people's: left, right, tie, both_bad."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from imarena.stats.figure import Figure, undefined_figure
from imarena.stats.proportion import proportion_figure

VERDICT_OUTCOMES = ("left", "right", "tie", "both_bad")
UNSTATED_TIE = "equal"
"""A judge's tie that does not say whether both are good or bad; it matches either kind of tie."""
MIRROR = {"left": "right", "right": "left", "tie": "tie", "both_bad": "both_bad", UNSTATED_TIE: UNSTATED_TIE}
TIES = ("tie", "both_bad", UNSTATED_TIE)

NOTHING = "no vote has a verdict"
MissingVerdicts = Literal["exclude", "wrong"]


@dataclass(frozen=True)
class VerdictFigures:
    """Accuracies of one judge, with the counts behind them."""

    four_way_accuracy: Figure
    three_way_accuracy: Figure
    decisive_accuracy: Figure
    both_decisive_accuracy: Figure
    macro_f1: Figure
    f1: dict[str, Figure]
    confusion: dict[str, dict[str, int]]
    """People's outcome -> judge's outcome (including "missing") -> count."""
    n: int
    n_missing: int


def verdict_figures(
    human: Sequence[str], judge: Sequence[str | None], *, missing: MissingVerdicts = "exclude"
) -> VerdictFigures:
    """Compare verdicts battle by battle; None means that the judge gave no verdict.

    Missing verdicts are left out and counted or, with ``wrong``, count as wrong, as in some papers; never as a tie.
    """
    if len(human) != len(judge):
        raise ValueError(f"{len(human)} human verdicts and {len(judge)} of the judge")
    pairs = list(zip(human, judge, strict=True))
    lost = sum(verdict is None for _, verdict in pairs)
    note = f"; {lost} without a verdict " + ("left out" if missing == "exclude" else "counted as wrong")
    answered = [(people, machine) for people, machine in pairs if machine is not None or missing == "wrong"]
    decided = [(people, machine) for people, machine in answered if people not in TIES]
    decisive = [(people, machine) for people, machine in decided if machine is not None and machine not in TIES]
    f1 = {outcome: f1_score(answered, outcome) for outcome in VERDICT_OUTCOMES}
    return VerdictFigures(
        _share("four_way_accuracy", answered, "same of left, right, tie, both_bad" + note),
        _share("three_way_accuracy", [_merged(pair) for pair in answered], "same of left, right, any tie" + note),
        _share(
            "decisive_accuracy",
            decided,
            "same side where people decide; a judge's tie is a miss" + note,
            "no vote for a side has a verdict" if answered else NOTHING,
        ),
        _share(
            "both_decisive_accuracy",
            decisive,
            "same side where people and judge decide",
            "no vote for a side has a verdict for a side" if answered else NOTHING,
        ),
        _macro(f1),
        f1,
        confusion(pairs),
        len(answered),
        lost,
    )


def confusion(pairs: Sequence[tuple[str, str | None]]) -> dict[str, dict[str, int]]:
    """Count verdicts by people's and the judge's outcome."""
    table: dict[str, dict[str, int]] = {}
    for people, machine in pairs:
        row = table.setdefault(people, {})
        row[machine or "missing"] = row.get(machine or "missing", 0) + 1
    return {people: dict(sorted(table[people].items())) for people in sorted(table)}


def f1_score(pairs: Sequence[tuple[str, str | None]], outcome: str) -> Figure:
    """F1 of one outcome: 2 TP / (2 TP + FP + FN)."""
    method = f"F1 of '{outcome}'"
    right = sum(people == outcome and verdict_matches(people, machine) for people, machine in pairs)
    predicted = sum(_outcome(people, machine) == outcome for people, machine in pairs)
    meant = sum(people == outcome for people, _ in pairs)
    if predicted + meant == 0:
        return undefined_figure("f1", f"neither people nor the judge answered '{outcome}'", n=len(pairs), method=method)
    return Figure("f1", 2 * right / (predicted + meant), len(pairs), method)


def _macro(f1: dict[str, Figure]) -> Figure:
    method = "mean F1 over the outcomes that occur"
    values = [figure.value for figure in f1.values() if figure.value is not None]
    n = max((figure.n for figure in f1.values()), default=0)
    if not values:
        return undefined_figure("macro_f1", "no outcome occurs", n=n, method=method)
    return Figure("macro_f1", sum(values) / len(values), n, method)


def _outcome(people: str, machine: str | None) -> str | None:
    """The outcome of the judge's verdict; an unspecified tie is the kind that people chose, else a tie."""
    if machine != UNSTATED_TIE:
        return machine
    return people if people in TIES else "tie"


def verdict_matches(people: str, machine: str | None) -> bool:
    """Does the judge's verdict match people's outcome, out of four?"""
    return machine is not None and _outcome(people, machine) == people


def _merged(pair: tuple[str, str | None]) -> tuple[str, str | None]:
    people, machine = pair
    return "tie" if people in TIES else people, "tie" if machine in TIES else machine


def _share(name: str, pairs: Sequence[tuple[str, str | None]], method: str, reason: str = NOTHING) -> Figure:
    right = sum(verdict_matches(people, machine) for people, machine in pairs)
    return proportion_figure(name, right, len(pairs), method, reason=reason)
