"""Workers on a Ray cluster: the one that `RAY_ADDRESS` names, else one on this machine.

Starting one takes 15 to 50 seconds and a round trip 16 ms: worth it for many machines, not for one. The machines of
a cluster need this package; pictures are sent with each question.
"""

import asyncio
import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Generic

from imarena.core import MissingExtra, UserError, first_line
from imarena.engine.process_worker import load_pickle, unpack_task
from imarena.engine.task import A, Q, WorkerDied, WorkerTask


@contextmanager
def cluster() -> Iterator[Any]:
    """Ray, connected; a cluster that was started here ends with the block, another's goes on."""
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("Running on Ray", "ray") from error
    started = not ray.is_initialized()
    with redirect_stdout(sys.stderr):  # where Ray prints what it has to say of dead workers, until it has stopped
        if started:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported unless the user says so
            ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
        try:
            yield ray
        finally:
            if started:
                ray.shutdown()


def cluster_cpus(ray: Any) -> int:
    """How many questions the cluster can work on at once."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


class RayLane(Generic[Q, A]):
    """One actor, started with its first question; it is not started again by Ray, for a new lane takes its place."""

    def __init__(self, ray: Any, task: bytes) -> None:
        self._ray = ray
        self._task = task
        self._actor: Any = None

    async def ask(self, question: Q) -> A:
        """Send the question and wait for its answer."""
        if self._actor is None:
            self._actor = self._ray.remote(num_cpus=1, max_restarts=0)(_Actor).remote(self._task)
        try:
            answer, error = await asyncio.wrap_future(self._actor.ask.remote(pickle.dumps(question)).future())
        except self._ray.exceptions.RayActorError as error:
            raise WorkerDied(f"the Ray actor ended: {first_line(error)}") from error
        if error is not None:
            raise error
        typed: A = answer
        return typed

    def stop(self, *, at_once: bool) -> None:  # noqa: ARG002
        """End the actor. What it was asked is answered by then, or nobody waits for it any more."""
        if self._actor is not None:
            self._ray.kill(self._actor)


class _Actor:
    """On the cluster: holds the task and answers one question after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._task: WorkerTask[Any, Any] | None = None

    def ask(self, question: bytes) -> Any:
        """An answer, or what was raised on purpose."""
        try:
            self._task = self._task or unpack_task(self._data)
            return asyncio.run(self._task.outcome(load_pickle(question)))
        except UserError as error:
            return None, error
