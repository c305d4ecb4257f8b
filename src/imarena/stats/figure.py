"""A figure with its method, or with the reason why it is undefined."""

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["ok", "undefined"]


@dataclass(frozen=True)
class Figure:
    """One number with its method and count. `value` is None where the figure is undefined, and `reason` says why.

    A figure without a value is never replaced by 0, 1 or a middle: that is the caller's to see and to report.
    """

    name: str
    value: float | None
    n: int
    """How many units, pairs or groups it rests on."""
    method: str
    reason: str = ""
    low: float | None = None
    high: float | None = None
    interval: str = ""
    """How `low` and `high` were made; empty where there is no interval, with the cause in `interval_reason`."""
    interval_reason: str = ""

    @property
    def status(self) -> Status:
        return "undefined" if self.value is None else "ok"

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON; fields that say nothing are left out."""
        document: dict[str, Any] = {"value": self.value, "n": self.n, "method": self.method, "status": self.status}
        if self.reason:
            document["reason"] = self.reason
        if self.interval:
            document |= {"low": self.low, "high": self.high, "interval": self.interval}
        if self.interval_reason:
            document["interval_reason"] = self.interval_reason
        return document


def undefined_figure(name: str, reason: str, *, n: int, method: str) -> Figure:
    """A figure that does not exist for these data, and why."""
    return Figure(name, None, n, method, reason=reason)
