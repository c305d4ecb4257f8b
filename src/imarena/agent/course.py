"""Which order comes next in the closed loop: the plan's, the whole again, or only what the judge finds overlooked."""

from dataclasses import dataclass, field

from imarena.agent.feedback import Feedback
from imarena.agent.orders import orders_about
from imarena.agent.spec import EditPlan, Spec, fitted

WHOLE_TRIES = 2
"""So often is the whole order given while the judge finds no part of it done: an editor that hits by chance may hit
the next time, and one that does all a little gets further. After that, what is hardly begun is asked for by itself."""


@dataclass
class Course:
    """The orders ahead of one request."""

    instruction: str
    """What the user asked for."""
    spec: Spec
    waiting: list[str]
    other: tuple[str, ...] = ()
    """The plan's steps, where the whole order goes first."""
    words_help: bool = True
    """Whether the editor reads a reviewer's words as what they are; rules would read them as orders."""
    feedback: Feedback = field(default_factory=Feedback)
    wholes: int = 0

    @classmethod
    def of(cls, instruction: str, spec: Spec, plan: EditPlan, *, whole: bool, words_help: bool) -> "Course":
        """The plan in order, or the whole first."""
        ahead, other = ([spec.instruction], plan.steps) if whole else (list(plan.steps), ())
        return cls(instruction, spec, ahead, other, words_help)

    @property
    def more(self) -> bool:
        """Is there an order behind the present one?"""
        return len(self.waiting) > 1

    def words(self, *, from_source: bool) -> str:
        """The next order."""
        order = self.waiting[0] if self.waiting else self._again(from_source=from_source)
        self.wholes += order.startswith(self.spec.instruction)
        return order

    def follow(self, found: Feedback, left: int) -> None:
        """The present order was carried out: go on to the next, or to what the judge finds missing."""
        self.waiting, self.feedback = self.waiting[1:], found
        if self.waiting:
            return
        orders = orders_about(self.instruction, found.missing)
        if not orders and self.wholes >= WHOLE_TRIES:
            orders = orders_about(self.instruction, found.overlooked)
        self.waiting = list(fitted(orders, max(left, 1)))

    def turn(self, left: int) -> bool:
        """Take the plan's steps in the place of the whole order, where there are such and edits for all of them."""
        if not 1 < len(self.other) <= left:
            return False
        self.waiting, self.other = list(self.other), ()
        return True

    def skip(self, left: int) -> bool:
        """Give the present order up; False where nothing else is left to ask for."""
        if self.more:
            self.waiting = self.waiting[1:]
            return True
        return self.turn(left)

    def _again(self, *, from_source: bool) -> str:
        """The whole once more; a judge's words go with it where the editor can make use of them."""
        said = self.feedback.words
        if from_source or not said or not self.words_help:
            return self.spec.instruction
        return f"{self.spec.instruction} The change is not complete yet. What a reviewer says: {said}"
