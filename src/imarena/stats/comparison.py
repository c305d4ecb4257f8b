"""Is one of two models better on the same items? The share of points with its interval, in Elo points, and in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from imarena.stats.power import battles_needed, detectable_elo

Z95 = 1.959963984540054
EXACT95 = 0.025
"""The chance left on each side of an exact interval."""
SMALL_ELO = 20.0
"""A difference that few people would notice: where the data exclude more than this, the two are about equal."""


@dataclass(frozen=True)
class ComparisonVerdict:
    """How NEW stands against OLD."""

    words: str
    settled: bool
    n_items: int
    wins: int
    losses: int
    ties: int
    win_rate: float | None
    win_rate_low: float | None
    win_rate_high: float | None
    elo: float | None
    """NEW minus OLD; None where the win rate is 0 or 1 or unknown."""
    elo_low: float | None
    elo_high: float | None
    more_items: int | None
    """Further items that would settle it, if the difference is as it seems; None where it is settled or unknown."""
    detectable_elo: float | None
    """The smallest difference that so many items show in four of five cases."""


def win_interval(points: Sequence[float]) -> tuple[float, float, float]:
    """Mean of the items' points and its 95 % interval: Wilson's, with as many items as the spread is worth.

    `points`: one value in [0, 1] for each item. The end towards one half is the exact one (Clopper and Pearson, over
    the decided items) where everything decided went one way, and where the exact interval holds one half and
    Wilson's does not: seven wins of eight come by chance in 7 % of comparisons of equal models.
    """
    n = len(points)
    mean = sum(points) / n
    variance = sum((value - mean) ** 2 for value in points) / (n - 1) if n > 1 else 0.0
    worth = mean * (1 - mean) * n / variance if variance > 0 else float(n)
    middle = (mean + Z95**2 / (2 * worth)) / (1 + Z95**2 / worth)
    half = Z95 * math.sqrt(mean * (1 - mean) / worth + Z95**2 / (4 * worth**2)) / (1 + Z95**2 / worth)
    low, high = max(0.0, min(mean, middle - half)), min(1.0, max(mean, middle + half))
    won, lost = sum(value > 0.5 for value in points), sum(value < 0.5 for value in points)
    exact_low, exact_high = _exact_end(won, lost, n), 1 - _exact_end(lost, won, n)
    if (won and not lost) or low > 0.5 >= exact_low:
        low = min(low, exact_low)
    if (lost and not won) or high < 0.5 <= exact_high:
        high = max(high, exact_high)
    return mean, low, high


def _exact_end(won: int, lost: int, n: int) -> float:
    """Lower end of the exact interval of the share of points where the other of `n` items are ties."""
    from scipy.special import betaincinv

    share = float(betaincinv(won, lost + 1, EXACT95)) if won else 0.0
    return 0.5 + (won + lost) / n * (share - 0.5)


def elo_of(rate: float) -> float | None:
    """The difference in Elo points that a win rate means; None for 0 and 1, which mean no finite one."""
    return 400 * math.log10(rate / (1 - rate)) if 1e-9 < rate < 1 - 1e-9 else None


def compare_points(points: Sequence[float], old_name: str, new_name: str) -> ComparisonVerdict:
    """The verdict on some items by NEW's share of the points of each: 1, it is better; 0, OLD is; 1/2, a tie."""
    wins, losses = (sum(value > 0.5 for value in points), sum(value < 0.5 for value in points))
    n, ties = len(points), len(points) - wins - losses
    if n == 0:
        return ComparisonVerdict("Nothing could be compared.", False, 0, 0, 0, 0, *(None,) * 8)
    rate, low, high = win_interval(points)
    settled = low > 0.5 or high < 0.5
    tie_rate = ties / n
    small = 1 / (1 + 10 ** (-SMALL_ELO / 400))
    words = f"There is no clear difference between {new_name} and {old_name} yet."
    if settled:
        words = f"{new_name} is {'better' if low > 0.5 else 'worse'} than {old_name}."
    elif 1 - small < low and high < small:
        words = f"{new_name} and {old_name} are about equal."
    decided = elo_of(wins / (wins + losses)) if wins + losses else None
    more = None
    if not settled and wins != losses:
        more = max(1, battles_needed(decided, tie_rate=tie_rate).battles - n) if decided else _sweep(points)
    return ComparisonVerdict(
        words, settled, n, wins, losses, ties, rate, low, high, elo_of(rate), elo_of(low), elo_of(high), more,
        _detectable(n, tie_rate),
    )  # fmt: skip


def _sweep(points: Sequence[float]) -> int:
    """Further items where all that were decided went one way: as many as settle it if they go on so."""
    times = 2
    while (ends := win_interval([*points] * times))[1] <= 0.5 <= ends[2]:
        times += 1
    return len(points) * (times - 1)


def _detectable(n: int, tie_rate: float) -> float | None:
    try:
        return detectable_elo(n, tie_rate=tie_rate)
    except ValueError:
        return None  # so few items show nothing at all
