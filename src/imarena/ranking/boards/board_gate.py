"""Gates on a board: is the interval of the difference between two models below 0?"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from imarena.core import Standing, UserError, suggestion
from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Ranking
from imarena.ranking.boards.board import MATRIX_LIMIT
from imarena.ranking.boards.intervals import FIXED
from imarena.ranking.boards.sweeps import least_lead
from imarena.ranking.likelihood.separation import LOST_ALL, ONE_SIDED, WON_ALL
from imarena.stats import GateOutcome, GateResult, units_to_differ

_BELOW = " below "
_HINT = "Write --fail-if 'MODEL below OTHER', with two models of the board."


@dataclass(frozen=True, slots=True)
class BelowRule:
    """Fails if the interval of `model` - `other` is below 0."""

    model: str
    other: str

    def __str__(self) -> str:
        return f"{self.model}{_BELOW}{self.other}"


def check_below_rules(texts: Iterable[str]) -> None:
    """Reject rules that do not name two models, before anything is computed."""
    for text in texts:
        if not _splits(text):
            raise UserError(f"Unknown rule '{text}' for --fail-if.", hint=_HINT)


def read_below_rules(texts: Iterable[str], models: Sequence[str]) -> list[BelowRule]:
    """Read the rules. A model's name may contain the word `below`: the split whose models are on the board counts."""
    on_board = set(models)
    rules = []
    for text in texts:
        splits = _splits(text)
        rule = next((rule for rule in splits if {rule.model, rule.other} <= on_board), None)
        if rule is None:
            nearest = max(splits, key=lambda split: len({split.model, split.other} & on_board))
            unknown = nearest.model if nearest.model not in on_board else nearest.other
            raise UserError(f"'{unknown}' is not on the board.", hint=suggestion(unknown, models))
        if rule.model == rule.other:
            raise UserError(f"'{text}' names one model twice.", hint=_HINT)
        rules.append(rule)
    return rules


def _splits(text: str) -> list[BelowRule]:
    parts = text.split(_BELOW)
    splits = ((_BELOW.join(parts[:n]).strip(), _BELOW.join(parts[n:]).strip()) for n in range(1, len(parts)))
    return [BelowRule(model, other) for model, other in splits if model and other]


def gate_board(ranking: Ranking, rule: BelowRule) -> GateResult:
    """Check the rule on one board, by the interval of the difference over the board's draws."""
    standings = {standing.model: standing for standing in ranking.models}
    model, other = standings.get(rule.model), standings.get(rule.other)
    if model is None or other is None:
        missing = rule.other if model else rule.model
        return _result(ranking, rule, "undecided", reason=Notice(code="gate_not_on_board", values={"model": missing}))
    if not any({rule.model, rule.other} <= {*group} for group in ranking.groups):
        values: JsonDict = {"model": rule.model, "other": rule.other}
        return _result(ranking, rule, "undecided", reason=Notice(code="gate_never_met", values=values))
    difference = model.rating - other.rating
    if ends := _sweep_ends(ranking, model, other):
        low, high = ends
        outcome: GateOutcome = "failed" if high is not None and high < 0 else "passed"
        return _result(ranking, rule, outcome, (None, low, high))
    if _unbounded_above(model, other):
        return _result(ranking, rule, "passed")
    low, high = _ends(ranking, rule)
    one_block = high is not None and model.note == other.note == ONE_SIDED
    reason = None if one_block else _unsupported(model, other)
    if reason is None and high is None:
        reason = _no_interval(ranking, rule)
    if reason is None and high is not None and high < 0:
        reason = _too_few_units(ranking, rule)
    if reason is not None or high is None:
        return _result(ranking, rule, "undecided", (difference, None, None), reason)
    return _result(ranking, rule, "failed" if high < 0 else "passed", (difference, low, high))


_Figures = tuple[float | None, float | None, float | None]
"""The difference and the ends of its interval."""


def _result(
    ranking: Ranking,
    rule: BelowRule,
    outcome: GateOutcome,
    figures: _Figures = (None, None, None),
    reason: Notice | None = None,
) -> GateResult:
    return GateResult(
        str(rule), rule.model, rule.other, outcome, *figures, _level(ranking), "rating points", reason,
        dict(ranking.scope),
    )  # fmt: skip


def _level(ranking: Ranking) -> float:
    level = ranking.settings.get("level")
    return float(level) if isinstance(level, int | float) else 0.95


def _sweep_ends(ranking: Ranking, model: Standing, other: Standing) -> tuple[float | None, float | None] | None:
    """The exact interval (Clopper and Pearson) for two models of which one won all battles between them.

    Resampling gives no interval: every round is a sweep again. Only for ratings that such a record leaves unbounded.
    """
    notes = {model.note, other.note}
    sweeps: Any = ranking.details.get("sweeps") or []
    if not notes <= {"", FIXED, WON_ALL, LOST_ALL} or not notes & {WON_ALL, LOST_ALL}:
        return None
    units = {(line["winner"], line["loser"]): line["units"] for line in sweeps}
    settings: Any = ranking.settings
    for won, pair in ((True, (model.model, other.model)), (False, (other.model, model.model))):
        if pair in units:
            end = least_lead(units[pair], _level(ranking), settings["scale"] / math.log(settings["base"]))
            return (end, None) if won else (None, -end)
    return None


def _no_interval(ranking: Ranking, rule: BelowRule) -> Notice:
    values: JsonDict = {"model": rule.model, "other": rule.other}
    if len(ranking.models) > MATRIX_LIMIT:
        return Notice(code="gate_large_board", values={**values, "models": len(ranking.models)})
    return Notice(code="gate_no_interval", values=values)


def _too_few_units(ranking: Ranking, rule: BelowRule) -> Notice | None:
    """Why an interval below 0 is not evidence: with so few items, resampled intervals are narrower than any test's."""
    units, minimum = ranking.units_of(rule.model), units_to_differ(_level(ranking))
    if not isinstance(units, int) or units >= minimum:
        return None
    values: JsonDict = {"model": rule.model, "other": rule.other, "units": units, "needed": minimum}
    return Notice(code="gate_few_units", values={**values, "cluster": ranking.settings.get("cluster", "battle")})


def _unsupported(model: Standing, other: Standing) -> Notice | None:
    """Why the data do not bound the difference; such a model's draws come from the prior."""
    for standing in (model, other):
        if standing.note and standing.note != FIXED:
            values = {"model": model.model, "other": other.model, "about": standing.model, "note": standing.note}
            return Notice(code="gate_unbounded", values=dict(values))
    if model.note == FIXED and other.note == FIXED:
        return Notice(code="gate_both_fixed", values={"model": model.model, "other": other.model})
    return None


def _unbounded_above(model: Standing, other: Standing) -> bool:
    """Can the difference not be below 0, because `model` won every battle or `other` lost every battle?"""
    notes = (model.note, other.note)
    return notes in ((WON_ALL, ""), (WON_ALL, FIXED), (WON_ALL, LOST_ALL), ("", LOST_ALL), (FIXED, LOST_ALL))


def _ends(ranking: Ranking, rule: BelowRule) -> tuple[float | None, float | None]:
    pairs: Any = ranking.details.get("pairs")
    if not isinstance(pairs, dict) or "difference_low" not in pairs:
        return None, None
    row, column = pairs["models"].index(rule.model), pairs["models"].index(rule.other)
    return pairs["difference_low"][row][column], pairs["difference_high"][row][column]
