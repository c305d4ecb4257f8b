"""People's decisions about each item of a data set, with repairs followed to the item that replaced it.

A person's newest check of an item counts. An item is accepted if enough people checked it and all accept it, or, if
they disagree, if the majority of at least three does (the third one adjudicates). A repaired item counts by the checks
of its repair.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from imarena.core import UserError, command_line
from imarena.core.records import Evidence, Item, Verification
from imarena.storage import Workspace

ACCEPT, REPAIR, DISCARD, DISPUTED, OPEN = "accept", "repair", "discard", "disputed", "not checked"
REPAIRS = "repaired_item"
"""In the provenance of a repaired item: the id of the item that it replaces."""
CANDIDATE = "candidate_sha256"
"""In the provenance of a repaired item: the stored candidate from which its image was made."""
STEPS = "curation_step"
"""The kind of evidence for the steps of a curation run."""
REQUEST = "curation_request"
"""The kind of evidence for requests, stored under the name of their steps."""


@dataclass(frozen=True)
class ItemDecision:
    """People's decision about one item."""

    key: str
    decision: str
    """accept, repair, discard, disputed or not checked."""
    votes: dict[str, int]
    failed: tuple[str, ...] = ()
    """Criteria that somebody marked as not met."""
    comments: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    """Keys of the items that it replaced, the first one first."""
    earlier_votes: tuple[dict[str, int], ...] = ()
    """Votes on these items."""


def decide_items(workspace: Workspace, dataset: str, verifiers: int) -> list[tuple[Item, ItemDecision]]:
    """Return every curated item of a data set, or its last repair, with the decision."""
    items = [item for item in workspace.store.records(Item, dataset=dataset) if "curation" in item.provenance]
    if not items:
        raise UserError(
            f"There are no curated items in '{dataset}'.", hint=f"`{command_line('curate run')}` collects some."
        )
    repairs = {
        str(item.provenance[REPAIRS]): item for item in workspace.store.records(Item)
        if REPAIRS in item.provenance and "verified" not in item.provenance  # not the released copy
    }  # fmt: skip
    decided = []
    for item in items:
        chain = [item]
        while (newer := repairs.get(chain[-1].item_id)) is not None:
            chain.append(newer)
        decided.append((chain[-1], _decide(workspace, chain, verifiers)))
    return decided


def _decide(workspace: Workspace, chain: list[Item], verifiers: int) -> ItemDecision:
    """Return the decision about the last item of a chain of repairs."""
    *replaced, item = chain
    checks = _newest_checks(workspace, item)
    votes = Counter(check.decision for check in checks)
    failed = tuple(dict.fromkeys(name for check in checks for name, met in check.checks.items() if not met))
    comments = tuple(check.comment for check in checks if check.comment)
    decision = DISCARD if is_discarded(workspace, item) else _outcome(votes, verifiers)
    earlier = tuple(dict(Counter(check.decision for check in _newest_checks(workspace, old))) for old in replaced)
    return ItemDecision(
        item.key, decision, dict(votes), failed, comments, tuple(old.key for old in replaced), earlier
    )  # fmt: skip


def _newest_checks(workspace: Workspace, item: Item) -> list[Verification]:
    """Return the newest check of each person."""
    newest = {check.rater_id: check for check in workspace.store.records(Verification, item_id=item.item_id)}
    return list(newest.values())


def is_discarded(workspace: Workspace, item: Item) -> bool:
    """Return whether the lead discarded the item on the repair list."""
    work = str(item.provenance["curation"])
    values: list[Any] = [step.value for step in workspace.store.records(Evidence, image_sha256=work, kind=STEPS)]
    return any(
        value["step"] == "repair" and value["action"] == DISCARD and value["item_id"] == item.item_id
        for value in values
    )


def _outcome(votes: Counter[str], verifiers: int) -> str:
    total = sum(votes.values())
    if total < verifiers:
        return OPEN
    decision, most = votes.most_common(1)[0]
    if len(votes) == 1 or (total >= 3 and most * 2 > total):
        return decision
    return DISPUTED
