"""Variants of instructions by a model: plan what was not asked, estimate it, ask, and store every answer."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from imarena import curation
from imarena.core import Progress, content_id, error_message
from imarena.core.records import Evidence, JsonDict, Status, Usage
from imarena.engine import WorkerTask
from imarena.judges import CHARACTERS_PER_TOKEN, Estimate, Size, estimate_sizes
from imarena.storage import Workspace
from imarena.workflows.questions import PastAttempts, Questions, RunOptions, ask, past_attempts, shared_attempts
from imarena.workflows.wiring import ChatTask, JudgeChat, record_run

COMMAND = "curate instructions"
KIND = "instruction_variants"
_MAX_TOKENS = curation.variants_prompt("", "").max_tokens


@dataclass(frozen=True)
class VariantsQuestion:
    """An instruction, and what its image shows."""

    instruction: str
    caption: str = ""

    @property
    def subject(self) -> str:
        """The hash of what is asked, under which the answer is stored."""
        return content_id(KIND, self.instruction, self.caption)


@dataclass(frozen=True)
class VariantsJob:
    """The questions for one model: those without an answer, each with the number of its attempt, and the estimate."""

    chat: JudgeChat
    questions: tuple[VariantsQuestion, ...]
    asks: tuple[tuple[VariantsQuestion, int], ...]
    estimate: Estimate


def plan_variants(workspace: Workspace, chat: JudgeChat, questions: Sequence[VariantsQuestion]) -> VariantsJob:
    """Plan the questions without an ok answer, each once, and estimate them."""
    unique = tuple(dict.fromkeys(questions))
    past = _past_attempts(_stored(workspace, chat))
    asks = [(each, past.attempts.get(each.subject, 0)) for each in unique if each.subject not in past.done]
    earlier = [
        (
            _size(VariantsQuestion(str(value["instruction"]), str(value["caption"]))),
            Usage.model_validate(value["usage"]),
        )
        for value in (record.value for record in _stored(workspace, chat, status=Status.OK.value))
        if isinstance(value, dict)
    ]
    task = ChatTask(chat.endpoint.model, chat, _MAX_TOKENS)
    sizes = [_size(question) for question, _ in asks]
    found = estimate_sizes(task, sizes, earlier, len(unique) - len(asks), concurrency=task.concurrency)
    return VariantsJob(chat, unique, tuple(asks), found)


@dataclass(frozen=True)
class AnsweredVariants:
    """The newest answers by instruction and caption, how the run ended, and what it cost."""

    answers: dict[VariantsQuestion, curation.VariantsAnswer]
    stopped: str = ""
    cost_usd: float = 0.0


def ask_all_variants(workspace: Workspace, job: VariantsJob, *, progress: Progress | None = None) -> AnsweredVariants:
    """Ask what is missing. Ctrl-C or the cost limit stops it cleanly; answers received by then are stored."""
    cost = 0.0

    def on_answer(_: object, answer: curation.VariantsAnswer) -> curation.VariantsAnswer:
        nonlocal cost
        cost += answer.usage.cost_usd or 0.0
        return answer

    def write(batch: list[tuple[tuple[VariantsQuestion, int], curation.VariantsAnswer]]) -> None:
        workspace.store.add([_evidence(job.chat, question, attempt, answer) for (question, attempt), answer in batch])

    def stored(asks: Sequence[tuple[VariantsQuestion, int]]) -> PastAttempts:
        subjects = [question.subject for question, _ in asks]
        return _past_attempts(_stored(workspace, job.chat, image_sha256=subjects))

    shared, _ = shared_attempts(
        workspace.claims(),
        lambda each: content_id("work", KIND, job.chat.endpoint.model, _version(), each[0].subject),
        lambda each: (each[0].subject, each[1]),
        stored,
    )
    questions = Questions(
        job.asks, lambda each: each[0], WorkerTask(_AskVariants(job.chat), _failed),
        lambda each, error: _failed(each[0], error), on_answer, write, shared=shared, stage="instructions",
    )  # fmt: skip
    run_options = RunOptions("threads", job.chat.concurrency, opening=job.chat.opened, progress=progress)
    noted: JsonDict = {"model": job.chat.endpoint.model, "version": _version()}
    with record_run(workspace, COMMAND, noted) as run:
        run.plan(len(job.asks))
        ended = asyncio.run(ask(questions, run_options))
        answers = _answers(workspace, job)
        run.counts = {"instructions": ended.done}
        run.cost_usd = cost
        run.partial = any(answers[each].status is not Status.OK for each in job.questions)
    return AnsweredVariants(answers, ended.stopped, cost)


@dataclass(frozen=True)
class _AskVariants:
    """Asks the model one question and measures the time."""

    chat: JudgeChat

    async def __call__(self, question: VariantsQuestion) -> curation.VariantsAnswer:
        started = time.monotonic()
        answer = await curation.ask_variants(self.chat, question.instruction, question.caption)
        elapsed = {"elapsed_s": round(time.monotonic() - started, 4)}
        return replace(answer, usage=answer.usage.model_copy(update=elapsed))


def _failed(question: VariantsQuestion, error: Exception) -> curation.VariantsAnswer:
    why = f"{type(error).__name__}: {error_message(error)}; rules were used"
    return curation.rule_answer(question.instruction, Status.API_ERROR, why)


def _version() -> str:
    return curation.curation_prompt("instructions").version


def _size(question: VariantsQuestion) -> Size:
    prompt = curation.variants_prompt(question.instruction, question.caption)
    texts = [prompt.system, *(part for part in prompt.parts if isinstance(part, str))]
    return Size(sum(map(len, texts)) / CHARACTERS_PER_TOKEN, 0, 0)


def _stored(workspace: Workspace, chat: JudgeChat, **where: Any) -> Iterator[Evidence]:
    """Yield the stored answers of this model to this version of the prompt, oldest first."""
    for record in workspace.store.records(Evidence, kind=KIND, tool=chat.endpoint.model, **where):
        if record.tool_version == _version():
            yield record


def _past_attempts(records: Iterator[Evidence]) -> PastAttempts:
    return past_attempts(
        (record.image_sha256, int(str(record.params.get("attempt", 0))), record.status is Status.OK)
        for record in records
    )


def _evidence(chat: JudgeChat, question: VariantsQuestion, attempt: int, answer: curation.VariantsAnswer) -> Evidence:
    variants = answer.variants
    value: JsonDict = {
        "instruction": question.instruction, "caption": question.caption, "paraphrases": list(variants.paraphrases),
        "easier": variants.easier, "harder": variants.harder, "note": variants.note, "raw": answer.raw,
        "usage": answer.usage.model_dump(mode="json", exclude_none=True),
    }  # fmt: skip
    return Evidence(
        image_sha256=question.subject, tool=chat.endpoint.model, tool_version=_version(), kind=KIND, value=value,
        params={"attempt": attempt} if attempt else {}, status=answer.status, error=answer.error,
    )  # fmt: skip


def _answers(workspace: Workspace, job: VariantsJob) -> dict[VariantsQuestion, curation.VariantsAnswer]:
    """Return the ok answer to each question, else the last one; variants by rules if it was not asked."""
    records: dict[str, Evidence] = {}
    for record in _stored(workspace, job.chat):
        known = records.get(record.image_sha256)
        if known is None or known.status is not Status.OK:
            records[record.image_sha256] = record
    return {question: _answer(question, records.get(question.subject)) for question in job.questions}


def _answer(question: VariantsQuestion, record: Evidence | None) -> curation.VariantsAnswer:
    if record is None:
        why = "not asked: the run was stopped; rules were used"
        return curation.rule_answer(question.instruction, Status.MISSING_OUTPUT, why)
    value: Any = record.value
    variants = curation.InstructionVariants(
        question.instruction, tuple(value["paraphrases"]), value["easier"], value["harder"], value["note"]
    )
    return curation.VariantsAnswer(variants, record.status, record.error, Usage.model_validate(value["usage"]))
