"""The loop: show each question, have it answered somewhere, count the answer, store it; stop at Ctrl-C or a cost limit.

Resuming is the callers': they plan only what has no ok answer in the store. What another process on the same database
is asking meanwhile is left to it, and taken over where it ends without an answer (``shared_work.py``).
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from imarena.core import DatabaseFailed, ExecutorKind, ImarenaError, Progress
from imarena.engine import FLUSH_S, RunPlan, RunTally, WorkerDied, WorkerTask, open_executor, run_plan
from imarena.workflows.questions.shared_work import ClaimedWork, SharedWork, patiently

W = TypeVar("W")
Q = TypeVar("Q")
A = TypeVar("A")


@dataclass(frozen=True)
class Questions(Generic[W, Q, A]):
    """What is to be asked, and what becomes of the answers."""

    work: Sequence[W]
    show: Callable[[W], Q]
    """Loads what the question shows, in a thread of this process."""
    task: WorkerTask[Q, A]
    """Answers it. It goes to other processes where the executor has some."""
    unshown: Callable[[W, Exception], A]
    """The answer where a question could not be shown: a status. What it raises ends the run."""
    settle: Callable[[W, A], A]
    """Counts the answer, or raises to end the run."""
    write: Callable[[list[tuple[W, A]]], None]
    """Stores a batch of answers, in one transaction."""
    keep: Callable[[W, A], A] | None = None
    """Stores the large parts of an answer before it is counted, in a thread of this process."""
    group: Callable[[W], str] | None = None
    """Questions about the same pictures: where answers are computed, one worker gets them all, as far as possible."""
    shared: SharedWork[W] | None = None
    """How the work is told apart from that of other processes on the same database, which may ask the same."""
    stage: str = "questions"
    flush_s: float = FLUSH_S


@dataclass(frozen=True)
class Terms:
    """How questions are asked."""

    executor: ExecutorKind = "auto"
    concurrency: int | None = None
    """Questions at once; None: as many as the executor has room for."""
    computes: bool = False
    """Is an answer all computing?"""
    opening: Callable[[], AbstractAsyncContextManager[object]] | None = None
    """What has to be open meanwhile, such as an endpoint's client. With it questions are asked from this process."""
    gpus: float = 0.0
    """GPUs for each worker, where the executor is a cluster that has some."""
    progress: Progress | None = None


async def ask(questions: Questions[W, Q, A], terms: Terms) -> RunTally:
    """Ask everything. Ctrl-C and the cost limit end it cleanly; what was answered by then is stored."""
    count = len(questions.work)
    if not count:
        return RunTally()
    async with AsyncExitStack() as stack:
        if terms.opening is not None:
            await stack.enter_async_context(terms.opening())
        kind: ExecutorKind = "threads" if terms.opening is not None else terms.executor
        executor = await stack.enter_async_context(
            open_executor(
                kind, questions.task, count, computes=terms.computes, at_once=terms.concurrency, gpus=terms.gpus
            )
        )

        claimed: ClaimedWork[W] | None = None
        if questions.shared is not None:
            claims = stack.enter_context(questions.shared.claims)
            claimed = ClaimedWork(questions.shared, claims, questions.work, executor.slots)

        async def do(slot: int, work: W) -> tuple[W, A]:
            if claimed is not None:
                await claimed.hold(work)
            try:
                question = await asyncio.to_thread(questions.show, work)
            except DatabaseFailed:  # no fact about this question
                raise
            except ImarenaError as error:  # a picture was withdrawn, or its file is gone: `verify` tells which
                return settled(work, questions.unshown(work, error))
            try:
                answer = await executor.ask(slot, question)
            except WorkerDied as error:
                answer = questions.task.failed(question, error)
            if questions.keep is not None:
                answer = await asyncio.to_thread(questions.keep, work, answer)
            return settled(work, answer)

        def settled(work: W, answer: A) -> tuple[W, A]:
            return work, questions.settle(work, answer)

        def failed(work: W, error: Exception) -> tuple[W, A]:
            return settled(work, questions.unshown(work, error))

        def write(batch: list[tuple[W, A]]) -> None:
            patiently(partial(questions.write, batch))
            if claimed is not None:
                patiently(partial(claimed.written, [work for work, _ in batch]))

        plan = RunPlan(
            questions.work, do, failed, write, total=count, stage=questions.stage,
            concurrency=executor.slots, group=questions.group if terms.computes else None, flush_s=questions.flush_s,
        )  # fmt: skip
        return await run_plan(plan, progress=terms.progress)
