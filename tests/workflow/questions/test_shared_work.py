"""Work that several processes share: what happened elsewhere while one of them was stopped, or the database away."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import text

from imarena.core.errors import DatabaseAway
from imarena.engine import DoneElsewhere, NotNow, WorkerTask
from imarena.storage import Claims, Workspace
from imarena.storage.database import connect, reading
from imarena.workflows.questions import shared_work
from imarena.workflows.questions.loop import Questions, RunOptions, ask
from imarena.workflows.questions.shared_work import ClaimedWork, SharedWork
from tests.servers.postgres import new_database

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


def asked_while_away(stored: list[str], away: int) -> None:
    """Ask everything, with a database that is away for the first attempts to write."""
    left = away

    async def answer(question: str) -> str:
        return question

    def write(batch: list[tuple[str, str]]) -> None:
        nonlocal left
        left -= 1
        if left >= 0:
            raise DatabaseAway("The connection broke.")
        stored.extend(work for work, _ in batch)

    def failed(work: str, error: Exception) -> str:
        raise error

    questions = Questions(WORK, str, WorkerTask(answer, failed), failed, lambda _, given: given, write)
    asyncio.run(ask(questions, RunOptions()))


def test_answers_are_not_lost_where_the_database_was_away_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_work, "AWAY_S", (0.01, 0.01))
    stored: list[str] = []
    asked_while_away(stored, 2)
    assert sorted(stored) == WORK
    with pytest.raises(DatabaseAway):  # it stays away
        asked_while_away(stored, 3)


def test_a_connection_that_the_server_ended_is_known_from_other_failures(postgres: str) -> None:
    engine = connect(new_database(postgres))
    with pytest.raises(DatabaseAway), reading(engine) as connection:
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    with reading(engine) as connection:
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    engine.dispose()
