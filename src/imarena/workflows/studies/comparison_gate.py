"""The gate of `compare`: its rule, and what the data lack to decide it."""

from collections.abc import Sequence

from imarena.core import UserError, suggestion
from imarena.core.notices import Notice
from imarena.stats import COMPARISON_RULES, ComparisonRule, GateReport, gate_comparison
from imarena.workflows.questions import JudgeReport
from imarena.workflows.studies.comparing import ModelComparison


def read_comparison_rules(texts: Sequence[str]) -> tuple[ComparisonRule, ...]:
    """The rules that `--fail-if` names, each once. Raises `UserError`."""
    known = {str(rule): rule for rule in COMPARISON_RULES}
    for text in texts:
        if text.strip().casefold() not in known:
            raise UserError(f"'{text}' is not a rule of this gate.", hint=suggestion(text, COMPARISON_RULES))
    return tuple(dict.fromkeys(known[text.strip().casefold()] for text in texts))


def check_level(level: float) -> None:
    """Refuse a level that no interval has."""
    if not 0.5 <= level < 1:
        raise UserError(f"Level {level:g} is not between 0.5 and 1.", hint="0.95 is the usual one.")


def comparison_gate(
    comparison: ModelComparison, rules: Sequence[ComparisonRule], judged: JudgeReport
) -> GateReport | None:
    """The gate on a comparison; failed calls and files that are missing or broken make its data incomplete.

    Outputs of another size than the source do not: judges see them scaled.
    """
    if not rules:
        return None
    sides = comparison.sides
    incomplete = [notice for notice in comparison.notices if notice.code != "outputs_of_other_size"]
    if comparison.skips:
        incomplete.append(Notice(code="files_left_out", values={"files": len(comparison.skips)}))
    if judged.missing:
        incomplete.append(Notice(code="questions_unanswered", values={"questions": judged.missing}))
    results = tuple(gate_comparison(comparison.verdict, rule, sides.old_name, sides.new_name) for rule in rules)
    return GateReport(results, tuple(incomplete))
