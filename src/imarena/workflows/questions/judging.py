"""judge and battle: show outputs to judges; a resumed run asks only the missing questions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from imarena.core import Judge, Progress, Verdict
from imarena.core.records import JsonDict, Output
from imarena.judges import ORDERS_PARAM, reorder_exhibit, stated_scale
from imarena.storage import Workspace
from imarena.workflows.questions.case_context import add_context, planned_edit
from imarena.workflows.questions.cases import Case
from imarena.workflows.questions.executor_choice import computes
from imarena.workflows.questions.image_loading import ImageLoader
from imarena.workflows.questions.judging_plan import CaseWork, asked_elsewhere, plan_cases
from imarena.workflows.questions.judging_records import NotCompared, check_comparison, copies_of, records_of
from imarena.workflows.questions.loop import RunOptions
from imarena.workflows.questions.report import JudgeReport, JudgeTally, Watch
from imarena.workflows.questions.shared_work import SharedWork
from imarena.workflows.questions.verdicts import JudgeQuestion, JudgeRun, ask_judge
from imarena.workflows.views import exhibit_of


@dataclass(frozen=True)
class QuestionSettings:
    """How cases are presented to a judge."""

    command: str = "judge"
    dimension: str = "overall"
    orders: str = ""
    """`single` or `paper-compat` if each battle is shown in one order only; otherwise empty."""
    run_options: RunOptions | None = None
    """None: the executor that suits the judge."""
    watch: Watch | None = None


def judge_cases(
    workspace: Workspace,
    judge: Judge,
    cases: Iterable[Case],
    *,
    question_settings: QuestionSettings | None = None,
    parents: dict[str, Output] | None = None,
    progress: Progress | None = None,
) -> JudgeReport:
    """Ask a judge all questions that have no answer yet."""
    options = question_settings or QuestionSettings()
    before = parents or {}
    planned = plan_cases(workspace, judge, cases, before)
    scale = stated_scale(judge, judge.name.partition("/")[0])
    tally = JudgeTally(judge.name, planned.answered, planned.unfit, scale=scale)
    settings: JsonDict = {"judge": judge.name, "dimension": options.dimension, "params": judge.params}
    if options.orders:
        settings[ORDERS_PARAM] = options.orders

    images = ImageLoader(workspace)

    def load(work: CaseWork) -> JudgeQuestion:
        case = work.case
        exhibit = exhibit_of(images, case.item, case.left, case.right, before)
        exhibit = replace(add_context(exhibit, case), planned=planned_edit(workspace, judge, case, images))
        if case.order is not None:
            exhibit = reorder_exhibit(exhibit, case.order)
        return JudgeQuestion(exhibit, work.held.texts if work.held else None)

    def check(verdict: Verdict, work: CaseWork) -> Verdict:
        try:
            return verdict if work.case.right is None else check_comparison(judge, verdict)
        except NotCompared:
            tally.planned = tally.judgments.total()  # the rest is not missing: this judge cannot answer it
            raise

    def finish(works: Sequence[CaseWork], run_id: str) -> int:
        cases = [case for work in works for case in (work.case, *work.duplicates)]
        left = plan_cases(workspace, judge, cases, before)
        workspace.store.add(copies_of(workspace, left.copies, run_id))
        return len(left.work)

    run = JudgeRun(
        options.command, settings, judge, planned.work, load,
        partial(records_of, judge, dimension=options.dimension, orders=options.orders),
        check=check,
        duplicates=lambda work: len(work.duplicates),
        copies=lambda run_id: copies_of(workspace, planned.copies, run_id),
        group=lambda work: work.case.item.item_id,
        to_write=planned.to_write,
        shared=SharedWork(workspace.claims(), lambda work: work.work_id, partial(asked_elsewhere, workspace)),
        images=images,
        finish=finish,
    )  # fmt: skip
    run_options = options.run_options or RunOptions(computes=computes(judge), gpus=judge.traits.gpus)
    return ask_judge(workspace, run, tally, replace(run_options, progress=progress), options.watch)
