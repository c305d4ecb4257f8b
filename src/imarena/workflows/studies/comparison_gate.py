"""The gate of `compare`: its rule, and what the data lack to decide it."""

from imarena.core import UserError, suggestion
from imarena.core.notices import Notice
from imarena.stats import COMPARISON_RULES, ComparisonRule, GateReport, gate_comparison
from imarena.workflows.questions import JudgeReport
from imarena.workflows.studies.comparing import ModelComparison


def read_comparison_rule(text: str | None) -> ComparisonRule | None:
    """The rule that `--fail-if` names; None without one. Raises `UserError`."""
    if text is None:
        return None
    rule = next((rule for rule in COMPARISON_RULES if rule == text.strip().casefold()), None)
    if rule is None:
        raise UserError(f"'{text}' is not a rule of this gate.", hint=suggestion(text, COMPARISON_RULES))
    return rule


def check_level(level: float) -> None:
    """Refuse a level that no interval has."""
    if not 0.5 <= level < 1:
        raise UserError(f"Level {level:g} is not between 0.5 and 1.", hint="0.95 is the usual one.")


def comparison_gate(comparison: ModelComparison, rule: ComparisonRule | None, judged: JudgeReport) -> GateReport | None:
    """The gate on a comparison; failed calls and files that are missing or broken make its data incomplete."""
    if rule is None:
        return None
    sides = comparison.sides
    incomplete = list(comparison.notices)
    if comparison.skips:
        incomplete.append(Notice(code="files_left_out", values={"files": len(comparison.skips)}))
    if judged.missing:
        incomplete.append(Notice(code="questions_unanswered", values={"questions": judged.missing}))
    result = gate_comparison(comparison.verdict, rule, sides.old_name, sides.new_name)
    return GateReport((result,), tuple(incomplete))
