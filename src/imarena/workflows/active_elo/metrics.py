"""Route: other judges and metrics against the board, with paired tests among the best (CV-Arena table 8, L.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from imarena.core import Document
from imarena.core.records import Ranking
from imarena.ranking import compare_ratings
from imarena.stats import Z95, holm, paired_bootstrap
from imarena.workflows.boards import VoteData

TOP = 5


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Two models, the better on the board first: the difference of their means on the same items."""

    models: tuple[str, str]
    difference: float
    low: float
    high: float
    p: float
    significant: bool = False
    """Significant at 5% after Holm's correction."""


@dataclass(frozen=True, slots=True)
class MetricAgreement(Document):
    """Another judge or metric against the board: means by model, correlations, and paired tests among the best."""

    metric: str
    means: Mapping[str, float]
    spearman: float | None
    kendall: float | None
    pairs: tuple[PairedTest, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the fields for ``--json``; `reversals` are significant pairs whose order differs from the board's."""
        significant = [test for test in self.pairs if test.significant]
        reversals = sum(test.difference < 0 for test in significant)
        return {**Document.to_json(self), "significant_pairs": len(significant), "reversals": reversals}


def compare_metrics(sources: dict[str, VoteData], board: Ranking) -> tuple[MetricAgreement, ...]:
    """Compare every other judge or metric that scored two models of the board.

    Models of groups that never met are not compared: correlations are means over the groups, by number of models.
    """
    ratings = {standing.model: standing.rating for standing in board.models}
    metrics = []
    for name, other in sources.items():
        with np.errstate(invalid="ignore"):
            scored = np.isfinite(other.pool.scores)
            counts = scored.sum(axis=0)
            means = np.where(scored, other.pool.scores, 0.0).sum(axis=0) / np.maximum(counts, 1)
        theirs = {m: float(v) for m, v, n in zip(other.pool.models, means, counts, strict=True) if n and m in ratings}
        groups = [[model for model in group if model in theirs] for group in board.groups]
        against = [
            compare_ratings({model: ratings[model] for model in group}, {model: theirs[model] for model in group})
            for group in groups
            if len(group) > 1
        ]
        if not against:
            continue
        tests = _paired_tests(other, [[model for model in group[:TOP] if model in theirs] for group in board.groups])
        spearman, kendall = (
            _mean([(getattr(line, figure), line.n) for line in against]) for figure in ("spearman", "kendall")
        )
        metrics.append(MetricAgreement(name, theirs, spearman, kendall, tests))
    return tuple(metrics)


def _mean(values: list[tuple[float | None, int]]) -> float | None:
    """The mean of the known values by their weights; None without any."""
    pairs = [(value, weight) for value, weight in values if value is not None]
    return sum(value * weight for value, weight in pairs) / sum(weight for _, weight in pairs) if pairs else None


def _paired_tests(vote_data: VoteData, best: list[list[str]]) -> tuple[PairedTest, ...]:
    """Return paired bootstraps of the difference of means on the same items, better model first; Holm's correction.

    `best`: the models to compare with one another, by group.
    """
    tests: list[PairedTest] = []
    for models in (pair for group in best for pair in combinations(group, 2)):
        left, right = (vote_data.pool.scores[:, vote_data.pool.models.index(name)] for name in models)
        mask = np.isfinite(left) & np.isfinite(right)
        figure = paired_bootstrap(left[mask], right[mask], rounds=2000)
        if figure.value is None or figure.low is None or figure.high is None:
            continue
        p = _two_sided(figure.value, (figure.high - figure.low) / (2 * Z95))
        tests.append(PairedTest(models, figure.value, figure.low, figure.high, p))
    adjusted: list[float] = holm([test.p for test in tests]).tolist() if tests else []
    return tuple(replace(test, significant=p < 0.05) for test, p in zip(tests, adjusted, strict=True))


def _two_sided(difference: float, error: float) -> float:
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(difference) / error)) if error > 0 else 1.0
