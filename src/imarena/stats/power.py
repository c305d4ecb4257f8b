"""How much data is needed: the battles or votes that separate two models by a given number of Elo points.

Elo points are those of the share of points (`share_interval`): a difference is the same number here, on a board and in
a comparison. Ties pull the share of points towards one half, so with many ties a large difference is impossible.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imarena.stats.effects import win_rate
from imarena.stats.share_interval import clear_wins, elo_of, normal_quantile

EXACT_DECIDED = 300
"""Up to this many decided items, power is computed exactly from all records; above, by normal approximation."""
NO_NUMBER = "no number of battles separates two equal models: give a difference other than 0"


@dataclass(frozen=True)
class SampleSize:
    """The number of battles needed between two models, and the assumptions behind it."""

    battles: int
    decided: int
    """Battles that end with a winner."""
    votes: int
    """Total number of votes, with `votes_per_battle` votes on each battle."""
    elo: float
    win_probability: float
    """Probability that the better model wins a battle that ends with a winner."""
    method: str


def battles_needed(
    elo: float,
    *,
    power: float = 0.8,
    significance: float = 0.05,
    tie_rate: float = 0.0,
    votes_per_battle: int = 1,
    within_battle_correlation: float = 0.0,
) -> SampleSize:
    """The number of battles between two models that detects a difference of `elo` points with probability `power`.

    Two-sided test of a share against one half, normal approximation: n = ((z_a / 2 + z_p sqrt(p q)) / (p - 1/2))^2
    decided battles, where p is the probability of winning a decided battle. `elo` is converted to the share of points,
    with ties as half points: at a share t of ties, p = 1/2 + (share - 1/2) / (1 - t). Votes on the same battle are
    correlated: m votes with correlation r count as m / (1 + (m - 1) r) independent votes.
    """
    if elo == 0 or not math.isfinite(elo):
        raise ValueError(NO_NUMBER)
    if not 0 < power < 1 or not 0 < significance < 1:
        raise ValueError("power and significance lie between 0 and 1")
    if not 0 <= tie_rate < 1 or not 0 <= within_battle_correlation <= 1 or votes_per_battle < 1:
        raise ValueError("tie rate is from 0 up to 1, the correlation from 0 to 1, votes per battle 1 or more")
    p = _decided_win_rate(win_rate(abs(elo)), tie_rate)
    exact = _decided_needed(p, power, significance)
    worth = votes_per_battle / (1 + (votes_per_battle - 1) * within_battle_correlation)
    battles = math.ceil(exact / (1 - tie_rate) / worth)
    method = (
        f"two-sided share against 1/2, normal approximation, power {power:g}, significance {significance:g}, "
        f"tie rate {tie_rate:g}, {votes_per_battle} votes per battle correlated {within_battle_correlation:g}"
    )
    return SampleSize(battles, math.ceil(exact), battles * votes_per_battle, abs(elo), p, method)


def _decided_needed(p: float, power: float, significance: float) -> float:
    spread = math.sqrt(p * (1 - p))
    return ((normal_quantile(1 - significance / 2) * 0.5 + normal_quantile(power) * spread) / (p - 0.5)) ** 2


def _decided_win_rate(share: float, tie_rate: float) -> float:
    """The probability of winning a decided battle that gives this share of points (above 1/2) at this share of ties."""
    p = 0.5 + (share - 0.5) / (1 - tie_rate)
    if p > 1 + 1e-9:
        least = elo_of(1 - tie_rate / 2)
        raise ValueError(f"with a tie rate of {tie_rate:g} no difference is larger than {least:.4g} Elo points")
    return min(p, 1.0)


def items_needed(share: float, *, tie_rate: float, power: float = 0.8, level: float = 0.95) -> int:
    """Number of items after which `win_interval` finds this share of points (> 1/2) clear with probability `power`."""
    if not 0.5 < share <= 1:
        raise ValueError(NO_NUMBER)
    decided = _decided_needed(_decided_win_rate(share, tie_rate), power, 1 - level)
    n = math.ceil(decided / (1 - tie_rate))
    while detection_power(n, share, tie_rate, level=level) < power:
        n += max(1, n // 100)
    return n


def detectable_elo(battles: int, *, power: float = 0.8, significance: float = 0.05, tie_rate: float = 0.0) -> float:
    """The smallest difference in Elo points that `battles` battles detect with probability `power`.

    Uses the rule of `win_interval`. Raises `ValueError` if there is none, because of ties or too few battles.
    """
    if battles < 1:
        raise ValueError("at least one battle is needed")
    if not 0 <= tie_rate < 1:
        raise ValueError("tie rate is from 0 up to 1")
    level, low, high = 1 - significance, 0.5, 1 - tie_rate / 2
    if detection_power(battles, high, tie_rate, level=level) < power:
        raise ValueError(f"{battles} battles separate nothing at this power and share of ties")
    while high - low > 1e-7:
        middle = (low + high) / 2
        enough = detection_power(battles, middle, tie_rate, level=level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return elo_of(high) or math.inf


def detection_power(n: int, share: float, tie_rate: float, *, level: float = 0.95) -> float:
    """The probability that `n` items show a model with this share of points (above 1/2) to be clearly better.

    Computed from all records of wins, losses and ties with the rule of `win_interval` if at most `EXACT_DECIDED`
    items are decided; otherwise by normal approximation.
    """
    p = _decided_win_rate(share, tie_rate)
    most = _most_decided(n, tie_rate)
    if most > EXACT_DECIDED:
        decided = n * (1 - tie_rate)
        # The last term is a continuity correction: on average, whole wins are half a win away from the limit.
        distance = (p - 0.5) * math.sqrt(decided) - 0.5 * normal_quantile((1 + level) / 2) - 0.5 / math.sqrt(decided)
        spread = math.sqrt(p * (1 - p))
        return _normal(distance / spread) if spread > 0 else float(distance > 0)
    from scipy.special import xlogy

    clear, ways = _clear_records(n, most, level)
    won, lost = np.nonzero(clear)
    win, loss = (1 - tie_rate) * p, (1 - tie_rate) * (1 - p)
    logs = ways[clear] + xlogy(won, win) + xlogy(lost, loss) + xlogy(n - won - lost, tie_rate)
    return float(np.exp(logs).sum())


def _most_decided(n: int, tie_rate: float) -> int:
    """A number of decided items that is exceeded about once in a billion cases."""
    mean = n * (1 - tie_rate)
    return min(n, math.ceil(mean + 6 * math.sqrt(mean * tie_rate) + 6))


@lru_cache(maxsize=64)
def _clear_records(n: int, most: int, level: float) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """(most + 1, most + 1) by wins and losses: which records are clear wins, and the log of how many ways give each."""
    from scipy.special import gammaln

    count = np.arange(most + 1.0)
    won, lost = np.meshgrid(count, count, indexing="ij")
    ties = np.maximum(n - won - lost, 0.0)
    ways = gammaln(n + 1.0) - gammaln(won + 1) - gammaln(lost + 1) - gammaln(ties + 1)
    return clear_wins(n, most, level), np.asarray(ways)


def _normal(value: float) -> float:
    from statistics import NormalDist

    return NormalDist().cdf(value)
