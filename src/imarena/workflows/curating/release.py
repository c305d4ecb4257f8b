"""curate release: the items that people accepted become a data set of their own, which the arena then uses.

A person's newest check of an item counts. An item is accepted where enough people checked it and all accept it, or,
where they disagree, the majority of at least three does (the third one is the adjudication).
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from imarena.core import UserError
from imarena.core.records import Item, JsonDict, Verification
from imarena.storage import Workspace

ACCEPT, REPAIR, DISCARD, DISPUTED, OPEN = "accept", "repair", "discard", "disputed", "not checked"


@dataclass(frozen=True)
class ItemDecision:
    """What people decided about one item."""

    key: str
    decision: str
    """accept, repair, discard, disputed or not checked."""
    votes: dict[str, int]
    failed: tuple[str, ...] = ()
    """Criteria that somebody found not met."""


@dataclass(frozen=True)
class ReleaseReport:
    """Which items were released, and what became of the others."""

    dataset: str
    target: str
    decisions: tuple[ItemDecision, ...]
    new_items: int
    agreement: float | None
    """Share of items on which all verifiers agree, among those with two or more; None where there are none."""

    @property
    def counts(self) -> dict[str, int]:
        """Items by decision."""
        return dict(Counter(each.decision for each in self.decisions))

    @property
    def complete(self) -> bool:
        """Is every item decided?"""
        return not any(each.decision in (OPEN, DISPUTED) for each in self.decisions)

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        decisions: list[Any] = [
            {"key": each.key, "decision": each.decision, "votes": each.votes, "failed": list(each.failed)}
            for each in self.decisions
        ]
        return {
            "dataset": self.dataset, "target": self.target, "new_items": self.new_items, "counts": {**self.counts},
            "agreement": self.agreement, "complete": self.complete, "decisions": decisions,
        }  # fmt: skip


def release_items(workspace: Workspace, dataset: str, target: str, *, verifiers: int = 2) -> ReleaseReport:
    """Copy the accepted items of `dataset` to `target`; the rest stays where it is, with its log."""
    if target == dataset:
        raise UserError("The released items need a data set of their own.", hint="Add --to NAME.")
    items = [item for item in workspace.store.records(Item, dataset=dataset) if "curation" in item.provenance]
    if not items:
        raise UserError(f"There are no curated items in '{dataset}'.", hint="`imarena curate run` collects some.")
    decisions = {item.item_id: _decide(workspace, item, verifiers) for item in items}
    accepted = [item for item in items if decisions[item.item_id].decision == ACCEPT]
    copies = [
        item.model_copy(update={"dataset": target, "provenance": {**item.provenance, "verified": verified}})
        for item in accepted
        if (verified := decisions[item.item_id].votes[ACCEPT])
    ]
    added = workspace.store.add(copies)
    several = [each for each in decisions.values() if sum(each.votes.values()) > 1]
    agreed = sum(len(each.votes) == 1 for each in several) / len(several) if several else None
    return ReleaseReport(dataset, target, tuple(decisions.values()), added.new, agreed)


def _decide(workspace: Workspace, item: Item, verifiers: int) -> ItemDecision:
    newest = {check.rater_id: check for check in workspace.store.records(Verification, item_id=item.item_id)}
    votes = Counter(check.decision for check in newest.values())
    failed = tuple(dict.fromkeys(name for check in newest.values() for name, met in check.checks.items() if not met))
    return ItemDecision(item.key, _outcome(votes, verifiers), dict(votes), failed)


def _outcome(votes: Counter[str], verifiers: int) -> str:
    total = sum(votes.values())
    if total < verifiers:
        return OPEN
    decision, most = votes.most_common(1)[0]
    if len(votes) == 1 or (total >= 3 and most * 2 > total):
        return decision
    return DISPUTED
