"""The range of a judge's scores: given by the user, declared by the judge, or observed in its scores."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from imarena.core import Judge
from imarena.judges.catalog import CARDS
from imarena.stats import ScoreRange, observed_range

RangeOrigin = Literal["given", "judge", "scores"]


@dataclass(frozen=True)
class JudgeRange:
    """A range and where it comes from."""

    range: ScoreRange
    origin: RangeOrigin

    @property
    def document(self) -> dict[str, object]:
        """The range in the form used in documents."""
        return {"low": self.range.low, "high": self.range.high, "from": self.origin}


def range_of(judge: str, scores: NDArray[np.float64], stated: ScoreRange | None = None) -> JudgeRange:
    """The range of `judge`; `scores` may have any shape, with NaN for missing scores.

    A declared range that does not contain the scores is ignored: imported scores may have the name of a built-in judge
    and another scale.
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
    """The lowest and highest score of a judge: from its catalog entry or, without one, from `params["scale"]`.

    For a judge in the catalog, the parameter `scale` may be a setting with another meaning.
    """
    card = CARDS.get(kind)
    ends: Any = judge.params.get("scale") if card is None else card.scale
    numbers = isinstance(ends, list | tuple) and len(ends) == 2 and all(isinstance(end, int | float) for end in ends)
    return (float(ends[0]), float(ends[1])) if numbers else None
