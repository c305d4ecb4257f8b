"""A worker process: it is sent the task once, then one question after the other.

A pool of the standard library ends as a whole when one of its processes dies, and does not say which question killed
it. Here every process has a pipe of its own: the question that it died of is known, and the others go on.
"""

import asyncio
import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from typing import Any, Generic

from imarena.core.errors import UserError
from imarena.engine.task import A, Q, Task, WorkerDied

STOP_S = 10.0


class ProcessLane(Generic[Q, A]):
    """One process, started with its first question."""

    def __init__(self, task: bytes) -> None:
        self._task = task
        self._thread = ThreadPoolExecutor(1)
        self._process: Any = None
        self._pipe: Any = None

    async def ask(self, question: Q) -> A:
        """Send the question and wait for its answer."""
        loop = asyncio.get_running_loop()
        answer, error = await loop.run_in_executor(self._thread, self._exchange, question)
        if error is not None:
            raise error
        found: A = answer
        return found

    def _exchange(self, question: Q) -> Any:
        try:
            if self._process is None:
                self._start()
            self._pipe.send(question)
            return self._pipe.recv()
        except (EOFError, OSError) as error:
            self._process.join(STOP_S)
            raise WorkerDied(f"the worker process ended with code {self._process.exitcode}") from error

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._task), daemon=True)
        with _deaf_to_interrupt():
            self._process.start()
        theirs.close()

    def stop(self, *, at_once: bool) -> None:
        """End the process: when its question is answered, or at once."""
        if at_once and self._process is not None:
            self._process.kill()
        self._thread.shutdown(wait=True)
        if self._process is not None:
            self._pipe.close()
            self._process.join(STOP_S)
            if self._process.exitcode is None:
                self._process.kill()
                self._process.join()


@contextmanager
def _deaf_to_interrupt() -> Iterator[None]:
    """Ctrl-C goes to every process of a terminal. A process that is started here does not hear it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def packed(task: Task[Q, A]) -> bytes:
    """The task as it is sent. Raises `UserError` where it holds what cannot leave this process."""
    try:
        return pickle.dumps(task)
    except Exception as error:
        raise UserError(
            f"This work cannot be sent to another process: {type(error).__name__}: {error}.",
            hint="Define the judge or function at the top level of a module, or use --executor threads.",
        ) from error


def unpacked(data: bytes) -> Task[Any, Any]:
    """The task, in the worker."""
    try:
        task: Task[Any, Any] = pickle.loads(data)  # noqa: S301  # sent by the process that started this one
    except Exception as error:
        raise UserError(
            f"A worker cannot load this work: {type(error).__name__}: {error}.",
            hint="Is the package that it comes from installed, or its folder on PYTHONPATH, where the workers run?",
        ) from error
    return task


def _serve(pipe: Any, data: bytes) -> None:
    """In the process: answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_follow_parent, daemon=True).start()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # as many processes as cores: a thread each is enough
    task: Task[Any, Any] | None = None
    with asyncio.Runner() as runner:
        while True:
            try:
                question = pipe.recv()
                try:
                    task = task or unpacked(data)
                    outcome = runner.run(task.outcome(question))
                except UserError as error:
                    outcome = (None, error)
                pipe.send(outcome)
            except (EOFError, OSError):
                return


def _follow_parent() -> None:
    """End with the process that started this one, also where that was killed."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
