"""The result of `agree`: agreement per criterion and group, and each rater compared with the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from imarena.agreement.folds import LeaveOneOut
from imarena.core import Document
from imarena.core.notices import Notice
from imarena.stats import Figure, RaterPair, RaterReport, Recipe


@dataclass(frozen=True)
class GroupAgreement:
    """One criterion in one group: every figure, with status and reason."""

    criterion: str | None
    group: dict[str, str]
    alpha: dict[str, Figure]
    fleiss_kappa: Figure
    pairwise_agreement: Figure
    percent_agreement: Figure
    n_units: int
    n_raters: int
    n_missing: int
    raters: tuple[str, ...]
    leave_one_out: LeaveOneOut | None = None
    rater_pairs: tuple[RaterPair, ...] = ()

    def figures(self) -> dict[str, Figure]:
        """Return every figure by its path in the document."""
        alphas = {f"alpha.{level}": figure for level, figure in self.alpha.items()}
        shares = (self.fleiss_kappa, self.pairwise_agreement, self.percent_agreement)
        return alphas | {figure.name: figure for figure in shares}

    @property
    def reasons(self) -> dict[str, str]:
        """Why a figure is undefined, by its path in the document."""
        return {name: figure.reason for name, figure in self.figures().items() if figure.value is None}

    @property
    def status(self) -> str:
        """``ok``; ``undefined`` if no alpha is defined; ``partial`` if another figure is undefined."""
        if all(figure.value is None for figure in self.alpha.values()):
            return "undefined"
        return "partial" if self.reasons else "ok"

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON, with the names of the documented contract first."""
        reasons = self.reasons
        document: dict[str, Any] = {
            "criterion": self.criterion,
            "group": self.group,
            "alpha": {level: figure.value for level, figure in self.alpha.items()},
            "alpha_interval": {level: _interval(figure) for level, figure in self.alpha.items()},
            "fleiss_kappa": self.fleiss_kappa.value,
            "pairwise_agreement": self.pairwise_agreement.value,
            "percent_agreement": self.percent_agreement.value,
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_missing": self.n_missing,
            "status": self.status,
            "reason": "; ".join(dict.fromkeys(reasons.values())) or None,
            "reasons": reasons,
            "methods": {name: figure.method for name, figure in self.figures().items()},
        }
        if self.leave_one_out is not None:
            document["leave_one_out"] = self.leave_one_out.to_json()
        if self.rater_pairs:
            document["rater_pairs"] = [_pair_document(pair, self.raters) for pair in self.rater_pairs]
        return document


@dataclass(frozen=True)
class AverageAgreement:
    """The leave-one-out figures of one criterion, averaged over groups."""

    criterion: str | None
    recipe: Recipe
    spearman: Figure
    kendall_accuracy: Figure

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rho = self.spearman
        return {
            "criterion": self.criterion, "recipe": self.recipe, "recipe_words": rho.method, "n_groups": rho.n,
            "leave_one_out": {
                "spearman": rho.value, "kendall_accuracy": self.kendall_accuracy.value, "reason": rho.reason or None,
            },
        }  # fmt: skip


@dataclass(frozen=True)
class RaterAgreement:
    """One rater compared with the others, on one criterion in one group."""

    rater: str
    criterion: str | None
    group: dict[str, str]
    report: RaterReport

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        report = self.report
        return {
            "rater": self.rater, "criterion": self.criterion, "group": self.group, "n": report.n,
            "n_shared": report.n_shared, "with_others": report.with_others.value, "measure": report.with_others.method,
            "mean_shift": report.mean_shift, "most_common_share": report.most_common_share, "flags": list(report.flags),
        }  # fmt: skip


@dataclass(frozen=True)
class Agreement(Document):
    """Agreement per criterion and group, the settings that made it, and raters with unusual figures."""

    settings: dict[str, Any]
    n_ratings: int
    groups: tuple[GroupAgreement, ...]
    averages: tuple[AverageAgreement, ...]
    raters: tuple[RaterAgreement, ...]
    notices: tuple[Notice, ...]


def _interval(figure: Figure) -> dict[str, Any] | None:
    if figure.value is None:
        return None
    return {"low": figure.low, "high": figure.high, "reason": figure.interval_reason or None}


def _pair_document(pair: RaterPair, raters: Sequence[str]) -> dict[str, Any]:
    return {
        "raters": [raters[pair.left], raters[pair.right]], "n": pair.n, "agreement": pair.agreement.value,
        "cohen_kappa": pair.kappa.value, "cohen_kappa_linear": pair.linear.value,
        "cohen_kappa_quadratic": pair.quadratic.value, "reason": pair.kappa.reason or None,
    }  # fmt: skip
