"""Validate a rater's answer against the form and turn it into a record, or report what is missing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from imarena.core import UserError
from imarena.core.records import Assignment, Issue, Outcome, Verification, Vote
from imarena.routing.forms import FormQuestion, forms

INSTRUCTION_FOLLOWING = "instruction_following"
LISTS = {"objects": "object", "segments": "segment"}


class InvalidBallot(UserError):
    """The answer does not match the form; `field` names the part that is wrong or missing."""

    def __init__(self, message: str, *, field: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


@dataclass(frozen=True)
class Answer:
    """A rater's input; the kind of task determines which fields count."""

    preference: str | None = None
    ratings: dict[str, int] = field(default_factory=dict)
    answer: bool | None = None
    checks: dict[str, bool] = field(default_factory=dict)
    decision: str | None = None
    issues: tuple[Issue, ...] = ()
    no_object_issues: bool = False
    no_segment_issues: bool = False
    new_image: bool = False
    returned_input: bool = False
    comment: str = ""
    time_spent_s: float | None = None


def read_ballot(
    assignment: Assignment, answer: Answer, rater_id: str, key: str, supersedes: str | None, dimension: str
) -> Vote | Verification:
    """Return the record for an answer. Raises `InvalidBallot`."""
    if assignment.kind == "check":
        return _verification(assignment, answer, rater_id)
    if assignment.left_id is None:
        raise InvalidBallot("This task has no result to answer about.")
    shared: dict[str, Any] = {
        "rater_id": rater_id, "item_id": assignment.item_id, "turn": assignment.turn, "left_id": assignment.left_id,
        "right_id": assignment.right_id, "assignment_id": assignment.assignment_id, "comment": answer.comment,
        "time_spent_s": answer.time_spent_s, "idempotency_key": key, "supersedes": supersedes, "dimension": dimension,
    }  # fmt: skip
    if assignment.kind == "preference":
        if answer.preference is None:
            raise InvalidBallot("No side was chosen.", field="preference", hint="Choose left, right, tie or both bad.")
        return Vote(**shared, preference=Outcome(answer.preference))
    if assignment.kind == "yes_no":
        if answer.answer is None:
            raise InvalidBallot("Neither yes nor no was chosen.", field="answer")
        return Vote(**shared, ratings={INSTRUCTION_FOLLOWING: float(answer.answer)}, scale=(0.0, 1.0))
    return _rating(answer, shared)


def _rating(answer: Answer, shared: dict[str, Any]) -> Vote:
    criteria = forms().criteria
    _check_complete(answer.ratings, criteria, "ratings")
    for question in criteria:
        value = answer.ratings[question.name]
        if not question.low <= value <= question.high:
            raise InvalidBallot(
                f"{question.label} goes from {question.low} to {question.high}.", field=f"ratings.{question.name}"
            )
    issues = _issues(answer)
    _explained(answer, criteria, issues)
    low, high = float(criteria[0].low), float(criteria[0].high)
    ratings = {name: float(value) for name, value in answer.ratings.items()}
    return Vote(**shared, ratings=ratings, scale=(low, high), issues=issues)


def _check_complete(answers: dict[str, Any], questions: tuple[FormQuestion, ...], field: str) -> None:
    missing = [question for question in questions if question.name not in answers]
    if missing:
        labels = ", ".join(question.label for question in missing)
        raise InvalidBallot(f"Not answered: {labels}.", field=f"{field}.{missing[0].name}")
    if len(answers) > len(questions):
        raise InvalidBallot("The answer names something that was not asked.", field=field)


def _issues(answer: Answer) -> tuple[Issue, ...]:
    """Return the issues with the tags and the explicit 'none' of each list; each list needs one kind of answer."""
    for issue in answer.issues:
        _fits(issue)
    if answer.new_image and answer.returned_input:
        raise InvalidBallot(
            "A result cannot be both a new image and the unchanged source.",
            field="new_image",
            hint="Choose one of the two.",
        )
    issues = list(answer.issues)
    for name, none in (("objects", answer.no_object_issues), ("segments", answer.no_segment_issues)):
        marked = any(issue.kind == LISTS[name] for issue in answer.issues)
        field = f"no_{LISTS[name]}_issues"
        boxes = name == "segments" and any(issue.kind == "box" for issue in answer.issues)
        if none and (marked or boxes):
            raise InvalidBallot(
                f"'None' is chosen for {name}, and some are marked.", field=field, hint="Take one of the two back."
            )
        if not none and not marked and not boxes:
            raise InvalidBallot(
                f"The list of {name} is not answered.", field=field, hint="Mark what is wrong, or choose None."
            )
        if none:
            issues.append(Issue(kind="none", label=name))
    issues += [Issue(kind=tag) for tag in ("new_image", "returned_input") if getattr(answer, tag)]
    return tuple(issues)


def _fits(issue: Issue) -> None:
    if issue.kind == "object" and not _says(issue.label):
        raise InvalidBallot("An object issue needs the object's name.", field="issues")
    if issue.kind == "segment" and issue.segment is None:
        raise InvalidBallot("A segment issue needs the segment's number.", field="issues")
    if issue.kind == "other" and not (_says(issue.note) or _says(issue.label)):
        raise InvalidBallot("Another issue needs words.", field="issues")
    if issue.kind == "box" and not _box_fits(issue.box):
        raise InvalidBallot("A box needs two corners inside the picture, left above right.", field="issues")
    if issue.criterion is not None and issue.criterion not in {question.name for question in forms().criteria}:
        raise InvalidBallot("An issue names a criterion that was not asked.", field="issues")


def _says(text: str) -> bool:
    """Return whether it has a letter or a digit. Blanks, dots and invisible characters explain nothing."""
    return any(character.isalnum() for character in text)


def check_marks(answer: Answer, width: int, height: int, segments: Callable[[], int]) -> None:
    """Check that marks are on the image: boxes inside it, segments among its numbers. Raises `InvalidBallot`."""
    for issue in answer.issues:
        if issue.box is not None and (issue.box[2] > width + 1 or issue.box[3] > height + 1):
            raise InvalidBallot("A box lies outside the picture.", field="issues", hint="Draw it on the picture.")
    highest = max((issue.segment for issue in answer.issues if issue.segment is not None), default=0)
    if highest and highest > segments():
        raise InvalidBallot(
            f"The picture has no part number {highest}.", field="issues", hint="Choose one of its numbers."
        )


def _box_fits(box: tuple[float, float, float, float] | None) -> bool:
    return box is not None and 0 <= box[0] < box[2] and 0 <= box[1] < box[3]


def _explained(answer: Answer, criteria: tuple[FormQuestion, ...], issues: tuple[Issue, ...]) -> None:
    """Require an issue or a short explanation for any criterion below its highest value (ImagenWorld)."""
    explained = [issue for issue in issues if issue.kind != "none"]
    if _says(answer.comment) or any(issue.criterion is None for issue in explained):
        return
    with_issue = {issue.criterion for issue in explained}
    for question in criteria:
        if answer.ratings[question.name] < question.high and question.name not in with_issue:
            raise InvalidBallot(
                f"'{question.label}' is under {question.high} without a reason.",
                field="comment",
                hint="Mark what is wrong, or write a short explanation.",
            )


def _verification(assignment: Assignment, answer: Answer, rater_id: str) -> Verification:
    _check_complete(answer.checks, forms().checks, "checks")
    if answer.decision is None:
        raise InvalidBallot("Nothing was decided.", field="decision", hint="Choose accept, repair or discard.")
    if answer.decision == "accept" and not all(answer.checks.values()):
        raise InvalidBallot(
            "An entry that fails a check cannot be accepted.", field="decision", hint="Choose repair or discard."
        )
    return Verification(
        item_id=assignment.item_id, rater_id=rater_id, checks=answer.checks, decision=answer.decision,
        comment=answer.comment,
    )  # fmt: skip


def is_correct_answer(assignment: Assignment, answer: Answer | Vote) -> bool | None:
    """Return whether a task with a known answer was answered correctly; None if nothing is known."""
    expected = assignment.params.get("expected")
    if not isinstance(expected, dict):
        return None
    if assignment.kind == "preference":
        return answer.preference is not None and str(answer.preference) == expected.get("preference")
    ratings = {name: float(value) for name, value in answer.ratings.items()}
    if assignment.kind == "yes_no":
        if isinstance(answer, Answer) and answer.answer is not None:
            ratings = {INSTRUCTION_FOLLOWING: float(answer.answer)}
        expected_answer = expected.get("answer")
        return None if expected_answer is None else ratings.get(INSTRUCTION_FOLLOWING) == float(bool(expected_answer))
    marks, reach = expected.get("ratings"), expected.get("tolerance", 1)
    if not isinstance(marks, dict) or not marks or not isinstance(reach, int | float):
        return None
    return all(abs(ratings.get(str(name), 99.0) - float(str(value))) <= reach for name, value in marks.items())


_CHOICES = {"left": "left is better", "right": "right is better", "tie": "a tie", "both_bad": "both are bad"}


@dataclass(frozen=True, slots=True)
class PracticeResult:
    """An answer to a practice task and the expected one, for a page that words it in the rater's language."""

    correct: bool | None
    """None: the task has no expected answer."""
    preference: str | None = None
    answer: bool | None = None
    ratings: dict[str, float] = field(default_factory=dict)
    tolerance: float = 0
    explanation: str = ""
    """As the lead wrote it."""


def practice_result(assignment: Assignment, answer: Answer) -> PracticeResult:
    """Compare an answer to a practice task with the expected one."""
    expected = assignment.params.get("expected")
    if not isinstance(expected, dict):
        return PracticeResult(None)
    ratings, tolerance = expected.get("ratings"), expected.get("tolerance", 1)
    preference, expected_answer = expected.get("preference"), expected.get("answer")
    return PracticeResult(
        is_correct_answer(assignment, answer),
        preference=None if preference is None else str(preference),
        answer=None if expected_answer is None else bool(expected_answer),
        ratings={str(name): float(str(value)) for name, value in ratings.items()} if isinstance(ratings, dict) else {},
        tolerance=tolerance if isinstance(tolerance, int | float) else 1,
        explanation=str(expected.get("explanation") or ""),
    )


def feedback_on(assignment: Assignment, answer: Answer) -> str:
    """Return the feedback after a practice task: right or not, the expected answer, and why. One line each."""
    expected = assignment.params.get("expected")
    if not isinstance(expected, dict):
        return "Thank you."
    verdict = is_correct_answer(assignment, answer)
    lines = [{True: "Right.", False: "This is not the expected answer.", None: "Thank you."}[verdict]]
    expected_text = _expected_text(assignment.kind, expected)
    if expected_text:
        lines.append(f"Expected: {expected_text}.")
    lines.append(str(expected.get("explanation") or ""))
    return "\n".join(line for line in lines if line)


def _expected_text(kind: str, expected: dict[str, Any]) -> str:
    if kind == "preference":
        return _CHOICES.get(str(expected.get("preference")), "")
    if kind == "yes_no":
        return "" if expected.get("answer") is None else "yes" if expected["answer"] else "no"
    marks = expected.get("ratings")
    labels = {question.name: question.label for question in forms().criteria}
    ratings = marks.items() if isinstance(marks, dict) else ()
    text = ", ".join(f"{labels.get(name, name)} {value}" for name, value in ratings)
    reach = expected.get("tolerance", 1)
    return f"{text} (give or take {reach})" if text and reach else text
