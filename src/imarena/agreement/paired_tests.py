"""Whether one judge is closer to people than another: paired comparisons of all judges, corrected for their number."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from imarena.agreement.matches import Match
from imarena.stats import holm, mcnemar, percentile_interval, resampled_correlations, spearman, units_by_content


@dataclass(frozen=True)
class CorrelationComparison:
    """Two judges' Spearman correlations with people, on the outputs that both scored."""

    criterion: str | None
    left: str
    right: str
    n: int
    spearman_left: float | None
    spearman_right: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_is_bound: bool
    """The p-value is an upper bound: no round is beyond 0."""
    reason: str | None
    method: str
    p_holm: float | None = None


@dataclass(frozen=True)
class VerdictComparison:
    """Two judges' accuracies, on the votes for which each gave one verdict."""

    left: str
    right: str
    n: int
    accuracy_left: float | None
    accuracy_right: float | None
    only_left_right: int
    """Number of votes on which only the left judge is right."""
    only_right_right: int
    p_value: float | None
    method: str
    reason: str | None
    p_holm: float | None = None


Compared = TypeVar("Compared", CorrelationComparison, VerdictComparison)


def compare_correlations(matches: Sequence[Match], *, rounds: int, seed: int) -> list[CorrelationComparison]:
    """Difference of two judges' Spearman correlation with people, on the outputs that both scored.

    Both are resampled together over units, so that units hard for both do not blur the difference. The p-value is twice
    the share of rounds beyond 0, never below 2 / (rounds + 1): `p_is_bound` marks a value that is an upper bound,
    because no round lies beyond 0. Holm's correction is over all comparisons.
    """
    scores: dict[str | None, dict[str, dict[tuple[str, ...], Match]]] = {}
    for match in matches:
        if match.score is not None:
            scores.setdefault(match.criterion, {}).setdefault(match.judge, {})[match.key] = match
    comparisons = [
        _difference(criterion, (left, right), (judges[left], judges[right]), rounds, seed)
        for criterion, judges in sorted(scores.items(), key=lambda entry: str(entry[0]))
        for left, right in combinations(sorted(judges), 2)
    ]
    return _corrected(comparisons)


def compare_verdicts(
    votes: Sequence[tuple[Any, str]],
    answers: Mapping[str, Mapping[Any, Sequence[str | None]]],
    matches: Callable[[str, str | None], bool],
) -> list[VerdictComparison]:
    """Run McNemar's test for every two judges, on the votes for which each gave one verdict.

    `votes`: the battle and people's outcome, sides in the battle's own order; `answers`: judge, then battle, to
    verdicts; `matches` returns whether a verdict is right.
    """
    comparisons = []
    for left, right in combinations(sorted(answers), 2):
        pairs = [
            (matches(vote, answers[left][battle][0]), matches(vote, answers[right][battle][0]))
            for battle, vote in votes
            if _has_one(answers[left], battle) and _has_one(answers[right], battle)
        ]
        first, second = np.array(pairs, bool).reshape(-1, 2).T
        test = mcnemar(first, second)
        shares = (_share(first), _share(second))
        only_left, only_right = int((first & ~second).sum()), int((~first & second).sum())
        comparisons.append(
            VerdictComparison(
                left, right, len(pairs), *shares, only_left, only_right, test.p_value, test.method, test.reason or None
            )
        )
    return _corrected(comparisons)


def _share(right: Any) -> float | None:
    return float(right.mean()) if right.size else None


def _has_one(verdicts: Mapping[Any, Sequence[str | None]], battle: Any) -> bool:
    answers = verdicts.get(battle, ())
    return len(answers) == 1 and answers[0] is not None


def _difference(
    criterion: str | None,
    names: tuple[str, str],
    scored: tuple[Mapping[tuple[str, ...], Match], Mapping[tuple[str, ...], Match]],
    rounds: int,
    seed: int,
) -> CorrelationComparison:
    left, right = scored
    keys = sorted(left.keys() & right.keys())
    human = np.array([left[key].human for key in keys], np.float64)
    sides = [np.array([side[key].score for key in keys], np.float64) for side in scored]
    rho = [spearman(side, human) for side in sides]
    line = CorrelationComparison(
        criterion, *names, len(keys), rho[0].value, rho[1].value,
        difference=None, low=None, high=None, p_value=None, p_is_bound=False,
        reason=rho[0].reason or rho[1].reason or None,
        method=f"paired bootstrap over units, {rounds} rounds, seed {seed}, two-sided",
    )  # fmt: skip
    if rho[0].value is None or rho[1].value is None:
        return line
    line = replace(line, difference=rho[0].value - rho[1].value)
    if not rounds:
        return replace(line, reason="no rounds: no interval and no test")
    order, groups = units_by_content([left[key].unit for key in keys], *sides, human)
    # One seed draws the same units for both judges.
    rhos = [
        resampled_correlations(side[order], human[order], groups, ranked=True, rounds=rounds, seed=seed)
        for side in sides
    ]
    draws = rhos[0] - rhos[1]
    interval = percentile_interval(draws, 0.95, what="units")
    line = replace(line, low=interval.low, high=interval.high, reason=interval.reason or None)
    if interval.low is None:
        return line
    finite = draws[np.isfinite(draws)]
    tail = min(int((finite <= 0).sum()), int((finite >= 0).sum()))
    return replace(line, p_value=min(1.0, 2 * (tail + 1) / (len(finite) + 1)), p_is_bound=tail == 0)


def _corrected(comparisons: Sequence[Compared]) -> list[Compared]:
    """Apply Holm's correction to all that have a p-value."""
    if not comparisons:
        return []
    adjusted = holm([np.nan if line.p_value is None else line.p_value for line in comparisons])
    return [
        replace(line, p_holm=None if np.isnan(value) else float(value))
        for line, value in zip(comparisons, adjusted, strict=True)
    ]
