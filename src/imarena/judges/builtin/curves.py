"""Soft thresholds: map numbers to 0 .. 1 without jumps."""

import math
from collections.abc import Iterable


def ramp(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, linear between them."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def clamp(value: float, limit: float) -> float:
    """`value`, limited to between minus and plus `limit`."""
    return min(limit, max(-limit, value))


def logistic_fall(value: float, middle: float, width: float) -> float:
    """1 well below `middle`, 0 well above: a logistic step."""
    return 1.0 / (1.0 + math.exp(min(50.0, max(-50.0, (value - middle) / width))))


def plateau(value: float, low: float, high: float, below: float, above: float) -> float:
    """1 between `low` and `high`; outside, exponential decay with the scales `below` and `above`."""
    return math.exp(-max(0.0, low - value) / below - max(0.0, value - high) / above)


def apply_floor(value: float, floor: float) -> float:
    """Rescale `value` from 0 .. 1 to `floor` .. 1, for evidence that is weak on its own."""
    return floor + (1.0 - floor) * value


def mean(values: Iterable[float]) -> float:
    """The plain mean; 1 where there is nothing to average (nothing asked, nothing broken)."""
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else 1.0
