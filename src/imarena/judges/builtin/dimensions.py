"""Compute CV-Judge's four dimensions from facts and checks."""

import math
from dataclasses import dataclass

from imarena.judges.builtin.checks import RuleInput, RuleResult
from imarena.judges.builtin.curves import apply_floor, logistic_fall, mean, plateau, ramp
from imarena.judges.builtin.facts import Facts
from imarena.judges.builtin.global_edits import global_preservation
from imarena.judges.cv_score import SCALE
from imarena.language import ParsedInstruction


@dataclass(frozen=True)
class Dimensions:
    """Four numbers on 0 to 1000."""

    semantic: float
    editing: float
    prompt: float
    perceptual: float


def same_shapes(facts: Facts) -> float:
    """1 if the large shapes are where they were, 0 if the output is a different image."""
    return logistic_fall(facts.layout_change, 0.25, 0.06)


def preservation(facts: Facts) -> float:
    """How well the output keeps what the instruction did not ask to change, 0 to 1."""
    light = plateau(abs(facts.lightness_shift), 0.0, 1.5, 1.0, 25.0)
    tint = plateau(facts.tint_shift, 0.0, 1.5, 1.0, 25.0)
    shape = plateau(facts.aspect_change, 0.0, 0.03, 1.0, 0.4)
    return math.prod((same_shapes(facts), light, tint, shape))


def compactness(facts: Facts) -> float:
    """Is the change one or two solid areas rather than scattered specks? 0 to 1."""
    whole = mean((ramp(45.0 - facts.raggedness, 0.0, 35.0), ramp(facts.filling, 0.0, 0.4)))
    share = facts.regions[0].area / facts.area if facts.regions and facts.area > 0 else 0.0
    return whole * apply_floor(ramp(share, 0.3, 0.9), 0.5)


def cleanliness(facts: Facts) -> float:
    """Absence of damage that the source does not have, 0 to 1. Each measure can be wrong about a correct edit, so each
    has a floor above 0.
    """
    a = facts.artefacts
    return math.prod(
        (
            # Lower resolution, blur or grain everywhere, measured at the source's size. Re-encoding an image costs
            # some detail too, which people hardly notice.
            apply_floor(plateau(facts.detail_change, -0.45, 0.2, 0.35, 0.35), 0.2),
            # JPEG blocks that the source does not have.
            apply_floor(plateau(a.blocking, -9.0, 0.25, 1.0, 0.4), 0.4),
            # The edited area is smeared compared with the rest, or noisier than the rest and than before the edit.
            apply_floor(plateau(facts.texture_inside, -0.8, 99.0, 0.6, 1.0), 0.35),
            apply_floor(plateau(min(facts.texture_inside, facts.detail_inside), -99.0, 1.3, 1.0, 0.6), 0.35),
            # Many edges are steeper than any in the source: a bad paste.
            apply_floor(plateau(a.edges_beyond_source, 0.0, 0.15, 1.0, 0.1), 0.5),
            # Colours are far more vivid than any in the source.
            apply_floor(plateau(facts.vividness, -99.0, 15.0, 1.0, 20.0), 0.6),
            # The whole image lost or gained contrast.
            apply_floor(plateau(a.contrast, -0.08, 0.12, 0.20, 0.20), 0.3),
        )
    )


def local_dimensions(reading: ParsedInstruction, facts: Facts, checks: tuple[RuleResult, ...]) -> Dimensions:
    """Dimensions of a local edit: one part should change, and nothing else."""
    preserved, tidy = preservation(facts), cleanliness(facts)
    whole = 1.0 if reading.about_text else compactness(facts)  # letters are scattered strokes, never compact
    done = mean(c.done for c in checks)
    editing = done * apply_floor(preserved, 0.5)
    prompt = done * preserved * apply_floor(whole, 0.2)
    return Dimensions(SCALE * preserved**0.5, SCALE * editing**0.5, SCALE * prompt**0.5, SCALE * tidy**0.5)


def global_dimensions(reading: ParsedInstruction, scene: RuleInput, checks: tuple[RuleResult, ...]) -> Dimensions:
    """Dimensions of a global edit: the whole image should change as asked and keep its content."""
    preserved = global_preservation(reading.kinds, scene)
    done = mean(c.done for c in checks)
    a = scene.facts.artefacts
    tidy = math.prod(
        (apply_floor(plateau(a.blocking, -9.0, 0.25, 1.0, 0.8), 0.55), plateau(a.noise, -99.0, 0.5, 1.0, 2.0))
    )
    return Dimensions(
        SCALE * preserved, SCALE * done * apply_floor(preserved, 0.2), SCALE * done * preserved, SCALE * tidy
    )


def untouched_dimensions(facts: Facts) -> Dimensions:
    """Dimensions where the instruction only says what to keep: the fewer changes, the better."""
    if facts.returned_input:
        return Dimensions(SCALE, SCALE, SCALE, SCALE)
    preserved = preservation(facts)
    still = preserved * logistic_fall(facts.colour_top, 12.0, 3.0)
    return Dimensions(SCALE * preserved**0.5, SCALE * still, SCALE * still, SCALE * cleanliness(facts) ** 0.5)


def dimensions_of(reading: ParsedInstruction, scene: RuleInput, checks: tuple[RuleResult, ...]) -> Dimensions:
    """The four dimensions of one output."""
    if not reading.edits:
        return untouched_dimensions(scene.facts)
    if scene.facts.returned_input:
        return Dimensions(SCALE, 0.0, 0.0, SCALE)
    if all(edit.whole_image for edit in reading.edits):
        return global_dimensions(reading, scene, checks)
    return local_dimensions(reading, scene.facts, checks)
