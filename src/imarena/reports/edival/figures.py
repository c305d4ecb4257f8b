"""EdiVal's figures per editor and turn: success, consistency, quality, overall; Pareto fronts and tool swaps."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from imarena.reports.edival.scored import ScoredOutput, ScoredSet, known_mean
from imarena.stats import Figure, pearson, spearman

OverallRule = Literal["per-turn", "paper-o4"]
MULTI, COMPLEX, SINGLE = "multi_turn", "complex", "single"
PASS_CONSISTENCY, PASS_QUALITY = 0.90, 6.0
"""The two thresholds of figure 1: CC of 90 and VQ of 6."""


@dataclass(frozen=True)
class TurnFigures:
    """The figures of one editor at one turn. Shares and similarities are 0 to 1; None without data."""

    editor: str
    mode: str
    turn: int
    images: int
    """Number of images with outputs up to this turn."""
    undecided: int
    """Number of those images with an edit that the tools could not decide. `image_success` leaves them out: because of
    other edits that failed, they could only count against the editor."""
    image_success: float | None
    task_success: float | None
    """Share of this turn's edits that were carried out (the marginal rate)."""
    all_tasks: float | None
    """Share of all edits up to this turn that were carried out."""
    consistency: float | None
    quality: float | None
    base_quality: float | None
    passes: float | None
    """Share of images with a CC of at least 90 and a VQ of at least 6."""

    @property
    def quality_shift(self) -> float | None:
        """|mean VQ at this turn - mean VQ of the base images|."""
        return None if self.quality is None or self.base_quality is None else abs(self.quality - self.base_quality)

    @property
    def overall(self) -> float | None:
        """sqrt(IF * CC)."""
        return geometric_mean(self.image_success, self.consistency)


def geometric_mean(following: float | None, consistency: float | None) -> float | None:
    """EdiVal-O of two figures."""
    return None if following is None or consistency is None else math.sqrt(following * consistency)


def turn_figures(outputs: Sequence[ScoredOutput], editor: str, mode: str, turn: int) -> TurnFigures:
    """Compute the figures of outputs of one editor, mode and turn."""
    decided = [o.success for o in outputs if o.edits and all(edit.passed is not None for edit in o.edits)]
    edits = [edit.passed for o in outputs for edit in o.edits]
    passes = [
        o.consistency["consistency"] >= PASS_CONSISTENCY and o.quality["quality"] >= PASS_QUALITY
        for o in outputs
        if "consistency" in o.consistency and "quality" in o.quality
    ]
    return TurnFigures(
        editor, mode, turn, len(outputs), sum(bool(o.edits) for o in outputs) - len(decided),
        known_mean(decided), known_mean([o.marginal for o in outputs]), known_mean(edits),
        known_mean([o.consistency.get("consistency") for o in outputs]),
        known_mean([o.quality.get("quality") for o in outputs]),
        known_mean([o.quality.get("base_quality") for o in outputs]),
        known_mean(passes),
    )  # fmt: skip


def all_figures(scored: ScoredSet, mode: str) -> list[TurnFigures]:
    """The figures of every editor and turn of a mode."""
    return [
        turn_figures(outputs, editor, mode, turn)
        for editor in scored.editors(mode)
        for turn in scored.turns
        if (outputs := scored.of(editor, mode, turn))
    ]


def pooled_overall(scored: ScoredSet, editor: str, mode: str) -> float | None:
    """Section O.4: geometric mean of the mean CC and the mean over turns of image success (averaged over types)."""
    rates = []
    for turn in scored.turns:
        by_type: dict[str, list[bool | None]] = {}
        for output in scored.of(editor, mode, turn):
            if output.edits:
                by_type.setdefault(output.edits[-1].type, []).append(output.success)
        rates.append(known_mean([known_mean(values) for values in by_type.values()]))
    kappa = known_mean(
        [o.consistency.get("consistency") for o in scored.outputs if (o.editor, o.mode) == (editor, mode)]
    )
    return geometric_mean(known_mean(rates), kappa)


def type_rates(outputs: Iterable[ScoredOutput], mode: str) -> dict[str, tuple[float | None, int]]:
    """The success rate of each edit type and the number of decided edits. Complex mode: of all edits in the prompt."""
    passed: dict[str, list[bool | None]] = {}
    for output in outputs:
        for edit in output.edits if mode == COMPLEX else output.edits[-1:]:
            passed.setdefault(edit.type, []).append(edit.passed)
    return {name: (known_mean(values), sum(v is not None for v in values)) for name, values in passed.items()}


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
