"""judge and battle: show outputs to judges; resume does only what is missing."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from imarena.core.ids import content_id
from imarena.core.protocols import Exhibit, Judge, Progress, Verdict
from imarena.core.records import Item, JsonDict, Judgment, Order, Output, Record, Reply, Status, Usage, now
from imarena.engine import Plan, processes, run
from imarena.judges.orders import mirrored_scores, recorded, shown
from imarena.storage import Workspace
from imarena.workflows.exhibits import exhibit_of, references_of, sources_of
from imarena.workflows.runs import noted


@dataclass(frozen=True)
class Case:
    """One question to one judge: an output, or a pair in one order."""

    item: Item
    left: Output
    right: Output | None = None
    order: Order | None = None
    repeat: int = 0


@dataclass(frozen=True)
class CaseWork:
    """A case with its identity and the number of attempts before."""

    case: Case
    work_id: str
    attempt: int


@dataclass
class JudgeReport:
    """What a judging run did."""

    judge: str
    judgments: Counter[str] = field(default_factory=Counter)
    done_before: int = 0
    cost_usd: float = 0.0
    stopped: str = ""

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return {**self.__dict__, "judgments": dict(self.judgments)}


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


def judge_cases(
    workspace: Workspace,
    judge: Judge,
    cases: Iterable[Case],
    *,
    dimension: str = "overall",
    concurrency: int = 8,
    parents: dict[str, Output] | None = None,
    progress: Progress | None = None,
) -> JudgeReport:
    """Ask a judge everything that it was not asked yet. Only `ok` counts as asked: failures are tried again."""
    report = JudgeReport(judge.name)
    before = parents or {}
    noting: JsonDict = {"judge": judge.name, "dimension": dimension, "params": judge.params}
    with noted(workspace, "judge", noting) as ongoing:
        twins: list[CaseWork] = []
        work = list(_missing(workspace, judge, cases, before, report, twins))
        pool: AbstractContextManager[Executor | None] = processes() if _computes(judge) else nullcontext()
        with pool as executor:

            async def do(one: CaseWork) -> tuple[CaseWork, Verdict]:
                exhibit = exhibit_of(workspace, one.case.item, one.case.left, one.case.right, before)
                if one.case.order is not None:
                    exhibit = shown(exhibit, one.case.order)
                if executor is not None:
                    loop = asyncio.get_running_loop()
                    return one, await loop.run_in_executor(executor, _ask, judge, exhibit)
                return one, await judge.judge(exhibit)

            def failed(one: CaseWork, error: Exception) -> tuple[CaseWork, Verdict]:
                return one, Verdict(Status.API_ERROR, error=f"{type(error).__name__}: {error}")

            def write(batch: list[tuple[CaseWork, Verdict]]) -> None:
                _write(workspace, judge, dimension, batch, report, ongoing.run_id)

            plan = Plan(
                work, do, failed, write, total=len(work), stage=f"judgments by {judge.name}", concurrency=concurrency
            )
            report.stopped = run(plan, progress=progress).stopped
        _share(workspace, judge, twins, report, ongoing.run_id)
        ongoing.counts = dict(report.judgments)
        ongoing.cost_usd = report.cost_usd
        ongoing.partial = bool(report.stopped) or any(status != "ok" for status in report.judgments)
    return report


def _computes(judge: Judge) -> bool:
    """Does the judge compute on this machine, so that processes help?"""
    return bool(getattr(judge, "cpu_bound", False))


def _ask(judge: Judge, exhibit: Exhibit) -> Verdict:
    return asyncio.run(judge.judge(exhibit))


def _missing(
    workspace: Workspace,
    judge: Judge,
    cases: Iterable[Case],
    parents: dict[str, Output],
    report: JudgeReport,
    twins: list[CaseWork],
) -> Iterator[CaseWork]:
    """What was never answered. A case with the pixels of an answered one is a twin: it shares the answer."""
    done: set[str] = set()
    told: set[tuple[str, str, str | None]] = set()
    attempts: Counter[str] = Counter()
    for row in workspace.store.rows(Judgment, judge=judge.name):
        attempts[row["work_id"]] += 1
        if row["status"] == Status.OK.value:
            done.add(row["work_id"])
            told.add((row["work_id"], row["left_id"], row["right_id"]))
    for case in cases:
        identity = work_id(judge, case, parents)
        one = CaseWork(case, identity, attempts[identity])
        if (identity, case.left.output_id, case.right.output_id if case.right else None) in told:
            report.done_before += 1
        elif identity in done:
            twins.append(one)
        else:
            done.add(identity)
            yield one


def _share(workspace: Workspace, judge: Judge, twins: list[CaseWork], report: JudgeReport, run_id: str) -> None:
    """Give outputs with the same pixels the same verdict, for nothing."""
    wanted = {twin.work_id for twin in twins}
    if not wanted:
        return
    answered = {
        found.work_id: found
        for found in workspace.store.records(Judgment, judge=judge.name, status=Status.OK.value)
        if found.work_id in wanted
    }
    copies: list[Record] = []
    for twin in twins:
        original = answered.get(twin.work_id)
        if original is None:
            continue  # its answer failed: both are tried again by the next run
        case = twin.case
        swapped = original.order is not case.order
        preference = original.preference.mirrored() if swapped and original.preference else original.preference
        copies.append(
            original.model_copy(
                update={
                    "item_id": case.item.item_id,
                    "left_id": case.left.output_id,
                    "right_id": case.right.output_id if case.right else None,
                    "order": case.order,
                    "preference": preference,
                    "scores": mirrored_scores(original.scores) if swapped else original.scores,
                    "usage": Usage(),
                    "run_id": run_id,
                    "created_at": now(),
                }
            )
        )
    report.judgments["ok"] += workspace.store.add(copies).new


def _write(
    workspace: Workspace,
    judge: Judge,
    dimension: str,
    batch: list[tuple[CaseWork, Verdict]],
    report: JudgeReport,
    run_id: str,
) -> None:
    records: list[Record] = []
    for work, said in batch:
        case = work.case
        verdict = recorded(said, case.order) if case.order is not None else said
        reply = None
        if verdict.raw:
            reply = Reply(
                work_id=work.work_id,
                attempt=work.attempt,
                raw=verdict.raw,
                usage=verdict.usage,
                model=verdict.model,
                run_id=run_id,
            )
            records.append(reply)
        records.append(
            Judgment(
                work_id=work.work_id,
                attempt=work.attempt,
                judge=judge.name,
                judge_version=judge.version,
                prompt_id=judge.prompt_id,
                prompt_version=judge.prompt_version,
                params=judge.params,
                item_id=case.item.item_id,
                turn=case.left.turn,
                left_id=case.left.output_id,
                right_id=case.right.output_id if case.right else None,
                order=case.order,
                repeat=case.repeat,
                dimension=dimension,
                status=verdict.status,
                preference=verdict.preference,
                score=verdict.score,
                scores=dict(verdict.scores),
                success=verdict.success,
                confidence=verdict.confidence,
                reasons=dict(verdict.reasons),
                error=verdict.error,
                reply_id=reply.reply_id if reply else None,
                usage=verdict.usage,
                run_id=run_id,
            )
        )
        report.judgments[verdict.status.value] += 1
        report.cost_usd += verdict.usage.cost_usd or 0.0
    workspace.store.add(records)


@dataclass(frozen=True)
class Board:
    """The outputs that can be shown: ok and with pixels, by item, turn and mode."""

    items: dict[str, Item]
    slots: dict[tuple[str, int, str], list[Output]]
    parents: dict[str, Output]
    hidden: int
    """Ok outputs that cannot be shown, because their pixels are absent."""


def load_board(workspace: Workspace, *, datasets: list[str] | None = None, editors: list[str] | None = None) -> Board:
    """Read the outputs to be judged."""
    where = {"dataset": datasets} if datasets else {}
    items = {item.item_id: item for item in workspace.store.records(Item, **where)}
    slots: dict[tuple[str, int, str], list[Output]] = {}
    parents: dict[str, Output] = {}
    hidden = 0
    for output in workspace.store.records(Output, status=Status.OK.value):
        if output.item_id not in items:
            continue
        parents[output.output_id] = output
        if editors and output.editor not in editors:
            continue
        if output.image is None:
            hidden += 1
            continue
        slots.setdefault((output.item_id, output.turn, output.mode.value), []).append(output)
    return Board(items, slots, parents, hidden)


def pointwise_cases(board: Board, *, repeats: int = 1) -> Iterator[Case]:
    """Every output once (or `repeats` times)."""
    for (item_id, _, _), outputs in board.slots.items():
        for output in outputs:
            for repeat in range(repeats):
                yield Case(board.items[item_id], output, repeat=repeat)


def pairwise_cases(board: Board, *, orders: tuple[Order, ...], repeats: int = 1) -> Iterator[Case]:
    """Every pair of editors on every item, in the given orders. Which one is left is a coin."""
    for (item_id, _, _), outputs in board.slots.items():
        for index, one in enumerate(outputs):
            for other in outputs[index + 1 :]:
                if one.editor == other.editor:
                    continue
                left, right = sides(one, other)
                for repeat in range(repeats):
                    for order in orders:
                        yield Case(board.items[item_id], left, right, order, repeat)


def sides(one: Output, other: Output) -> tuple[Output, Output]:
    """Left and right, by a coin that depends on nothing but the two outputs."""
    first, second = sorted((one, other), key=lambda output: output.output_id)
    coin = int(content_id("side", first.output_id, second.output_id)[-1], 16) % 2
    return (first, second) if coin else (second, first)
