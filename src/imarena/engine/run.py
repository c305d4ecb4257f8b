"""Run many pieces of work at once: bounded, resumable, and safe to stop.

Work is taken from an iterator one by one, so that nothing is held before it is needed. Results are written in batches
as they arrive; written work is not repeated, because the caller plans only what is missing.
"""

import asyncio
import contextlib
import logging
import math
import signal
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from imarena.core import BudgetSpent, ImarenaError, Progress
from imarena.engine.task import NotNow

W = TypeVar("W")
R = TypeVar("R")

_LOG = logging.getLogger(__name__)
FLUSH_S = 0.5
"""How long computed results gather before they are stored: fewer commits, and a kill costs only computing time."""
SOON_S = 0.02
"""Shortest time between commits of results that were paid for: one by one if they are rare, in batches if not."""
BATCH = 200
RETRY_S = 0.5
"""How long an idle run waits before it retries work that another process is doing."""


class DoneElsewhere(Exception):
    """Another process has done this piece of work: there is nothing to write."""


@dataclass
class _Ongoing:
    """The state of a run."""

    done: int = 0
    elsewhere: int = 0
    stopped: str = ""


@dataclass(frozen=True)
class RunTally:
    """The result of a run."""

    done: int = 0
    stopped: str = ""
    """Why it stopped early; empty if it did not."""
    seconds: float = 0.0
    elsewhere: int = 0
    """Number of pieces of work that another process did meanwhile."""


@dataclass(frozen=True)
class RunPlan(Generic[W, R]):
    """What to do, how, and where the results go."""

    work: Iterable[W]
    do: Callable[[int, W], Awaitable[R]]
    """Does one piece of work in a slot; a slot does one at a time. May raise `NotNow`, `DoneElsewhere`."""
    failed: Callable[[W, Exception], R]
    """Turns an unexpected failure into a record."""
    write: Callable[[list[R]], None]
    total: int | None = None
    stage: str = "work"
    concurrency: int = 8
    """The number of slots."""
    group: Callable[[W], str] | None = None
    """Groups work that shares something, such as images already analysed; a group goes to one slot if possible."""
    flush_s: float = FLUSH_S
    """Shortest time between writes, and so the longest time that a result waits for the next one to begin.

    0: a result is written before its slot continues.
    """
    on_stop: Callable[[], None] = lambda: None
    """Called at Ctrl-C. Work of several steps can then raise `NotNow` before its next step."""


async def run_plan(plan: RunPlan[W, R], *, progress: Progress | None = None) -> RunTally:
    """Run a plan to its end, or until Ctrl-C or a spent budget; results finished by then are written."""
    ongoing = _Ongoing()
    started = time.monotonic()
    source = _Source(plan)
    sink = _Sink(plan.write, plan.flush_s)
    async with _interruptible(ongoing, plan.on_stop):
        workers = [
            asyncio.create_task(_work(slot, plan, source, sink, ongoing, progress)) for slot in range(plan.concurrency)
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await sink.close()
    seconds = time.monotonic() - started
    if progress:
        progress(plan.stage, ongoing.done, plan.total)
    return RunTally(ongoing.done, ongoing.stopped, seconds, ongoing.elsewhere)


async def _work(
    slot: int, plan: RunPlan[W, R], source: "_Source[W]", sink: "_Sink[R]", ongoing: _Ongoing, progress: Progress | None
) -> None:
    while not ongoing.stopped:
        try:
            work = source.take(slot)
        except StopIteration:
            await sink.flush()  # another process may be waiting for it
            if not source.put_back:
                return
            await asyncio.sleep(RETRY_S)
            source.retry()
            continue
        try:
            result = await plan.do(slot, work)
        except NotNow:
            source.put_back.append(work)
            continue
        except DoneElsewhere:
            ongoing.elsewhere += 1
            continue
        except BudgetSpent as error:
            ongoing.stopped = str(error)
            return
        except ImarenaError:
            raise
        except Exception as error:  # noqa: BLE001  # here, and in `WorkerTask.attempt`, a failure becomes a record
            result = plan.failed(work, error)
        ongoing.done += 1
        await sink.put(result)
        if progress:
            progress(plan.stage, ongoing.done, plan.total)


class _Source(Generic[W]):
    """Hands out the work: in order, or one group per slot; a slot without a group helps with the largest."""

    def __init__(self, plan: RunPlan[W, R]) -> None:
        self._rest = iter(plan.work)
        self._waiting: deque[deque[W]] = deque()
        self._taken: dict[int, deque[W]] = {}
        self.put_back: list[W] = []
        """Work that could not be done when it was tried."""
        if plan.group is not None:
            groups: dict[str, deque[W]] = {}
            for work in self._rest:
                groups.setdefault(plan.group(work), deque()).append(work)
            self._waiting.extend(groups.values())

    def take(self, slot: int) -> W:
        """Return this slot's next work. Raises `StopIteration` if nothing is left."""
        queue = self._taken.get(slot)
        if not queue:
            queue = self._waiting.popleft() if self._waiting else max(self._taken.values(), key=len, default=None)
        if not queue:
            return next(self._rest)
        self._taken[slot] = queue
        return queue.popleft()

    def retry(self) -> None:
        """Hand out again the work that was put back."""
        self._waiting.extend(deque([work]) for work in self.put_back)
        self.put_back.clear()


class _Sink(Generic[R]):
    """Writes results in batches, off the event loop, one batch at a time; during a write the next batch gathers."""

    def __init__(self, write: Callable[[list[R]], None], flush_s: float) -> None:
        self._write = write
        self._flush_s = flush_s
        self._held: list[R] = []
        self._last = -math.inf
        """When the last write began."""
        self._lock = asyncio.Lock()
        self._writer: asyncio.Task[None] | None = None
        self._pauses = False

    async def put(self, result: R) -> None:
        self._held.append(result)
        if self._writer is not None and self._writer.done():
            self._writer.result()  # raises if it failed, which ends the run
            self._writer = None
        free = not self._lock.locked() and time.monotonic() - self._last >= self._flush_s
        if free or self._flush_s == 0:
            await self.flush()
        elif len(self._held) >= BATCH:
            await self.flush(least=BATCH)
        if self._held and self._writer is None:
            self._writer = asyncio.create_task(self._write_held())

    async def _write_held(self) -> None:
        """Write until nothing is held. What the process holds when it dies has to be paid for again."""
        while self._held:
            while (pause := self._last + self._flush_s - time.monotonic()) > 0:
                self._pauses = True
                await asyncio.sleep(pause)
                self._pauses = False
            await self.flush()

    async def close(self) -> None:
        """Write the remaining results."""
        if self._writer is not None and self._pauses:
            self._writer.cancel()
        elif self._writer is not None:
            await self._writer
        await self.flush()

    async def flush(self, least: int = 1) -> None:
        async with self._lock:
            if len(self._held) >= least:
                batch, self._held = self._held, []
                self._last = time.monotonic()
                await asyncio.shield(asyncio.to_thread(self._write, batch))


@asynccontextmanager
async def _interruptible(ongoing: _Ongoing, on_stop: Callable[[], None]) -> AsyncIterator[None]:
    """Ctrl-C once: finish the work in progress and stop. Ctrl-C again: stop now."""
    loop = asyncio.get_running_loop()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    task = asyncio.current_task()

    def stop() -> None:
        if ongoing.stopped and task is not None:
            task.cancel()
        else:
            _LOG.warning("finishing the requests under way; press Ctrl-C again to stop at once")
            on_stop()
        ongoing.stopped = "stopped by Ctrl-C"

    with contextlib.suppress(NotImplementedError, ValueError):
        loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    except asyncio.CancelledError:
        if not ongoing.stopped:
            raise
    finally:
        with contextlib.suppress(NotImplementedError, ValueError):
            loop.remove_signal_handler(signal.SIGINT)
