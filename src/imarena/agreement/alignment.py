"""The result of `align` on scores and ratings: one frozen row per judge, criterion and group, and underlying counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from imarena.agreement.folds import LeaveOneOut
from imarena.agreement.pair_order import PairOrder
from imarena.agreement.paired_tests import CorrelationComparison
from imarena.core import Document
from imarena.core.notices import Notice
from imarena.stats import Figure, Interval, Recipe


@dataclass(frozen=True)
class GroupAlignment:
    """The figures of one judge, criterion and group. A figure that is undefined is None, with the reason."""

    judge: str
    criterion: str | None
    group: dict[str, str]
    spearman: float | None
    pearson: float | None
    kendall: float | None
    kendall_accuracy: float | None
    bias: float | None
    bias_scale: str | None
    bias_reason: str | None
    n: int
    n_missing: int
    interval: Mapping[str, Interval]
    """Intervals of `spearman` and `pearson`; empty if none were computed."""
    status: str
    """``ok``, or ``undefined`` if a correlation is undefined."""
    reason: str | None
    leave_one_out: LeaveOneOut | None = None
    """None if no output is scored, or if folds were not requested."""
    with_folds: bool = False
    """Leave-one-out folds were requested."""
    within_tasks: float | None = None
    """If the group pools several tasks: Spearman's rho within each task, averaged. Tasks of different difficulty raise
    the pooled correlation, even for a judge that cannot compare two outputs of one task."""
    n_tasks: int = 1

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        intervals = {
            name: {"low": ends.low, "high": ends.high, "reason": ends.reason or None}
            for name, ends in self.interval.items()
        }
        document = vars(self) | {"interval": intervals or None}
        del document["with_folds"], document["leave_one_out"]
        if self.n_tasks == 1:
            del document["within_tasks"], document["n_tasks"]
        if self.with_folds:
            document["leave_one_out"] = self.leave_one_out.to_json() if self.leave_one_out else None
        return document


@dataclass(frozen=True)
class AverageAlignment:
    """The averages over the groups of one judge and criterion."""

    judge: str
    criterion: str | None
    recipe: Recipe
    recipe_words: str
    spearman: float | None
    pearson: float | None
    kendall: float | None
    kendall_accuracy: float | None
    bias: float | None
    """None if any group has none."""
    n: int
    n_groups: int
    n_groups_undefined: int
    reason: str | None
    leave_one_out: Figure | None = None
    """Spearman's rho over leave-one-out folds; None if folds were not requested."""

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        document = dict(vars(self))
        del document["leave_one_out"]
        if self.leave_one_out is not None:
            document["leave_one_out"] = {"spearman": self.leave_one_out.value}
        return document


@dataclass(frozen=True)
class ScoreCoverage:
    """How many of the rated outputs a judge scored."""

    judge: str
    criterion: str | None
    n_rated: int
    n_scored: int
    n_unscored: int
    n_ungrouped: int
    """Number of outputs without a score that belong to none of the groups shown."""


@dataclass(frozen=True)
class Alignment(Document):
    """Figures per judge, criterion and group, their averages, and the underlying counts."""

    settings: dict[str, Any]
    n_scores: int
    n_ratings: int
    excluded: dict[str, int]
    groups: tuple[GroupAlignment, ...]
    averages: tuple[AverageAlignment, ...]
    coverage: tuple[ScoreCoverage, ...]
    pairs: tuple[PairOrder, ...]
    comparisons: tuple[CorrelationComparison, ...]
    notices: tuple[Notice, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"kind": "scores", **super().to_json()}
