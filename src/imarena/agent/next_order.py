"""Choose the next order in the closed loop: the next planned one, the whole request, or only what the judge missed."""

from dataclasses import dataclass, field

from imarena.agent.feedback import Feedback
from imarena.agent.orders import orders_about
from imarena.agent.spec import EditPlan, Spec, limit_steps

WHOLE_TRIES = 2
"""So often is the whole order given while the judge finds no part of it done: an editor that hits by chance may hit
the next time, and one that does all a little gets further. After that, what is hardly begun is asked for by itself."""


@dataclass
class PendingOrders:
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
    alone: set[str] = field(default_factory=set)
    """Orders of the plan that were given by themselves."""

    @classmethod
    def of(cls, instruction: str, spec: Spec, plan: EditPlan, *, whole: bool, words_help: bool) -> "PendingOrders":
        """The plan in order, or the whole first."""
        ahead, other = ([spec.instruction], plan.steps) if whole else (list(plan.steps), ())
        return cls(instruction, spec, ahead, other, words_help)

    @property
    def more(self) -> bool:
        """Is there an order behind the present one?"""
        return len(self.waiting) > 1

    def order_text(self, *, from_source: bool) -> str:
        """The next order."""
        order = self.waiting[0] if self.waiting else self._again(from_source=from_source)
        self.wholes += order.startswith(self.spec.instruction)
        self.alone.add(order)
        return order

    def follow(self, feedback: Feedback, left: int) -> None:
        """The present order was carried out: go on to the next, or to what the judge finds missing."""
        self.waiting, self.feedback = self.waiting[1:], feedback
        if self.waiting:
            return
        orders = orders_about(self.instruction, feedback.missing)
        if not orders and self.wholes >= WHOLE_TRIES:
            orders = orders_about(self.instruction, feedback.overlooked)
        self.waiting = list(limit_steps(orders, max(left, 1)))

    def turn(self, left: int, *, squeeze: bool = False) -> bool:
        """Take those steps of the plan that were not given by themselves yet; False where there are none.

        Nor are they taken where there are not edits for all of them, unless `squeeze` says that nothing else is left.
        """
        ahead = tuple(order for order in self.other if order not in self.alone)
        if len(self.other) < 2 or not ahead or left < (1 if squeeze else len(ahead)):
            return False
        self.waiting, self.other = list(limit_steps(ahead, left)), ()
        return True

    def part(self, left: int) -> None:
        """The judge sees nothing that the whole order changed: ask for what it overlooks, or for the plan's steps."""
        if self.more:
            return
        orders = orders_about(self.instruction, self.feedback.overlooked)
        if orders:
            self.waiting = list(limit_steps(orders, max(left, 1)))
        else:
            self.turn(left, squeeze=True)

    def skip(self, left: int) -> bool:
        """Give the present order up; False where nothing else is left to ask for."""
        if self.more:
            self.waiting = self.waiting[1:]
            return True
        return self.turn(left)

    def _again(self, *, from_source: bool) -> str:
        """The whole once more; a judge's words go with it where the editor can make use of them."""
        comment = self.feedback.comment
        if from_source or not comment or not self.words_help:
            return self.spec.instruction
        return f"{self.spec.instruction} The change is not complete yet. What a reviewer says: {comment}"
