"""EdiVal's figures per editor and turn: success, consistency, quality, overall; Pareto fronts and tool swaps."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from imarena.core import grouped
from imarena.reports.edival.scored import ScoredOutput, ScoredSet, known_mean
from imarena.stats import Figure, pearson, spearman

OverallRule = Literal["per-turn", "paper-o4"]
MULTI, COMPLEX, SINGLE = "multi_turn", "complex", "single"
PASS_CONSISTENCY, PASS_QUALITY = 0.90, 6.0
"""The two thresholds of figure 1: CC of 90 and VQ of 6."""


@dataclass(frozen=True)
class TurnFigures:
    """One editor at one turn: its outputs and their figures. Shares and similarities are 0 to 1; None without data."""

    editor: str
    mode: str
    turn: int
    outputs: tuple[ScoredOutput, ...] = field(repr=False)

    def mean(self, measure: str, part: Literal["consistency", "quality"] = "quality") -> float | None:
        """The mean of a measure of consistency or of quality."""
        return known_mean([getattr(output, part).get(measure) for output in self.outputs])

    @property
    def images(self) -> int:
        """Number of images with outputs up to this turn."""
        return len(self.outputs)

    @property
    def image_success(self) -> float | None:
        """Share of images with every edit up to this turn carried out.

        It leaves out images with an edit that the tools could not decide: because of other edits that failed, they
        could only count against the editor.
        """
        decided = [o for o in self.outputs if o.edits and all(edit.passed is not None for edit in o.edits)]
        return known_mean([output.success for output in decided])

    @property
    def task_success(self) -> float | None:
        """Share of this turn's edits that were carried out (the marginal rate)."""
        return known_mean([output.marginal for output in self.outputs])

    @property
    def all_tasks(self) -> float | None:
        """Share of all edits up to this turn that were carried out."""
        return known_mean([edit.passed for output in self.outputs for edit in output.edits])

    @property
    def consistency(self) -> float | None:
        return self.mean("consistency", "consistency")

    @property
    def quality(self) -> float | None:
        return self.mean("quality")

    @property
    def passes(self) -> float | None:
        """Share of images with a CC of at least 90 and a VQ of at least 6."""
        return known_mean([
            o.consistency["consistency"] >= PASS_CONSISTENCY and o.quality["quality"] >= PASS_QUALITY
            for o in self.outputs
            if "consistency" in o.consistency and "quality" in o.quality
        ])  # fmt: skip

    @property
    def quality_shift(self) -> float | None:
        """|mean VQ at this turn - mean VQ of the base images|."""
        quality, base = self.quality, self.mean("base_quality")
        return None if quality is None or base is None else abs(quality - base)

    @property
    def overall(self) -> float | None:
        """sqrt(IF * CC)."""
        return geometric_mean(self.image_success, self.consistency)


def geometric_mean(following: float | None, consistency: float | None) -> float | None:
    """EdiVal-O of two figures."""
    return None if following is None or consistency is None else math.sqrt(following * consistency)


def all_figures(scored: ScoredSet, mode: str) -> list[TurnFigures]:
    """The figures of every editor and turn of a mode."""
    return [
        TurnFigures(editor, mode, turn, tuple(outputs))
        for editor in scored.editors(mode)
        for turn in scored.turns
        if (outputs := scored.of(editor, mode, turn))
    ]


def pooled_overall(scored: ScoredSet, editor: str, mode: str) -> float | None:
    """Section O.4: geometric mean of the mean CC and the mean over turns of image success (averaged over types)."""
    rates = []
    for turn in scored.turns:
        outputs = scored.of(editor, mode, turn)
        by_type = grouped((output.edits[-1].type, output.success) for output in outputs if output.edits)
        rates.append(known_mean([known_mean(values) for values in by_type.values()]))
    kappa = known_mean(
        [o.consistency.get("consistency") for o in scored.outputs if (o.editor, o.mode) == (editor, mode)]
    )
    return geometric_mean(known_mean(rates), kappa)


def type_rate(outputs: Iterable[ScoredOutput], kind: str) -> float | None:
    """The success rate of an edit type. Complex mode: among all edits in the prompt, not only the turn's own."""
    return known_mean([edit.passed for output in outputs for edit in output.asked if edit.type == kind])


AXES = {"IF": "image_success", "CC": "consistency", "VQ": "quality"}
AXIS_PAIRS = (("IF", "CC"), ("IF", "VQ"), ("CC", "VQ"))


def axis_points(figures: Iterable[TurnFigures], first: str, second: str) -> dict[str, tuple[float, float]]:
    """The editors that have both figures of a pair of axes."""
    return {
        row.editor: (x, y)
        for row in figures
        if (x := getattr(row, AXES[first])) is not None and (y := getattr(row, AXES[second])) is not None
    }


def pareto_front(points: dict[str, tuple[float, float]]) -> list[str]:
    """The points that no other point beats; higher is better on both axes."""
    return sorted(
        name
        for name, (x, y) in points.items()
        if not any(ox >= x and oy >= y and (ox > x or oy > y) for other, (ox, oy) in points.items() if other != name)
    )


@dataclass(frozen=True)
class ToolSwap:
    """How similar one figure is for two sets of tools, over (editor, turn)."""

    figure: str
    default: str
    variant: str
    pearson: Figure
    spearman: Figure
    n: int


def tool_swap(default: ScoredSet, variant: ScoredSet, mode: str) -> list[ToolSwap]:
    """Compare image success, task success, consistency, quality and overall of two sets of tools."""
    left = {(f.editor, f.turn): f for f in all_figures(default, mode)}
    right = {(f.editor, f.turn): f for f in all_figures(variant, mode)}
    swaps = []
    for name in ("image_success", "task_success", "consistency", "quality", "overall"):
        pairs = [
            (a, b)
            for key in sorted(left.keys() & right.keys())
            if (a := getattr(left[key], name)) is not None and (b := getattr(right[key], name)) is not None
        ]
        if pairs:
            first, second = [a for a, _ in pairs], [b for _, b in pairs]
            swaps.append(
                ToolSwap(name, default.name, variant.name, pearson(first, second), spearman(first, second), len(pairs))
            )
    return swaps
