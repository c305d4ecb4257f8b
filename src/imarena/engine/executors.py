"""Where questions are answered: in `threads` of this process, in `processes`, or on a `ray` cluster; `auto` chooses.

The same questions get the same answers everywhere: only place and time differ.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor as Pool
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Generic, cast, get_args

from imarena.core import ExecutorKind, unknown_name
from imarena.engine.local_workers import ProcessWorker, pack_task
from imarena.engine.task import A, Executor, Q, Worker, WorkerDied, WorkerTask

FEW_CORES = 4
"""Up to this many cores, separate processes cost more memory than they save time: image libraries release the GIL."""
ENOUGH = 200
"""Minimum number of questions for which starting processes pays off: each imports and loads its models, 2 to 4 CPU
seconds by `python -m benchmarks.judges.builtin executors`, and `builtin` takes 0.08 s for an image."""
AT_ONCE = 8


@dataclass(frozen=True)
class OpenExecutor(Generic[Q, A]):
    """A running executor, and how many questions it answers at once."""

    ask: Executor[Q, A]
    slots: int
    held: Callable[[str], bytes | None] | None = None
    """Returns a stand-in for an image that the workers can get already, by its hash; for use in questions only."""


def read_executor(text: str) -> ExecutorKind:
    """Parse the executor kind of a command-line option."""
    if text in get_args(ExecutorKind):
        return cast(ExecutorKind, text)
    raise unknown_name("There is no executor called", text, get_args(ExecutorKind))


def resolve_executor(kind: ExecutorKind, questions: int, *, computes: bool) -> ExecutorKind:
    """Return what `auto` selects: processes if many questions are pure computation and the machine has enough cores."""
    if kind != "auto":
        return kind
    pays = computes and questions >= ENOUGH and (os.cpu_count() or 1) > FEW_CORES
    return "processes" if pays else "threads"


@asynccontextmanager
async def open_executor(
    kind: ExecutorKind,
    task: WorkerTask[Q, A],
    questions: int,
    *,
    computes: bool,
    at_once: int | None,
    gpus: float = 0.0,
) -> AsyncIterator[OpenExecutor[Q, A]]:
    """Open an executor for this number of questions. `computes`: an answer is pure computation and needs a core.

    `at_once`: how many at a time; None: as many as there are cores, or eight that wait. If the context is left while
    questions are running (a second Ctrl-C), their workers are killed. `gpus`: per worker on a cluster with GPUs.
    """
    cores = os.cpu_count() or 1
    which = resolve_executor(kind, questions, computes=computes)
    if which == "threads" and not computes:
        yield OpenExecutor(_here(task), max(1, min(at_once or AT_ONCE, questions)))
    elif which == "threads":
        with ThreadPoolExecutor(cores) as pool:
            yield OpenExecutor(_in_threads(task, pool), max(1, min(at_once or 2 * cores, 2 * cores, questions)))
    elif which == "ray":
        from imarena.engine.ray_images import ImageSender
        from imarena.engine.ray_workers import cluster, cluster_slots, ray_executor

        with cluster() as ray:
            most, share = cluster_slots(ray, gpus)
            slots = max(1, min(at_once or most, most, questions))
            images = ImageSender(ray.put)
            with ray_executor(ray, task, slots, share, images) as ask_cluster:
                yield OpenExecutor(ask_cluster, slots, images.held)
    else:
        slots = max(1, min(at_once or cores, cores, questions))
        with _workers(partial(ProcessWorker, pack_task(task)), slots) as ask:
            yield OpenExecutor(ask, slots)


def _here(task: WorkerTask[Q, A]) -> Executor[Q, A]:
    """Answer on the event loop: for questions that wait."""

    async def ask(_: int, question: Q) -> A:
        return await task.attempt(question)

    return ask


def _in_threads(task: WorkerTask[Q, A], pool: Pool) -> Executor[Q, A]:
    """Answer in threads: for questions that compute."""

    async def ask(_: int, question: Q) -> A:
        return await asyncio.get_running_loop().run_in_executor(pool, lambda: asyncio.run(task.attempt(question)))

    return ask


@contextmanager
def _workers(start: Callable[[], Worker[Q, A]], slots: int) -> Iterator[Executor[Q, A]]:
    """Start a worker per slot. If one dies, its question has no answer, and a new worker replaces it."""
    workers = [start() for _ in range(slots)]
    busy = [False] * slots

    async def ask(slot: int, question: Q) -> A:
        busy[slot] = True
        try:
            answer = await workers[slot].ask(question)
        except WorkerDied:
            workers[slot].stop(at_once=True)
            workers[slot] = start()
            busy[slot] = False
            raise
        busy[slot] = False
        return answer

    try:
        yield ask
    finally:
        for worker, left in zip(
            workers, busy, strict=True
        ):  # nobody waits any longer for questions that are still running
            worker.stop(at_once=left)
