"""Score items without a source image: pixels alone allow only a rough score of a generated image."""

import math

from imarena.core.records import JsonDict
from imarena.judges.builtin.curves import mean, plateau, ramp
from imarena.judges.builtin.dimensions import Dimensions
from imarena.judges.cv_score import SCALE
from imarena.language import colours_in, lexicon
from imarena.vision import Frame, TextLine, is_named, measure_quality, text_match

_COLOUR_ALONE = 0.6
"""Highest value of a named colour: the check cannot know whether the right object has it."""
_UNSEEN = 0.3


def _quoted(instruction: str) -> tuple[str, ...]:
    from imarena.language import split_clauses

    return split_clauses(instruction).quotes


def judge_generation(
    instruction: str, output: Frame, lines: tuple[TextLine, ...] | None
) -> tuple[Dimensions, float, JsonDict]:
    """Return the four dimensions, a confidence and the evidence.

    Quality comes from sharpness, noise and clipping; prompt following from named colours and quoted words. If the
    prompt has neither, the prompt dimensions are derived from the quality and the confidence is low.
    """
    quality = measure_quality(output)
    perceptual = math.prod(
        (
            ramp(quality.sharpness, 0.2, 2.0),
            plateau(quality.noise, 0.0, 2.0, 1.0, 3.0),
            plateau(quality.clipped, 0.0, 0.2, 1.0, 0.3),
            plateau(quality.blocking, 0.0, 0.5, 1.0, 1.0),
            ramp(quality.contrast, 2.0, 12.0),
        )
    )
    scores: list[float] = []
    evidence: JsonDict = {"sharpness": round(quality.sharpness, 3), "noise": round(quality.noise, 3)}
    for colour in colours_in(instruction.lower()):
        share = float(is_named(output, colour).mean())
        evidence[f"share_{colour}"] = round(share, 4)
        scores.append(_COLOUR_ALONE * ramp(share, 0.002, 0.03))
    for text in _quoted(instruction):
        if lines is not None:
            match = text_match(text, lines)
            evidence[f"read_{text}"] = round(match, 3)
            scores.append(ramp(match, 0.4, 1.0))
    following = mean(scores) if scores else _UNSEEN * perceptual
    confidence = 0.1 + 0.3 * min(1.0, len(scores) / 2.0)
    evidence["lexicon_version"] = lexicon().version
    coherent = 0.5 + 0.5 * perceptual
    dimensions = Dimensions(SCALE * coherent, SCALE * following, SCALE * following, SCALE * perceptual)
    return dimensions, confidence, evidence
