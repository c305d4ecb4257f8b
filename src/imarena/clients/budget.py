"""Cost accounting: money spent, the possible cost of requests in flight, and a stop before the limit is exceeded."""

from dataclasses import dataclass

from imarena.core import UserError, errors


class CostLimitReached(UserError, errors.BudgetSpent):
    """The next request might exceed the cost limit, so it was not sent."""


@dataclass
class Reservation:
    """The maximum expected cost of one request, reserved until its actual cost is known."""

    amount_usd: float
    open: bool = True


class Budget:
    """A cost limit shared by all clients of a run. Use it from one event loop."""

    def __init__(self, max_cost_usd: float) -> None:
        if not max_cost_usd >= 0:
            raise UserError(f"A cost limit is zero or more US dollars, not {max_cost_usd}.")
        self.max_cost_usd = max_cost_usd
        self.spent_usd = 0.0
        """Known costs, plus the full reservation for each request that broke off and may have been charged."""
        self.reserved_usd = 0.0
        self._open = 0

    @property
    def left_usd(self) -> float:
        """The amount that can still be reserved."""
        return self.max_cost_usd - self.spent_usd - self.reserved_usd

    def reserve(self, amount_usd: float) -> Reservation:
        """Reserve the possible cost of a request; raises `BudgetSpent` if that could exceed the limit."""
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
        """Replace a reservation by the request's actual cost. Settling the same reservation again does nothing."""
        if reservation.open:
            reservation.open = False
            self._open -= 1
            # Exactly 0 after the last one: sums of floats leave rounding errors, and a request may wait for zero.
            self.reserved_usd = max(0.0, self.reserved_usd - reservation.amount_usd) if self._open else 0.0
            self.spent_usd += cost_usd
