"""How much data a question needs: battles or votes that separate two models by a given number of Elo points."""

import math
from dataclasses import dataclass

from imarena.stats.effects import win_rate


@dataclass(frozen=True)
class SampleSize:
    """How many battles between two models, and the assumptions behind the number."""

    battles: int
    decided: int
    """Battles that end with a winner."""
    votes: int
    """Votes in all, where each battle is voted on `votes_per_battle` times."""
    elo: float
    win_probability: float
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
    """Battles between two models after which a difference of `elo` points is found with probability `power`.

    Two-sided test of a share against one half, normal approximation: n = ((z_a / 2 + z_p sqrt(p q)) / (p - 1/2))^2
    decided battles, with p the win probability of the difference. Ties carry nothing about who is better and add to
    the count. Several votes on one battle agree more than by chance: m votes with correlation r among them are worth
    m / (1 + (m - 1) r).
    """
    if elo == 0 or not math.isfinite(elo):
        raise ValueError("no number of battles separates two equal models: give a difference other than 0")
    if not 0 < power < 1 or not 0 < significance < 1:
        raise ValueError("power and significance lie between 0 and 1")
    if not 0 <= tie_rate < 1 or not 0 <= within_battle_correlation <= 1 or votes_per_battle < 1:
        raise ValueError("tie rate is from 0 up to 1, the correlation from 0 to 1, votes per battle 1 or more")
    p = win_rate(abs(elo))
    spread = math.sqrt(p * (1 - p))
    exact = ((_quantile(1 - significance / 2) * 0.5 + _quantile(power) * spread) / (p - 0.5)) ** 2
    worth = votes_per_battle / (1 + (votes_per_battle - 1) * within_battle_correlation)
    battles = math.ceil(exact / (1 - tie_rate) / worth)
    method = (
        f"two-sided share against 1/2, normal approximation, power {power:g}, significance {significance:g}, "
        f"tie rate {tie_rate:g}, {votes_per_battle} votes a battle correlated {within_battle_correlation:g}"
    )
    return SampleSize(battles, math.ceil(exact), battles * votes_per_battle, abs(elo), p, method)


def detectable_elo(battles: int, *, power: float = 0.8, significance: float = 0.05, tie_rate: float = 0.0) -> float:
    """The smallest difference in Elo points that `battles` battles find with probability `power`."""
    if battles < 1:
        raise ValueError("at least one battle is needed")
    low, high = 0.0, 4000.0
    if battles_needed(high, power=power, significance=significance, tie_rate=tie_rate).battles > battles:
        raise ValueError(f"{battles} battles separate nothing at this power")
    while high - low > 1e-6:
        middle = (low + high) / 2
        enough = battles_needed(middle, power=power, significance=significance, tie_rate=tie_rate).battles <= battles
        low, high = (low, middle) if enough else (middle, high)
    return high


def _quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)
