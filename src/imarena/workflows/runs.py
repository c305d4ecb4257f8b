"""Noting that a command is at work, and how it ended."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from imarena.core.records import JsonDict, Run, now
from imarena.storage import Workspace


@dataclass
class Ongoing:
    """A run under way: fill in what it did."""

    run_id: str
    counts: dict[str, int] = field(default_factory=dict)
    cost_usd: float = 0.0
    partial: bool = False
    plan: Callable[[int], None] = lambda _: None
    """Told how much there is to do, so that who watches can see how far it is."""


@contextmanager
def noted(workspace: Workspace, command: str, settings: JsonDict) -> Iterator[Ongoing]:
    """Note a run before it starts and after it ended. A killed run stays 'running' until the same is run again."""
    ongoing = Ongoing(f"run_{secrets.token_hex(16)}")
    for old in list(workspace.store.records(Run, command=command, state="running")):
        if old.settings == settings:
            workspace.store.put(old.model_copy(update={"state": "interrupted"}))
    run = Run(run_id=ongoing.run_id, command=command, settings=settings)
    workspace.store.put(run)
    ongoing.plan = lambda number: workspace.store.put(run.model_copy(update={"counts": {"planned": number}}))
    state = "failed"
    try:
        yield ongoing
        state = "partial" if ongoing.partial else "done"
    finally:
        workspace.store.put(
            run.model_copy(
                update={
                    "state": state,
                    "finished_at": now(),
                    "counts": ongoing.counts,
                    "cost_usd": ongoing.cost_usd,
                }
            )
        )
