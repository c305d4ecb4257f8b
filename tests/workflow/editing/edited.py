"""What the tests of `imarena edit` look up in a workspace."""

from pathlib import Path
from typing import Any

from imarena.core.records import Output
from imarena.storage import open_workspace


def outputs(root: Path, **where: Any) -> list[Output]:
    with open_workspace(root) as workspace:
        return list(workspace.store.records(Output, **where))


def statuses(root: Path, editor: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for output in outputs(root, editor=editor):
        found[output.status.value] = found.get(output.status.value, 0) + 1
    return found
