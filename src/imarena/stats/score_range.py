"""The range of a judge's scores, used for everything that is given in score points.

CV-Arena gives score gaps, the floor of S and the shift of table 9 in points of a judge on 0 to 1000. For any other
judge, they are converted to the same share of its own range.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError

PAPER = 1000.0
"""Highest score of CV-Arena's judge (the lowest is 0), the scale of the paper's figures."""
NOISE = 1e-9
"""Share by which floating-point noise alone may put a score above a power of ten."""


@dataclass(frozen=True)
class ScoreRange:
    """Lowest and highest score that a judge gives."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise UserError(
                f"'{self.low:g}:{self.high:g}' is not a score range.", hint="Give LOW:HIGH with LOW below HIGH: 0:10."
            )

    @property
    def width(self) -> float:
        return self.high - self.low

    def points(self, of_paper: float) -> float:
        """Convert a gap on the paper's scale of 0 to 1000 to a gap between scores of this judge."""
        return of_paper * self.width / PAPER

    def edges(self, of_paper: Sequence[float]) -> tuple[float, ...]:
        """Convert edges of score gaps in the same way."""
        return tuple(self.points(edge) for edge in of_paper)

    def on_paper_scale(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert scores of this judge to the paper's scale of 0 to 1000."""
        # a factor of exactly 1 keeps scores on 0 to 1000 unchanged to the last bit
        return np.asarray((scores - self.low) * (PAPER / self.width), np.float64)

    def holds(self, scores: NDArray[np.float64]) -> bool:
        """Are all known scores inside the range?"""
        finite = scores[np.isfinite(scores)]
        room = NOISE * self.width
        return not finite.size or bool(finite.min() >= self.low - room and finite.max() <= self.high + room)


PAPER_RANGE = ScoreRange(0.0, PAPER)


def observed_range(scores: NDArray[np.float64]) -> ScoreRange:
    """The range of a judge without a declared one, from its scores: each end is 0 or the next power of ten outward.

    Scores from 0.3 to 8.7 give 0 to 10, scores from -0.4 to 0.9 give -1 to 1. Without any score other than 0, the range
    is 0 to 1.
    """
    finite = scores[np.isfinite(scores)]
    lowest, highest = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    low = -_power_of_ten(-lowest) if lowest < 0 else 0.0
    high = _power_of_ten(highest) if highest > 0 else 0.0
    return ScoreRange(low, high) if low < high else ScoreRange(0.0, 1.0)


def _power_of_ten(value: float) -> float:
    return float(10.0 ** math.ceil(math.log10(value) - NOISE))


def score_range_from(text: str) -> ScoreRange:
    """Parse a range such as ``0:10``."""
    low, _, high = text.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise UserError(f"'{text}' is not a score range.", hint="Give LOW:HIGH, such as 0:10.") from None
    return ScoreRange(*ends)
