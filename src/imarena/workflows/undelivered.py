"""What editors failed to deliver, as battles that nobody could fight: boards leave them out or count them as lost."""

from collections.abc import Collection, Iterator
from typing import Any

from imarena.core.records import Mode, Output, Status
from imarena.storage import Workspace


def failed_outputs(workspace: Workspace, editors: Collection[str]) -> Iterator[dict[str, Any]]:
    """A battle without a winner for every editor that failed where another one delivered."""
    slots: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in workspace.store.rows(Output):
        if row["editor"] in editors:
            slot = slots.setdefault((row["item_id"], row["turn"], row["mode"]), {})
            if slot.get(row["editor"]) != Status.OK.value:
                slot[row["editor"]] = row["status"]
    for (item, _, mode), statuses in slots.items():
        delivered = [editor for editor, status in statuses.items() if status == Status.OK.value]
        for editor, status in statuses.items():
            if status != Status.OK.value:
                for other in delivered:
                    shown = mode if mode != Mode.SINGLE.value else None
                    yield {"left": editor, "right": other, "item": item, "mode": shown, "status_left": status}
