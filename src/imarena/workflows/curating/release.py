"""curate release: the items that people accepted become a data set of their own, which the arena then uses."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from imarena.core import UserError
from imarena.core.records import Campaign, JsonDict
from imarena.storage import Workspace
from imarena.workflows.curating.decisions import ACCEPT, DISPUTED, OPEN, REPAIR, ItemDecision, decide_items


@dataclass(frozen=True)
class ReleaseReport:
    """Which items were released, and what became of the others."""

    dataset: str
    target: str
    decisions: tuple[ItemDecision, ...]
    new_items: int
    agreement: float | None
    """Share of items on which all verifiers agree, among those with two or more; None where there are none."""
    verifiers: int = 2
    campaign: str = ""
    """The open campaign in which people check this data set; empty without one."""

    @property
    def counts(self) -> dict[str, int]:
        """Items by decision."""
        return dict(Counter(each.decision for each in self.decisions))

    @property
    def complete(self) -> bool:
        """Is every item accepted or discarded?"""
        return not any(each.decision in (OPEN, DISPUTED, REPAIR) for each in self.decisions)

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        decisions: list[Any] = [
            {"key": each.key, "decision": each.decision, "votes": each.votes, "failed": list(each.failed),
             "replaced": list(each.replaced)}
            for each in self.decisions
        ]  # fmt: skip
        return {
            "dataset": self.dataset, "target": self.target, "new_items": self.new_items, "counts": {**self.counts},
            "agreement": self.agreement, "complete": self.complete, "verifiers": self.verifiers,
            "campaign": self.campaign or None, "decisions": decisions,
        }  # fmt: skip


def release_items(workspace: Workspace, dataset: str, target: str, *, verifiers: int = 2) -> ReleaseReport:
    """Copy the accepted items of `dataset`, and accepted repairs of them, to `target`; the rest stays, with its log."""
    if target == dataset:
        raise UserError("The released items need a data set of their own.", hint="Add --to NAME.")
    decided = decide_items(workspace, dataset, verifiers)
    copies = [
        item.model_copy(
            update={"dataset": target, "provenance": {**item.provenance, "verified": decision.votes[ACCEPT]}}
        )
        for item, decision in decided
        if decision.decision == ACCEPT
    ]
    added = workspace.store.add(copies)
    several = [each for _, each in decided if sum(each.votes.values()) > 1]
    agreed = sum(len(each.votes) == 1 for each in several) / len(several) if several else None
    campaign = _open_campaign(workspace, dataset)
    return ReleaseReport(dataset, target, tuple(each for _, each in decided), added.new, agreed, verifiers, campaign)


def _open_campaign(workspace: Workspace, dataset: str) -> str:
    """The newest open campaign of checks that names this data set."""
    named = ""
    for campaign in workspace.store.records(Campaign):
        datasets = campaign.settings.get("datasets")
        if campaign.open and campaign.kind == "check" and isinstance(datasets, list) and dataset in datasets:
            named = campaign.name
    return named
