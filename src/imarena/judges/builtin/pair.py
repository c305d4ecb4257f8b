"""Compare two outputs of one source directly. Where both make the same change, this measures how far each goes and
what else it changes, which is more reliable than the difference of two separate scores.
"""

from dataclasses import asdict, dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from imarena.core.records import JsonDict
from imarena.judges.builtin.curves import clamp
from imarena.vision import Difference

Change = NDArray[np.float16]

_SIDE = 64
_FLOOR = 5.0
"""Smallest change (Lab) that counts; recompression stays below it."""
_SAME_WAY = 0.7
_SHARED = 0.8
_SMALLEST = 0.002
_STRENGTH_POINTS = 200.0
"""Points for a change e times as strong. Going 0.7 of the way costs 70."""
_BESIDES_POINTS = 25.0
"""Points per Lab unit of mean change outside the area that both changed."""


@dataclass(frozen=True)
class ChangeComparison:
    """Left against right; `strength` and `besides` change their sign when the sides are swapped."""

    shared: float
    """Share of an output's change that both make, 0 to 1; the larger of the two outputs' shares."""
    area: float
    """Share of the image that both change in the same way."""
    strength: float
    """Log ratio of left's change to right's where both change in the same way."""
    besides: float
    """How much more left changes elsewhere, in mean Lab distance."""

    @property
    def comparable(self) -> bool:
        """Do both make the same change?"""
        return self.shared >= _SHARED and self.area >= _SMALLEST

    @property
    def points(self) -> float:
        """Score points that the comparison gives to left; negative if right is better."""
        return _STRENGTH_POINTS * clamp(self.strength, 0.7) - _BESIDES_POINTS * clamp(self.besides, 10.0)

    @property
    def evidence(self) -> JsonDict:
        """The numbers as JSON, rounded for readability."""
        return {**{name: round(value, 4) for name, value in asdict(self).items()}, "comparable": self.comparable}


def change_map(difference: Difference) -> Change:
    """What the edit changed where: output minus source in Lab, (64, 64, 3), small enough to cache."""
    shift = difference.output.lab - difference.source.lab
    return np.asarray(cv2.resize(shift, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA), dtype=np.float16)


def compare_changes(left: Change, right: Change) -> ChangeComparison:
    """Compare two changes of the same source, each (64, 64, 3)."""
    a, b = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    far_a, far_b = np.linalg.norm(a, axis=2), np.linalg.norm(b, axis=2)
    turn = (a * b).sum(axis=2) / np.maximum(far_a * far_b, 1e-6)
    common = (far_a > _FLOOR) & (far_b > _FLOOR) & (turn > _SAME_WAY)
    if not common.any():
        return ChangeComparison(0.0, 0.0, 0.0, float(far_a.mean() - far_b.mean()))
    contained = [float((far[common] ** 2).sum() / (far**2).sum()) for far in (far_a, far_b)]
    elsewhere = ~common
    besides = float(far_a[elsewhere].mean() - far_b[elsewhere].mean()) if elsewhere.any() else 0.0
    strength = float(np.median(np.log(far_a[common]) - np.log(far_b[common])))
    return ChangeComparison(max(contained), float(common.mean()), strength, besides)
