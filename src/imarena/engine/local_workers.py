"""A worker process: it receives the task once, then one question after the other.

A pool of the standard library ends as a whole when one of its processes dies, does not say which question killed it,
and imports the main program again. Here every process has its own pipes: the question that killed it is known, the
others continue, and a script needs no guard around its main part.
"""

import asyncio
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Generic

from imarena.core import UserError
from imarena.engine.task import A, Q, WorkerDied, WorkerTask

STOP_S = 10.0
_DIED = (EOFError, OSError, pickle.UnpicklingError)
"""Errors from reading from, or writing to, a process that has ended."""
_PROGRAM = "import sys; sys.path[:] = {path!r}; from imarena.engine.process_worker import main; main()"


class ProcessWorker(Generic[Q, A]):
    """One process, started with its first question."""

    def __init__(self, task: bytes) -> None:
        self._task = task
        self._thread = ThreadPoolExecutor(1)
        self._process: subprocess.Popen[bytes] | None = None

    async def ask(self, question: Q) -> A:
        """Send the question and wait for its answer."""
        answer, error = await asyncio.get_running_loop().run_in_executor(self._thread, self._exchange, question)
        if error is not None:
            raise error
        typed: A = answer
        return typed

    def _exchange(self, question: Q) -> Any:
        process = self._process or self._start()
        try:
            return _send_and_receive(process, question)
        except _DIED as error:
            raise WorkerDied(f"the worker process ended with code {_exit_code(process)}") from error

    def _start(self) -> subprocess.Popen[bytes]:
        """Start a process with the task. If it cannot start, the run ends: the next one would not start either."""
        program = [sys.executable, "-c", _PROGRAM.format(path=[str(part) for part in sys.path])]
        with _ignore_interrupts():
            process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603  # our own
        self._process = process
        try:
            error = _send_and_receive(process, self._task)
        except _DIED as died:
            message = f"A worker process could not start; it ended with code {_exit_code(process)}."
            raise UserError(message, hint="Use --executor threads.") from died
        if error is not None:
            raise error
        return process

    def stop(self, *, at_once: bool) -> None:
        """End the process: after its current question, or at once."""
        if at_once and self._process is not None:
            self._process.kill()
        self._thread.shutdown(wait=True)
        if self._process is None:
            return
        with suppress(OSError):  # it has already ended
            _send(self._process, None)
        _exit_code(self._process)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code; kill the process if it does not end by itself in time."""
    try:
        return process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _send(process: subprocess.Popen[bytes], message: object) -> None:
    data = pickle.dumps(message)  # pickled in full before sending: half a message would corrupt the next
    if process.stdin is not None:
        process.stdin.write(data)
        process.stdin.flush()


def _send_and_receive(process: subprocess.Popen[bytes], message: object) -> Any:
    """Send a message and wait for the reply."""
    _send(process, message)
    return pickle.load(process.stdout) if process.stdout is not None else None  # noqa: S301  # a process of our own


@contextmanager
def _ignore_interrupts() -> Iterator[None]:
    """Start child processes that ignore Ctrl-C, which goes to every process of a terminal."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def pack_task(task: WorkerTask[Q, A]) -> bytes:
    """Pickle the task. Raises `UserError` if it holds objects that cannot leave this process."""
    try:
        return pickle.dumps(task)
    except Exception as error:
        raise UserError(
            f"This work cannot be sent to another process: {type(error).__name__}: {error}.",
            hint="Define the judge or function at the top level of a module, or use --executor threads.",
        ) from error
