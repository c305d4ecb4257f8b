"""The gates of `rank` and `compare`: rules on boards or on a comparison, and the data missing to decide them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from imarena.core import UserError, suggestion
from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Ranking
from imarena.ranking import gate_board, read_below_rules
from imarena.stats import COMPARISON_RULES, ComparisonRule, GateReport, gate_comparison
from imarena.storage import open_workspace
from imarena.workflows.boards import AvailableSources, BoardQuery, RankRequest, choose
from imarena.workflows.questions import JudgeReport
from imarena.workflows.studies.comparing import ModelComparison
from imarena.workflows.views import View, unanswered_questions

UnansweredCounts = Mapping[frozenset[str], int]
"""Number of unanswered questions by the models whose outputs they show."""
_INCOMPLETE = ("outputs_missing", "judgments_failed")
"""The notices of a comparison that leave its gate undecided."""
LOST_BATTLES = ("missing_output", "missing_output_on_both_sides", "missing_winner")
"""Those reasons in `Ranking.excluded` that mean that a battle of a table has no outcome."""


def board_gates(boards: Sequence[Ranking], rules: Sequence[str], unanswered: UnansweredCounts | None) -> GateReport:
    """Check every rule on every board. `unanswered`: for a workspace, questions without an answer; for a table, None.

    In a workspace, the share of items for which a model has outputs is known. In a table, models may meet on only some
    items, so battles without an output or a winner show what is missing.
    """
    models = sorted({standing.model for board in boards for standing in board.models})
    below = read_below_rules(rules, models)
    gates = tuple(gate_board(board, rule) for board in boards for rule in below)
    gated = sorted({name for rule in below for name in (rule.model, rule.other)})
    incomplete: list[Notice] = []
    if unanswered is None:
        lost: Counter[str] = Counter()
        for board in boards:
            lost.update({reason: board.excluded[reason] for reason in LOST_BATTLES if reason in board.excluded})
        reasons: JsonDict = dict(lost)
        incomplete += [Notice(code="battles_without_verdict", values={"reasons": reasons})] if lost else []
    else:
        incomplete += _missing_outputs(boards, gated)
        questions = sum(number for about, number in unanswered.items() if about & set(gated))
        incomplete += [Notice(code="questions_unanswered", values={"questions": questions})] if questions else []
    return GateReport(gates, tuple(incomplete))


def _missing_outputs(boards: Sequence[Ranking], models: Sequence[str]) -> list[Notice]:
    """Notices about gated models that have no output for some of their items."""
    least: dict[str, float] = {}
    for standing in (standing for board in boards for standing in board.models):
        if standing.model in models and standing.coverage is not None and standing.coverage < 1:
            least[standing.model] = min(standing.coverage, least.get(standing.model, 1.0))
    return [
        Notice(code="gate_outputs_missing", values={"model": model, "coverage": share})
        for model, share in sorted(least.items())
    ]


def gate_requested(folder: Path, request: RankRequest, boards: Sequence[Ranking]) -> GateReport:
    """Check the rules of a request on its boards. `folder`: the workspace, if there is no table."""
    return board_gates(
        boards, request.rules, _unanswered_by_models(folder, request.query) if not request.table else None
    )


def _unanswered_by_models(folder: Path, board: BoardQuery) -> dict[frozenset[str], int]:
    """Count unanswered questions to the judges of a board, by the models whose outputs they show."""
    query = BoardQuery(
        source=board.source, judge=board.judge, kind=board.kind, dimension=board.dimension, options=board.options
    )
    with open_workspace(folder) as workspace:
        view = View(workspace)
        choice = choose(view, query, AvailableSources(view, query.window))
        variants = view.variants.counting(choice.judges, query.dimension) if choice.judges else []
        variants = [
            variant for variant in variants if query.kind is None or variant.pairwise == (query.kind == "compared")
        ]
        questions = (
            unanswered_questions(workspace, form_id=[variant.form_id for variant in variants]) if variants else {}
        )
        editor, index_of = view.entries.editor, view.entries.index_of
        counts: Counter[frozenset[str]] = Counter()
        for _, left, right, _ in questions:
            places = (index_of[output] for output in (left, right) if output in index_of)
            counts[frozenset(editor.names[editor.of[index]] for index in places if editor.of[index] >= 0)] += 1
    return dict(counts)


def read_comparison_rules(texts: Sequence[str]) -> tuple[ComparisonRule, ...]:
    """Parse the rules of `--fail-if`, without duplicates. Raises `UserError` for an unknown rule."""
    rules = {str(rule): rule for rule in COMPARISON_RULES}
    for text in texts:
        if text.strip().casefold() not in rules:
            raise UserError(f"Unknown rule '{text}' for --fail-if.", hint=suggestion(text, COMPARISON_RULES))
    return tuple(dict.fromkeys(rules[text.strip().casefold()] for text in texts))


def check_level(level: float) -> None:
    """Raise `UserError` if the confidence level is not between 0.5 and 1."""
    if not 0.5 <= level < 1:
        raise UserError(f"Level {level:g} is not between 0.5 and 1.", hint="0.95 is the usual one.")


def comparison_gate(
    comparison: ModelComparison, rules: Sequence[ComparisonRule], judged: JudgeReport
) -> GateReport | None:
    """Gate a comparison; failed calls and missing or broken outputs of its items make its data incomplete.

    Outputs of another size than their source do not (judges see them scaled), and neither do files of no item.
    """
    if not rules:
        return None
    sides = comparison.sides
    incomplete = [notice for notice in comparison.notices if notice.code in _INCOMPLETE]
    if comparison.skips:
        incomplete.append(Notice(code="files_left_out", values={"files": len(comparison.skips)}))
    if judged.missing:
        incomplete.append(Notice(code="questions_unanswered", values={"questions": judged.missing}))
    results = tuple(gate_comparison(comparison.verdict, rule, sides.old_name, sides.new_name) for rule in rules)
    return GateReport(results, tuple(incomplete))
