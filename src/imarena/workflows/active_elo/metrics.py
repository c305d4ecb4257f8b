"""Route: other judges and metrics against the board, with paired tests among the best (CV-Arena table 8, L.2)."""

from itertools import combinations
from typing import Any

import numpy as np

from imarena.core.records import Ranking
from imarena.ranking import compare_ratings
from imarena.stats import holm, paired_bootstrap
from imarena.workflows.boards import Arena

TOP = 5


def metric_lines(others: dict[str, Arena], board: Ranking) -> list[dict[str, Any]]:
    """Every other judge or metric: mean by model, correlation with the board, and paired tests among the best."""
    ours = {standing.model: standing.rating for standing in board.models}
    lines = []
    for name, other in others.items():
        with np.errstate(invalid="ignore"):
            known = np.isfinite(other.pool.scores)
            counts = known.sum(axis=0)
            means = np.where(known, other.pool.scores, 0.0).sum(axis=0) / np.maximum(counts, 1)
        theirs = {m: float(v) for m, v, n in zip(other.pool.models, means, counts, strict=True) if n and m in ours}
        if len(theirs) < 2:
            continue
        against = compare_ratings(ours, theirs)
        tests = _paired(other, [s.model for s in board.models[:TOP] if s.model in theirs])
        lines.append(
            {
                "metric": name, "means": theirs, "spearman": against.spearman, "kendall": against.kendall,
                "significant_pairs": sum(test["significant"] for test in tests), "pairs": tests,
                "reversals": sum(test["significant"] and test["difference"] < 0 for test in tests),
            }
        )  # fmt: skip
    return lines


def _paired(arena: Arena, best: list[str]) -> list[dict[str, Any]]:
    """Paired bootstrap of the difference of means on the same items, better of the board first; Holm's correction."""
    tests: list[dict[str, Any]] = []
    for first, second in combinations(best, 2):
        one, other = (arena.pool.scores[:, arena.pool.models.index(name)] for name in (first, second))
        both = np.isfinite(one) & np.isfinite(other)
        figure = paired_bootstrap(one[both], other[both], rounds=2000)
        if figure.value is None or figure.low is None or figure.high is None:
            continue
        error = (figure.high - figure.low) / (2 * 1.96)
        tests.append({"models": [first, second], "difference": figure.value, "low": figure.low, "high": figure.high,
                      "p": _two_sided(figure.value, error)})  # fmt: skip
    adjusted: list[float] = holm([test["p"] for test in tests]).tolist() if tests else []
    return [{**test, "significant": bool(p < 0.05)} for test, p in zip(tests, adjusted, strict=True)]


def _two_sided(difference: float, error: float) -> float:
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(difference) / error)) if error > 0 else 1.0
