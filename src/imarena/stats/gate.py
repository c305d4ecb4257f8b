"""Gates: does the interval of the difference between two models allow a release? For comparisons and boards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from imarena.core import Document
from imarena.core.notices import Notice, notice_fields, sentence
from imarena.stats.comparison import ComparisonVerdict

GateOutcome = Literal["passed", "failed", "undecided"]
ComparisonRule = Literal["worse", "not-better"]
COMPARISON_RULES: tuple[ComparisonRule, ...] = ("worse", "not-better")


@dataclass(frozen=True, slots=True)
class GateResult(Document):
    """The result of one rule about the difference MODEL - OTHER.

    If the rule is decided, an end of None means that side is unbounded; if not, that there is no interval.
    """

    rule: str
    """The rule as given: `worse`, `not-better`, or `MODEL below OTHER`."""
    model: str
    other: str
    outcome: GateOutcome
    difference: float | None
    low: float | None
    high: float | None
    level: float
    unit: str = "Elo points"
    reason: Notice | None = None
    """Why the rule cannot be decided."""
    scope: Mapping[str, str] = field(default_factory=dict)
    """The group of the board, such as {"task": "remove"}."""

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**Document.to_json(self), "reason": sentence(self.reason) if self.reason else None}


@dataclass(frozen=True, slots=True)
class GateReport:
    """The results of all rules of one command, and what makes the data incomplete: failed calls, missing files."""

    gates: tuple[GateResult, ...]
    incomplete: tuple[Notice, ...] = ()

    @property
    def outcome(self) -> Literal["passed", "failed", "incomplete"]:
        """Incomplete data decide nothing. Otherwise, a failed rule takes precedence over an undecided one."""
        outcomes = {gate.outcome for gate in self.gates}
        if self.incomplete:
            return "incomplete"
        return "failed" if "failed" in outcomes else "incomplete" if "undecided" in outcomes else "passed"

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "outcome": self.outcome,
            "gates": [gate.to_json() for gate in self.gates],
            **notice_fields(self.incomplete),
        }


def gate_comparison(verdict: ComparisonVerdict, rule: ComparisonRule, old: str, new: str) -> GateResult:
    """`worse` fails if the interval of NEW - OLD is below 0; `not-better` fails unless it is above 0."""
    low, high = verdict.win_rate_low, verdict.win_rate_high
    outcome: GateOutcome = "undecided"
    if low is not None and high is not None:
        fails = high < 0.5 if rule == "worse" else low <= 0.5
        outcome = "failed" if fails else "passed"
    return GateResult(
        rule, new, old, outcome, verdict.elo, verdict.elo_low, verdict.elo_high, verdict.level,
        reason=Notice(code="gate_nothing_compared") if outcome == "undecided" else None,
    )  # fmt: skip
