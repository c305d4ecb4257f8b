"""judge and battle: show outputs to judges; resume does only what is missing."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from imarena.core import Exhibit, ImarenaError, Judge, Progress, Verdict
from imarena.core.records import JsonDict, Output, Status
from imarena.engine import RunPlan, RunTally, computing, run_async
from imarena.judges import ORDERS_PARAM, shown
from imarena.storage import Workspace
from imarena.workflows.questions.case_context import in_context
from imarena.workflows.questions.cases import Case
from imarena.workflows.questions.judging_plan import CaseWork, EarlierAnswers, plan_cases
from imarena.workflows.questions.judging_records import NotCompared, comparing, copies_of, records_of
from imarena.workflows.views import exhibit_of
from imarena.workflows.wiring import Ongoing, noted

ERRORS_TOLD = 20
ERROR_LENGTH = 300


@dataclass
class JudgeReport:
    """What a judging run did."""

    judge: str
    judgments: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    """Judgments that were written, by status: one answer counts for every output with the same pixels."""
    done_before: int = 0
    unfit: Counter[str] = field(default_factory=Counter)
    """Cases that the judge cannot be shown, by reason. They are not asked and not missing."""
    planned: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    stopped: str = ""
    errors: Counter[str] = field(default_factory=Counter)
    """Why there is no verdict, in the words of the endpoint, the parser or the judge, by number."""

    @property
    def missing(self) -> int:
        """Cases of this run that have no verdict yet."""
        return self.planned - self.judgments[Status.OK.value]

    @property
    def shared(self) -> int:
        """Judgments of this run's answers beyond one each: of outputs with the same pixels."""
        return self.stored[Status.OK.value] - self.judgments[Status.OK.value]

    def add(self, verdict: Verdict, twins: int = 0) -> None:
        """Count a verdict or a failure; `twins` more outputs have the same pixels."""
        self.judgments[verdict.status.value] += 1
        self.stored[verdict.status.value] += 1 + twins
        if verdict.status is not Status.OK:
            self.errors[f"{verdict.status.value}: {verdict.error}"[:ERROR_LENGTH]] += 1
        self.cost_usd += verdict.usage.cost_usd or 0.0
        self.input_tokens += verdict.usage.input_tokens or 0
        self.output_tokens += verdict.usage.output_tokens or 0

    def merge(self, later: "JudgeReport") -> None:
        """Add a later round of the same run."""
        self.judgments.update(later.judgments)
        self.stored.update(later.stored)
        self.unfit.update(later.unfit)
        self.errors.update(later.errors)
        for name in ("done_before", "planned", "cost_usd", "input_tokens", "output_tokens", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.stopped = later.stopped

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        counts = {
            "judgments": dict(self.judgments), "stored": dict(self.stored), "unfit": dict(self.unfit),
            "missing": self.missing, "errors": dict(self.errors.most_common(ERRORS_TOLD)),
        }  # fmt: skip
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
        noting[ORDERS_PARAM] = chosen.orders
    with noted(workspace, chosen.command, noting) as ongoing:
        planned = plan_cases(workspace, judge, cases, before)
        report.planned, report.done_before, report.unfit = len(planned.work), planned.answered, planned.unfit
        ongoing.plan(planned.to_write)
        workspace.store.add(copies_of(workspace, planned.copies, ongoing.run_id))
        try:
            tally = _run(workspace, judge, planned.work, before, chosen, report, ongoing, progress)
            report.stopped, report.seconds = tally.stopped, tally.seconds
        except NotCompared:
            report.planned = report.judgments.total()  # the rest is not missing: it cannot be had in this way
            raise
        finally:
            ongoing.counts = dict(report.stored + Counter({Status.OK.value: len(planned.copies)}))
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
) -> RunTally:
    if not work:
        return RunTally()
    computes = judge.traits.cpu_bound
    pool: AbstractContextManager[Executor | None] = computing() if computes else nullcontext()
    concurrency = min(asking.concurrency, 2 * (os.cpu_count() or 1)) if computes else asking.concurrency

    def counted(one: CaseWork, said: Verdict) -> tuple[CaseWork, Verdict]:
        verdict = said if one.case.right is None else comparing(judge, said)
        report.add(verdict, len(one.twins))
        if asking.watch:
            asking.watch(report, sum(report.judgments.values()), report.planned)
        return one, verdict

    def failed(one: CaseWork, error: Exception) -> tuple[CaseWork, Verdict]:
        return counted(one, Verdict(Status.API_ERROR, error=f"{type(error).__name__}: {error}"))

    def write(batch: list[tuple[CaseWork, Verdict]]) -> None:
        workspace.store.add(
            list(records_of(judge, batch, ongoing.run_id, dimension=asking.dimension, orders=asking.orders))
        )

    with pool as executor:

        async def do(one: CaseWork) -> tuple[CaseWork, Verdict]:
            try:
                exhibit = exhibit_of(workspace, one.case.item, one.case.left, one.case.right, parents)
            except ImarenaError as error:  # a picture was withdrawn, or its file is gone: `verify` tells which
                return counted(one, Verdict(Status.INVALID_IMAGE, error=str(error)))
            exhibit = in_context(exhibit, one.case)
            if one.case.order is not None:
                exhibit = shown(exhibit, one.case.order)
            started = time.monotonic()
            if executor is not None:
                verdict, took_s = await asyncio.get_running_loop().run_in_executor(executor, _ask, judge, exhibit)
            else:
                verdict = await put(judge, exhibit, one.held)
                took_s = time.monotonic() - started
            took = {"elapsed_s": round(took_s, 4)}
            if verdict.usage.latency_s is None:
                took["latency_s"] = took["elapsed_s"]
            return counted(one, replace(verdict, usage=verdict.usage.model_copy(update=took)))

        plan = RunPlan(
            work, do, failed, write, total=len(work), stage=f"judgments by {judge.name}", concurrency=concurrency
        )

        async def whole() -> RunTally:
            async with asking.opening() if asking.opening else nullcontext():
                return await run_async(plan, progress=progress)

        return asyncio.run(whole())


async def put(judge: Judge, exhibit: Exhibit, held: EarlierAnswers | None) -> Verdict:
    """Ask only what no earlier attempt got an answer to."""
    partly_asked = judge.traits.partly_asked
    if held is not None and partly_asked is not None:
        return await partly_asked.go_on(exhibit, held.texts)
    return await judge.judge(exhibit)


def _ask(judge: Judge, exhibit: Exhibit) -> tuple[Verdict, float]:
    """In a process of its own: the verdict and the seconds that it took."""
    started = time.monotonic()
    verdict = asyncio.run(judge.judge(exhibit))
    return verdict, time.monotonic() - started
