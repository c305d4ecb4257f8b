"""From a user's request to judging runs: plan, estimate, ask; adaptive runs proceed in rounds."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from imarena.clients import Budget, check_reachable
from imarena.core import UserError, command_line, counted, unknown_name
from imarena.core.records import Ranking
from imarena.judges import EDIVAL_DIMENSIONS, Estimate, OrderPolicy, Shape
from imarena.ranking import Options
from imarena.routing import Sampler, battles_by_pair, next_round, sampled_pairs
from imarena.storage import Workspace
from imarena.workflows.boards import BoardQuery
from imarena.workflows.boards import board as make_board
from imarena.workflows.questions.case_context import with_context
from imarena.workflows.questions.cases import Case, ShowableOutputs, cases_of, load_outputs, pointwise_cases
from imarena.workflows.questions.estimates import estimate
from imarena.workflows.questions.executor_choice import judge_run_options
from imarena.workflows.questions.judging import QuestionSettings, judge_cases
from imarena.workflows.questions.judging_plan import plan_cases
from imarena.workflows.questions.loop import RunOptions
from imarena.workflows.questions.report import AdaptiveRound, JudgeReport, Watch, joined_report
from imarena.workflows.wiring import EndpointArguments, WiredJudge, check_judge_shape, wire_judge


@dataclass(frozen=True)
class JudgingJob:
    """One judge and all questions for it."""

    wired: WiredJudge
    showable: ShowableOutputs
    cases: list[Case]
    estimate: Estimate
    question_settings: QuestionSettings
    sampler: Sampler = Sampler()
    policy: OrderPolicy = "both"
    repeats: int = 1


@dataclass(frozen=True)
class JudgingRun:
    """The estimates that a command showed, and each judge's report; no reports if nothing was asked."""

    estimates: tuple[Estimate, ...]
    reports: tuple[JudgeReport, ...] = ()

    @property
    def rounds(self) -> list[Sequence[AdaptiveRound]]:
        """The rounds of each judge; none if the sampler is not adaptive or nothing was asked."""
        return [report.rounds for report in self.reports] or [[] for _ in self.estimates]


class ShownOutputs(TypedDict, total=False):
    """Which outputs judges are asked about, as the arguments of `plan_scores` and `plan_battles`."""

    datasets: Sequence[str] | None
    editors: Sequence[str] | None
    tasks: Sequence[str] | None
    limit: int | None
    only_items: Collection[str] | None


def plan_scores(
    workspace: Workspace,
    judges: Sequence[str],
    arguments: EndpointArguments | None = None,
    budget: Budget | None = None,
    *,
    repeats: int = 1,
    **what: Unpack[ShownOutputs],
) -> list[JudgingJob]:
    """Plan to show every output to every judge. `what`: which outputs; default: all."""
    wired = _wire(workspace, judges, arguments, budget, "pointwise", "judge")
    showable = _showable(workspace, what)
    cases = list(pointwise_cases(showable, repeats=repeats))
    return [
        _job(workspace, judge, run_options, showable, cases, "judge", Sampler(), "both", repeats)
        for judge, run_options in wired
    ]


def plan_battles(
    workspace: Workspace,
    judges: Sequence[str],
    arguments: EndpointArguments | None = None,
    budget: Budget | None = None,
    *,
    sampler: Sampler | None = None,
    orders: OrderPolicy = "both",
    repeats: int = 1,
    **what: Unpack[ShownOutputs],
) -> list[JudgingJob]:
    """Plan to show the sampler's battles to every judge, in the orders of the policy."""
    sampler = sampler or Sampler()
    wired = _wire(workspace, judges, arguments, budget, "pairwise", "battle")
    showable = _showable(workspace, what, voted=sampler.kind in ("full", "voted"))
    battles = sampled_pairs(showable, sampler)
    if not battles:
        _refuse(showable, sampler)
    cases = list(cases_of(showable, battles, orders, repeats=repeats, seed=sampler.seed))
    return [
        _job(workspace, judge, run_options, showable, cases, "battle", sampler, orders, repeats)
        for judge, run_options in wired
    ]


def _wire(
    workspace: Workspace,
    judges: Sequence[str],
    arguments: EndpointArguments | None,
    budget: Budget | None,
    shape: Shape,
    command: str,
) -> list[tuple[WiredJudge, RunOptions]]:
    """Return the judges and how each is asked. Wrong arguments are reported before any output is read."""
    given = arguments or EndpointArguments()
    wired = [wire_judge(workspace.settings, name, given, budget) for name in judges]
    for judge in wired:
        check_judge_shape(judge, shape, command)
    return [
        (judge, judge_run_options(workspace.settings, judge, executor=given.executor, concurrency=given.concurrency))
        for judge in wired
    ]


def _refuse(showable: ShowableOutputs, sampler: Sampler) -> None:
    """Raise with the reason why there are no battles, unless it is just that no two editors share an item."""
    if sampler.kind == "voted":
        raise UserError(
            "No pair that people voted on can be shown: "
            + ("their pixels are absent." if showable.voted else "no votes."),
            hint=f"`{command_line('import')}` brings votes on pairs with their images; `--sampler full` needs no "
            "votes.",
        )
    if len(showable.editors) < 2:
        raise UserError(
            f"A battle needs two editors or a pair that people voted on; {counted(len(showable.editors), 'editor')} "
            "can be shown.",
            hint=f"Run `{command_line('edit')}` or import outputs of another editor.",
        )


def _showable(workspace: Workspace, what: ShownOutputs, *, voted: bool = False) -> ShowableOutputs:
    showable = load_outputs(workspace, voted=voted, **what)
    if not showable.slots:
        why = (
            f"{counted(showable.hidden, 'output')} came without pixels"
            if showable.hidden
            else "there are no ok outputs"
        )
        raise UserError(
            f"There is nothing to show to a judge: {why}.", hint=f"Run `{command_line('edit')}`, or import outputs."
        )
    return showable


def _job(
    workspace: Workspace,
    wired: WiredJudge,
    run_options: RunOptions,
    showable: ShowableOutputs,
    cases: list[Case],
    command: str,
    sampler: Sampler,
    policy: OrderPolicy,
    repeats: int,
) -> JudgingJob:
    cases = with_context(workspace, wired.judge, cases, showable.parents)
    planned = plan_cases(workspace, wired.judge, cases, showable.parents)
    concurrency = run_options.concurrency or wired.concurrency
    forecast = estimate(
        workspace, wired, planned, showable, concurrency=concurrency, at_most=sampler.kind == "adaptive"
    )
    question_settings = QuestionSettings(command, wired.dimension, "" if policy == "both" else policy, run_options)
    return JudgingJob(wired, showable, cases, forecast, question_settings, sampler, policy, repeats)


def run_jobs(
    workspace: Workspace,
    jobs: Sequence[JudgingJob],
    *,
    confirm: Callable[[Sequence[Estimate]], bool],
    watching: Callable[[], AbstractContextManager[Watch]],
) -> JudgingRun:
    """Run the jobs whose estimates `confirm` accepts. `watching` is open while questions are asked."""
    estimates = tuple(job.estimate for job in jobs)
    if not confirm(estimates):
        return JudgingRun(estimates)
    with watching() as watch:
        return JudgingRun(estimates, tuple(ask_jobs(workspace, jobs, watch=watch)))


def ask_jobs(workspace: Workspace, jobs: Sequence[JudgingJob], *, watch: Watch | None = None) -> list[JudgeReport]:
    """Run the jobs one after the other. A stop (Ctrl-C, the cost limit) ends them all; the rest counts as missing."""
    for job in jobs:
        if job.wired.endpoint is not None and not job.wired.runs_here and job.estimate.new:
            check_reachable(job.wired.endpoint)
    reports: list[JudgeReport] = []
    for job in jobs:
        stopped = next((report.stopped for report in reports if report.stopped), "")
        if stopped:
            reports.append(JudgeReport(job.wired.judge.name, planned=job.estimate.new, stopped=stopped))
            continue
        question_settings = replace(job.question_settings, watch=watch)
        if job.sampler.kind == "adaptive":
            reports.append(_adaptive(workspace, job, question_settings))
        else:
            reports.append(
                judge_cases(
                    workspace,
                    job.wired.judge,
                    job.cases,
                    question_settings=question_settings,
                    parents=job.showable.parents,
                )
            )
    return reports


def _adaptive(workspace: Workspace, job: JudgingJob, question_settings: QuestionSettings) -> JudgeReport:
    """Run battles in rounds until every interval is narrow enough or no battles are left."""
    by_pair = battles_by_pair(job.showable, job.sampler)
    fought: Counter[tuple[str, str]] = Counter()
    rounds: list[AdaptiveRound] = []
    reports: list[JudgeReport] = []
    while True:
        ranking = _quick_ranking(workspace, job) if fought else None
        at = next_round(by_pair, fought, ranking, job.sampler)
        rounds.append(AdaptiveRound(fought.total(), at.widest if fought else None, at.open, at.of))
        if not at.open or not at.battles:
            break
        fresh = cases_of(job.showable, at.battles, job.policy, repeats=job.repeats, seed=job.sampler.seed)
        cases = with_context(workspace, job.wired.judge, fresh, job.showable.parents)
        reports.append(
            judge_cases(
                workspace, job.wired.judge, cases, question_settings=question_settings, parents=job.showable.parents
            )
        )
        if reports[-1].stopped:
            break
        fought.update(battle.pair for battle in at.battles)
    return joined_report(job.wired.judge.name, reports, rounds)


def _quick_ranking(workspace: Workspace, job: JudgingJob) -> Ranking | None:
    """Return the current ratings with their sandwich covariance, without resampling."""
    query = BoardQuery(
        source="judge", judge=job.wired.judge.name, dimension=job.wired.dimension, kind="compared",
        options=Options(interval="sandwich"), notes=False,
    )  # fmt: skip
    try:
        return make_board(workspace, query).ranking
    except UserError:  # a single item has no interval
        return None


def plan_edival(
    workspace: Workspace,
    judges: Sequence[str] | None,
    arguments: EndpointArguments | None = None,
    budget: Budget | None = None,
    *,
    repeats: int = 1,
    **what: Unpack[ShownOutputs],
) -> list[JudgingJob]:
    """Return one job per dimension; earlier ones measure, later ones reuse the measurements.

    `judges`: `edival`, or tables of the settings of that kind. `what`: which outputs, as for `plan_scores`.
    """
    given = arguments or EndpointArguments()
    dimensions = EDIVAL_DIMENSIONS
    if "dimension" in given.options:
        dimensions = tuple(name for name in EDIVAL_DIMENSIONS if name == given.options["dimension"])
        if not dimensions:
            raise unknown_name("There is no dimension", str(given.options["dimension"]), EDIVAL_DIMENSIONS)
    for name in judges or ():
        if str(workspace.settings.judges.get(name, {}).get("kind", name)) != "edival":
            raise UserError(f"'{name}' is not a judge of the kind 'edival'.", hint=f"Use `{command_line('judge')}`.")
    jobs: list[JudgingJob] = []
    for dimension in dimensions:
        options = {**given.options, "dimension": dimension}
        arguments = replace(given, options=options)
        jobs += plan_scores(workspace, judges or ["edival"], arguments, budget, repeats=repeats, **what)
    return jobs
