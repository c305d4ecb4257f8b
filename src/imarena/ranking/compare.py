"""Compare a board with an external leaderboard: the common models, and how far the two agree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.core import UserError


@dataclass(frozen=True)
class BoardComparison:
    """Correlations over the common models; None, with a reason, if they are undefined (a constant board)."""

    n: int
    spearman: float | None
    kendall: float | None
    pearson: float | None
    footrule: float
    """Mean distance between the two ranks of a model."""
    common: tuple[tuple[str, str, float, float], ...]
    """(our name, their name, our rating, their rating), sorted by our rating, best first."""
    only_ours: tuple[str, ...]
    only_theirs: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class OutsideComparison:
    """A comparison with a leaderboard from a file: its name, its date if known, and the figures."""

    board: str
    date: str | None
    figures: BoardComparison

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        figures = self.figures
        return {
            "board": self.board,
            "date": self.date,
            "n": figures.n,
            "spearman": figures.spearman,
            "kendall": figures.kendall,
            "pearson": figures.pearson,
            "footrule": figures.footrule,
            "reason": figures.reason,
            "common": [
                {"model": model, "their_model": other, "rating": ours, "their_rating": yours}
                for model, other, ours, yours in figures.common
            ],
            "only_ours": list(figures.only_ours),
            "only_theirs": list(figures.only_theirs),
        }


def compare_ratings(
    ours: Mapping[str, float], theirs: Mapping[str, float], *, names: Mapping[str, str] | None = None
) -> BoardComparison:
    """Compare ratings; higher is better in both. `names` maps our names to theirs; other models keep their name."""
    from scipy import stats

    renames = dict(names or {})
    for model, other in renames.items():
        if model not in ours:
            raise UserError(f"The name map has '{model}', which is not on the board.", hint="Map our name to theirs.")
        if other not in theirs:
            raise UserError(f"The name map has '{other}', which is not on the other board.", hint="Check its spelling.")
    pairs = [(model, renames.get(model, model)) for model in sorted(ours, key=lambda model: -ours[model])]
    common = [(model, other, ours[model], theirs[other]) for model, other in pairs if other in theirs]
    if len(common) < 2:
        raise UserError(
            f"Only {len(common)} model is on both boards.", hint="Give a name map (--names) from our names to theirs."
        )
    left = np.round([row[2] for row in common], 9)
    right = np.round([row[3] for row in common], 9)
    flat = bool(np.ptp(left) == 0 or np.ptp(right) == 0)
    matched = {row[1] for row in common}
    ranks = stats.rankdata(-left), stats.rankdata(-right)
    return BoardComparison(
        n=len(common),
        spearman=None if flat else float(stats.spearmanr(left, right).statistic),
        kendall=None if flat else float(stats.kendalltau(left, right).statistic),
        pearson=None if flat else float(stats.pearsonr(left, right).statistic),
        footrule=float(np.mean(np.abs(ranks[0] - ranks[1]))),
        common=tuple(common),
        only_ours=tuple(model for model, other in pairs if other not in theirs),
        only_theirs=tuple(other for other in theirs if other not in matched),
        reason="one of the boards gives all common models the same rating" if flat else "",
    )
