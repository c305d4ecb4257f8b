"""The result of `align` on verdicts and votes: one frozen row per judge and group, with the underlying counts."""

from dataclasses import dataclass
from typing import Any

from imarena.agreement.paired_tests import VerdictComparison
from imarena.core import Document
from imarena.stats import Figure, TieCalibration, VerdictFigures

NO_SCORES = "the judge does not score both sides"


@dataclass(frozen=True)
class VerdictGroup:
    """One judge compared with the votes of one group."""

    judge: str
    group: dict[str, str]
    figures: VerdictFigures
    all_votes: Figure
    """Four-way accuracy where a vote without a verdict counts as wrong."""
    tie_calibrated: TieCalibration | None
    """None if the judge does not score both sides."""
    missing: dict[str, int]
    """Votes without a verdict, by reason."""
    n_votes: int
    n_votes_other_dimensions: int

    @property
    def accuracies(self) -> tuple[Figure, ...]:
        """Return the figures that have their own value or reason, in the order of the document."""
        figures = self.figures
        return (
            figures.four_way_accuracy, figures.three_way_accuracy, figures.decisive_accuracy,
            figures.both_decisive_accuracy, figures.macro_f1,
        )  # fmt: skip

    @property
    def reason(self) -> str | None:
        """Why an accuracy is undefined."""
        return "; ".join(dict.fromkeys(figure.reason for figure in self.accuracies if figure.value is None)) or None

    @property
    def tie_calibrated_accuracy(self) -> float | None:
        """Accuracy with the best threshold for a tie."""
        return self.tie_calibrated.accuracy.value if self.tie_calibrated else None

    @property
    def tie_calibrated_reason(self) -> str | None:
        """Why that accuracy is undefined."""
        return (self.tie_calibrated.accuracy.reason or None) if self.tie_calibrated else NO_SCORES

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        figures, ties = self.figures, self.tie_calibrated
        return {
            "judge": self.judge, "group": self.group, **{figure.name: figure.value for figure in self.accuracies},
            "four_way_accuracy_all_votes": self.all_votes.value,
            "tie_calibrated_accuracy": self.tie_calibrated_accuracy, "tie_threshold": ties.threshold if ties else None,
            "n_tie_calibrated": ties.accuracy.n if ties else 0, "tie_calibrated_reason": self.tie_calibrated_reason,
            "f1": {outcome: figure.value for outcome, figure in figures.f1.items()},
            "n": figures.n, "n_missing": figures.n_missing, "n_decisive": figures.decisive_accuracy.n,
            "missing": self.missing, "confusion": figures.confusion,
            "methods": {
                **{figure.name: figure.method for figure in self.accuracies},
                "four_way_accuracy_all_votes": self.all_votes.method,
            },
            "status": figures.four_way_accuracy.status, "reason": self.reason,
            "n_votes": self.n_votes, "n_votes_other_dimensions": self.n_votes_other_dimensions,
        }  # fmt: skip


@dataclass(frozen=True)
class MajorityAlignment(Document):
    """The judges compared with the majority of the votes on each battle."""

    rule: str
    n_battles: int
    by: tuple[str, ...]
    groups: tuple[VerdictGroup, ...]


@dataclass(frozen=True)
class VerdictAlignment(Document):
    """Accuracies per judge and group, and the underlying counts."""

    settings: dict[str, Any]
    n_verdicts: int
    n_votes: int
    excluded: dict[str, int]
    groups: tuple[VerdictGroup, ...]
    majority: MajorityAlignment | None = None
    """The same against the majority of the votes on each battle, if any battle has two votes or more."""
    comparisons: tuple[VerdictComparison, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"kind": "verdicts", **super().to_json()}
