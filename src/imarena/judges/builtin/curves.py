"""Soft thresholds: numbers to 0 .. 1 without cliffs."""

import math
from collections.abc import Iterable


def ramp(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, straight between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def clamp(value: float, limit: float) -> float:
    """`value`, cut off at plus and minus `limit`."""
    return min(limit, max(-limit, value))


def logistic_fall(value: float, middle: float, width: float) -> float:
    """1 well below `middle`, 0 well above: a logistic step."""
    return 1.0 / (1.0 + math.exp(min(50.0, max(-50.0, (value - middle) / width))))


def plateau(value: float, low: float, high: float, below: float, above: float) -> float:
    """1 between `low` and `high`; outside it decays exponentially, by `below` and `above` a step of e."""
    return math.exp(-max(0.0, low - value) / below - max(0.0, value - high) / above)


def apply_floor(value: float, floor: float) -> float:
    """`value` in 0 .. 1 lifted so that it is never under `floor`: evidence that is weak alone."""
    return floor + (1.0 - floor) * value


def mean(values: Iterable[float]) -> float:
    """The plain mean; 1 where there is nothing to average (nothing asked, nothing broken)."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 1.0
