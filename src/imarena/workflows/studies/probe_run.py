"""Asking a judge about outputs with texts drawn on them: chosen by hash, asked once each, resumed where it stopped."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import combinations, islice

from imarena.core import Exhibit, ImarenaError, Judge, UserError, Verdict, content_id
from imarena.core.records import ImageRef, JsonDict, Judgment, Order, Outcome, Record, Status
from imarena.engine import RunPlan, RunTally, computing, run_async
from imarena.judges import Estimate, InjectedText, injections, shown, to_recorded_sides, with_text
from imarena.storage import Workspace
from imarena.workflows.questions import (
    Case,
    CaseWork,
    EarlierAnswers,
    JudgeReport,
    PlannedWork,
    ShowableOutputs,
    Watch,
    estimate,
    known_answers,
    put,
    reply_of,
    sides,
    unfit_reason,
    with_held,
    work_id,
)
from imarena.workflows.studies.probe import PLAIN, Probed, probe_evidence, probe_form, read_probes
from imarena.workflows.views import exhibit_of
from imarena.workflows.wiring import Wired, alone, noted


@dataclass(frozen=True)
class ProbeQuestion:
    """A question: a case, and the text that is drawn on one side of it; None as it is."""

    case: Case
    unit: str
    side: Outcome | None
    text: InjectedText | None
    work: str
    attempt: int = 0
    held: EarlierAnswers | None = None
    """Of several questions: what an earlier attempt got answers to."""

    @property
    def put(self) -> CaseWork:
        """What is asked, under the name of its replies: those of a probe are no replies to `judge` or `battle`."""
        return CaseWork(self.case, content_id("work", "probe reply", self.work), self.attempt, held=self.held)


@dataclass
class ProbeJob:
    """One judge and everything that it is to be asked."""

    wired: Wired
    board: ShowableOutputs
    asks: list[ProbeQuestion]
    known: list[tuple[ProbeQuestion, str]]
    """Outputs as they are that `judge` or `battle` asked about before, and the judgment: they are not asked again."""
    estimate: Estimate
    concurrency: int
    done_before: int


def plan_probe(
    workspace: Workspace,
    wired: Wired,
    board: ShowableOutputs,
    count: int,
    *,
    battles: bool,
    concurrency: int | None = None,
) -> ProbeJob:
    """`count` outputs, or pairs, as they are and with every text. Only an ok answer counts as asked."""
    judge = wired.judge
    unfit: Counter[str] = Counter()
    chosen = list(islice(_cases(board, judge, unfit, battles=battles), count))
    if not chosen:
        why = next(iter(unfit), "a battle needs two outputs of one item" if battles else "there are no outputs")
        raise UserError(f"There is nothing to draw texts on: {why}.", hint="Run `imarena edit`, or import outputs.")
    done, attempts = _done(workspace, judge)
    stored = known_answers(workspace, judge)
    asks, known, before = [], [], 0
    for ask in (one for case in chosen for one in _questions(judge, case, board, battles=battles)):
        if ask.work in done:
            before += 1
        elif ask.text is None and ask.work in stored:
            known.append((ask, stored[ask.work]))
        else:
            asks.append(replace(ask, attempt=attempts.get(ask.work, 0)))
    lanes = concurrency or wired.concurrency
    work = with_held(workspace, judge, [ask.put for ask in asks])
    asks = [replace(ask, held=one.held) for ask, one in zip(asks, work, strict=True)]
    planned = PlannedWork(work, done_before=before + len(known), unfit=unfit)
    took = estimate(workspace, wired, planned, board, concurrency=lanes)
    return ProbeJob(wired, board, asks, known, took, lanes, before + len(known))


def _cases(board: ShowableOutputs, judge: Judge, unfit: Counter[str], *, battles: bool) -> Iterator[Case]:
    """Outputs or pairs in an order by hash, so that two judges are probed on the same ones."""
    if battles:
        pairs = (sides(*pair) for shown_ in board.slots.values() for pair in combinations(shown_, 2))
        cases = [Case(board.items[left.item_id], left, right, Order.LEFT_FIRST) for left, right in pairs]
    else:
        cases = [Case(board.items[one.item_id], one) for shown_ in board.slots.values() for one in shown_]

    def place(case: Case) -> str:
        return content_id("probe", case.left.output_id, *([case.right.output_id] if case.right else []))

    for case in sorted(cases, key=place):
        reason = unfit_reason(judge, case, board.parents)
        if reason:
            unfit[reason] += 1
        else:
            yield case


def _questions(judge: Judge, case: Case, board: ShowableOutputs, *, battles: bool) -> Iterator[ProbeQuestion]:
    """As it is, then with each text; a pair in both orders, the text always on the same side of it."""
    plain = work_id(judge, replace(case, order=None), board.parents)
    unit = content_id("unit", plain)
    side = (Outcome.LEFT, Outcome.RIGHT)[int(unit[-1], 16) % 2] if battles else None
    for text in (None, *injections()):
        for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST) if battles else (None,):
            shown_as = replace(case, order=order)
            work = work_id(judge, shown_as, board.parents)
            if text is not None:
                work = content_id("work", "probe", work, [text.id, text.text, side.value if side else None])
            yield ProbeQuestion(shown_as, unit, side, text, work)


def _done(workspace: Workspace, judge: Judge) -> tuple[set[str], dict[str, int]]:
    """Questions with an ok answer, and the number of the next attempt at each."""
    done: set[str] = set()
    attempts: dict[str, int] = {}
    for probed in read_probes(workspace, judge.name):
        attempts[probed.work] = max(attempts.get(probed.work, 0), probed.attempt + 1)
        if probed.status is Status.OK:
            done.add(probed.work)
    return done, attempts


# ---------------------------------------------------------------- asking


def run_probe(workspace: Workspace, job: ProbeJob, *, watch: Watch | None = None) -> JudgeReport:
    """Ask what is missing, many at once. Stops cleanly at Ctrl-C or the cost limit; what came by then is kept."""
    judge = job.wired.judge
    report = JudgeReport(judge.name, planned=len(job.asks), done_before=job.done_before)
    paid = alone(workspace, "probe", judge.name) if job.wired.endpoint is not None else nullcontext()
    with paid, noted(workspace, "probe", {"judge": judge.name, "params": judge.params}) as ongoing:
        ongoing.plan(report.planned)
        _copy_known(workspace, job)
        try:
            tally = asyncio.run(_asked(workspace, job, report, ongoing.run_id, watch)) if job.asks else RunTally()
            report.stopped, report.seconds = tally.stopped, tally.seconds
        finally:
            ongoing.counts = dict(report.judgments) | ({"missing": report.missing} if report.missing else {})
            ongoing.cost_usd = report.cost_usd
            ongoing.partial = report.missing > 0
    return report


def _copy_known(workspace: Workspace, job: ProbeJob) -> None:
    for ask, identity in job.known:
        old = workspace.store.get(Judgment, identity)
        if old is not None:
            preference = old.preference
            if preference is not None and old.order is not ask.case.order:  # the same pictures, recorded the other way
                preference = preference.mirrored()
            said = Verdict(old.status, preference=preference, score=old.score)
            workspace.store.add([_record(job.wired.judge, ask, said, {"judgment_id": identity})])


async def _asked(
    workspace: Workspace, job: ProbeJob, report: JudgeReport, run_id: str, watch: Watch | None
) -> RunTally:
    judge = job.wired.judge
    computes = judge.traits.cpu_bound
    pool: AbstractContextManager[Executor | None] = computing() if computes else nullcontext()
    concurrency = min(job.concurrency, 2 * (os.cpu_count() or 1)) if computes else job.concurrency

    def counted(ask: ProbeQuestion, verdict: Verdict) -> tuple[ProbeQuestion, Verdict]:
        report.add(verdict)
        if watch:
            watch(report, sum(report.judgments.values()), report.planned)
        return ask, verdict

    def failed(ask: ProbeQuestion, error: Exception) -> tuple[ProbeQuestion, Verdict]:
        return counted(ask, Verdict(Status.API_ERROR, error=f"{type(error).__name__}: {error}"))

    def write(batch: list[tuple[ProbeQuestion, Verdict]]) -> None:
        workspace.store.add([record for one in batch for record in _records(judge, *one, run_id)])

    with pool as executor:

        async def do(ask: ProbeQuestion) -> tuple[ProbeQuestion, Verdict]:
            loop = asyncio.get_running_loop()
            try:
                exhibit = exhibit_of(workspace, ask.case.item, ask.case.left, ask.case.right, job.board.parents)
            except ImarenaError as error:  # a picture was withdrawn, or its file is gone
                return counted(ask, Verdict(Status.INVALID_IMAGE, error=str(error)))
            if executor is not None:
                return counted(ask, await loop.run_in_executor(executor, _drawn_and_asked, judge, exhibit, ask))
            drawn = await asyncio.to_thread(_drawn, exhibit, ask)
            return counted(ask, await put(judge, drawn, ask.held))

        plan = RunPlan(job.asks, do, failed, write, total=len(job.asks), stage="probe", concurrency=concurrency)
        async with job.wired.door.opened() if job.wired.door else nullcontext():
            return await run_async(plan)


def _drawn(exhibit: Exhibit, ask: ProbeQuestion) -> Exhibit:
    """What the judge gets to see: the text on its side, then the sides in their order."""
    if ask.text is not None:
        exhibit = with_text(exhibit, ask.text.text, ask.side or Outcome.LEFT)
    return shown(exhibit, ask.case.order) if ask.case.order is not None else exhibit


def _drawn_and_asked(judge: Judge, exhibit: Exhibit, ask: ProbeQuestion) -> Verdict:
    """In a worker of its own."""
    started = time.monotonic()
    verdict = asyncio.run(judge.judge(_drawn(exhibit, ask)))
    took = {"latency_s": round(time.monotonic() - started, 4)}
    return replace(verdict, usage=verdict.usage.model_copy(update=took))


def _records(judge: Judge, ask: ProbeQuestion, verdict: Verdict, run_id: str) -> list[Record]:
    """The raw reply first, then what was read from it."""
    records: list[Record] = []
    value: JsonDict = {}
    usage = verdict.usage.model_dump(exclude_none=True)
    if usage:
        value["usage"] = usage
    reply = reply_of(ask.put, verdict, run_id)
    if reply is not None:
        records.append(reply)
        value["reply_id"] = reply.reply_id
    seen = to_recorded_sides(verdict, ask.case.order) if ask.case.order is not None else verdict
    return [*records, _record(judge, ask, seen, value)]


def _record(judge: Judge, ask: ProbeQuestion, seen: Verdict, value: JsonDict) -> Record:
    """`seen`: from the recorded sides."""
    probed = Probed(
        judge.name, probe_form(judge), ask.unit, ask.text.id if ask.text else PLAIN, ask.side, ask.case.order, ask.work,
        ask.attempt, seen.status, seen.score, seen.preference,
    )  # fmt: skip
    right = ask.case.right.image if ask.case.right is not None else None
    return probe_evidence(probed, _hash(ask.case.left.image) or "", _hash(right), value, seen.error)


def _hash(image: ImageRef | None) -> str | None:
    return image.sha256 if image is not None else None
