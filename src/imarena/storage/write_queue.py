"""Write queue: short transactions of many people, run in batches with one commit per batch.

SQLite has one writer at a time anyway, and a dozen threads that compete for its lock and for the interpreter
spend more time competing than writing. A job that is refused or fails does not affect the others: the batch
is then repeated with a savepoint per job. Callers get their result only after the commit.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from imarena.core import DatabaseFailed, UserError
from imarena.storage.database import writing

T = TypeVar("T")
Work = Callable[[Connection], T]

MOST_AT_ONCE = 64
_TRIES = 5
_QUEUES = {"sqlite": 1}
"""Queues that write concurrently. On PostgreSQL one waits while another computes; more than two only cause switching
(100 raters on two cores, p95 of a vote: four queues 480 ms, two 80 ms).
"""
_OTHER_QUEUES = 2


class WriteConflict(UserError):
    """Others kept changing what this job wanted to change."""


@dataclass
class _Job:
    work: Work[Any]
    durable: bool
    done: "Future[Any]" = field(default_factory=Future)
    result: Any = None
    error: BaseException | None = None


class WriteQueue:
    """The queues in front of a database. Call `submit` from any thread; the jobs of one person stay in order."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lines: list[queue.SimpleQueue[_Job | None]] = []
        self._threads: list[threading.Thread] = []
        self._guard = threading.Lock()

    def submit(self, person: str, work: Work[T], *, durable: bool = False) -> "Future[T]":
        """Run a job in a transaction. It may run more than once; only its last run takes effect.

        `durable` waits for the disk before the future completes.
        """
        job = _Job(work, durable)
        lines = self._lines or self._start()
        lines[hash(person) % len(lines)].put(job)
        return job.done

    def close(self) -> None:
        """Finish the queued jobs, then stop."""
        with self._guard:
            for line in self._lines:
                line.put(None)
            for thread in self._threads:
                thread.join()
            self._lines, self._threads = [], []

    def _start(self) -> "list[queue.SimpleQueue[_Job | None]]":
        with self._guard:
            if not self._lines:
                lines: list[queue.SimpleQueue[_Job | None]] = [
                    queue.SimpleQueue() for _ in range(_QUEUES.get(self._engine.dialect.name, _OTHER_QUEUES))
                ]
                self._threads = [
                    threading.Thread(target=self._serve, args=(line,), name="imarena-writer", daemon=True)
                    for line in lines
                ]
                for thread in self._threads:
                    thread.start()
                self._lines = lines
            return self._lines

    def _serve(self, line: "queue.SimpleQueue[_Job | None]") -> None:
        while True:
            batch, more = _waiting(line)
            if batch:
                self._do(batch)
            if not more:
                return

    def _do(self, batch: list[_Job]) -> None:
        """Run all jobs in one transaction; if it fails, again with savepoints, and then each in its own transaction."""
        try:
            if len(batch) == 1:
                self._alone(batch[0])
            elif not self._smoothly(batch):
                self._together(batch)
        except (DBAPIError, DatabaseFailed) as error:
            if len(batch) > 1:
                for job in batch:
                    self._do([job])
                return
            batch[0].error = error
        for job in batch:
            if job.error is not None:
                job.done.set_exception(job.error)
            else:
                job.done.set_result(job.result)

    def _alone(self, job: _Job) -> None:
        def attempt() -> None:
            with writing(self._engine, durable=job.durable) as connection:
                job.result = job.work(connection)

        _attempt(job, attempt)

    def _smoothly(self, batch: list[_Job]) -> bool:
        """Run all without savepoints, each of which costs two queries; False if that failed and nothing was done."""
        try:
            with writing(self._engine, durable=any(job.durable for job in batch)) as connection:
                for job in batch:
                    job.result = job.work(connection)
        except BaseException:  # noqa: BLE001 - whose it is comes out when it is done again
            return False
        return True

    def _together(self, batch: list[_Job]) -> None:
        """Each in a savepoint: 0.08 ms more CPU than SQL strings, but only a batch with a refused job pays for it."""
        with writing(self._engine, durable=any(job.durable for job in batch)) as connection:

            def attempt(job: _Job) -> None:
                with connection.begin_nested():
                    job.result = job.work(connection)

            for job in batch:
                _attempt(job, partial(attempt, job))


def _waiting(line: "queue.SimpleQueue[_Job | None]") -> tuple[list[_Job], bool]:
    """All waiting jobs, at least one, and whether to continue afterwards."""
    batch: list[_Job] = []
    for _ in range(MOST_AT_ONCE):
        try:
            job = line.get(block=not batch)
        except queue.Empty:
            break
        if job is None:
            return batch, False
        if job.done.set_running_or_notify_cancel():
            batch.append(job)
    return batch, True


def _attempt(job: _Job, attempt: Callable[[], None]) -> None:
    """Run one job, retrying if others were faster. Any other exception is passed to the caller of the job."""
    job.error = None
    for _ in range(_TRIES):
        try:
            attempt()
        except IntegrityError:
            continue
        except (DBAPIError, DatabaseFailed):
            raise
        except BaseException as error:  # noqa: BLE001
            job.error = error
        return
    job.error = WriteConflict("Others are changing the same thing just now.", hint="Try again.")
