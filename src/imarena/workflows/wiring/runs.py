"""Record that a command is running and how it ended."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from imarena.core.records import JsonDict, Run, now
from imarena.storage import Claims, Workspace


@dataclass
class OngoingRun:
    """A run in progress; the caller fills in its results."""

    run_id: str
    counts: dict[str, int] = field(default_factory=dict)
    cost_usd: float = 0.0
    partial: bool = False
    plan: Callable[[int], None] = lambda _: None
    """Called with the number of planned records, so that observers can see the progress."""


@contextmanager
def record_run(workspace: Workspace, command: str, settings: JsonDict) -> Iterator[OngoingRun]:
    """Record a run before it starts and after it ends. A killed run stays 'running' until the same command runs again.

    Each run claims its own id while it lives, so that others can distinguish it from a killed one, on any machine.
    """
    ongoing = OngoingRun(f"run_{secrets.token_hex(16)}")
    run = Run(run_id=ongoing.run_id, command=command, settings=settings)
    with workspace.claims() as claims:
        _mark_interrupted(workspace, claims, run)
        claims.take([run.run_id])
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


def _mark_interrupted(workspace: Workspace, claims: Claims, new: Run) -> None:
    """Mark earlier runs of the same work that did not end and whose claim nobody holds."""
    running = list(workspace.store.records(Run, command=new.command, state="running"))
    old = [run.run_id for run in running if run.settings == new.settings]
    dead = sorted(set(old) - claims.take(old).keys())
    for run_id in dead:
        run = workspace.store.get(Run, run_id)  # read again: it may have ended since
        if run is not None and run.state == "running":
            workspace.store.put(run.model_copy(update={"state": "interrupted"}))
    claims.release(dead)
