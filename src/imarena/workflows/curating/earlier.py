"""Items that earlier runs wrote to the same data set. Items are never changed: other words need another key."""

from collections.abc import Sequence

from imarena.core import UserError
from imarena.core.records import Item
from imarena.curation import CurationRequest
from imarena.storage import Workspace

_NAMED = 5


def refuse_other_words(workspace: Workspace, dataset: str, requests: Sequence[CurationRequest]) -> None:
    """Raise where the data set has items of the same key with another instruction, task or topic."""
    wanted = {request.key: (request.instruction, request.task, request.topic) for request in requests}
    other = {
        key: item.key for item in workspace.store.records(Item, dataset=dataset)
        if (key := str(item.provenance.get("request"))) in wanted
        and (item.instruction, item.task, item.topic) != wanted[key]
    }  # fmt: skip
    if other:
        listed = ", ".join([*other][:_NAMED]) + (f" and {len(other) - _NAMED} more" if len(other) > _NAMED else "")
        raise UserError(
            f"The data set '{dataset}' has items with another instruction, task or topic for: {listed}.",
            hint="Items are not changed. Collect the new table into another data set (--dataset NAME), or give the"
            " changed rows new keys.",
        )


def earlier_items(
    workspace: Workspace, dataset: str, requests: Sequence[CurationRequest], chosen: frozenset[str]
) -> tuple[str, ...]:
    """Keys of items of these instructions that are in the data set but were not chosen by this run."""
    keys = {request.key for request in requests}
    return tuple(
        item.key for item in workspace.store.records(Item, dataset=dataset)
        if str(item.provenance.get("request")) in keys and item.key not in chosen
    )  # fmt: skip
