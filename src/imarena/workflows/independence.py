"""Who helped to make what: a judge that drives an agent must not be the one that ranks it, or a board says so."""

from collections.abc import Iterable, Mapping

from imarena.core.records import Output, Status
from imarena.storage import Workspace


def driven_by(workspace: Workspace) -> dict[str, str]:
    """Editors of this workspace whose outputs a judge helped to make, and which judge."""
    found: dict[str, str] = {}
    for output in workspace.store.records(Output, status=Status.OK.value):
        judge = output.params.get("driven_by")
        if output.editor and isinstance(judge, str):
            found[output.editor] = judge
    return found


def self_judged(drivers: Mapping[str, str], judges: Iterable[str]) -> tuple[str, ...]:
    """A warning for each editor that one of these judges both drove and ranks."""
    ranking = set(judges)
    return tuple(
        f"{editor} was driven by the judge '{judge}', which also ranks it here: its place is not independent."
        for editor, judge in sorted(drivers.items())
        if judge in ranking
    )
