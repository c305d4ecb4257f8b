"""judge and battle: show outputs to judges; resume does only what is missing."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from imarena.core.errors import UserError
from imarena.core.ids import content_id
from imarena.core.protocols import Exhibit, Judge, Progress, Verdict
from imarena.core.records import JsonDict, Judgment, Order, Output, Record, Reply, Status, Usage, now
from imarena.engine import Plan, Tally, computing, run_async
from imarena.judges.orders import mirrored_scores, recorded, shown
from imarena.storage import Workspace
from imarena.workflows.cases import Board, Case, load_board, pointwise_cases, sides
from imarena.workflows.exhibits import exhibit_of, instruction_of, references_of, sources_of
from imarena.workflows.runs import Ongoing, noted

__all__ = [
    "Asking",
    "Board",
    "Case",
    "CaseWork",
    "JudgeReport",
    "judge_cases",
    "load_board",
    "plan_cases",
    "pointwise_cases",
    "sides",
    "work_id",
]

ORDERS = "orders"
"""Where a judgment's parameters say that its battle is fought in one order only, and how that order was chosen."""


@dataclass(frozen=True)
class CaseWork:
    """A case with its identity and the number of attempts before."""

    case: Case
    work_id: str
    attempt: int
    twins: list[Case] = field(default_factory=list)
    """Other outputs with the very same pixels: asked about once, recorded for each."""


@dataclass
class JudgeReport:
    """What a judging run did."""

    judge: str
    judgments: Counter[str] = field(default_factory=Counter)
    done_before: int = 0
    unfit: Counter[str] = field(default_factory=Counter)
    """Cases that the judge cannot be shown, by reason. They are not asked and not missing."""
    planned: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    stopped: str = ""

    @property
    def missing(self) -> int:
        """Cases of this run that have no verdict yet."""
        return self.planned - self.judgments[Status.OK.value]

    def add(self, verdict: Verdict) -> None:
        """Count a verdict or a failure."""
        self.judgments[verdict.status.value] += 1
        self.cost_usd += verdict.usage.cost_usd or 0.0
        self.input_tokens += verdict.usage.input_tokens or 0
        self.output_tokens += verdict.usage.output_tokens or 0

    def merge(self, later: "JudgeReport") -> None:
        """Add a later round of the same run."""
        self.judgments.update(later.judgments)
        self.unfit.update(later.unfit)
        for name in ("done_before", "planned", "cost_usd", "input_tokens", "output_tokens", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.stopped = later.stopped

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        counts = {"judgments": dict(self.judgments), "unfit": dict(self.unfit), "missing": self.missing}
        return {**self.__dict__, **counts}


Watch = Callable[[JudgeReport, int, int], None]
"""Told after every verdict: the report so far, how many are done, how many there are."""


@dataclass(frozen=True)
class Asking:
    """How cases are put to a judge."""

    command: str = "judge"
    dimension: str = "overall"
    orders: str = ""
    """Empty, or `single` or `paper-compat` where each battle is shown in one order only."""
    concurrency: int = 8
    opening: Callable[[], AbstractAsyncContextManager[object]] | None = None
    """What has to be open while the judge is asked, such as its endpoint's client."""
    watch: Watch | None = None


@dataclass
class PlannedWork:
    """What a judge still has to be asked."""

    work: list[CaseWork] = field(default_factory=list)
    copies: list[tuple[Case, str]] = field(default_factory=list)
    """Cases whose question was answered already about an output with the same pixels, and that judgment's id."""
    done_before: int = 0
    unfit: Counter[str] = field(default_factory=Counter)


def work_id(judge: Judge, case: Case, parents: dict[str, Output]) -> str:
    """Identity of a question: who is asked, what words, which pixels in which order, which repeat."""
    first, second = (case.right, case.left) if case.order is Order.RIGHT_FIRST else (case.left, case.right)
    return content_id(
        "work",
        "judge",
        [judge.name, judge.version, judge.prompt_id, judge.prompt_version, judge.params],
        case.item.turn_content_id(case.left.turn),
        case.left.mode,
        [image.sha256 for image in sources_of(case.item, case.left, parents)],
        [image.sha256 for image in references_of(case.item, case.left.turn)],
        first.image.sha256 if first and first.image else None,
        second.image.sha256 if second and second.image else None,
        case.repeat,
    )


def plan_cases(
    workspace: Workspace, judge: Judge, cases: Iterable[Case], parents: dict[str, Output] | None = None
) -> PlannedWork:
    """What is missing. Only a live `ok` counts as asked: failures are tried again."""
    planned = PlannedWork()
    known = _known(workspace, judge)
    fresh: dict[str, CaseWork] = {}
    for case in cases:
        identity = work_id(judge, case, parents or {})
        if (identity, *_place(case)) in known.placed:
            planned.done_before += 1
        elif identity in known.done:
            planned.copies.append((case, known.done[identity]))
        elif identity in fresh:
            fresh[identity].twins.append(case)
        elif reason := unfit_reason(judge, case, parents or {}):
            planned.unfit[reason] += 1
        else:
            fresh[identity] = CaseWork(case, identity, known.attempts.get(identity, 0))
    planned.work = list(fresh.values())
    return planned


def judge_cases(
    workspace: Workspace,
    judge: Judge,
    cases: Iterable[Case],
    *,
    asking: Asking | None = None,
    parents: dict[str, Output] | None = None,
    progress: Progress | None = None,
) -> JudgeReport:
    """Ask a judge everything that it was not asked yet."""
    chosen = asking or Asking()
    report = JudgeReport(judge.name)
    before = parents or {}
    noting: JsonDict = {"judge": judge.name, "dimension": chosen.dimension, "params": judge.params}
    if chosen.orders:
        noting[ORDERS] = chosen.orders
    with noted(workspace, chosen.command, noting) as ongoing:
        planned = plan_cases(workspace, judge, cases, before)
        report.planned, report.done_before, report.unfit = len(planned.work), planned.done_before, planned.unfit
        workspace.store.add(_copied(workspace, planned.copies, ongoing.run_id))
        try:
            tally = _run(workspace, judge, planned.work, before, chosen, report, ongoing, progress)
            report.stopped, report.seconds = tally.stopped, tally.seconds
        finally:
            ongoing.counts = dict(report.judgments)
            ongoing.cost_usd = report.cost_usd
            ongoing.partial = report.missing > 0
            if report.missing:
                ongoing.counts["missing"] = report.missing
    return report


def _run(
    workspace: Workspace,
    judge: Judge,
    work: list[CaseWork],
    parents: dict[str, Output],
    asking: Asking,
    report: JudgeReport,
    ongoing: Ongoing,
    progress: Progress | None,
) -> Tally:
    if not work:
        return Tally()
    computes = bool(getattr(judge, "cpu_bound", False))
    pool: AbstractContextManager[Executor | None] = computing() if computes else nullcontext()
    concurrency = min(asking.concurrency, 2 * (os.cpu_count() or 1)) if computes else asking.concurrency

    def counted(one: CaseWork, verdict: Verdict) -> tuple[CaseWork, Verdict]:
        report.add(verdict)
        if asking.watch:
            asking.watch(report, sum(report.judgments.values()), report.planned)
        return one, verdict

    def failed(one: CaseWork, error: Exception) -> tuple[CaseWork, Verdict]:
        return counted(one, Verdict(Status.API_ERROR, error=f"{type(error).__name__}: {error}"))

    def write(batch: list[tuple[CaseWork, Verdict]]) -> None:
        workspace.store.add(list(_records(judge, asking, batch, ongoing.run_id)))

    with pool as executor:

        async def do(one: CaseWork) -> tuple[CaseWork, Verdict]:
            exhibit = exhibit_of(workspace, one.case.item, one.case.left, one.case.right, parents)
            if one.case.order is not None:
                exhibit = shown(exhibit, one.case.order)
            started = time.monotonic()
            if executor is not None:
                verdict, took_s = await asyncio.get_running_loop().run_in_executor(executor, _ask, judge, exhibit)
            else:
                verdict = await judge.judge(exhibit)
                took_s = time.monotonic() - started
            if verdict.usage.latency_s is None:
                verdict = replace(verdict, usage=verdict.usage.model_copy(update={"latency_s": round(took_s, 4)}))
            return counted(one, verdict)

        plan = Plan(
            work, do, failed, write, total=len(work), stage=f"judgments by {judge.name}", concurrency=concurrency
        )

        async def whole() -> Tally:
            async with asking.opening() if asking.opening else nullcontext():
                return await run_async(plan, progress=progress)

        return asyncio.run(whole())


def _ask(judge: Judge, exhibit: Exhibit) -> tuple[Verdict, float]:
    """In a process of its own: the verdict and the seconds that it took."""
    started = time.monotonic()
    verdict = asyncio.run(judge.judge(exhibit))
    return verdict, time.monotonic() - started


@dataclass
class _Known:
    """What a judge was asked before."""

    done: dict[str, str] = field(default_factory=dict)
    """Work to its live ok judgment."""
    placed: set[tuple[str, str, str | None, str | None]] = field(default_factory=set)
    """Work, left, right and order of the live ok judgments."""
    attempts: dict[str, int] = field(default_factory=dict)
    """The number of the next attempt at each work."""


def _place(case: Case) -> tuple[str, str | None, str | None]:
    order = case.order.value if case.order is not None else None
    return case.left.output_id, case.right.output_id if case.right else None, order


def _known(workspace: Workspace, judge: Judge) -> _Known:
    known = _Known()
    rows = {row["id"]: row for row in workspace.store.rows(Judgment, judge=judge.name)}
    replaced = {row["supersedes"] for row in rows.values() if row["supersedes"]}
    for identity, row in rows.items():
        work = row["work_id"]
        known.attempts[work] = max(known.attempts.get(work, 0), row["attempt"] + 1)
        if row["status"] == Status.OK.value and identity not in replaced:
            known.done.setdefault(work, identity)
            known.placed.add((work, row["left_id"], row["right_id"], row["order"]))
    return known


def _copied(workspace: Workspace, copies: list[tuple[Case, str]], run_id: str) -> list[Record]:
    """Judgments for outputs whose very pixels were judged already: the same verdict, paid for once."""
    records: list[Record] = []
    for case, identity in copies:
        old = workspace.store.get(Judgment, identity)
        if old is None:
            continue
        left, right, _ = _place(case)
        preference, scores = old.preference, old.scores
        if old.order is not case.order:
            preference = preference.mirrored() if preference is not None else None
            scores = mirrored_scores(scores)
        update = {
            "item_id": case.item.item_id, "turn": case.left.turn, "left_id": left, "right_id": right,
            "order": case.order, "preference": preference, "scores": scores, "usage": Usage(), "run_id": run_id,
            "supersedes": None, "created_at": now(),
        }  # fmt: skip
        records.append(old.model_copy(update=update))
    return records


def skeleton(case: Case, parents: dict[str, Output]) -> Exhibit:
    """The exhibit with a hash in the place of each picture: enough to count words and pictures by."""
    first, second = (case.right, case.left) if case.order is Order.RIGHT_FIRST else (case.left, case.right)
    item, turn = case.item, case.left.turn

    def mark(output: Output | None) -> bytes:
        return output.image.sha256.encode() if output is not None and output.image is not None else b""

    return Exhibit(
        instruction=instruction_of(item, turn, case.left.mode),
        left=mark(first),
        right=mark(second) if case.right is not None else None,
        sources=tuple(image.sha256.encode() for image in sources_of(item, case.left, parents)),
        references=tuple(image.sha256.encode() for image in references_of(item, turn)),
        task=item.turns[turn].task or item.task,
    )


def unfit_reason(judge: Judge, case: Case, parents: dict[str, Output]) -> str:
    """Why this judge cannot be shown this case (it needs a source, say); empty where it can."""
    prompts: Any = getattr(judge, "prompts", None)
    if not isinstance(prompts, dict):
        return ""
    from imarena.judges.prompt import check_exhibit

    try:
        for prompt in prompts.values():
            check_exhibit(prompt, skeleton(case, parents))
    except UserError as error:
        return str(error).splitlines()[0]
    return ""


def _records(judge: Judge, asking: Asking, batch: list[tuple[CaseWork, Verdict]], run_id: str) -> Iterator[Record]:
    params: JsonDict = {**judge.params, **({ORDERS: asking.orders} if asking.orders else {})}
    for work, said in batch:
        reply = None
        if said.raw:
            reply = Reply(
                work_id=work.work_id,
                attempt=work.attempt,
                raw=said.raw,
                usage=said.usage,
                model=said.model,
                run_id=run_id,
            )
            yield reply
        for case in (work.case, *work.twins):
            left, right, _ = _place(case)
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
                dimension=asking.dimension,
                reply_id=reply.reply_id if reply else None,
                usage=said.usage if case is work.case else Usage(),
                run_id=run_id,
                parser_version=str(getattr(judge, "parser_version", "")),
                **verdict_fields(recorded(said, case.order) if case.order is not None else said),
            )


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """The part of a judgment that a verdict fills."""
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
