"""Asking for expected objects: what is missing, what it will take, and the run itself."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from imarena.core import Exhibit, ImarenaError, UserError, Verdict
from imarena.core.records import Evidence, ImageRef, JsonDict, Record, Reply, Status, Usage
from imarena.engine import RunPlan, RunTally, run_async
from imarena.judges import Estimate, Size, estimate_sizes, picture_tokens, question_size
from imarena.storage import Workspace
from imarena.workflows.questions.expected_objects import (
    KIND,
    ObjectListSubject,
    identity_of,
    objects_evidence,
    questions,
    stored,
    work_of,
)
from imarena.workflows.questions.judging import JudgeReport, Watch
from imarena.workflows.wiring import Wired, noted


@dataclass(frozen=True)
class ObjectsQuestion:
    """A question that has no list yet, and the number of this attempt at it."""

    question: ObjectListSubject
    attempt: int


@dataclass
class ObjectsJob:
    """One lister and everything that it is to be asked."""

    wired: Wired
    asks: list[ObjectsQuestion]
    estimate: Estimate
    concurrency: int
    done_before: int


def plan_objects(
    workspace: Workspace,
    wired: Wired,
    *,
    datasets: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    concurrency: int | None = None,
) -> ObjectsJob:
    """What is missing and what it will take. Only an ok list counts as there: failures are asked again."""
    found = questions(workspace, datasets=datasets, tasks=tasks)
    if not found:
        raise UserError("There are no items to list things for.", hint="Import some: imarena import --list.")
    wanted = identity_of(wired.judge)
    done: set[str] = set()
    attempts: dict[str, int] = {}
    for listed in stored(workspace, tool=wired.judge.name):
        if listed.identity == wanted:
            attempts[listed.subject] = max(attempts.get(listed.subject, 0), listed.attempt + 1)
            if listed.status is Status.OK:
                done.add(listed.subject)
    asks = [ObjectsQuestion(question, attempts.get(key, 0)) for key, question in found.items() if key not in done]
    lanes = concurrency or wired.concurrency
    before = len(found) - len(asks)
    sizes = [_size(wired, ask.question) for ask in asks]
    took = estimate_sizes(wired, sizes, _past(workspace, wired, found), before, concurrency=lanes)
    return ObjectsJob(wired, asks, took, lanes, before)


def _size(wired: Wired, question: ObjectListSubject) -> Size:
    prompts = wired.judge.traits.prompts
    if not prompts:
        return Size(0, 0, 0)
    images = {image.sha256.encode(): image for image in (*question.sources, *question.references)}
    return question_size(prompts.values(), _skeleton(question), lambda part: picture_tokens(wired, images[part]))


def _skeleton(question: ObjectListSubject) -> Exhibit:
    """The exhibit with a hash in the place of each picture."""

    def marks(images: tuple[ImageRef, ...]) -> tuple[bytes, ...]:
        return tuple(image.sha256.encode() for image in images)

    return Exhibit(question.instruction, b"", sources=marks(question.sources), references=marks(question.references))


def _past(workspace: Workspace, wired: Wired, found: dict[str, ObjectListSubject]) -> list[tuple[Size, Usage]]:
    """What earlier lists by the same model took."""
    past = []
    where = {"tool": wired.judge.name, "kind": KIND, "status": Status.OK.value}
    for evidence in workspace.store.records(Evidence, **where):
        usage = evidence.value.get("usage") if isinstance(evidence.value, dict) else None
        if evidence.image_sha256 in found and isinstance(usage, dict):
            past.append((_size(wired, found[evidence.image_sha256]), Usage.model_validate(usage)))
    return past


def list_objects(workspace: Workspace, job: ObjectsJob, *, watch: Watch | None = None) -> JudgeReport:
    """Ask everything that is missing. Stops cleanly at Ctrl-C or the cost limit; what came by then is stored."""
    lister = job.wired.judge
    report = JudgeReport(lister.name, planned=len(job.asks), done_before=job.done_before)
    noting: JsonDict = {"judge": lister.name, "params": lister.params}
    with noted(workspace, "objects", noting) as ongoing:
        ongoing.plan(report.planned)

        def counted(ask: ObjectsQuestion, verdict: Verdict) -> tuple[ObjectsQuestion, Verdict]:
            report.add(verdict)
            if watch:
                watch(report, sum(report.judgments.values()), report.planned)
            return ask, verdict

        async def do(ask: ObjectsQuestion) -> tuple[ObjectsQuestion, Verdict]:
            try:
                exhibit = _exhibit(workspace, ask.question)
            except ImarenaError as error:  # a picture was withdrawn, or its file is gone
                return counted(ask, Verdict(Status.INVALID_IMAGE, error=str(error)))
            started = time.monotonic()
            verdict = await lister.judge(exhibit)
            if verdict.usage.latency_s is None:
                took = {"latency_s": round(time.monotonic() - started, 4)}
                verdict = replace(verdict, usage=verdict.usage.model_copy(update=took))
            return counted(ask, verdict)

        def failed(ask: ObjectsQuestion, error: Exception) -> tuple[ObjectsQuestion, Verdict]:
            return counted(ask, Verdict(Status.API_ERROR, error=f"{type(error).__name__}: {error}"))

        def write(batch: list[tuple[ObjectsQuestion, Verdict]]) -> None:
            workspace.store.add([record for one in batch for record in _records(job.wired, *one, ongoing.run_id)])

        plan = RunPlan(job.asks, do, failed, write, total=len(job.asks), stage="objects", concurrency=job.concurrency)

        async def whole() -> RunTally:
            async with job.wired.door.opened() if job.wired.door else nullcontext():
                return await run_async(plan)

        try:
            tally = asyncio.run(whole()) if job.asks else RunTally()
            report.stopped, report.seconds = tally.stopped, tally.seconds
        finally:
            ongoing.counts = dict(report.judgments) | ({"missing": report.missing} if report.missing else {})
            ongoing.cost_usd = report.cost_usd
            ongoing.partial = report.missing > 0
    return report


def _exhibit(workspace: Workspace, question: ObjectListSubject) -> Exhibit:
    return Exhibit(
        instruction=question.instruction,
        left=b"",
        sources=tuple(workspace.load(image) for image in question.sources),
        references=tuple(workspace.load(image) for image in question.references),
    )


def _records(wired: Wired, ask: ObjectsQuestion, verdict: Verdict, run_id: str) -> list[Record]:
    """The raw reply first, then the list that was read from it."""
    subject = ask.question.subject
    records: list[Record] = []
    value: JsonDict = {**verdict.reasons, "instruction": ask.question.instruction}
    usage = verdict.usage.model_dump(exclude_none=True)
    if usage:
        value["usage"] = usage
    if verdict.raw:
        reply = Reply(
            work_id=work_of(wired.judge, subject), attempt=ask.attempt, raw=verdict.raw, usage=verdict.usage,
            model=verdict.model, run_id=run_id,
        )  # fmt: skip
        records.append(reply)
        value["reply_id"] = reply.reply_id
    records.append(objects_evidence(wired.judge, subject, ask.attempt, value, verdict.status, verdict.error))
    return records
