"""Preference pairs from people's votes and from a judge's verdicts in both orders, with filters of agreement."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from imarena.core.records import FrozenModel, ImageRef, Outcome
from imarena.preferences.groups import PairSet
from imarena.preferences.pair import PreferencePair


class AgreementFilter(FrozenModel):
    """Conditions under which verdicts make a pair."""

    min_votes: int = Field(default=1, ge=1)
    min_share: float = Field(default=0.5, gt=0, le=1)
    """Minimum share of all votes, including ties, for the winner; at one half, the share must be larger."""
    both_orders: bool = True
    """Count a judge's verdict only if it is the same in both orders."""


@dataclass(frozen=True)
class JudgedPair:
    """Two outputs and the verdicts on them, with these sides."""

    item: str
    instruction: str
    task: str
    source: ImageRef
    left: ImageRef
    right: ImageRef
    outcomes: tuple[Outcome, ...]
    """One per vote, or the outcome of a judge's battle."""
    consistent: bool | None = None
    """Did a judge give the same outcome in both orders? None for a single order, or for people."""
    details: Mapping[str, Any] = field(default_factory=dict)


def pairs_from_verdicts(
    judged: Sequence[JudgedPair], rule: AgreementFilter, made_by: str, dimension: str, seed: int
) -> PairSet:
    """Pairs, ties in a separate list, and skipped counts by reason: few votes, no agreement, orders that disagree."""
    pairs: list[PreferencePair] = []
    ties: list[PreferencePair] = []
    skipped: Counter[str] = Counter()
    for battle in sorted(judged, key=lambda pair: (pair.task, pair.item, pair.left.sha256, pair.right.sha256)):
        winner, share, reason = _decide(battle, rule, made_by)
        if winner is None:
            skipped[reason] += 1
            continue
        votes = Counter(str(outcome) for outcome in battle.outcomes)
        identical = battle.left.sha256 == battle.right.sha256
        pair = PreferencePair(
            item=battle.item, instruction=battle.instruction, task=battle.task, source=battle.source, left=battle.left,
            right=battle.right, winner=Outcome.TIE if identical else winner, made_by=made_by, dimension=dimension,
            strength=share, provenance={**battle.details, "votes": dict(votes), "filter": rule.model_dump()},
        ).arranged(seed)  # fmt: skip
        (ties if pair.winner is Outcome.TIE else pairs).append(pair)
    return PairSet(tuple(pairs), tuple(ties), dict(skipped))


def _decide(battle: JudgedPair, rule: AgreementFilter, made_by: str) -> tuple[Outcome | None, float, str]:
    if made_by == "judgments" and rule.both_orders and battle.consistent is not True:
        return None, 0.0, "orders_disagree" if battle.consistent is False else "one_order_only"
    if len(battle.outcomes) < rule.min_votes:
        return None, 0.0, "too_few_votes"
    merged = [Outcome.TIE if outcome is Outcome.BOTH_BAD else outcome for outcome in battle.outcomes]
    winner, votes = Counter(merged).most_common(1)[0]
    share = votes / len(merged)
    if share < rule.min_share or (share == 0.5 and rule.min_share == 0.5):
        return None, share, "raters_disagree"
    return winner, share, ""
