"""Ask for expected objects: plan the missing lists, estimate the cost, run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from imarena.core import Exhibit, Judge, UserError, Verdict, command_line
from imarena.core.records import Evidence, ImageRef, JsonDict, Record, Reply, Status, Usage
from imarena.judges import Estimate, Size, endpoint_tokens, estimate_sizes, question_size
from imarena.storage import Workspace
from imarena.workflows.questions.executor_choice import judge_run_options
from imarena.workflows.questions.expected_objects import (
    KIND,
    ObjectListSubject,
    identity_of,
    objects_evidence,
    questions,
    stored_object_lists,
    work_of,
)
from imarena.workflows.questions.loop import RunOptions
from imarena.workflows.questions.past_attempts import PastAttempts, past_attempts, shared_attempts
from imarena.workflows.questions.report import JudgeReport, JudgeTally, Watch
from imarena.workflows.questions.verdicts import JudgeQuestion, JudgeRun, ask_judge
from imarena.workflows.wiring import WiredJudge


@dataclass(frozen=True)
class ObjectsQuestion:
    """A question that has no list yet, and the number of the next attempt."""

    question: ObjectListSubject
    attempt: int


@dataclass(frozen=True)
class ObjectsJob:
    """One lister and all questions for it."""

    wired: WiredJudge
    asks: list[ObjectsQuestion]
    estimate: Estimate
    done_before: int
    run_options: RunOptions


def plan_objects(
    workspace: Workspace,
    wired: WiredJudge,
    *,
    datasets: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    concurrency: int | None = None,
) -> ObjectsJob:
    """Plan the missing lists and estimate their cost. Only an ok list counts as done: failures are asked again."""
    subjects = questions(workspace, datasets=datasets, tasks=tasks)
    if not subjects:
        raise UserError("There are no items to list things for.", hint=f"Import some: {command_line('import --list')}")
    past = _past_attempts(workspace, wired.judge)
    asks = [
        ObjectsQuestion(question, past.attempts.get(key, 0))
        for key, question in subjects.items()
        if key not in past.done
    ]
    before = len(subjects) - len(asks)
    sizes = [_size(wired, ask.question) for ask in asks]
    took = estimate_sizes(
        wired, sizes, _past(workspace, wired, subjects), before, concurrency=concurrency or wired.concurrency
    )
    # a lister waits for an endpoint or reads an instruction in a millisecond: other processes would not help
    run_options = judge_run_options(workspace.settings, wired, executor="threads", concurrency=concurrency)
    return ObjectsJob(wired, asks, took, before, run_options)


def _past_attempts(workspace: Workspace, lister: Judge, **where: Any) -> PastAttempts:
    """Return what this lister was asked before."""
    identity = identity_of(lister)
    return past_attempts(
        (entry.subject, entry.attempt, entry.status is Status.OK)
        for entry in stored_object_lists(workspace, tool=lister.name, **where)
        if entry.identity == identity
    )


def _size(wired: WiredJudge, question: ObjectListSubject) -> Size:
    prompts = wired.judge.traits.prompts
    if not prompts:
        return Size(0, 0, 0)
    images = {image.sha256.encode(): image for image in (*question.sources, *question.references)}
    placeholder = _exhibit(question, lambda image: image.sha256.encode())
    return question_size(prompts.values(), placeholder, lambda part: endpoint_tokens(wired.endpoint, images[part]))


def _past(workspace: Workspace, wired: WiredJudge, subjects: dict[str, ObjectListSubject]) -> list[tuple[Size, Usage]]:
    """Return the usage of earlier lists by the same model."""
    past = []
    where = {"tool": wired.judge.name, "kind": KIND, "status": Status.OK.value}
    for evidence in workspace.store.records(Evidence, **where):
        usage = evidence.value.get("usage") if isinstance(evidence.value, dict) else None
        if evidence.image_sha256 in subjects and isinstance(usage, dict):
            past.append((_size(wired, subjects[evidence.image_sha256]), Usage.model_validate(usage)))
    return past


def list_objects(workspace: Workspace, job: ObjectsJob, *, watch: Watch | None = None) -> JudgeReport:
    """Ask all missing questions. Ctrl-C or the cost limit stops it cleanly; answers received by then are stored."""
    lister = job.wired.judge

    def key(ask: ObjectsQuestion) -> str:
        return work_of(lister, ask.question.subject)

    def stored(asks: Sequence[ObjectsQuestion]) -> PastAttempts:
        return _past_attempts(workspace, lister, image_sha256=[ask.question.subject for ask in asks])

    shared, finish = shared_attempts(workspace.claims(), key, lambda ask: (ask.question.subject, ask.attempt), stored)
    run = JudgeRun(
        "objects", {"judge": lister.name, "params": lister.params}, lister, job.asks,
        lambda ask: JudgeQuestion(_exhibit(ask.question, workspace.load)), partial(_records, job.wired), lists=True,
        shared=shared, finish=finish,
    )  # fmt: skip
    return ask_judge(workspace, run, JudgeTally(lister.name, job.done_before), job.run_options, watch)


def _exhibit(question: ObjectListSubject, load: Callable[[ImageRef], bytes]) -> Exhibit:
    return Exhibit(
        question.instruction, b"", sources=tuple(map(load, question.sources)),
        references=tuple(map(load, question.references)),
    )  # fmt: skip


def _records(wired: WiredJudge, batch: Sequence[tuple[ObjectsQuestion, Verdict]], run_id: str) -> Iterator[Record]:
    """Yield the raw reply first, then the list that was parsed from it."""
    for ask, verdict in batch:
        subject = ask.question.subject
        usage = verdict.usage.model_dump(exclude_none=True)
        value: JsonDict = {**verdict.reasons, "instruction": ask.question.instruction}
        if usage:
            value["usage"] = usage
        if verdict.raw:
            reply = Reply(
                work_id=work_of(wired.judge, subject), attempt=ask.attempt, raw=verdict.raw, usage=verdict.usage,
                model=verdict.model, run_id=run_id,
            )  # fmt: skip
            yield reply
            value["reply_id"] = reply.reply_id
        yield objects_evidence(wired.judge, subject, ask.attempt, value, verdict.status, verdict.error)
