"""Workers on a cluster that end in every way that Ray reports; addresses where there is no cluster."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from imarena.core.errors import UserError
from imarena.engine import WorkerDied, WorkerTask, cluster
from imarena.engine.ray_images import ImageReceiver, ImageSender
from imarena.engine.ray_workers import TRIES, ray_executor

pytestmark = pytest.mark.ray
ENDS = ["OutOfMemoryError", "NodeDiedError", "ActorUnschedulableError", "ActorDiedError", "WorkerCrashedError"]


def ended(kind: str) -> Exception:
    import ray.exceptions

    error: Exception = getattr(ray.exceptions, kind)(*(() if kind == "ActorDiedError" else ("a reason",)))
    return error


def settled(outcome: object) -> Any:
    """What a remote call returns."""
    future: Future[object] = Future()
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
    return SimpleNamespace(future=lambda: future)


@dataclass
class FakeRay:
    """A cluster in this process: `reply` is called with the number of a worker and what it is asked."""

    reply: Callable[[int, object], object]
    started: int = 0
    killed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        import ray.exceptions

        self.exceptions = ray.exceptions

    def put(self, value: object) -> object:
        return value

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def kill(self, actor: Any) -> None:
        self.killed.append(actor.number)

    def remote(self, **_: object) -> Any:
        def start(*_: object) -> Any:
            number = self.started
            self.started += 1

            def ask(data: bytes, refs: dict[str, Any]) -> Any:
                question = ImageReceiver(lambda reference: reference).unpack(data, refs)
                outcome = self.reply(number, question)
                return settled(outcome if isinstance(outcome, Exception) else (outcome, None))

            return SimpleNamespace(
                number=number,
                ready=SimpleNamespace(remote=lambda: settled(self.reply(number, "start"))),
                ask=SimpleNamespace(remote=ask),
            )

        return lambda _: SimpleNamespace(remote=start)


async def answer(question: object) -> object:
    return question


def failed(_: object, error: Exception) -> object:
    return error


def asked(ray: FakeRay, *questions: str) -> list[object]:
    """The answers of slot 0, one after the other; errors as values."""

    async def whole() -> list[object]:
        task: WorkerTask[object, object] = WorkerTask(answer, failed)
        with ray_executor(ray, task, 2, 0.0, ImageSender(ray.put)) as ask:
            return [(await asyncio.gather(ask(0, question), return_exceptions=True))[0] for question in questions]

    return asyncio.run(whole())


@pytest.mark.parametrize("kind", ENDS)
def test_a_worker_that_ends_is_replaced_and_its_question_asked_again(kind: str) -> None:
    ray = FakeRay(lambda worker, question: ended(kind) if (worker, question) == (0, "deadly once") else question)
    assert asked(ray, "fine", "deadly once", "after") == ["fine", "deadly once", "after"]
    assert ray.killed[0] == 0


@pytest.mark.parametrize("kind", ENDS)
def test_a_worker_that_does_not_start_is_replaced(kind: str) -> None:
    ray = FakeRay(lambda worker, question: ended(kind) if (worker, question) == (0, "start") else question)
    assert asked(ray, "fine", "after") == ["fine", "after"]


@pytest.mark.parametrize("kind", ENDS)
def test_a_question_that_ends_three_workers_is_given_up_and_the_next_one_answered(kind: str) -> None:
    ray = FakeRay(lambda _, question: ended(kind) if question == "deadly" else question)
    error, after = asked(ray, "deadly", "after")
    assert isinstance(error, WorkerDied)
    assert "the Ray actor ended" in str(error)
    assert (after, ray.started) == ("after", TRIES + 1)


def test_an_error_of_the_code_in_a_worker_leaves_the_worker() -> None:
    import ray.exceptions

    raised = ray.exceptions.RayTaskError("ask", "a traceback", ValueError("wrong")).as_instanceof_cause()
    fake = FakeRay(lambda _, question: raised if question == "wrong" else question)
    error, after = asked(fake, "wrong", "after")
    assert isinstance(error, ValueError)
    assert (after, fake.started, fake.killed) == ("after", 1, [0])  # ended with the run


def no_cluster(address: str) -> str:
    started = time.monotonic()
    with pytest.raises(UserError) as raised, contextlib.ExitStack() as stack:
        stack.enter_context(cluster(address))
    assert time.monotonic() - started < 60  # Ray itself tries for 90 s
    return str(raised.value)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:99999"])
def test_an_address_without_a_cluster_is_reported_at_once(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert f"There is no Ray cluster at {address}: " in no_cluster(address)
    monkeypatch.setitem(os.environ, "RAY_ADDRESS", address)
    assert f"There is no Ray cluster at {address} (RAY_ADDRESS): " in no_cluster("")


@pytest.mark.parametrize("address", ["justaname", "127.0.0.1", "host:port", ":6379"])
def test_what_is_no_address_is_reported_once(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    told = no_cluster(address)
    assert f"{address} is not the address of a cluster: HOST:PORT is expected." in told
    assert told.count("HOST:PORT") == 1
    monkeypatch.setitem(os.environ, "RAY_ADDRESS", address)
    assert f"{address} (RAY_ADDRESS) is not the address" in no_cluster("")
