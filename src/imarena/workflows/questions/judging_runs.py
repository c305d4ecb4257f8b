"""From what a user asks for to judging runs: plan, estimate, ask; adaptive runs go round by round."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from imarena.clients import Budget, check_reachable
from imarena.core import UserError, counted
from imarena.core.records import Ranking
from imarena.judges import Estimate, OrderPolicy
from imarena.ranking import Options
from imarena.storage import Workspace
from imarena.workflows.boards import BoardQuery
from imarena.workflows.boards import board as make_board
from imarena.workflows.questions.case_context import with_context
from imarena.workflows.questions.cases import Case, ShowableOutputs, load_outputs, pointwise_cases
from imarena.workflows.questions.estimates import estimate
from imarena.workflows.questions.executor_choice import judge_terms
from imarena.workflows.questions.judging import Asking, judge_cases
from imarena.workflows.questions.judging_plan import plan_cases
from imarena.workflows.questions.report import JudgeReport, Watch
from imarena.workflows.questions.sampling import Sampler, battles_by_pair, cases_of, next_round, sampled_pairs
from imarena.workflows.wiring import EndpointArguments, WiredJudge, check_judge_shape, exclusive_run, wire_judge


@dataclass
class JudgingJob:
    """One judge and everything that it is to be asked."""

    wired: WiredJudge
    board: ShowableOutputs
    cases: list[Case]
    estimate: Estimate
    asking: Asking
    sampler: Sampler = Sampler()
    policy: OrderPolicy = "both"
    repeats: int = 1
    rounds: list[dict[str, Any]] = field(default_factory=list)
    """Adaptive: where each round stood."""


def plan_scores(
    workspace: Workspace,
    judges: Sequence[str],
    words: EndpointArguments | None = None,
    budget: Budget | None = None,
    *,
    datasets: Sequence[str] | None = None,
    editors: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    repeats: int = 1,
) -> list[JudgingJob]:
    """Every output to every judge."""
    wired = [wire_judge(workspace.settings, name, words, budget) for name in judges]
    for one in wired:
        check_judge_shape(one, "pointwise", "judge")
    board = _board(workspace, datasets, editors, tasks)
    cases = list(pointwise_cases(board, repeats=repeats))
    return [_job(workspace, one, board, cases, words, "judge", repeats=repeats) for one in wired]


def plan_battles(
    workspace: Workspace,
    judges: Sequence[str],
    words: EndpointArguments | None = None,
    budget: Budget | None = None,
    *,
    sampler: Sampler | None = None,
    orders: OrderPolicy = "both",
    datasets: Sequence[str] | None = None,
    editors: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    repeats: int = 1,
) -> list[JudgingJob]:
    """The sampler's battles to every judge, in the orders of the policy."""
    chosen = sampler or Sampler()
    wired = [wire_judge(workspace.settings, name, words, budget) for name in judges]
    for one in wired:
        check_judge_shape(one, "pairwise", "battle")
    board = _board(workspace, datasets, editors, tasks, voted=chosen.kind in ("full", "voted"))
    battles = sampled_pairs(board, chosen)
    if not battles:
        _refuse(board, chosen)
    cases = list(cases_of(board, battles, orders, repeats=repeats, seed=chosen.seed))
    return [
        _job(workspace, one, board, cases, words, "battle", sampler=chosen, policy=orders, repeats=repeats)
        for one in wired
    ]


def _refuse(board: ShowableOutputs, sampler: Sampler) -> None:
    """Say why there are no battles, where that is not just because no two editors share an item."""
    if sampler.kind == "voted":
        raise UserError(
            "No pair that people voted on can be shown: "
            + ("their pixels are absent." if board.voted else "no votes."),
            hint="`imarena import` brings votes on pairs with their images; `--sampler full` needs no votes.",
        )
    if len(board.editors) < 2:
        raise UserError(
            f"A battle needs two editors or a pair that people voted on; {counted(len(board.editors), 'editor')} "
            "can be shown.",
            hint="Run `imarena edit` or import outputs of another editor.",
        )


def _board(
    workspace: Workspace,
    datasets: Sequence[str] | None,
    editors: Sequence[str] | None,
    tasks: Sequence[str] | None,
    *,
    voted: bool = False,
) -> ShowableOutputs:
    board = load_outputs(workspace, datasets=datasets, editors=editors, tasks=tasks, voted=voted)
    if not board.slots:
        why = f"{counted(board.hidden, 'output')} came without pixels" if board.hidden else "there are no ok outputs"
        raise UserError(f"There is nothing to show to a judge: {why}.", hint="Run `imarena edit`, or import outputs.")
    return board


def _job(
    workspace: Workspace,
    wired: WiredJudge,
    board: ShowableOutputs,
    cases: list[Case],
    words: EndpointArguments | None,
    command: str,
    *,
    sampler: Sampler | None = None,
    policy: OrderPolicy = "both",
    repeats: int = 1,
) -> JudgingJob:
    said = words or EndpointArguments()
    chosen = sampler or Sampler()
    cases = with_context(workspace, wired.judge, cases, board.parents)
    planned = plan_cases(workspace, wired.judge, cases, board.parents)
    concurrency = said.concurrency or wired.concurrency
    found = estimate(workspace, wired, planned, board, concurrency=concurrency, at_most=chosen.kind == "adaptive")
    asking = Asking(
        command=command,
        dimension=wired.dimension,
        orders="" if command == "judge" or policy == "both" else policy,
        terms=judge_terms(workspace.settings, wired, executor=said.executor, concurrency=said.concurrency),
    )
    return JudgingJob(wired, board, cases, found, asking, chosen, policy, repeats)


def ask_jobs(workspace: Workspace, jobs: Sequence[JudgingJob], *, watch: Watch | None = None) -> list[JudgeReport]:
    """Run the jobs one after the other. A stop (Ctrl-C, the cost limit) ends them all; the others count as missing."""
    for job in jobs:
        if job.wired.endpoint is not None and not job.wired.runs_here and job.estimate.new:
            check_reachable(job.wired.endpoint)
    with ExitStack() as held:
        for job in jobs:
            if job.wired.endpoint is not None:
                held.enter_context(exclusive_run(workspace, job.asking.command, job.wired.judge.name))
        return _ask_in_turn(workspace, jobs, watch)


def _ask_in_turn(workspace: Workspace, jobs: Sequence[JudgingJob], watch: Watch | None) -> list[JudgeReport]:
    reports: list[JudgeReport] = []
    for job in jobs:
        stopped = next((report.stopped for report in reports if report.stopped), "")
        if stopped:
            reports.append(JudgeReport(job.wired.judge.name, planned=job.estimate.new, stopped=stopped))
            continue
        asking = replace(job.asking, watch=watch)
        if job.sampler.kind == "adaptive":
            reports.append(_adaptive(workspace, job, asking))
        else:
            reports.append(judge_cases(workspace, job.wired.judge, job.cases, asking=asking, parents=job.board.parents))
    return reports


def _adaptive(workspace: Workspace, job: JudgingJob, asking: Asking) -> JudgeReport:
    """Battles in rounds, until every interval is narrow enough or there are no battles left."""
    by_pair = battles_by_pair(job.board, job.sampler)
    fought: Counter[tuple[str, str]] = Counter()
    whole = JudgeReport(job.wired.judge.name)
    while True:
        ranking = _quick_ranking(workspace, job) if fought else None
        at = next_round(by_pair, fought, ranking, job.sampler)
        job.rounds.append({
            "battles": sum(fought.values()), "widest": at.widest if fought else None, "too_wide": at.open, "of": at.of,
        })  # fmt: skip
        if not at.open or not at.battles:
            return whole
        fresh = cases_of(job.board, at.battles, job.policy, repeats=job.repeats, seed=job.sampler.seed)
        cases = with_context(workspace, job.wired.judge, fresh, job.board.parents)
        report = judge_cases(workspace, job.wired.judge, cases, asking=asking, parents=job.board.parents)
        whole.merge(report)
        if report.stopped:
            return whole
        fought.update(battle.pair for battle in at.battles)


def _quick_ranking(workspace: Workspace, job: JudgingJob) -> Ranking | None:
    """The present ratings with their covariance, by the sandwich: no resampling."""
    query = BoardQuery(
        source="judge", judge=job.wired.judge.name, dimension=job.wired.dimension, kind="compared",
        options=Options(interval="sandwich"), notes=False,
    )  # fmt: skip
    try:
        return make_board(workspace, query).ranking
    except UserError:  # a single item has no interval
        return None


__all__ = ["JudgingJob", "ask_jobs", "plan_battles", "plan_scores"]
