"""From facts and checks to CV-Judge's four dimensions."""

from dataclasses import dataclass

from imarena.judges.builtin_checks import Check, Scene
from imarena.judges.builtin_curves import fall, floored, mean, plateau, product, ramp
from imarena.judges.builtin_facts import Facts
from imarena.judges.builtin_global import kept_globally
from imarena.judges.cv_score import SCALE
from imarena.language import Reading


@dataclass(frozen=True)
class Dimensions:
    """Four numbers on 0 to 1000."""

    semantic: float
    editing: float
    prompt: float
    perceptual: float


def kept(facts: Facts) -> float:
    """How much of what was not asked to change is as before, 0 to 1."""
    layout = fall(facts.structure_median, 0.45, 0.08)
    light = plateau(abs(facts.lightness_shift), 0.0, 1.5, 1.0, 25.0)
    tint = plateau(facts.tint_shift, 0.0, 1.5, 1.0, 25.0)
    shape = plateau(facts.aspect_change, 0.0, 0.03, 1.0, 0.4)
    everywhere = plateau(facts.colour_median, 0.0, 22.0, 1.0, 8.0)
    return product((layout, light, tint, everywhere, shape))


def compact(facts: Facts) -> float:
    """Is the change one or two whole things rather than specks all over? 0 to 1."""
    whole = mean((ramp(45.0 - facts.raggedness, 0.0, 35.0), ramp(facts.filling, 0.0, 0.4)))
    share = facts.regions[0].area / facts.area if facts.regions and facts.area > 0 else 0.0
    return whole * floored(ramp(share, 0.3, 0.9), 0.5)


def clean(facts: Facts) -> float:
    """Freedom from artefacts that the source does not have, 0 to 1."""
    a = facts.artefacts
    harsh = plateau(a.edges_inside, 0.0, 35.0, 1.0, 7.0) * plateau(a.edges_beyond_source, 0.0, 0.08, 1.0, 0.04)
    return product(
        (
            floored(plateau(a.edges_outside, 0.0, 0.10, 0.05, 0.15), 0.2),
            floored(plateau(a.edges_peak, -0.05, 0.15, 0.12, 0.15), 0.2),
            floored(plateau(a.contrast, -0.05, 0.08, 0.20, 0.20), 0.2),
            floored(plateau(a.detail_outside, -0.02, 0.15, 0.12, 0.20), 0.2),
            floored(harsh, 0.08),
            floored(plateau(a.blocking, -9.0, 0.25, 1.0, 0.8), 0.55),
        )
    )


def local_dimensions(reading: Reading, facts: Facts, checks: tuple[Check, ...]) -> Dimensions:
    """An edit of some part: that part changed, and nothing else."""
    same, tidy = kept(facts), clean(facts)
    whole = 1.0 if reading.about_text else compact(facts)  # letters are scattered strokes
    done = mean(c.done for c in checks)
    editing = done * floored(same, 0.5)
    prompt = done * same * floored(whole, 0.1) * floored(tidy, 0.7)
    return Dimensions(SCALE * same**0.5, SCALE * editing**0.5, SCALE * prompt**0.5, SCALE * tidy**0.5)


def global_dimensions(reading: Reading, scene: Scene, checks: tuple[Check, ...]) -> Dimensions:
    """An edit of the whole picture: it changed as asked, and what it shows is still there."""
    same = kept_globally(reading.kinds, scene)
    done = mean(c.done for c in checks)
    a = scene.facts.artefacts
    tidy = product((floored(plateau(a.blocking, -9.0, 0.25, 1.0, 0.8), 0.55), plateau(a.noise, -99.0, 0.5, 1.0, 2.0)))
    return Dimensions(SCALE * same, SCALE * done * floored(same, 0.2), SCALE * done * same, SCALE * tidy)


def dimensions_of(reading: Reading, scene: Scene, checks: tuple[Check, ...]) -> Dimensions:
    """The four dimensions of one output."""
    if scene.facts.returned_input:
        return Dimensions(SCALE, 0.0, 0.0, SCALE)
    if reading.edits and all(edit.whole_image for edit in reading.edits):
        return global_dimensions(reading, scene, checks)
    return local_dimensions(reading, scene.facts, checks)
