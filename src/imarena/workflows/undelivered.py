"""What editors failed to deliver, as battles that nobody could fight: boards leave them out or count them as lost."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from imarena.core.records import Mode, Output, Status
from imarena.storage import Workspace
from imarena.workflows.slots import slots_of


def failed_outputs(workspace: Workspace, editors: Collection[str]) -> Iterator[dict[str, Any]]:
    """A battle without a winner for every editor that failed where another one delivered."""
    delivered: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for row in workspace.store.rows(Output, status=Status.OK.value):
        if row["editor"] in editors:
            delivered[row["item_id"], row["turn"], row["mode"]].append(row["editor"])
    lacking: dict[tuple[str, int, str], dict[str, str]] = defaultdict(dict)
    for (item, turn, editor, mode, _), status in slots_of(workspace).failed.items():
        if editor in editors and editor not in delivered[item, turn, mode]:  # another sample may be there
            lacking[item, turn, mode][editor] = status
    for (item, turn, mode), failed in sorted(lacking.items()):
        shown = mode if mode != Mode.SINGLE.value else None
        for editor, status in sorted(failed.items()):
            for other in sorted(set(delivered[item, turn, mode])):
                yield {"left": editor, "right": other, "item": item, "mode": shown, "status_left": status}
