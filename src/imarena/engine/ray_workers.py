"""Workers on a Ray cluster: the one that `RAY_ADDRESS` names, else one on this machine.

Starting a cluster takes 15 to 50 seconds and a round trip 16 ms: worth it for many machines, not for one. The machines
of a cluster need this package; images go through the object store, each once. If a worker or its machine dies, another
worker gets its question; only the asking process writes results.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Generic

from imarena.core import MissingExtra, UserError, first_line
from imarena.engine.local_workers import pack_task
from imarena.engine.process_worker import unpack_task
from imarena.engine.ray_images import ImageReceiver, ImageSender
from imarena.engine.task import A, Executor, Q, WorkerDied, WorkerTask

START_S = 120.0
"""How long a worker may take to start before others take over its work."""
TRIES = 3
"""Number of workers that may die on one question: then the question is to blame, not the machine."""


class NoRoom(WorkerDied):
    """The cluster has no room for another worker at the moment: others do its work."""


@contextmanager
def cluster(address: str = "") -> Iterator[Any]:
    """Connect to Ray; a cluster started here ends with the block, any other one keeps running.

    `address`: a cluster other than the one in `RAY_ADDRESS`.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("Running on Ray", "ray") from error
    started = not ray.is_initialized()
    if started:
        _check_reachable(address)
    with redirect_stdout(sys.stderr):  # Ray reports dead workers on stdout until it has stopped
        if started:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage statistics unless the user asks for them
            # only if started here: Ray's default (15) starves workers when anything else computes
            os.environ.setdefault("RAY_worker_niceness", "0")
            try:
                ray.init(address or None, log_to_driver=False, include_dashboard=False, configure_logging=False)
            except (ConnectionError, RuntimeError, ValueError) as error:
                where = address or os.environ.get("RAY_ADDRESS", "") or "this machine"
                raise UserError(
                    f"There is no Ray cluster at {where}: {first_line(error)}.",
                    hint="Start one with 'ray start --head' and name its HOST:PORT; all machines need the same Ray.",
                ) from error
        try:
            yield ray
        finally:
            if started:
                ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise `UserError` if nothing listens at the address, or at RAY_ADDRESS: Ray itself would retry for minutes."""
    target = address or os.environ.get("RAY_ADDRESS", "")
    if target in ("", "auto", "local"):
        return
    where = target if address else f"{target} (RAY_ADDRESS)"
    host, _, port = target.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise UserError(
            f"{where} is not the address of a cluster: HOST:PORT is expected.",
            hint="'ray start --head' starts a cluster and prints its address; auto means the one on this machine.",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:  # the latter for a port above 65535
        raise UserError(
            f"There is no Ray cluster at {where}: {first_line(error)}.",
            hint="Start one with 'ray start --head' and name its HOST:PORT.",
        ) from error


def cluster_slots(ray: Any, gpus: float) -> tuple[int, float]:
    """Return how many questions the cluster can answer at once, and the GPUs for each: none if it has none."""
    offered = ray.cluster_resources()
    cpus, has = int(offered.get("CPU", 1)), offered.get("GPU", 0.0)
    if gpus <= 0 or has <= 0:
        return max(1, cpus), 0.0
    return max(1, min(cpus, int(has / gpus))), gpus


class RayWorker(Generic[Q, A]):
    """One actor, started with its first question; Ray does not restart it, because a new worker replaces it."""

    def __init__(self, ray: Any, task: Any, images: ImageSender, gpus: float = 0.0) -> None:
        """`task`: the packed task, or a reference to it in the object store."""
        self._ray = ray
        self._task = task
        self._images = images
        self._gpus = gpus
        self._actor: Any = None
        self.waiting = 0
        """Number of questions sent but not yet answered."""

    async def ask(self, question: Q, *, patient: bool = True) -> A:
        """Send the question and wait for its answer. Raises `NoRoom` if the cluster does not start the worker.

        `patient`: wait for the start as long as it takes, because there is no other worker.
        """
        if self._actor is None:
            await self._start(patient=patient)
        data, refs = await asyncio.to_thread(self._images.pack, question)
        self.waiting += 1
        try:
            answer, error = await asyncio.wrap_future(self._actor.ask.remote(data, refs).future())
        except self._ray.exceptions.RayError as error:
            raise self._death(error, "the Ray actor ended") from error
        finally:
            self.waiting -= 1
        if error is not None:
            raise error
        typed: A = answer
        return typed

    async def _start(self, *, patient: bool) -> None:
        remote = self._ray.remote(num_cpus=1, num_gpus=self._gpus, max_restarts=0)
        self._actor = remote(_Actor).remote(self._task)
        started = asyncio.wrap_future(self._actor.ready.remote().future())
        try:
            await asyncio.wait_for(started, None if patient else START_S)
        except TimeoutError as error:
            raise NoRoom("the cluster has no room for another worker") from error
        except self._ray.exceptions.RayError as error:
            raise self._death(error, "the Ray actor did not start") from error

    def _death(self, error: BaseException, task: str) -> BaseException:
        """Return `WorkerDied`, unless the code that the actor ran raised the error: then the actor is still alive.

        Ray has no common class for the end of a worker: one that is killed for memory, one whose machine ended and one
        that is placed nowhere raise errors that are related only by `RayError`.
        """
        kinds = self._ray.exceptions
        raised = isinstance(error, kinds.RayTaskError) and not isinstance(
            error, kinds.RayActorError | kinds.ObjectLostError
        )
        return error if raised else WorkerDied(f"{task}: {first_line(error)}")

    def stop(self, *, at_once: bool) -> None:  # noqa: ARG002
        """End the actor. Its questions are answered by then, or nobody waits for them."""
        if self._actor is not None:
            self._ray.kill(self._actor)


@contextmanager
def ray_executor(
    ray: Any, task: WorkerTask[Q, A], slots: int, gpus: float, images: ImageSender
) -> Iterator[Executor[Q, A]]:
    """Start a worker per slot. If one dies, another gets its question; a new one is started if there is room."""
    data = ray.put(pack_task(task))  # one copy for all workers: it may be large
    workers: list[RayWorker[Q, A] | None] = [RayWorker(ray, data, images, gpus) for _ in range(slots)]
    most = slots

    def worker_of(slot: int) -> RayWorker[Q, A]:
        """Return the slot's worker; if it died and there is no room for a new one, the worker with the least to do."""
        own = workers[slot]
        if own is not None:
            return own
        alive = [worker for worker in workers if worker is not None]
        if not alive or len(alive) < min(most, cluster_slots(ray, gpus)[0]):
            own = workers[slot] = RayWorker(ray, data, images, gpus)
            return own
        return min(alive, key=lambda worker: worker.waiting)

    async def ask(slot: int, question: Q) -> A:
        nonlocal most
        died = 0
        while True:
            worker = worker_of(slot)
            try:
                return await worker.ask(question, patient=all(other in (None, worker) for other in workers))
            except WorkerDied as error:
                worker.stop(at_once=True)
                workers[:] = [None if other is worker else other for other in workers]
                if isinstance(error, NoRoom):
                    most = max(1, sum(other is not None for other in workers))
                    continue
                died += 1
                if died == TRIES:
                    raise

    try:
        yield ask
    finally:
        for worker in workers:
            if worker is not None:
                worker.stop(at_once=True)


def ask_nodes(ray: Any, ask: Callable[..., A], *arguments: Any, timeout_s: float = 120.0) -> dict[str, A | Exception]:
    """Run a function once on every machine of a cluster; return its result or its error by machine id."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    references = {
        node["NodeID"]: ray.remote(num_cpus=0, max_retries=0)(ask)
        .options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
        .remote(*arguments)
        for node in ray.nodes()
        if node["Alive"]
    }
    answers: dict[str, A | Exception] = {}
    for name, answer in references.items():
        try:
            answers[name] = ray.get(answer, timeout=timeout_s)
        except (ray.exceptions.RayError, TimeoutError) as error:
            answers[name] = error
    return answers


class _Actor:
    """On the cluster: holds the task and answers one question after the other."""

    def __init__(self, data: bytes) -> None:
        import ray

        self._data = data
        self._task: WorkerTask[Any, Any] | None = None
        self._images = ImageReceiver(ray.get)
        self._runner = asyncio.Runner()
        """One event loop for all questions: a task may keep something open in it."""

    def ready(self) -> None:
        """Return once the actor has started."""

    def ask(self, question: bytes, refs: dict[str, Any]) -> Any:
        """Return an answer, or an intentionally raised error."""
        try:
            self._task = self._task or unpack_task(self._data)
            return self._runner.run(self._task.outcome(self._images.unpack(question, refs)))
        except UserError as error:
            return None, error
