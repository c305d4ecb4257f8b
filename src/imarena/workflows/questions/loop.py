"""The loop: load each question, get an answer, count it, store it; stop at Ctrl-C or a cost limit.

Callers handle resuming: they plan only questions without an ok answer in the store. Questions that another process on
the same database is asking are left to it, and taken over if it ends without an answer (``shared_work.py``).
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from imarena.core import DatabaseFailed, ExecutorKind, ImarenaError, Judge, Progress
from imarena.engine import FLUSH_S, SOON_S, RunPlan, RunTally, WorkerDied, WorkerTask, open_executor, run_plan
from imarena.workflows.questions.image_loading import ImageLoader
from imarena.workflows.questions.shared_work import ClaimedWork, SharedWork, retry_when_busy

W = TypeVar("W")
Q = TypeVar("Q")
A = TypeVar("A")


@dataclass(frozen=True)
class Questions(Generic[W, Q, A]):
    """The questions, and what happens to the answers."""

    work: Sequence[W]
    load: Callable[[W], Q]
    """Loads the content of a question, in a thread of this process."""
    task: WorkerTask[Q, A]
    """Answers it. Runs in other processes if the executor has some."""
    on_load_error: Callable[[W, Exception], A]
    """Returns the answer (a status) when a question could not be loaded. An exception ends the run."""
    on_answer: Callable[[W, A], A]
    """Counts the answer, or raises to end the run."""
    write: Callable[[list[tuple[W, A]]], None]
    """Stores a batch of answers, in one transaction."""
    store_blobs: Callable[[W, A], A] | None = None
    """Stores the large parts of an answer before it is counted, in a thread of this process."""
    group: Callable[[W], str] | None = None
    """Groups questions about the same images: if answers are computed, one worker gets a whole group if possible."""
    shared: SharedWork[W] | None = None
    """How to share the work with other processes on the same database; None: not shared."""
    images: ImageLoader | None = None
    """Loads the images for `load`, if questions share them: an executor may have some already."""
    stage: str = "questions"
    flush_s: float | None = None
    """See `RunPlan`; None: computed answers are stored in large batches, others (paid for) as soon as they arrive."""
    on_stop: Callable[[], None] = lambda: None
    """Called at Ctrl-C. A question of several steps can then raise `NotNow` before its next step."""


@dataclass(frozen=True)
class RunOptions:
    """How questions are asked."""

    executor: ExecutorKind = "auto"
    concurrency: int | None = None
    """How many questions run at once; None: as many as the executor has room for."""
    computes: bool = False
    """Whether answers are computed locally."""
    opening: Callable[[], AbstractAsyncContextManager[object]] | None = None
    """A context to keep open during the run, such as an endpoint's client. With it, questions run in this process; only
    on Ray, each worker opens it for itself, so it must be a model there, not a connection."""
    judge: Judge | None = None
    """The judge in a form that can be sent to workers, if its own form cannot."""
    gpus: float = 0.0
    """GPUs per worker, if the executor is a cluster with GPUs."""
    progress: Progress | None = None


async def ask(questions: Questions[W, Q, A], run_options: RunOptions) -> RunTally:
    """Ask all questions. Ctrl-C and the cost limit stop it cleanly; answers received by then are stored."""
    count = len(questions.work)
    if not count:
        return RunTally()
    async with AsyncExitStack() as stack:
        kind, task = run_options.executor, questions.task
        if run_options.opening is not None and kind == "ray":
            task = replace(task, opening=run_options.opening)
        elif run_options.opening is not None:
            kind = "threads"
            await stack.enter_async_context(run_options.opening())
        executor = await stack.enter_async_context(
            open_executor(
                kind, task, count, computes=run_options.computes, at_once=run_options.concurrency, gpus=run_options.gpus
            )
        )

        if questions.images is not None:
            questions.images.held = executor.held
        claimed: ClaimedWork[W] | None = None
        if questions.shared is not None:
            claims = stack.enter_context(questions.shared.claims)
            claimed = ClaimedWork(questions.shared, claims, questions.work, executor.slots)

        async def do(slot: int, work: W) -> tuple[W, A]:
            if claimed is not None:
                await claimed.hold(work)
            try:
                question = await asyncio.to_thread(questions.load, work)
            except DatabaseFailed:  # says nothing about this question
                raise
            except ImarenaError as error:  # the image was withdrawn or its file is gone: `verify` reports which
                return settled(work, questions.on_load_error(work, error))
            try:
                answer = await executor.ask(slot, question)
            except WorkerDied as error:
                answer = questions.task.failed(question, error)
            if questions.store_blobs is not None:
                answer = await asyncio.to_thread(questions.store_blobs, work, answer)
            return settled(work, answer)

        def settled(work: W, answer: A) -> tuple[W, A]:
            return work, questions.on_answer(work, answer)

        def failed(work: W, error: Exception) -> tuple[W, A]:
            return settled(work, questions.on_load_error(work, error))

        def write(batch: list[tuple[W, A]]) -> None:
            retry_when_busy(partial(questions.write, batch))
            if claimed is not None:
                retry_when_busy(partial(claimed.written, [work for work, _ in batch]))

        usual_s = FLUSH_S if run_options.computes else SOON_S
        plan = RunPlan(
            questions.work, do, failed, write, total=count, stage=questions.stage,
            concurrency=executor.slots, group=questions.group if run_options.computes else None,
            flush_s=usual_s if questions.flush_s is None else questions.flush_s, on_stop=questions.on_stop,
        )  # fmt: skip
        return await run_plan(plan, progress=run_options.progress)
