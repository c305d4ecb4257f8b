"""The share of points of one of two models: its interval over items, and the records of wins that are clear.

All figures in Elo points use one scale: a share of points s, with half a point for a tie, is 400 log10(s / (1 - s)).
A Bradley-Terry board with ties as half wins gives two models the same difference.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NEAREST = 1e-9
"""A share closer to 0 or 1 than this has no finite Elo difference."""


def elo_of(share: float) -> float | None:
    """Convert a share of points to a difference in Elo points; None for 0 and 1, where it is infinite."""
    return 400 * math.log10(share / (1 - share)) if NEAREST < share < 1 - NEAREST else None


def normal_quantile(share: float) -> float:
    """The standard normal quantile."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)


FEW_UNITS = 10
"""With fewer resampled items (raters, battles) than this, intervals are too narrow."""


def units_to_differ(level: float) -> int:
    """The smallest number of items (battles, raters) that can show a difference between two models at this level.

    Without a real difference, n items all favour the same model with a probability of 2 ** (1 - n). If that is more
    than the level allows (up to five items at 0.95), no two-sided test over the items can be significant.
    """
    return math.ceil(1 - math.log2(1 - level))


def win_interval(points: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Mean of the items' points and its interval: Wilson's, for the effective number of items given their spread.

    `points`: one value in [0, 1] per item. The end towards one half is the exact one (Clopper and Pearson, over the
    decided items) if all decided items went one way, or if the exact interval contains one half and Wilson's does
    not: seven wins of eight occur by chance in 7% of comparisons of equal models.
    """
    n, z = len(points), normal_quantile((1 + level) / 2)
    mean = sum(points) / n
    variance = sum((value - mean) ** 2 for value in points) / (n - 1) if n > 1 else 0.0
    worth = mean * (1 - mean) * n / variance if variance > 0 else float(n)
    middle = (mean + z**2 / (2 * worth)) / (1 + z**2 / worth)
    half = z * math.sqrt(mean * (1 - mean) / worth + z**2 / (4 * worth**2)) / (1 + z**2 / worth)
    low, high = max(0.0, min(mean, middle - half)), min(1.0, max(mean, middle + half))
    won, lost = sum(value > 0.5 for value in points), sum(value < 0.5 for value in points)
    exact_low, exact_high = _exact_end(won, lost, n, level), 1 - _exact_end(lost, won, n, level)
    if (won and not lost) or low > 0.5 >= exact_low:
        low = min(low, exact_low)
    if (lost and not won) or high < 0.5 <= exact_high:
        high = max(high, exact_high)
    return mean, low, high


def _exact_end(won: int, lost: int, n: int, level: float) -> float:
    """Lower end of the exact interval of the share of points, with the rest of the `n` items as ties."""
    from scipy.special import betaincinv

    share = float(betaincinv(won, lost + 1, (1 - level) / 2)) if won else 0.0
    return 0.5 + (won + lost) / n * (share - 0.5)


def clear_wins(n: int, most: int, level: float) -> NDArray[np.bool_]:
    """(most + 1, most + 1) for w wins and l losses among `n` items: is `win_interval` above one half?

    The same rule for a whole table of records at once: both Wilson's and the exact lower end are above one half.
    """
    from scipy.special import betainc

    won, lost = np.meshgrid(np.arange(most + 1.0), np.arange(most + 1.0), indexing="ij")
    ties = n - won - lost
    possible = (ties >= 0) & (won > lost)
    mean = (won + 0.5 * ties) / n
    variance = np.maximum(won + 0.25 * ties - n * mean**2, 0.0) / max(n - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(variance > 1e-15, mean * (1 - mean) * n / variance, float(n))
        z = normal_quantile((1 + level) / 2)
        half = z * np.sqrt(mean * (1 - mean) / worth + z**2 / (4 * worth**2))
        wilson_clear = mean + z**2 / (2 * worth) - half > 0.5 * (1 + z**2 / worth)
        exact_clear = betainc(np.maximum(won, 1.0), lost + 1, 0.5) < (1 - level) / 2
    return np.asarray(possible & wilson_clear & exact_clear)
