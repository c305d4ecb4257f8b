"""Right answers for gold, practice and test tasks: from votes that agree, or from the cells of a table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from imarena.core.records import Outcome
from imarena.routing.ballots import INSTRUCTION_FOLLOWING
from imarena.routing.campaign_plan import KnownTask, unit_of
from imarena.routing.forms import forms
from imarena.routing.units import side_swapped

_OTHER_SIDE = {"left": "right", "right": "left"}
_YES = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}
_USES = ("gold", "practice", "qualification")


@dataclass(frozen=True)
class KnownAnswer:
    """The right answer to a task: a preference, yes or no, or a rating per criterion."""

    preference: str | None = None
    answer: bool | None = None
    ratings: Mapping[str, int] = field(default_factory=dict)

    def of_task(self, item_id: str, left_id: str, right_id: str | None, explanation: str = "") -> KnownTask:
        """Return the task with this answer."""
        return KnownTask(
            item_id=item_id, left_id=left_id, right_id=right_id, preference=self.preference, answer=self.answer,
            ratings=dict(self.ratings), explanation=explanation,
        )  # fmt: skip


def mirrored_preference(preference: str) -> str:
    """The same preference with left and right swapped."""
    return _OTHER_SIDE.get(preference, preference)


def ratings_answer(kind: str, ratings: Mapping[str, Any]) -> Any:
    """Return the verdict of a vote on one output in a campaign of this kind; None if it answers another question."""
    if kind == "yes_no":
        return ratings.get(INSTRUCTION_FOLLOWING)
    names = [question.name for question in forms().criteria]
    return tuple(ratings[name] for name in names) if all(name in ratings for name in names) else None


def agreed_answer(kind: str, answers: Sequence[Any], least_votes: int, least_share: float) -> KnownAnswer | None:
    """Return the answer that at least `least_share` of at least `least_votes` people gave.

    Ratings count as equal if they are within one step of the median.
    """
    if len(answers) < least_votes:
        return None
    if kind == "rating":
        middle = [round(median(values)) for values in zip(*answers, strict=True)]
        near = [all(abs(a - b) <= 1 for a, b in zip(ratings, middle, strict=True)) for ratings in answers]
        names = [question.name for question in forms().criteria]
        enough = sum(near) >= least_share * len(answers)
        return KnownAnswer(ratings=dict(zip(names, middle, strict=True))) if enough else None
    answer, count = Counter(answers).most_common(1)[0]
    if count < least_share * len(answers) or 2 * count <= len(answers):
        return None
    return KnownAnswer(preference=answer) if kind == "preference" else KnownAnswer(answer=bool(answer))


def with_sides_by_chance(known: KnownTask) -> KnownTask:
    """Return the task with its sides swapped or not, always in the same way: the side must not reveal the answer."""
    if known.right_id is None or not side_swapped(0, unit_of(known.item_id, known.left_id, known.right_id), 0):
        return known
    preference = None if known.preference is None else mirrored_preference(known.preference)
    return known.model_copy(update={"left_id": known.right_id, "right_id": known.left_id, "preference": preference})


def table_use(cells: Mapping[str, str]) -> str:
    """Return the purpose of a table row; '' if it states none. Raises `ValueError`."""
    use = {"test": "qualification"}.get(cells.get("use", ""), cells.get("use", ""))
    if use and use not in _USES:
        raise ValueError("use is none of gold, practice, qualification")
    return use


def table_answer(kind: str, cells: Mapping[str, str]) -> KnownAnswer:
    """Return the answer in a table row. Raises `ValueError`."""
    if kind == "preference":
        if cells.get("winner") not in set(Outcome):
            raise ValueError("winner is none of left, right, tie, both_bad")
        return KnownAnswer(preference=cells["winner"])
    if kind == "yes_no":
        if cells.get("answer", "").lower() not in _YES:
            raise ValueError("answer is neither yes nor no")
        return KnownAnswer(answer=_YES[cells["answer"].lower()])
    marks = {question.name: cells[question.name] for question in forms().criteria if cells.get(question.name)}
    if not marks or not all(value in "12345" and len(value) == 1 for value in marks.values()):
        raise ValueError("the criteria need values from 1 to 5")
    return KnownAnswer(ratings={name: int(value) for name, value in marks.items()})
