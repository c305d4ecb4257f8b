"""Is one of two models better on the same items? The share of points with its interval, in Elo points, and in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from imarena.stats.effects import win_rate
from imarena.stats.power import detectable_elo, items_needed
from imarena.stats.share_interval import elo_of, win_interval

SMALL_ELO = 20.0
"""A difference that few people would notice: where the data exclude more than this, the two are about equal."""
PLAIN_ELO = 50.0
"""A difference that most people would notice after a while."""


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
    """The smallest difference that this many items show in four of five cases; None where they show none."""
    level: float = 0.95
    """The confidence level of the intervals and of the verdict."""


def compare_points(points: Sequence[float], old_name: str, new_name: str, *, level: float = 0.95) -> ComparisonVerdict:
    """The verdict on some items by NEW's share of the points of each: 1, it is better; 0, OLD is; 1/2, a tie."""
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
    """The share of ties among items worth 0, 1/2 or 1 that spreads the points around 1/2 as much as these.

    It is the share of ties itself, unless repeated questions give an item another value, such as 2/3.
    """
    lead = abs(sum(value - 0.5 for value in points)) / len(points)
    spread = 4 * sum((value - 0.5) ** 2 for value in points) / len(points)
    return 1 - max(spread, 2 * lead)  # so many ties that nobody could lead by this much are not meant


def _detectable(n: int, tie_rate: float, level: float) -> float | None:
    if tie_rate >= 1:
        return None
    try:
        return detectable_elo(n, significance=1 - level, tie_rate=tie_rate)
    except ValueError:
        return None  # so few items show nothing at all
