"""From verdicts to stored records: the raw reply first, then the judgment that was parsed from it."""

from collections.abc import Iterable, Iterator
from typing import Any

from imarena.core import Judge, UserError, Verdict, command_line
from imarena.core.records import JsonDict, Judgment, Record, Reply, Status, Usage, now
from imarena.judges import ORDERS_PARAM, mirror_reasons, mirror_scores, to_recorded_sides
from imarena.storage import Workspace
from imarena.workflows.questions.cases import Case
from imarena.workflows.questions.judging_plan import CaseWork, case_key


def records_of(
    judge: Judge, batch: Iterable[tuple[CaseWork, Verdict]], run_id: str, *, dimension: str, orders: str
) -> Iterator[Record]:
    """Yield the replies, measurements and judgments of a batch of verdicts."""
    params: JsonDict = {**judge.params, **({ORDERS_PARAM: orders} if orders else {})}
    reader = judge.traits.reader
    parser_version = reader.parser_version if reader is not None else ""
    for work, verdict in batch:
        reply = reply_of(work, verdict, run_id)
        if reply is not None:
            yield reply
        yield from verdict.evidence
        for case in (work.case, *work.duplicates):
            left, right, _ = case_key(case)
            yield Judgment(
                work_id=work.work_id,
                attempt=work.attempt,
                judge=judge.name,
                judge_version=judge.version,
                prompt_id=judge.prompt_id,
                prompt_version=judge.prompt_version,
                params=params,
                item_id=case.item.item_id,
                turn=case.left.turn,
                left_id=left,
                right_id=right,
                order=case.order,
                repeat=case.repeat,
                dimension=dimension,
                reply_id=reply.reply_id if reply else None,
                usage=verdict.usage if case is work.case else Usage(),
                run_id=run_id,
                parser_version=parser_version,
                **_verdict_fields(to_recorded_sides(verdict, case.order) if case.order is not None else verdict),
            )


class NotCompared(UserError):
    """A judge that scores single outputs was asked to compare two."""


def check_comparison(judge: Judge, verdict: Verdict) -> Verdict:
    """Check that a verdict on two outputs prefers one or calls a tie. Raises `NotCompared` if it is a score.

    Such a judge has not failed, and asking again would not help, so nothing of it is stored.
    """
    if verdict.status is not Status.OK or verdict.preference is not None:
        return verdict
    if verdict.score is not None:
        raise NotCompared(
            f"The judge '{judge.name}' returned a score instead of a preference. Nothing was stored.",
            hint=f"Ask it with `{command_line('judge')}` and the same --judge: boards turn its scores into pairs "
            "automatically. "
            "A judge that compares gives a Verdict with a `preference`.",
        )
    message = "The judge gave no preference between the two outputs."
    return Verdict(
        Status.UNPARSABLE,
        error=message,
        raw=verdict.raw,
        model=verdict.model,
        usage=verdict.usage,
        answered=verdict.answered,
    )


def reply_of(work: CaseWork, verdict: Verdict, run_id: str) -> Reply | None:
    """Return the raw answer, with the answers of earlier attempts; None if there is none."""
    if not verdict.raw:
        return None
    return Reply(
        work_id=work.work_id, attempt=work.attempt, raw=verdict.raw, usage=verdict.usage, model=_models(work, verdict),
        run_id=run_id, answered=_attempt_of_answer(work, verdict),
    )  # fmt: skip


def _attempt_of_answer(work: CaseWork, verdict: Verdict) -> dict[str, int]:
    """Return the answered questions, and the attempt that received each answer."""
    before = dict(work.held.attempts) if work.held else {}
    return before | dict.fromkeys(verdict.answered, work.attempt)


def _models(work: CaseWork, verdict: Verdict) -> str:
    """Return the models that answered, including those of earlier attempts."""
    names = [*(work.held.model.split(", ") if work.held else ()), *verdict.model.split(", ")]
    return ", ".join(sorted({name for name in names if name}))


def with_new_reading(old: Judgment, verdict: Verdict, parser_version: str) -> Judgment:
    """Return the judgment that replaces an old one whose reply was parsed again."""
    update = {"parser_version": parser_version, "supersedes": old.judgment_id, "created_at": now()}
    return old.model_copy(update=_verdict_fields(verdict) | update)


def _verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """Return the fields of a judgment that come from a verdict."""
    return {
        "status": verdict.status,
        "preference": verdict.preference,
        "score": verdict.score,
        "scores": dict(verdict.scores),
        "success": verdict.success,
        "confidence": verdict.confidence,
        "reasons": dict(verdict.reasons),
        "error": verdict.error,
    }


def copies_of(workspace: Workspace, copies: list[tuple[Case, str]], run_id: str) -> list[Record]:
    """Return judgments for outputs with the same pixels as a judged one: the same verdict, paid for once."""
    records: list[Record] = []
    for case, identity in copies:
        old = workspace.store.get(Judgment, identity)
        if old is None:
            continue
        left, right, _ = case_key(case)
        preference, scores, reasons = old.preference, old.scores, old.reasons
        if old.order is not case.order:
            preference = preference.mirrored() if preference is not None else None
            scores, reasons = mirror_scores(scores), mirror_reasons(reasons)
        update = {
            "item_id": case.item.item_id, "turn": case.left.turn, "left_id": left, "right_id": right,
            "order": case.order, "preference": preference, "scores": scores, "reasons": reasons,
            "usage": Usage(), "run_id": run_id, "supersedes": None, "created_at": now(),
        }  # fmt: skip
        records.append(old.model_copy(update=update))
    return records
