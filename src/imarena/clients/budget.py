"""Cost accounting: money spent, the possible cost of requests in flight, and a stop before the limit is exceeded."""

from dataclasses import dataclass

from imarena.core import UserError, errors


class CostLimitReached(UserError, errors.BudgetSpent):
    """The next request might pass the limit, so it was not sent."""


@dataclass
class Reservation:
    """The most that one request is expected to cost, held back until its cost is known."""

    amount_usd: float
    open: bool = True


class Budget:
    """A limit that all clients of a run share. Use it from one event loop."""

    def __init__(self, max_cost_usd: float) -> None:
        if not max_cost_usd >= 0:
            raise UserError(f"A cost limit is zero or more US dollars, not {max_cost_usd}.")
        self.max_cost_usd = max_cost_usd
        self.spent_usd = 0.0
        """Known costs, and the full reservation where a request broke off and may have been charged."""
        self.reserved_usd = 0.0
        self._open = 0

    @property
    def left_usd(self) -> float:
        """What may still be promised."""
        return self.max_cost_usd - self.spent_usd - self.reserved_usd

    def reserve(self, amount_usd: float) -> Reservation:
        """Hold back what a request may cost; raises `BudgetSpent` where that could pass the limit."""
        if amount_usd > self.left_usd:
            raise CostLimitReached(
                f"The cost limit of {self.max_cost_usd:.4f} USD is reached: {self.spent_usd:.4f} spent, "
                f"{self.reserved_usd:.4f} in flight, and the next request may cost {amount_usd:.4f}.",
                hint="Raise --max-cost-usd and run the same command again: finished work is not paid for twice.",
            )
        self.reserved_usd += amount_usd
        self._open += 1
        return Reservation(amount_usd)

    def settle(self, reservation: Reservation, cost_usd: float) -> None:
        """Replace a reservation by what the request did cost. A second settlement of the same one does nothing."""
        if reservation.open:
            reservation.open = False
            self._open -= 1
            # Sums of fractions leave a last bit behind, and somebody may be waiting for nothing to be held any more.
            self.reserved_usd = max(0.0, self.reserved_usd - reservation.amount_usd) if self._open else 0.0
            self.spent_usd += cost_usd
