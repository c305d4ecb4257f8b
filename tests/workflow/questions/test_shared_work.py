"""Work that several processes share: what happened elsewhere while one of them was stopped."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from imarena.engine import DoneElsewhere, NotNow
from imarena.storage import Claims, Workspace
from imarena.workflows.questions.shared_work import ClaimedWork, SharedWork

WORK = [f"work_{number}" for number in range(4)]
LIFE_S = 0.5


def test_a_process_that_was_stopped_for_long_asks_nothing_that_another_answered(
    any_workspace: Workspace, tmp_path: Path
) -> None:
    """Its claims run out, another process answers everything; it goes on, and renews its claims before it looks."""
    engine, locks = any_workspace.store.engine, tmp_path / "locks"
    answered: set[str] = set()

    def asked(work: Sequence[str]) -> set[str]:
        return answered & set(work)

    async def run(mine: Claims, other: Claims) -> None:
        claimed = ClaimedWork(SharedWork(mine, str, asked), mine, WORK, slots=len(WORK))
        await claimed.hold(WORK[0])  # with those that follow
        mine._ended.set()  # stopped: nothing renews its claims
        await asyncio.sleep(LIFE_S + 0.2)
        assert other.take(WORK) == {}
        answered.update(WORK[:3])
        other.release(WORK[:3])
        mine.renew()
        for work in WORK[1:3]:
            with pytest.raises(DoneElsewhere):
                await claimed.hold(work)
        with pytest.raises(NotNow):
            await claimed.hold(WORK[3])

    with Claims(engine, locks, LIFE_S) as mine, Claims(engine, locks) as other:
        asyncio.run(run(mine, other))
