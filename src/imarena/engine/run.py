"""Doing many things at once: bounded, resumable, and safe to stop.

Work is taken one by one from an iterator, so that nothing is held that is not needed yet. Results are written in
batches as they come; whatever was written is not done again, because the caller plans only what is missing.
"""

import asyncio
import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Generic, TypeVar

from imarena.core import BudgetSpent, ImarenaError, Progress, UserError

W = TypeVar("W")
R = TypeVar("R")

_LOG = logging.getLogger(__name__)
FLUSH_S = 2.0
BATCH = 200
FEW_CORES = 4


@dataclass
class RunTally:
    """What a run did."""

    done: int = 0
    stopped: str = ""
    """Why it ended before its work was done; empty where it was not."""
    seconds: float = 0.0


@dataclass(frozen=True)
class RunPlan(Generic[W, R]):
    """What to do, how, and where the results go."""

    work: Iterable[W]
    do: Callable[[W], Awaitable[R]]
    failed: Callable[[W, Exception], R]
    """Turns an unexpected failure into a record."""
    write: Callable[[list[R]], None]
    total: int | None = None
    stage: str = "work"
    concurrency: int = 8


def run_plan(plan: RunPlan[W, R], *, progress: Progress | None = None) -> RunTally:
    """Run a plan to its end, or until Ctrl-C or a spent budget; what was finished by then is written."""
    return asyncio.run(run_async(plan, progress=progress))


async def run_async(plan: RunPlan[W, R], *, progress: Progress | None = None) -> RunTally:
    """The same, inside a running event loop."""
    tally = RunTally()
    started = time.monotonic()
    source = iter(plan.work)
    sink = _Sink(plan.write)
    async with _interruptible(tally):
        workers = [asyncio.create_task(_work(plan, source, sink, tally, progress)) for _ in range(plan.concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await sink.flush()
    tally.seconds = time.monotonic() - started
    if progress:
        progress(plan.stage, tally.done, plan.total)
    return tally


async def _work(
    plan: RunPlan[W, R], source: Iterator[W], sink: "_Sink[R]", tally: RunTally, progress: Progress | None
) -> None:
    while not tally.stopped:
        try:
            work = next(source)
        except StopIteration:
            return
        try:
            result = await plan.do(work)
        except BudgetSpent as error:
            tally.stopped = str(error)
            return
        except (ImarenaError, BrokenProcessPool):
            raise
        except Exception as error:  # noqa: BLE001  # here, and only here, a failure becomes a record
            result = plan.failed(work, error)
        tally.done += 1
        await sink.put(result)
        if progress:
            progress(plan.stage, tally.done, plan.total)


class _Sink(Generic[R]):
    """Collects results and writes them in batches, off the event loop, one batch at a time."""

    def __init__(self, write: Callable[[list[R]], None]) -> None:
        self._write = write
        self._held: list[R] = []
        self._last = time.monotonic()
        self._lock = asyncio.Lock()

    async def put(self, result: R) -> None:
        self._held.append(result)
        if len(self._held) >= BATCH or time.monotonic() - self._last > FLUSH_S:
            await self.flush()

    async def flush(self) -> None:
        async with self._lock:
            batch, self._held = self._held, []
            self._last = time.monotonic()
            if batch:
                await asyncio.shield(asyncio.to_thread(self._write, batch))


@asynccontextmanager
async def _interruptible(tally: RunTally) -> AsyncIterator[None]:
    """Ctrl-C once: finish what is under way and stop. Ctrl-C again: stop now."""
    loop = asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    task = asyncio.current_task()

    def stop() -> None:
        if tally.stopped and task is not None:
            task.cancel()
        else:
            _LOG.warning("finishing the requests under way; press Ctrl-C again to stop at once")
        tally.stopped = "stopped by Ctrl-C"

    with contextlib.suppress(NotImplementedError, ValueError):
        loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    except asyncio.CancelledError:
        if not tally.stopped:
            raise
    finally:
        with contextlib.suppress(NotImplementedError, ValueError):
            loop.remove_signal_handler(signal.SIGINT)


@contextlib.contextmanager
def computing(kind: str = "auto") -> Iterator[Executor]:
    """Workers for what is all computing.

    `auto`: threads on a small machine, where a process each would cost too much memory (the picture libraries let go of
    Python's lock while they work), else processes, which ignore Ctrl-C. `ray`: a cluster.
    """
    count = os.cpu_count() or 1
    pool: Executor
    if kind == "ray":
        from imarena.engine.ray_pool import RayPool

        pool = RayPool()
    elif kind == "threads" or (kind == "auto" and count <= FEW_CORES):
        pool = ThreadPoolExecutor(count)
    elif kind in ("auto", "processes"):
        pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_ignore_interrupt)
    else:
        raise UserError(f"There are no workers of the kind '{kind}'.", hint="Known: auto, threads, processes, ray.")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _ignore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
