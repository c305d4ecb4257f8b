"""A figure with its method, or with the reason why it is undefined."""

from dataclasses import dataclass
from typing import Any, Literal

FigureStatus = Literal["ok", "undefined"]


@dataclass(frozen=True)
class Figure:
    """One number with its method and count. `value` is None if the figure is undefined; `reason` says why.

    A missing value is never replaced by 0, 1 or a middle: callers must check for it and report it.
    """

    name: str
    value: float | None
    n: int
    """Number of units, pairs or groups that it is based on."""
    method: str
    reason: str = ""
    low: float | None = None
    high: float | None = None
    interval: str = ""
    """The method of `low` and `high`; empty if there is no interval, with the cause in `interval_reason`."""
    interval_reason: str = ""

    @property
    def status(self) -> FigureStatus:
        return "undefined" if self.value is None else "ok"

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON, without empty fields."""
        document: dict[str, Any] = {"value": self.value, "n": self.n, "method": self.method, "status": self.status}
        if self.reason:
            document["reason"] = self.reason
        if self.interval:
            document |= {"low": self.low, "high": self.high, "interval": self.interval}
        if self.interval_reason:
            document["interval_reason"] = self.interval_reason
        return document


def undefined_figure(name: str, reason: str, *, n: int, method: str) -> Figure:
    """A figure that is undefined for these data, with the reason."""
    return Figure(name, None, n, method, reason=reason)
