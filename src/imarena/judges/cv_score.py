"""CV-Judge's score: one capped score from four dimensions on 0 to 1000 (CV-Arena, section 4.2, equation 3).

Code computes the score, never the model. The paper gives the weights and the caps but not the threshold
above which an edit counts as successful; `SUCCESS_THRESHOLD` is our choice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from imarena.core import UserError

SEMANTIC = "semantic_consistency"
EDITING = "editing_success"
PROMPT = "prompt_following"
PERCEPTUAL = "perceptual_quality"
DIMENSIONS = (SEMANTIC, EDITING, PROMPT, PERCEPTUAL)

WEIGHTS = (0.20, 0.30, 0.30, 0.20)
"""Semantic, editing, prompt, perceptual: the paper's default (appendix M.2)."""

SUCCESS_THRESHOLD = 500.0
"""Our choice: the paper requires all four dimensions to 'exceed moderate thresholds' without stating them."""

SCALE = 1000.0


@dataclass(frozen=True)
class CVScore:
    """A combined score, the sum before the caps, and why it was capped."""

    score: float
    initial: float
    success: bool
    caps: tuple[str, ...]
    dimensions: dict[str, float]


def _checked_weights(weights: Sequence[float]) -> tuple[float, float, float, float]:
    if len(weights) != 4 or not all(math.isfinite(w) and w >= 0 for w in weights):
        raise UserError(
            f"CV-Judge needs four weights that are not negative, got {tuple(weights)}.",
            hint="Give them in the order semantic, editing, prompt, perceptual, for example (0.2, 0.3, 0.3, 0.2).",
        )
    if abs(sum(weights) - 1.0) > 1e-9:
        raise UserError(f"CV-Judge's weights sum to {sum(weights):g}, not to 1.", hint="Divide each by their sum.")
    return weights[0], weights[1], weights[2], weights[3]


def _checked_dimension(name: str, value: float) -> float:
    if not math.isfinite(value) or not 0.0 <= value <= SCALE:
        raise UserError(
            f"{name} is {value}, outside 0 to {SCALE:g}.",
            hint="A reply with such a value is unparsable: give it that status instead of a score.",
        )
    return float(value)


def combine_dimensions(
    sem: float,
    edit: float,
    inst: float,
    perc: float,
    weights: Sequence[float] = WEIGHTS,
    success_threshold: float = SUCCESS_THRESHOLD,
) -> CVScore:
    """Weight the four dimensions (each 0 to 1000), apply the caps and decide whether the edit succeeded.

    ``edit < 1000 w_e`` caps the score at ``1000 (w_e + w_i)``; ``sem < 1000 w_s`` or ``perc < 1000 w_p`` caps it
    at ``1000 (w_s + w_p)``. The lower cap wins, and a capped edit is never a success; otherwise it succeeds if
    every dimension is above `success_threshold`.
    """
    w_s, w_e, w_i, w_p = _checked_weights(weights)
    values = [_checked_dimension(n, v) for n, v in zip(DIMENSIONS, (sem, edit, inst, perc), strict=True)]
    initial = math.fsum(w * v for w, v in zip((w_s, w_e, w_i, w_p), values, strict=True))
    caps: list[str] = []
    score = initial
    if values[1] < SCALE * w_e:
        caps.append("edit_failed")
        score = min(score, SCALE * (w_e + w_i))
    if values[0] < SCALE * w_s:
        caps.append("semantics_lost")
    if values[3] < SCALE * w_p:
        caps.append("quality_lost")
    if len(caps) > caps.count("edit_failed"):
        score = min(score, SCALE * (w_s + w_p))
    success = not caps and all(value > success_threshold for value in values)
    return CVScore(
        score=min(max(score, 0.0), SCALE),
        initial=initial,
        success=success,
        caps=tuple(caps),
        dimensions=dict(zip(DIMENSIONS, values, strict=True)),
    )
