"""EdiVal's figures of each editor and turn: success, consistency, quality, overall; fronts and tool swaps."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from imarena.reports.edival.scored import ScoredOutput, ScoredSet, known_mean
from imarena.stats import Figure, pearson, spearman

OverallRule = Literal["per-turn", "paper-o4"]
MULTI, COMPLEX, SINGLE = "multi_turn", "complex", "single"
PASS_CONSISTENCY, PASS_QUALITY = 0.90, 6.0
"""Figure 1's two lines: CC of 90 and VQ of 6."""


@dataclass(frozen=True)
class TurnFigures:
    """The figures of one editor at one turn. Shares and likenesses are 0 to 1; None where nothing can be counted."""

    editor: str
    mode: str
    turn: int
    images: int
    """Images with outputs through this turn."""
    undecided: int
    """Of those, images with an edit that the tools could not decide. They are no part of `image_success`: with another
    edit that failed they would only ever count against the editor."""
    image_success: float | None
    task_success: float | None
    """Of the edits of this turn, those carried out (the marginal rate)."""
    all_tasks: float | None
    """Of all edits up to this turn, those carried out."""
    consistency: float | None
    quality: float | None
    base_quality: float | None
    passes: float | None
    """The share of images with CC of 90 and VQ of 6 at least."""

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
    """The figures of these outputs, all of one editor, mode and turn."""
    decided = [o.success for o in outputs if o.edits and all(edit.passed is not None for edit in o.edits)]
    edits = [edit.passed for o in outputs for edit in o.edits]
    both = [
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
        known_mean(both),
    )  # fmt: skip


def all_figures(scored: ScoredSet, mode: str) -> list[TurnFigures]:
    """Every editor and turn of a mode."""
    return [
        turn_figures(found, editor, mode, turn)
        for editor in scored.editors(mode)
        for turn in scored.turns
        if (found := scored.of(editor, mode, turn))
    ]


def pooled_overall(scored: ScoredSet, editor: str, mode: str) -> float | None:
    """Section O.4: the mean over turns of the image success rate, by type and then averaged, times the mean CC."""
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
    """Those that no other one beats: higher is better on both axes."""
    return sorted(
        name
        for name, (x, y) in points.items()
        if not any(ox >= x and oy >= y and (ox > x or oy > y) for other, (ox, oy) in points.items() if other != name)
    )


@dataclass(frozen=True)
class ToolSwap:
    """One figure by two sets of tools over (editor, turn): how alike they are."""

    figure: str
    default: str
    variant: str
    pearson: Figure
    spearman: Figure
    n: int


def tool_swap(default: ScoredSet, variant: ScoredSet, mode: str) -> list[ToolSwap]:
    """Image success, task success, consistency, quality and overall by two sets of tools."""
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
