"""Executors: the same answers everywhere, failures as answers, dead workers as facts about their questions."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args

import pytest

from imarena.core.errors import MissingExtra, UnknownName, UserError
from imarena.core.settings import ExecutorKind
from imarena.engine import OpenExecutor, RunPlan, WorkerDied, WorkerTask, open_executor, read_executor, run_plan
from imarena.engine.executors import ENOUGH, FEW_CORES, resolve_executor
from imarena.engine.local_workers import pack_task
from imarena.engine.process_worker import unpack_task

T = TypeVar("T")
RAY = pytest.param("ray", marks=pytest.mark.ray)
EVERY = [RAY if kind == "ray" else kind for kind in get_args(ExecutorKind) if kind != "auto"]
KINDS = pytest.mark.parametrize("kind", EVERY)
ELSEWHERE = pytest.mark.parametrize("kind", [kind for kind in EVERY if kind != "threads"])


@dataclass
class Calculator:
    """Answers with a number, and remembers how many it was asked for."""

    asked: list[int] = field(default_factory=list)

    async def __call__(self, question: object) -> object:
        if question == "where":
            return os.getpid()
        if question == "how many":
            return len(self.asked)
        if question == "die":
            os._exit(7)
        if question == "unsendable":
            return lambda: None
        if question == "sleep":
            time.sleep(60)
        if question == "extra":
            raise MissingExtra("Flying", "wings")
        if question == "user":
            raise UserError("That is wrong.", hint="Do it right.")
        number = int(str(question))
        self.asked.append(number)
        return number * number


def failed(question: object, error: Exception) -> str:
    return f"{question}: {type(error).__name__}"


def within(
    kind: ExecutorKind,
    use: Callable[[OpenExecutor[object, object]], Awaitable[T]],
    *,
    computes: bool = True,
    at_once: int = 2,
) -> T:
    async def whole() -> T:
        task: WorkerTask[object, object] = WorkerTask(Calculator(), failed)
        async with open_executor(kind, task, 100, computes=computes, at_once=at_once) as executor:
            return await use(executor)

    return asyncio.run(whole())


@KINDS
def test_answers_failures_and_errors_are_the_same_everywhere(kind: ExecutorKind) -> None:
    async def use(executor: OpenExecutor[object, object]) -> list[object]:
        found = list(await asyncio.gather(executor.ask(0, 3), executor.ask(executor.slots - 1, 4)))
        found.append(await executor.ask(0, "not a number"))
        for question in ("user", "extra"):
            with pytest.raises(UserError) as raised:
                await executor.ask(0, question)
            found += [type(raised.value), str(raised.value)]
        return found

    *answers, user, told, extra, how = within(kind, use)
    assert answers == [9, 16, "not a number: ValueError"]
    assert (user, told) == (UserError, "That is wrong.\nDo it right.")
    assert extra is MissingExtra
    assert "pip install 'imarena[wings]'" in str(how)


@ELSEWHERE
def test_a_slot_keeps_its_worker_and_the_worker_keeps_its_task(kind: ExecutorKind) -> None:
    async def use(executor: OpenExecutor[object, object]) -> list[object]:
        for number in (1, 2, 3):
            await executor.ask(0, number)
        asked = [await executor.ask(slot, "how many") for slot in (0, 1)]
        return asked + [await executor.ask(slot, "where") for slot in (0, 0, 1)]

    first, second, *places = within(kind, use)
    assert (first, second) == (3, 0)
    assert places[0] == places[1] != places[2]
    assert os.getpid() not in places


@ELSEWHERE
def test_a_worker_that_dies_loses_its_question_only(kind: ExecutorKind) -> None:
    async def use(executor: OpenExecutor[object, object]) -> list[object]:
        told = await asyncio.gather(executor.ask(0, "die"), executor.ask(1, 5), return_exceptions=True)
        return [*told, await executor.ask(0, 6)]

    died, other, after = within(kind, use)
    assert isinstance(died, WorkerDied)
    assert (other, after) == (25, 36)


def test_an_answer_that_cannot_be_sent_is_a_failure_of_its_question() -> None:
    async def use(executor: OpenExecutor[object, object]) -> list[object]:
        return [await executor.ask(0, question) for question in ("unsendable", 2)]

    told, after = within("processes", use)
    assert str(told).startswith("unsendable: ")
    assert after == 4


def test_a_worker_that_cannot_start_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(UserError, match="could not start; it ended with code 1"):
        within("processes", lambda executor: executor.ask(0, 1))


def test_leaving_while_a_question_is_under_way_ends_its_process() -> None:
    async def use(executor: OpenExecutor[object, object]) -> object:
        place = await executor.ask(0, "where")
        under_way = asyncio.create_task(executor.ask(0, "sleep"))
        await asyncio.sleep(0.2)
        under_way.cancel()
        return place

    started = time.monotonic()
    place = within("processes", use)
    assert time.monotonic() - started < 30
    with pytest.raises(ProcessLookupError):
        os.kill(int(str(place)), 0)


@dataclass
class Model:
    """Something that a worker opens before it can answer."""

    reason: Exception | None = None
    opened: int = 0

    @asynccontextmanager
    async def load(self) -> AsyncIterator[None]:
        if self.reason is not None:
            raise self.reason
        self.opened += 1
        yield
        self.opened -= 1

    async def __call__(self, _: object) -> object:
        return os.getpid(), self.opened


@ELSEWHERE
def test_each_worker_opens_what_it_needs_once_and_keeps_it_open(kind: ExecutorKind) -> None:
    async def whole() -> list[object]:
        model = Model()
        task: WorkerTask[object, object] = WorkerTask(model, failed, opening=model.load)
        async with open_executor(kind, task, 4, computes=True, at_once=2) as executor:
            found = [await executor.ask(slot, 1) for slot in (0, 0, 1, 1)]
        assert model.opened == 0, "this process needs nothing open"
        return found

    found: Any = asyncio.run(whole())
    assert [opened for _, opened in found] == [1, 1, 1, 1]
    assert len({place for place, _ in found}) == 2


@pytest.mark.parametrize(
    ("reason", "said"),
    [(UserError("No such model."), "^No such model.$"), (RuntimeError("no memory"), "RuntimeError: no memory")],
)
def test_a_worker_that_cannot_open_what_it_needs_ends_the_run(reason: Exception, said: str) -> None:
    async def whole() -> None:
        model = Model(reason)
        task: WorkerTask[object, object] = WorkerTask(model, failed, opening=model.load)
        async with open_executor("processes", task, 4, computes=True, at_once=1) as executor:
            await executor.ask(0, 1)

    with pytest.raises(UserError, match=said):
        asyncio.run(whole())


def test_what_cannot_leave_the_process_is_told() -> None:
    async def whole() -> None:
        async def answer(question: int) -> int:
            return question

        task: WorkerTask[int, int] = WorkerTask(answer, lambda question, _: question)
        async with open_executor("processes", task, 1, computes=True, at_once=None):
            pass

    with pytest.raises(UserError, match="cannot be sent to another process"):
        asyncio.run(whole())


def test_a_worker_of_another_version_is_refused() -> None:
    other: WorkerTask[object, object] = WorkerTask(Calculator(), failed, version="0.0.1")
    with pytest.raises(UserError, match=r"this command is of 0\.0\.1"):
        unpack_task(pack_task(other))


def test_auto_takes_processes_for_many_questions_that_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: FEW_CORES + 1)
    assert resolve_executor("auto", ENOUGH, computes=True) == "processes"
    assert resolve_executor("auto", ENOUGH - 1, computes=True) == "threads"
    assert resolve_executor("auto", ENOUGH, computes=False) == "threads"
    assert resolve_executor("ray", 1, computes=False) == "ray"
    monkeypatch.setattr(os, "cpu_count", lambda: FEW_CORES)
    assert resolve_executor("auto", ENOUGH, computes=True) == "threads"


def test_an_unknown_executor_is_told_what_there_is() -> None:
    assert read_executor("ray") == "ray"
    with pytest.raises(UnknownName, match="auto, threads, processes, ray"):
        read_executor("magic")


def test_a_group_stays_in_one_slot_until_another_slot_has_nothing_left() -> None:
    slots: dict[str, list[int]] = {}

    async def do(slot: int, work: str) -> str:
        slots.setdefault(work[0], []).append(slot)
        await asyncio.sleep(0.001)
        return work

    work = [f"{group}{number}" for number in range(10) for group in "abc"] + [f"d{number}" for number in range(40)]
    written: list[str] = []
    plan = RunPlan(work, do, lambda work, _: work, written.extend, concurrency=3, group=lambda work: work[0])
    asyncio.run(run_plan(plan))
    assert sorted(written) == sorted(work)
    assert [len(set(slots[group])) for group in "abc"] == [1, 1, 1]
    assert len(set(slots["d"])) == 3, "the last group is shared by those who have nothing else to do"
