"""Apply a function to many inputs at once, in threads, in processes or on a Ray cluster; results keep their order."""

import asyncio
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic

from imarena.core import ExecutorKind, UserError, first_line
from imarena.engine.executors import open_executor
from imarena.engine.task import A, Q, WorkerDied, WorkerTask

TRIES = 3
"""Maximum number of workers that may die on one question."""


@dataclass(frozen=True)
class _Answer(Generic[Q, A]):
    function: Callable[[Q], A]

    async def __call__(self, question: Q) -> A:
        return self.function(question)


def _failed(_: object, error: Exception) -> Any:
    """End the run: every result is needed."""
    raise UserError(f"A worker failed: {type(error).__name__}: {first_line(error)}.") from error


def map_on_executor(kind: ExecutorKind, function: Callable[[Q], A], questions: Iterable[Q], count: int) -> list[A]:
    """Apply `function` to each of the `count` questions. Every worker gets it once, with all its data.

    Processes and Ray need a function that can be pickled; `auto` means threads. If a worker dies, another one gets its
    question. Must not be called from a thread with a running event loop.
    """
    if kind in ("processes", "ray"):
        return asyncio.run(_map_on_workers(kind, WorkerTask(_Answer(function), _failed), questions, count))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(function, questions))


async def _map_on_workers(kind: ExecutorKind, task: WorkerTask[Q, A], questions: Iterable[Q], count: int) -> list[A]:
    answers: dict[int, A] = {}
    left = enumerate(questions)
    async with open_executor(kind, task, count, computes=True, at_once=None) as executor:

        async def work(slot: int) -> None:
            for number, question in left:
                answers[number] = await ask(slot, question)

        async def ask(slot: int, question: Q) -> A:
            for _ in range(TRIES):
                try:
                    return await executor.ask(slot, question)
                except WorkerDied as error:
                    last = error
            raise UserError(
                f"Workers died of the same work {TRIES} times: {first_line(last)}.",
                hint="Is there enough memory? --executor threads needs the least.",
            ) from last

        await asyncio.gather(*(work(slot) for slot in range(executor.slots)))
    return [answers[number] for number in range(count)]
