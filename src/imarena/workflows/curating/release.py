"""curate release: copy the items that people accepted to a data set of their own, for use in the arena."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from imarena.core import UserError
from imarena.core.records import Campaign, JsonDict
from imarena.storage import Workspace
from imarena.workflows.curating.decisions import ACCEPT, DISPUTED, OPEN, REPAIR, ItemDecision, decide_items


@dataclass(frozen=True)
class MissingChecks:
    """A data set with items that still need checks or a decision."""

    dataset: str
    disputed: bool
    campaign: str = ""
    """The open campaign for these checks; empty if there is none."""
    adjudicated: bool = False
    """Whether that campaign gives disputed items to one more person."""

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        return {
            "dataset": self.dataset, "disputed": self.disputed, "campaign": self.campaign or None,
            "adjudicated": self.adjudicated,
        }  # fmt: skip


@dataclass(frozen=True)
class ReleaseReport:
    """Which items were released, and what happened to the others."""

    dataset: str
    target: str
    decisions: tuple[ItemDecision, ...]
    new_items: int
    agreement: float | None
    """Share of items with unanimous verifiers, among those with two or more; None if there are none."""
    verifiers: int = 2
    missing: tuple[MissingChecks, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Number of items by decision."""
        return dict(Counter(item.decision for item in self.decisions))

    @property
    def complete(self) -> bool:
        """Whether every item is accepted or discarded."""
        return not any(item.decision in (OPEN, DISPUTED, REPAIR) for item in self.decisions)

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        decisions: list[Any] = [
            {"key": item.key, "decision": item.decision, "votes": item.votes, "failed": list(item.failed),
             "replaced": list(item.replaced)}
            for item in self.decisions
        ]  # fmt: skip
        return {
            "dataset": self.dataset, "target": self.target, "new_items": self.new_items, "counts": {**self.counts},
            "agreement": self.agreement, "complete": self.complete, "verifiers": self.verifiers,
            "missing_checks": [check.to_json() for check in self.missing], "decisions": decisions,
        }  # fmt: skip


def release_items(workspace: Workspace, dataset: str, target: str, *, verifiers: int = 2) -> ReleaseReport:
    """Copy accepted items of `dataset`, and their accepted repairs, to `target`; the rest stays, with its log."""
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
    several = [votes for _, item in decided for votes in (*item.earlier_votes, item.votes) if sum(votes.values()) > 1]
    agreed = sum(len(votes) == 1 for votes in several) / len(several) if several else None
    unsettled: dict[str, set[str]] = {}
    for item, decision in decided:
        if decision.decision in (OPEN, DISPUTED):
            unsettled.setdefault(item.dataset, set()).add(decision.decision)
    missing = tuple(_missing_checks(workspace, name, DISPUTED in kinds) for name, kinds in sorted(unsettled.items()))
    return ReleaseReport(dataset, target, tuple(item for _, item in decided), added.new, agreed, verifiers, missing)


def _missing_checks(workspace: Workspace, dataset: str, disputed: bool) -> MissingChecks:
    """Return the missing checks, with the newest open campaign of checks that names this data set."""
    result = MissingChecks(dataset, disputed)
    for campaign in workspace.store.records(Campaign):
        datasets = campaign.settings.get("datasets")
        if campaign.open and campaign.kind == "check" and isinstance(datasets, list) and dataset in datasets:
            settled = campaign.settings.get("adjudication", "off") != "off"
            result = MissingChecks(dataset, disputed, campaign.name, settled)
    return result
