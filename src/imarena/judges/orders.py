"""Ask a battle in both orders, mirror the verdicts back and combine them (GenArena, sections 4.3 and A.5).

If the orders conflict, the battle is a tie marked as inconsistent. If an order fails, the battle has no verdict and
gets the failure's status.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import JsonValue

from imarena.core import Exhibit, Judge, UserError, Verdict, outcome_of_both, sha256_hex
from imarena.core.records import JsonDict, Order, Outcome, Status

OrderPolicy = Literal["both", "single", "paper-compat"]
"""`both`: two calls. `single`: one call, left first. `paper-compat`: one call, in an order chosen by a fair coin."""
ORDERS_PARAM = "orders"
"""The parameter of a judgment that says that its battle has one order only, and how the order was chosen."""


@dataclass(frozen=True)
class BattleVerdict:
    """A battle's outcome for the recorded sides, and whether its two orders agreed."""

    status: Status
    preference: Outcome | None = None
    consistent: bool | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    error: str = ""


def reorder_exhibit(exhibit: Exhibit, order: Order) -> Exhibit:
    """The exhibit as the judge sees it: `RIGHT_FIRST` puts the recorded right side first."""
    if exhibit.right is None:
        raise UserError("One output has no order.", hint="Give two outputs, or judge this one pointwise.")
    if order is Order.LEFT_FIRST:
        return exhibit
    if order is Order.RIGHT_FIRST:
        return replace(exhibit, left=exhibit.right, right=exhibit.left)
    raise UserError(f"A judge cannot be shown the order '{order}'.", hint="Use left_first or right_first.")


def to_recorded_sides(verdict: Verdict, order: Order) -> Verdict:
    """Map a verdict back to the recorded sides: mirror preference, ``left.`` / ``right.`` scores and evidence."""
    if order is not Order.RIGHT_FIRST:
        return verdict
    preference = None if verdict.preference is None else verdict.preference.mirrored()
    return replace(
        verdict,
        preference=preference,
        scores=mirror_scores(verdict.scores),
        reasons=mirror_reasons(verdict.reasons),
    )


def mirror_reasons(reasons: Mapping[str, JsonValue]) -> JsonDict:
    """Swap the evidence of the two sides (`left`, `right`, `left_*`, `right_*`), and the sign of `gap` and of the
    differences under `direct`; prose is unchanged.
    """
    mirrored: JsonDict = {_mirrored_name(name): value for name, value in reasons.items()}
    _negate(mirrored, ("gap",))
    direct = mirrored.get("direct")
    if isinstance(direct, Mapping):
        mirrored["direct"] = _negate(dict(direct), ("strength", "besides"))
    return mirrored


def _mirrored_name(name: str) -> str:
    side, underscore, suffix = name.partition("_")
    return {"left": "right", "right": "left"}.get(side, side) + underscore + suffix


def _negate(values: JsonDict, names: tuple[str, ...]) -> JsonDict:
    for name in names:
        value = values.get(name)
        if isinstance(value, int | float) and value:
            values[name] = -value
    return values


def mirror_scores(scores: Mapping[str, float]) -> dict[str, float]:
    """Swap the scores of the two sides; other scores are unchanged."""
    names = {"left": "right", "right": "left"}
    mirrored = {}
    for name, value in scores.items():
        side, dot, criterion = name.partition(".")
        mirrored[f"{names[side]}.{criterion}" if dot and side in names else name] = value
    return mirrored


def score_gap(scores: Mapping[str, float], reasons: Mapping[str, JsonValue]) -> float | None:
    """How far left is ahead of right on the judge's own scale; None if the judge did not score both sides.

    Uses the gap that the judge itself decided by, else the headline scores, else the only criterion.
    """
    gap = reasons.get("gap")
    if isinstance(gap, int | float) and not isinstance(gap, bool):
        return float(gap)
    criteria = [name.removeprefix("left.") for name in scores if name.startswith("left.")]
    shared = [name for name in criteria if f"right.{name}" in scores]
    name = "score" if "score" in shared else shared[0] if len(shared) == 1 else None
    return None if name is None else round(scores[f"left.{name}"] - scores[f"right.{name}"], 9)


def combine_orders(left_first: Verdict, right_first: Verdict) -> BattleVerdict:
    """Combine two verdicts that were mapped to the recorded sides (see `to_recorded_sides`) into one outcome.

    Two equal outcomes give that outcome; two different ones give a tie with `consistent` False. Scores and
    confidence are means if both orders give them.
    """
    preferences = []
    for verdict, name in ((left_first, "left first"), (right_first, "right first")):
        if verdict.status is not Status.OK:
            return BattleVerdict(status=verdict.status, error=f"{name}: {verdict.error or verdict.status.value}")
        if verdict.preference is None:
            raise UserError(f"The verdict with {name} has no preference.", hint="Use a pairwise judge.")
        preferences.append(verdict.preference)
    agreed = preferences[0] is preferences[1]
    common = left_first.scores.keys() & right_first.scores.keys()
    confidences = [verdict.confidence for verdict in (left_first, right_first) if verdict.confidence is not None]
    return BattleVerdict(
        status=Status.OK,
        preference=outcome_of_both(preferences[0], preferences[1]),
        consistent=agreed,
        scores={name: (left_first.scores[name] + right_first.scores[name]) / 2 for name in sorted(common)},
        confidence=sum(confidences) / 2 if len(confidences) == 2 else None,
    )


def orders_for(policy: OrderPolicy, key: str, seed: int = 0) -> tuple[Order, ...]:
    """Which orders to show for the battle called `key`. The coin of `paper-compat` depends only on key and seed."""
    if policy == "both":
        return (Order.LEFT_FIRST, Order.RIGHT_FIRST)
    if policy == "single":
        return (Order.LEFT_FIRST,)
    swapped = int(sha256_hex(f"{seed}\n{key}".encode())[:8], 16) % 2 == 1
    return (Order.RIGHT_FIRST if swapped else Order.LEFT_FIRST,)


async def ask_both_orders(
    judge: Judge, exhibit: Exhibit, policy: OrderPolicy = "both", *, key: str = ""
) -> BattleVerdict:
    """Run one battle with a pairwise judge, in the orders that `policy` asks for."""
    orders = orders_for(policy, key)
    verdicts = [to_recorded_sides(await judge.judge(reorder_exhibit(exhibit, order)), order) for order in orders]
    if len(verdicts) == 2:
        return combine_orders(verdicts[0], verdicts[1])
    verdict = verdicts[0]
    return BattleVerdict(
        verdict.status, verdict.preference, None, dict(verdict.scores), verdict.confidence, verdict.error
    )
