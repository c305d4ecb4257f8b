"""Ask a judge about outputs with text drawn on them: chosen by hash, asked once each, resumable after a stop."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice
from typing import Any

from imarena.clients import Budget
from imarena.core import Exhibit, Judge, UnknownName, UserError, Verdict, command_line, content_id, sha256_hex
from imarena.core.records import ImageRef, JsonDict, Judgment, Order, Outcome, Record, Status
from imarena.judges import JUDGES, Estimate, InjectedText, injections, reorder_exhibit, to_recorded_sides, with_text
from imarena.routing import assign_sides
from imarena.storage import Workspace
from imarena.workflows import questions
from imarena.workflows.questions import estimate
from imarena.workflows.studies.judge_check import only_compares
from imarena.workflows.studies.probe import PLAIN, ProbeAnswer, probe_evidence, probe_form, read_probes
from imarena.workflows.views import View, exhibit_of
from imarena.workflows.wiring import EndpointArguments, WiredJudge, check_judge_shape, wire_judge


@dataclass(frozen=True)
class ProbeQuestion:
    """A question: a case, and the text to draw on one side of it; None to leave it unchanged."""

    case: questions.Case
    unit: str
    side: Outcome | None
    text: InjectedText | None
    work: str
    attempt: int = 0
    held: questions.EarlierAnswers | None = None
    """For a case of several questions: the answers of an earlier attempt."""

    @property
    def put(self) -> questions.CaseWork:
        """The case's work, with an id of its own: replies to a probe are not replies to `judge` or `battle`."""
        return questions.CaseWork(self.case, content_id("work", "probe reply", self.work), self.attempt, held=self.held)


@dataclass(frozen=True)
class ProbeJob:
    """One judge and all questions to ask it."""

    wired: WiredJudge
    showable: questions.ShowableOutputs
    asks: list[ProbeQuestion]
    known: list[tuple[ProbeQuestion, str]]
    """Questions about unchanged outputs that `judge` or `battle` already asked, with the judgment; not asked again."""
    estimate: Estimate
    done_before: int
    run_options: questions.RunOptions


def plan_probes(
    workspace: Workspace,
    judges: Sequence[str],
    arguments: EndpointArguments,
    budget: Budget | None,
    count: int,
    *,
    battles: bool,
) -> list[ProbeJob]:
    """One job per judge. A judge that only compares sees pairs; with `battles`, all judges do, and must compare."""
    view = View(workspace)
    for name in judges:
        _check_can_be_asked(view, name)
    wired = [wire_judge(workspace.settings, name, arguments, budget) for name in judges]
    showable = questions.load_outputs(workspace)
    if battles:
        for judge in wired:
            check_judge_shape(judge, "pairwise", "health --probe --battles")
    return [
        plan_probe(
            workspace, judge, showable, count, battles=battles or only_compares(judge, view),
            concurrency=arguments.concurrency, executor=arguments.executor,
        )
        for judge in wired
    ]  # fmt: skip


def _check_can_be_asked(view: View, name: str) -> None:
    """Raise if the judge is known only from stored judgments, which have its name but not its code."""
    if name in view.variants.judges and name not in view.workspace.settings.judges and name not in JUDGES:
        raise UnknownName(
            f"The workspace has judgments by '{name}', but a probe has to ask it, which needs more than its name.",
            hint="Name a judge of your own as `function:MODULE:NAME`, and one of `judge --list` by its kind, "
            "with --model and its endpoint where it needs them.",
        )


def plan_probe(
    workspace: Workspace,
    wired: WiredJudge,
    showable: questions.ShowableOutputs,
    count: int,
    *,
    battles: bool,
    concurrency: int | None = None,
    executor: str = "",
) -> ProbeJob:
    """Plan `count` outputs or pairs, unchanged and with every text. A question is done only after an ok answer."""
    judge = wired.judge
    run_options = questions.judge_run_options(workspace.settings, wired, executor=executor, concurrency=concurrency)
    unfit: Counter[str] = Counter()
    cases = list(islice(_cases(workspace, showable, judge, unfit, battles=battles), count))
    if not cases:
        why = next(iter(unfit), "a pair needs two outputs of one item" if battles else "there are no outputs")
        hint = f"Run `{command_line('edit')}`, or import outputs. A judge that compares pairs needs --battles."
        raise UserError(f"No output can be probed: {why}.", hint=hint)
    past = _past_attempts(workspace, judge)
    stored = questions.known_answers(workspace, judge)
    asks, done, before = [], [], 0
    for ask in (question for case in cases for question in _questions(judge, case, showable, battles=battles)):
        if ask.work in past.done:
            before += 1
        elif ask.text is None and ask.work in stored:
            done.append((ask, stored[ask.work]))
        else:
            asks.append(replace(ask, attempt=past.attempts.get(ask.work, 0)))
    work = questions.with_earlier_answers(workspace, judge, [ask.put for ask in asks])
    asks = [replace(ask, held=case_work.held) for ask, case_work in zip(asks, work, strict=True)]
    planned = questions.PlannedWork(work, done_before=before + len(done), unfit=unfit)
    took = estimate(workspace, wired, planned, showable, concurrency=concurrency or wired.concurrency)
    return ProbeJob(wired, showable, asks, done, took, before + len(done), run_options)


def _cases(
    workspace: Workspace, showable: questions.ShowableOutputs, judge: Judge, unfit: Counter[str], *, battles: bool
) -> Iterator[questions.Case]:
    """Outputs or pairs ordered by hash, so that two judges are probed on the same ones."""
    if battles:
        pairs = (assign_sides(*pair) for shown_ in showable.slots.values() for pair in combinations(shown_, 2))
        cases = [questions.Case(showable.items[left.item_id], left, right, Order.LEFT_FIRST) for left, right in pairs]
    else:
        cases = [
            questions.Case(showable.items[output.item_id], output)
            for shown_ in showable.slots.values()
            for output in shown_
        ]

    def sort_key(case: questions.Case) -> str:
        return content_id("probe", case.left.output_id, *([case.right.output_id] if case.right else []))

    for case in sorted(questions.with_context(workspace, judge, cases, showable.parents), key=sort_key):
        reason = questions.unfit_reason(judge, case, showable.parents)
        if reason:
            unfit[reason] += 1
        else:
            yield case


def _questions(
    judge: Judge, case: questions.Case, showable: questions.ShowableOutputs, *, battles: bool
) -> Iterator[ProbeQuestion]:
    """The case unchanged, then with each text; a pair in both orders, with the text always on the same side."""
    unit = content_id("unit", questions.work_id(judge, replace(case, order=None), showable.parents))
    side = (Outcome.LEFT, Outcome.RIGHT)[int(unit[-1], 16) % 2] if battles else None
    for text in (None, *injections()):
        for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST) if battles else (None,):
            shown_as = replace(case, order=order)
            work = questions.work_id(judge, shown_as, showable.parents)
            if text is not None:
                work = content_id("work", "probe", work, [text.id, text.text, side.value if side else None])
            yield ProbeQuestion(shown_as, unit, side, text, work)


# ---------------------------------------------------------------- asking


def _past_attempts(workspace: Workspace, judge: Judge, **where: Any) -> questions.PastAttempts:
    """The earlier probe attempts of this judge."""
    probes = read_probes(workspace, judge.name, **where)
    return questions.past_attempts((probe.work, probe.attempt, probe.status is Status.OK) for probe in probes)


def run_probes(
    workspace: Workspace, jobs: Sequence[ProbeJob], *, watch: questions.Watch | None = None
) -> list[questions.JudgeReport]:
    """Run the jobs one after the other, until one of them is stopped."""
    reports: list[questions.JudgeReport] = []
    for job in jobs:
        reports.append(run_probe(workspace, job, watch=watch))
        if reports[-1].stopped:
            break
    return reports


def run_probe(workspace: Workspace, job: ProbeJob, *, watch: questions.Watch | None = None) -> questions.JudgeReport:
    """Ask the missing questions concurrently. Stops cleanly at Ctrl-C or the cost limit; answers so far are stored."""
    judge, images = job.wired.judge, questions.ImageLoader(workspace)

    def load(ask: ProbeQuestion) -> questions.JudgeQuestion:
        case = ask.case
        exhibit = questions.add_context(
            exhibit_of(images, case.item, case.left, case.right, job.showable.parents), case
        )
        draw = partial(_draw, text=ask.text.text if ask.text else "", side=ask.side, order=case.order)
        return questions.JudgeQuestion(exhibit, ask.held.texts if ask.held else None, draw)

    def stored(asks: Sequence[ProbeQuestion]) -> questions.PastAttempts:
        images = {image for ask in asks if (image := _hash(ask.case.left.image))}
        return _past_attempts(workspace, judge, image_sha256=sorted(images))

    shared, finish = questions.shared_attempts(
        workspace.claims(), lambda ask: ask.put.work_id, lambda ask: (ask.work, ask.attempt), stored
    )
    run = questions.JudgeRun(
        "probe", {"judge": judge.name, "params": judge.params}, judge, job.asks, load, partial(_records, judge),
        group=lambda ask: ask.unit, images=images,
        shared=shared, finish=finish,
    )  # fmt: skip
    _copy_known(workspace, job)
    return questions.ask_judge(
        workspace, run, questions.JudgeTally(judge.name, job.done_before), job.run_options, watch
    )


def _copy_known(workspace: Workspace, job: ProbeJob) -> None:
    for ask, identity in job.known:
        old = workspace.store.get(Judgment, identity)
        if old is not None:
            preference = old.preference
            if preference is not None and old.order is not ask.case.order:  # the same images, in the other order
                preference = preference.mirrored()
            verdict = Verdict(old.status, preference=preference, score=old.score)
            workspace.store.add([_record(job.wired.judge, ask, verdict, {"judgment_id": identity})])


def _draw(exhibit: Exhibit, *, text: str, side: Outcome | None, order: Order | None) -> Exhibit:
    """The exhibit that the judge sees: with the text drawn on its side, then the sides in order."""
    if text:
        exhibit = _with_evidence(with_text(exhibit, text, side or Outcome.LEFT), exhibit)
    return reorder_exhibit(exhibit, order) if order is not None else exhibit


def _with_evidence(marked: Exhibit, plain: Exhibit) -> Exhibit:
    """Reassign evidence about an output to the same output with text on it, whose bytes and hash differ."""
    if not plain.evidence:
        return marked
    sides = ((plain.left, marked.left), (plain.right, marked.right))
    now = {sha256_hex(old): sha256_hex(new) for old, new in sides if old is not None and new is not None}
    moved = (
        evidence.model_copy(update={"image_sha256": now.get(evidence.image_sha256, evidence.image_sha256)})
        for evidence in marked.evidence
    )
    return replace(marked, evidence=tuple(moved))


def _records(judge: Judge, batch: Sequence[tuple[ProbeQuestion, Verdict]], run_id: str) -> Iterator[Record]:
    """Yield the raw reply first, then the record of the answer."""
    for ask, verdict in batch:
        usage = verdict.usage.model_dump(exclude_none=True)
        value: JsonDict = {"usage": usage} if usage else {}
        reply = questions.reply_of(ask.put, verdict, run_id)
        if reply is not None:
            yield reply
            value["reply_id"] = reply.reply_id
        recorded = to_recorded_sides(verdict, ask.case.order) if ask.case.order is not None else verdict
        yield _record(judge, ask, recorded, value)


def _record(judge: Judge, ask: ProbeQuestion, verdict: Verdict, value: JsonDict) -> Record:
    """The record of an answer. `verdict`: the one on the recorded sides."""
    probed = ProbeAnswer(
        judge.name, probe_form(judge), ask.unit, ask.text.id if ask.text else PLAIN, ask.side, ask.case.order, ask.work,
        ask.attempt, verdict.status, verdict.score, verdict.preference,
    )  # fmt: skip
    right = ask.case.right.image if ask.case.right is not None else None
    return probe_evidence(probed, _hash(ask.case.left.image) or "", _hash(right), value, verdict.error)


def _hash(image: ImageRef | None) -> str | None:
    return image.sha256 if image is not None else None
