"""Choose the next order in the closed loop: the next planned one, the whole request, or only what the judge missed."""

from dataclasses import dataclass, field

from imarena.agent.feedback import Feedback
from imarena.agent.spec import EditPlan, EditSpec, limit_steps
from imarena.agent.sub_edits import edits_about

WHOLE_TRIES = 2
"""How often to give the whole order while the judge finds no part of it done: a lucky editor may succeed the next time,
and one that does a little of everything gets further. After that, changes hardly begun are asked for alone."""


@dataclass
class EditQueue:
    """The orders still to give for one request."""

    instruction: str
    """What the user asked for."""
    spec: EditSpec
    waiting: list[str]
    other: tuple[str, ...] = ()
    """The plan's steps, if the whole order goes first."""
    words_help: bool = True
    """Does the editor understand a reviewer's comment as such? Rules would read it as orders."""
    feedback: Feedback = field(default_factory=Feedback)
    wholes: int = 0
    alone: set[str] = field(default_factory=set)
    """Orders that were already given alone."""

    @classmethod
    def of(cls, instruction: str, spec: EditSpec, plan: EditPlan, *, whole: bool, words_help: bool) -> "EditQueue":
        """Start with the plan's steps in order, or with the whole order."""
        ahead, other = ([spec.instruction], plan.steps) if whole else (list(plan.steps), ())
        return cls(instruction, spec, ahead, other, words_help)

    @property
    def more(self) -> bool:
        """Is there an order after the current one?"""
        return len(self.waiting) > 1

    def order_text(self, *, from_source: bool) -> str:
        """The text of the next order."""
        order = self.waiting[0] if self.waiting else self._again(from_source=from_source)
        self.wholes += order.startswith(self.spec.instruction)
        self.alone.add(order)
        return order

    def follow(self, feedback: Feedback, left: int) -> None:
        """The current order was carried out: continue with the next one, or with what the judge finds missing."""
        self.waiting, self.feedback = self.waiting[1:], feedback
        if self.waiting:
            return
        orders = edits_about(self.instruction, feedback.missing)
        if not orders and self.wholes >= WHOLE_TRIES:
            orders = edits_about(self.instruction, feedback.overlooked)
        self.waiting = list(limit_steps(orders, max(left, 1)))

    def turn(self, left: int, *, squeeze: bool = False) -> bool:
        """Continue with the plan's steps that were not given alone yet; False if there are none.

        Also False if there are too few edits left for all of them, unless `squeeze` says that nothing else is left.
        """
        ahead = tuple(order for order in self.other if order not in self.alone)
        if len(self.other) < 2 or not ahead or left < (1 if squeeze else len(ahead)):
            return False
        self.waiting, self.other = list(limit_steps(ahead, left)), ()
        return True

    def part(self, left: int) -> None:
        """The judge sees no effect of the whole order: ask for overlooked changes, or for the plan's steps."""
        if self.more:
            return
        orders = edits_about(self.instruction, self.feedback.overlooked)
        if orders:
            self.waiting = list(limit_steps(orders, max(left, 1)))
        else:
            self.turn(left, squeeze=True)

    def skip(self, left: int) -> bool:
        """Give up the current order; False if nothing else is left to ask for."""
        if self.more:
            self.waiting = self.waiting[1:]
            return True
        return self.turn(left)

    def _again(self, *, from_source: bool) -> str:
        """The whole order again, with the judge's comment if the editor can use it."""
        comment = self.feedback.comment
        if from_source or not comment or not self.words_help:
            return self.spec.instruction
        return f"{self.spec.instruction} The change is not complete yet. What a reviewer says: {comment}"
