"""The range of a judge's scores: as the user gave it, as the judge declares it, or as its scores show it."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from imarena.core import Judge
from imarena.judges.catalog import CARDS
from imarena.stats import ScoreRange, observed_range

Origin = Literal["given", "judge", "scores"]


@dataclass(frozen=True)
class JudgeRange:
    """A range and where it comes from."""

    range: ScoreRange
    origin: Origin

    @property
    def document(self) -> dict[str, object]:
        """As a document shows it."""
        return {"low": self.range.low, "high": self.range.high, "from": self.origin}


def range_of(judge: str, scores: NDArray[np.float64], stated: ScoreRange | None = None) -> JudgeRange:
    """The range of `judge`, whose `scores` may have any shape, NaN where there is none.

    A declared range that does not hold the scores is not this judge's: imported scores may bear the name of a judge of
    ours and another scale.
    """
    if stated is not None:
        return JudgeRange(stated, "given")
    card = CARDS.get(judge.partition("/")[0])
    if card is not None and card.scale is not None:
        declared = ScoreRange(*card.scale)
        if declared.holds(scores):
            return JudgeRange(declared, "judge")
    return JudgeRange(observed_range(scores), "scores")


def stated_scale(judge: Judge, kind: str) -> tuple[float, float] | None:
    """The lowest and highest score that a judge states: its catalog entry, or `params["scale"]` of one that is in none.

    A parameter `scale` of a judge of the catalog may be a setting of its own.
    """
    card = CARDS.get(kind)
    ends: Any = judge.params.get("scale") if card is None else card.scale
    numbers = isinstance(ends, list | tuple) and len(ends) == 2 and all(isinstance(end, int | float) for end in ends)
    return (float(ends[0]), float(ends[1])) if numbers else None
