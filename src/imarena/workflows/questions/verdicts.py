"""Questions to a judge: the loop asks them; they are timed, counted by status, and stored with their run."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from imarena.core import Exhibit, ImarenaError, InvalidImage, Judge, Verdict, error_message
from imarena.core.records import JsonDict, Record, Status
from imarena.engine import WorkerTask
from imarena.judges import checked_verdict
from imarena.storage import Workspace
from imarena.workflows.questions.image_loading import ImageLoader
from imarena.workflows.questions.loop import Questions, RunOptions, ask
from imarena.workflows.questions.report import JudgeReport, JudgeTally, Watch
from imarena.workflows.questions.shared_work import SharedWork
from imarena.workflows.wiring import record_run

W = TypeVar("W")


@dataclass(frozen=True)
class JudgeQuestion:
    """A question as a judge receives it."""

    exhibit: Exhibit
    held: Mapping[str, str] | None = None
    """For a judge with several questions: answers from earlier attempts, which are not asked for again."""
    draw: Callable[[Exhibit], Exhibit] | None = None
    """Processes the images where the judge runs, before it is asked."""


@dataclass(frozen=True)
class AskJudge:
    """Asks a judge a question and measures the time."""

    judge: Judge
    lists: bool = False
    """The judge is asked for a list, not a verdict."""

    async def __call__(self, question: JudgeQuestion) -> Verdict:
        """Ask the judge; skip questions that an earlier attempt got an answer to."""
        exhibit = question.exhibit
        if question.draw is not None:
            try:
                exhibit = await asyncio.to_thread(question.draw, exhibit)
            except InvalidImage as error:
                return Verdict(Status.INVALID_IMAGE, error=str(error))
        started = time.monotonic()
        resumable = self.judge.traits.resumable
        if question.held is not None and resumable is not None:
            verdict = checked_verdict(await resumable.resume(exhibit, question.held), lists=self.lists)
        else:
            verdict = checked_verdict(await self.judge.judge(exhibit), lists=self.lists)
        took = {"elapsed_s": round(time.monotonic() - started, 4)}
        if verdict.usage.latency_s is None:
            took["latency_s"] = took["elapsed_s"]
        return replace(verdict, usage=verdict.usage.model_copy(update=took))


def failed_verdict(_: object, error: Exception) -> Verdict:
    """Convert an unexpected failure to a status."""
    if isinstance(error, ImarenaError):
        return Verdict(Status.INVALID_IMAGE, error=str(error))
    return Verdict(Status.API_ERROR, error=f"{type(error).__name__}: {error_message(error)}")


@dataclass(frozen=True)
class JudgeRun(Generic[W]):
    """One judge and all questions for it in a run."""

    command: str
    settings: JsonDict
    """Settings for the run's record."""
    judge: Judge
    work: Sequence[W]
    load: Callable[[W], JudgeQuestion]
    records: Callable[[Sequence[tuple[W, Verdict]], str], Iterable[Record]]
    """Returns the records of a batch, given the run's id: each raw reply first, then what was parsed from it."""
    check: Callable[[Verdict, W], Verdict] = lambda verdict, _: verdict
    """Checks or replaces a verdict before it is counted. An exception ends the run."""
    duplicates: Callable[[W], int] = lambda _: 0
    """Returns how many further outputs an answer counts for."""
    copies: Callable[[str], Sequence[Record]] = lambda _: ()
    """Returns the records, given the run's id, that follow from earlier answers; they are stored first."""
    group: Callable[[W], str] | None = None
    to_write: int | None = None
    """Number of records that the run will write; None: one for each question."""
    lists: bool = False
    """The judge is asked for lists, not verdicts."""
    shared: SharedWork[W] | None = None
    """How to share the work with other processes on the same database; None: not shared."""
    images: ImageLoader | None = None
    """Loads the images for `load`, if questions share them."""
    finish: Callable[[Sequence[W], str], int] = lambda _, __: 0
    """Receives the work that other processes asked, and the run's id; returns how many of it have no answer."""


def ask_judge(
    workspace: Workspace, run: JudgeRun[W], tally: JudgeTally, run_options: RunOptions, watch: Watch | None = None
) -> JudgeReport:
    """Ask all questions, and record the run: its plan, its results, its cost."""
    tally.planned = len(run.work)
    stopped, seconds = "", 0.0
    with record_run(workspace, run.command, run.settings) as ongoing:
        ongoing.plan(tally.planned if run.to_write is None else run.to_write)
        copies = run.copies(ongoing.run_id)
        workspace.store.add(copies)

        def on_answer(work: W, verdict: Verdict) -> Verdict:
            verdict = run.check(verdict, work)
            tally.add(verdict, run.duplicates(work))
            if watch:
                watch(tally, tally.judgments.total(), tally.planned)
            return verdict

        def write(batch: list[tuple[W, Verdict]]) -> None:
            workspace.store.add(run.records(batch, ongoing.run_id))

        elsewhere: list[W] = []

        def leave(work: W) -> None:
            elsewhere.append(work)
            tally.leave(1)

        shared = replace(run.shared, elsewhere=leave) if run.shared is not None else None
        task = WorkerTask(AskJudge(run_options.judge or run.judge, run.lists), failed_verdict)
        stage = f"judgments by {run.judge.name}"
        try:
            questions = Questions(
                run.work, run.load, task, failed_verdict, on_answer, write, None, run.group, shared, run.images, stage
            )
            result = asyncio.run(ask(questions, run_options))
            stopped, seconds = result.stopped, result.seconds
            if elsewhere:
                tally.leave(-run.finish(elsewhere, ongoing.run_id))
        finally:
            report = tally.report(stopped=stopped, seconds=seconds)
            ongoing.counts = dict(report.stored + Counter({Status.OK.value: len(copies)}))
            ongoing.cost_usd = report.cost_usd
            ongoing.partial = report.missing > 0
            if report.missing:
                ongoing.counts["missing"] = report.missing
    return report
