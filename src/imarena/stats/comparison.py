"""Is one of two models better on the same items? The share of points with its interval, also in Elo and in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from imarena.stats.effects import win_rate
from imarena.stats.power import detectable_elo, items_needed
from imarena.stats.share_interval import elo_of, win_interval

SMALL_ELO = 20.0
"""A difference that few people would notice: if the data exclude larger ones, the two models are about equal."""
PLAIN_ELO = 50.0
"""A difference that most people would notice after a while."""


@dataclass(frozen=True)
class ComparisonVerdict:
    """The result of comparing NEW with OLD."""

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
    """NEW minus OLD; None if the win rate is 0, 1 or unknown."""
    elo_low: float | None
    elo_high: float | None
    more_items: int | None
    """Further items needed to settle it if the current estimate is right; None if it is settled or unknown."""
    detectable_elo: float | None
    """The smallest difference that this many items show in four of five cases; None if they show none."""
    level: float = 0.95
    """The confidence level of the intervals and of the verdict."""


def compare_points(points: Sequence[float], old_name: str, new_name: str, *, level: float = 0.95) -> ComparisonVerdict:
    """Compare two models by NEW's points on each item: 1 if NEW is better, 0 if OLD is better, 1/2 for a tie."""
    wins, losses = (sum(value > 0.5 for value in points), sum(value < 0.5 for value in points))
    n, ties = len(points), len(points) - wins - losses
    if n == 0:
        return ComparisonVerdict("Nothing could be compared.", False, 0, 0, 0, 0, *(None,) * 8, level)
    rate, low, high = win_interval(points, level)
    settled = low > 0.5 or high < 0.5
    small = win_rate(SMALL_ELO)
    sentence = f"There is no clear difference between {new_name} and {old_name} yet."
    if settled:
        sentence = f"{new_name} is {'better' if low > 0.5 else 'worse'} than {old_name}."
    elif 1 - small < low and high < small:
        sentence = f"{new_name} and {old_name} are about equal."
    tie_rate, more = effective_tie_rate(points), None
    if not settled and rate != 0.5:
        more = max(1, items_needed(max(rate, 1 - rate), tie_rate=tie_rate, level=level) - n)
    return ComparisonVerdict(
        sentence, settled, n, wins, losses, ties, rate, low, high, elo_of(rate), elo_of(low), elo_of(high), more,
        _detectable(n, tie_rate, level), level,
    )  # fmt: skip


def effective_tie_rate(points: Sequence[float]) -> float:
    """The share of ties that would give items with 0, 1/2 or 1 points the same spread around 1/2 as these points.

    It equals the share of ties, unless repeated questions give an item another value, such as 2/3.
    """
    lead = abs(sum(value - 0.5 for value in points)) / len(points)
    spread = 4 * sum((value - 0.5) ** 2 for value in points) / len(points)
    return 1 - max(spread, 2 * lead)  # more ties would not allow this lead


def _detectable(n: int, tie_rate: float, level: float) -> float | None:
    if tie_rate >= 1:
        return None
    try:
        return detectable_elo(n, significance=1 - level, tie_rate=tie_rate)
    except ValueError:
        return None  # too few items to show any difference
