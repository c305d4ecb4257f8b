"""Proportions with Wilson's interval, used for all accuracies and rates in every command."""

import math

from imarena.stats.figure import Figure, undefined_figure

Z95 = 1.959963984540054
WILSON = "Wilson, 95%"


def wilson(rate: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Ends of Wilson's score interval of a rate among `n` units; its width is not 0 even for a rate of 0 or 1."""
    spread = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    low, high = ((rate + z * z / (2 * n) + sign * spread) / (1 + z * z / n) for sign in (-1, 1))
    return 0.0 if rate == 0 else max(low, 0.0), 1.0 if rate == 1 else min(high, 1.0)


def proportion_figure(name: str, hits: int, n: int, method: str, *, reason: str = "nothing to count") -> Figure:
    """A proportion with Wilson's 95% interval; undefined for n = 0, with the reason."""
    if n == 0:
        return undefined_figure(name, reason, n=0, method=method)
    low, high = wilson(hits / n, n)
    return Figure(name, hits / n, n, method, low=low, high=high, interval=WILSON)
