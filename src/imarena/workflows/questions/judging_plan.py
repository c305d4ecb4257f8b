"""What to ask a judge: the identity of a question, which ones were answered before, which cases cannot be shown."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from imarena.core import Exhibit, Judge, ResumableJudge, UserError, command_line, content_id, first_line
from imarena.core.records import Order, Output, Reply
from imarena.judges import reorder_exhibit
from imarena.storage import Workspace
from imarena.workflows.questions.cases import Case
from imarena.workflows.views import TURNS_WORK, QuestionKey, edit_question, exhibit_of, stored_answers

PAGE = 500


@dataclass(frozen=True)
class EarlierAnswers:
    """Answers from earlier attempts at the same work: same judge, words, settings and pixels."""

    texts: Mapping[str, str]
    attempts: Mapping[str, int]
    """The attempt that received each answer."""
    model: str


@dataclass(frozen=True)
class CaseWork:
    """A case with its identity and the number of earlier attempts."""

    case: Case
    work_id: str
    attempt: int
    duplicates: list[Case] = field(default_factory=list)
    """Other outputs with the very same pixels: the question is asked once, the answer recorded for each."""
    held: EarlierAnswers | None = None
    """For a judge with several questions: answers from earlier attempts, which are not asked for again."""


@dataclass(frozen=True)
class PlannedWork:
    """The questions that a judge has not answered yet."""

    work: list[CaseWork] = field(default_factory=list)
    copies: list[tuple[Case, str]] = field(default_factory=list)
    """Cases answered before for another output with the same pixels, and the id of that judgment."""
    done_before: int = 0
    unfit: Counter[str] = field(default_factory=Counter)

    @property
    def answered(self) -> int:
        """Number of cases answered before, copies included, as estimates and reports count them."""
        return self.done_before + len(self.copies)

    @property
    def to_write(self) -> int:
        """Number of judgments that the run will write: one per output, copies included."""
        return sum(1 + len(work.duplicates) for work in self.work) + len(self.copies)


def work_id(judge: Judge, case: Case, parents: dict[str, Output]) -> str:
    """Return the identity of a question: the judge, the words, the pixels in their order, the repeat."""
    first, second = (case.right, case.left) if case.order is Order.RIGHT_FIRST else (case.left, case.right)
    edit = edit_question(case.item, case.left, case.right, parents)
    return content_id(
        "work" if edit.first_turn is None else TURNS_WORK,
        "judge",
        [judge.name, judge.version, judge.prompt_id, judge.prompt_version, judge.params],
        case.item.turn_content_id(case.left.turn),
        case.left.mode,
        [image.sha256 for image in edit.sources],
        [image.sha256 for image in edit.references],
        first.image.sha256 if first and first.image else None,
        second.image.sha256 if second and second.image else None,
        case.repeat,
        *([["from turn", edit.first_turn]] if edit.first_turn is not None else []),
        *([list(case.expected_objects)] if case.expected_objects else []),
        *(
            [["plan", case.plan.model_dump(mode="json"), *(image.sha256 for image in case.chain)]]
            if case.plan is not None
            else []
        ),
        *([["evidence", *(evidence.evidence_id for evidence in case.evidence)]] if case.evidence else []),
    )


def plan_cases(
    workspace: Workspace, judge: Judge, cases: Iterable[Case], parents: dict[str, Output] | None = None
) -> PlannedWork:
    """Plan the missing questions. Only a live `ok` counts as asked: failures are tried again."""
    stored = _stored_work(workspace, judge)
    fresh: dict[str, CaseWork] = {}
    copies: list[tuple[Case, str]] = []
    done_before, unfit = 0, Counter[str]()
    for case in cases:
        identity = work_id(judge, case, parents or {})
        if (identity, *case_key(case)) in stored.placed:
            done_before += 1
        elif identity in stored.done:
            copies.append((case, stored.done[identity]))
        elif identity in fresh:
            fresh[identity].duplicates.append(case)
        elif reason := unfit_reason(judge, case, parents or {}):
            unfit[reason] += 1
        else:
            fresh[identity] = CaseWork(case, identity, stored.attempts.get(identity, 0))
    return PlannedWork(with_earlier_answers(workspace, judge, list(fresh.values())), copies, done_before, unfit)


def asked_elsewhere(workspace: Workspace, work: Sequence[CaseWork]) -> set[str]:
    """Return which of this work another process asked since it was planned, with any result."""
    attempts = {case_work.work_id: case_work.attempt for case_work in work}
    stored = stored_answers(workspace, work_id=list(attempts)) if attempts else ()
    return {answer.key[0] for answer in stored if answer.attempt >= attempts[answer.key[0]]}


def with_earlier_answers(workspace: Workspace, judge: Judge, work: list[CaseWork]) -> list[CaseWork]:
    """Add to each work what its newest reply already holds: every reply includes the answers of those before it."""
    again = [case_work.work_id for case_work in work if case_work.attempt]
    resumable = judge.traits.resumable
    if not again or resumable is None:
        return work
    newest: dict[str, Reply] = {}
    for start in range(0, len(again), PAGE):
        for reply in workspace.store.records(Reply, work_id=again[start : start + PAGE]):
            if reply.answered and (reply.work_id not in newest or reply.attempt > newest[reply.work_id].attempt):
                newest[reply.work_id] = reply
    return [replace(case_work, held=_earlier(resumable, newest.get(case_work.work_id))) for case_work in work]


def _earlier(judge: ResumableJudge, reply: Reply | None) -> EarlierAnswers | None:
    texts = judge.usable(reply) if reply is not None else {}
    if reply is None or not texts:
        return None
    return EarlierAnswers(texts, {name: reply.answered[name] for name in texts}, reply.model)


@dataclass(frozen=True)
class _StoredWork:
    """What a judge was asked before."""

    done: dict[str, str] = field(default_factory=dict)
    """Work to its live ok judgment."""
    placed: set[QuestionKey] = field(default_factory=set)
    """Work, left, right and order of the live ok judgments."""
    attempts: dict[str, int] = field(default_factory=dict)
    """The number of the next attempt at each work."""


def case_key(case: Case) -> tuple[str, str | None, str | None]:
    order = case.order.value if case.order is not None else None
    return case.left.output_id, case.right.output_id if case.right else None, order


def _stored_work(workspace: Workspace, judge: Judge) -> _StoredWork:
    stored = _StoredWork()
    for answer in stored_answers(workspace, judge=judge.name):
        work = answer.key[0]
        stored.attempts[work] = max(stored.attempts.get(work, 0), answer.attempt + 1)
        if answer.answers:
            stored.done.setdefault(work, answer.judgment_id)
            stored.placed.add(answer.key)
    return stored


def known_answers(workspace: Workspace, judge: Judge) -> dict[str, str]:
    """Return every question that this judge answered, with the live ok judgment."""
    return _stored_work(workspace, judge).done


def placeholder_exhibit(case: Case, parents: dict[str, Output]) -> Exhibit:
    """Return the exhibit with a hash in place of each image: enough to count words and images."""
    exhibit = exhibit_of(lambda image: image.sha256.encode(), case.item, case.left, case.right, parents)
    exhibit = replace(exhibit, expected_objects=case.expected_objects)
    return reorder_exhibit(exhibit, case.order) if case.order is Order.RIGHT_FIRST else exhibit


def unfit_reason(judge: Judge, case: Case, parents: dict[str, Output]) -> str:
    """Return why this judge cannot be shown this case (for example, no source image); empty if it can."""
    traits = judge.traits
    if traits.needs_source and not edit_question(case.item, case.left, case.right, parents).sources:
        return f"{judge.name} compares with a source image and there is none"
    if traits.evidence and not case.evidence:
        return f"{judge.name} needs evidence of the kind {' or '.join(traits.evidence)} and there is none"
    if traits.needs_plan and case.plan is None:
        return (
            f"{judge.name} judges items with a plan of objects and turns (`{command_line('edival build')}`) "
            "and there is none"
        )
    if traits.needs_plan and not case.chain:
        return "an earlier turn of this output has no image"
    try:
        for prompt in traits.prompts.values():
            prompt.check(placeholder_exhibit(case, parents))
    except UserError as error:
        return first_line(error)
    return ""
