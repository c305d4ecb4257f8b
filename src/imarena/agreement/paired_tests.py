"""Is one judge closer to people than another? Paired comparisons of every two judges, corrected for their number."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from imarena.agreement.matches import Match
from imarena.stats import holm, mcnemar, percentile_interval, resampled_correlations, spearman


def compare_correlations(matches: Sequence[Match], *, rounds: int, seed: int) -> list[dict[str, Any]]:
    """Difference of two judges' Spearman correlation with people, on the outputs that both scored.

    Both are resampled together over units, so that what is hard for both does not blur the difference. The p-value is
    twice the share of rounds beyond 0, never below 2 / (rounds + 1); Holm's correction is over all comparisons.
    """
    scores: dict[str | None, dict[str, dict[tuple[str, ...], Match]]] = {}
    for match in matches:
        if match.score is not None:
            scores.setdefault(match.criterion, {}).setdefault(match.judge, {})[match.key] = match
    found = [
        {"criterion": criterion, "left": left, "right": right, **_difference(judges[left], judges[right], rounds, seed)}
        for criterion, judges in sorted(scores.items(), key=lambda entry: str(entry[0]))
        for left, right in combinations(sorted(judges), 2)
    ]
    return _corrected(found)


def compare_verdicts(
    votes: Sequence[tuple[Any, str]],
    answers: Mapping[str, Mapping[Any, Sequence[str | None]]],
    matches: Callable[[str, str | None], bool],
) -> list[dict[str, Any]]:
    """McNemar's test of every two judges on the votes on which both gave one verdict.

    `votes`: the battle and people's outcome, sides in the battle's own order; `answers`: judge, then battle, to
    verdicts; `matches` says whether a verdict is right.
    """
    found = []
    for left, right in combinations(sorted(answers), 2):
        both = [
            (matches(vote, answers[left][battle][0]), matches(vote, answers[right][battle][0]))
            for battle, vote in votes
            if _one(answers[left], battle) and _one(answers[right], battle)
        ]
        first, second = np.array(both, bool).reshape(-1, 2).T
        test = mcnemar(first, second)
        shares = [float(side.mean()) if side.size else None for side in (first, second)]
        found.append(
            {
                "left": left,
                "right": right,
                "n": len(both),
                "accuracy_left": shares[0],
                "accuracy_right": shares[1],
                "only_left_right": int((first & ~second).sum()),
                "only_right_right": int((~first & second).sum()),
                "p_value": test.p_value,
                "method": test.method,
                "reason": test.reason or None,
            }
        )
    return _corrected(found)


def _one(verdicts: Mapping[Any, Sequence[str | None]], battle: Any) -> bool:
    given = verdicts.get(battle, ())
    return len(given) == 1 and given[0] is not None


def _difference(
    left: Mapping[tuple[str, ...], Match], right: Mapping[tuple[str, ...], Match], rounds: int, seed: int
) -> dict[str, Any]:
    keys = sorted(left.keys() & right.keys())
    human = np.array([left[key].human for key in keys], np.float64)
    sides = [np.array([side[key].score for key in keys], np.float64) for side in (left, right)]
    rho = [spearman(side, human) for side in sides]
    line: dict[str, Any] = {
        "n": len(keys), "spearman_left": rho[0].value, "spearman_right": rho[1].value, "difference": None,
        "low": None, "high": None, "p_value": None, "reason": rho[0].reason or rho[1].reason or None,
        "method": f"paired bootstrap over units, {rounds} rounds, seed {seed}, two-sided",
    }  # fmt: skip
    if rho[0].value is None or rho[1].value is None:
        return line
    line["difference"] = rho[0].value - rho[1].value
    if not rounds:
        return {**line, "reason": "no rounds: no interval and no test"}
    groups = np.unique(np.array([left[key].unit for key in keys]), return_inverse=True)[1].astype(np.int64)
    # One seed draws the same units for both judges.
    drawn = [resampled_correlations(side, human, groups, ranked=True, rounds=rounds, seed=seed) for side in sides]
    draws = drawn[0] - drawn[1]
    interval = percentile_interval(draws, 0.95, what="units")
    line |= {"low": interval.low, "high": interval.high, "reason": interval.reason or None}
    if interval.low is not None:
        kept = draws[np.isfinite(draws)]
        tail = min(int((kept <= 0).sum()), int((kept >= 0).sum()))
        line["p_value"] = min(1.0, 2 * (tail + 1) / (len(kept) + 1))
    return line


def _corrected(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not found:
        return []
    adjusted = holm([np.nan if line["p_value"] is None else line["p_value"] for line in found])
    return [
        {**line, "p_holm": None if np.isnan(value) else float(value)}
        for line, value in zip(found, adjusted, strict=True)
    ]
