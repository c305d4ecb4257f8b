"""The code of a worker process: questions arrive on standard input, answers leave on standard output."""

import asyncio
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from imarena.core import VERSION, UserError
from imarena.engine.task import WorkerTask


def main() -> None:
    """Receive the task, then answer until no more questions come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # there are as many processes as cores: one thread each is enough
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a judge prints is not an answer
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, messages), daemon=True).start()
    try:
        task = unpack_task(messages.get())
    except UserError as error:
        _send(answers, pickle.dumps(error))
        return
    _send(answers, pickle.dumps(None))
    with asyncio.Runner() as runner:
        while (question := messages.get()) is not None:
            outcome = runner.run(task.outcome(question))
            try:
                data = pickle.dumps(outcome)
            except Exception as error:  # noqa: BLE001  # an answer that cannot be sent is a failure of its question
                data = pickle.dumps((task.failed(question, error), None))
            _send(answers, data)


def _receive(source: BinaryIO, messages: "queue.SimpleQueue[Any]") -> None:
    """Queue messages; exit with the parent process, even if it is killed while this one is computing."""
    try:
        while True:
            message = pickle.load(source)  # noqa: S301  # from the process that started this one
            messages.put(message)
            if message is None:
                return
    except Exception:  # noqa: BLE001  # the end of the file, or a message that was cut off by a kill
        os._exit(1)


def _send(answers: BinaryIO, data: bytes) -> None:
    answers.write(data)
    answers.flush()


def load_pickle(data: bytes, load: Callable[[bytes], Any] = pickle.loads) -> Any:
    """Unpickle a task or a question in the worker; both come from the process that asks."""
    try:
        return load(data)
    except Exception as error:
        raise UserError(
            f"A worker cannot load this work: {type(error).__name__}: {error}.",
            hint="Is the package that it comes from installed, or its folder on PYTHONPATH, where the workers run?",
        ) from error


def unpack_task(data: bytes) -> WorkerTask[Any, Any]:
    """Return the task; raise if it comes from another version of the software."""
    task: WorkerTask[Any, Any] = load_pickle(data)
    if task.version != VERSION:
        raise UserError(
            f"A worker has imarena {VERSION}, and this command is of {task.version}: their answers may differ.",
            hint="Install the same version on every machine of the cluster.",
        )
    return task
