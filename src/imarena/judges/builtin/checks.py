"""Check whether the requested change was made: one rule per kind of edit, each with its reliability."""

from dataclasses import dataclass, field

import numpy as np

from imarena.core import Mask
from imarena.core.records import JsonDict
from imarena.judges.builtin.curves import apply_floor, logistic_fall, ramp
from imarena.judges.builtin.facts import Facts
from imarena.judges.builtin.likeness import Likeness
from imarena.language import Edit, EditKind
from imarena.vision import Difference, TextLine, is_named, rgb_of, text_match, to_oklab

DONE, NOT_DONE, NOT_CHECKED = "done", "not done", "not checked"


@dataclass(frozen=True)
class RuleInput:
    """Input of every rule. `lines` is None if no text was read."""

    difference: Difference
    facts: Facts
    lines: tuple[TextLine, ...] | None = None
    source_lines: tuple[TextLine, ...] | None = None
    likeness: Likeness | None = None
    """Measures how well an image matches a text; None without an installed model."""


_DONE = 0.5
_HARDLY = 0.02
"""Below this, nothing changed: the finding is `not done` even if the rule's trust is low."""
_TRUSTED = 0.25
"""Below this, a rule can see that something changed but not whether it is the requested change."""


@dataclass(frozen=True)
class RuleResult:
    """`done`: how far the change was made (0 to 1). `trust`: how reliably this rule can see that (0 to 1)."""

    done: float
    trust: float
    note: str
    evidence: JsonDict = field(default_factory=dict)

    @property
    def finding(self) -> str:
        """`done`, `not done` or `not checked`."""
        if self.trust < _TRUSTED and self.done > _HARDLY:
            return NOT_CHECKED
        return DONE if self.done >= _DONE else NOT_DONE


def visible_change(facts: Facts) -> float:
    """How clearly the change stands out from the rest of the image, so that a person would notice it (0 to 1)."""
    stands_out = apply_floor(ramp(facts.structure_contrast, 0.1, 0.7), 0.05)
    alone = apply_floor(ramp(facts.joint_contrast, 0.3, 1.2), 0.1)
    strong = apply_floor(ramp(facts.colour_inside, 15.0, 35.0), 0.4)
    return stands_out * alone * strong * ramp(facts.colour_top, 3.0, 12.0)


def check_object(edit: Edit, scene: RuleInput) -> RuleResult:
    """Check for a new object, another object or another pose: a strong local change, whatever it shows."""
    done = visible_change(scene.facts)
    evidence: JsonDict = {"visible_change": round(done, 3)}
    if edit.colours:
        gained = _gained(scene.difference, edit.colours[0])
        evidence["colour_gained"] = round(gained, 4)
        done *= apply_floor(ramp(gained, 0.0005, 0.01), 0.3)
    done *= target_score(edit, scene, evidence) * _SHOWS.get(edit.kind, 1.0)
    trust = 0.15 if edit.kind in _SHOWS else 0.3
    return RuleResult(done, trust, "sees that something changed in one place, not what it is", evidence)


_LEAST_SHARE = 0.001
"""Smallest share of the image in the target's colour for the target to count as present."""
# A visible change is weaker evidence for a new pose or an instruction not understood than for a new object.
_SHOWS = {EditKind.ACTION: 0.3, EditKind.OTHER: 0.4}


def target_score(edit: Edit, scene: RuleInput, evidence: JsonDict) -> float:
    """Did the change hit the object that the instruction identifies by its colour? 0.05 to 1; 1 if it names no colour,
    or one that the source does not have.
    """
    if not edit.old_colours or not scene.difference.mask.any():
        return 1.0
    difference = scene.difference
    pointed = is_named(difference.source, edit.old_colours[0])
    if pointed.mean() < _LEAST_SHARE:
        return 1.0
    inside = float((pointed & difference.mask).sum()) / float(difference.mask.sum())
    reached = float((pointed & difference.mask).sum()) / max(1.0, float(pointed.sum()))
    evidence["aim"] = round(max(inside, reached), 3)
    return apply_floor(ramp(max(inside, reached), 0.02, 0.3), 0.05)


def _gained(difference: Difference, colour: str) -> float:
    """Share of the image that changed to this colour from another one."""
    now, before = is_named(difference.output, colour), is_named(difference.source, colour)
    return float((now & ~before & (difference.colour > 6.0)).mean())


def _way(difference: Difference, changed: Mask, colour: str) -> float:
    """How far the changed pixels moved towards the colour (median): 0 not at all, 1 all the way."""
    if changed.sum() < 20:
        return 0.0
    goal = to_oklab(rgb_of(colour))
    before, after = (
        np.linalg.norm(to_oklab(frame.rgb[changed]) - goal, axis=1) for frame in (difference.source, difference.output)
    )
    return float(np.clip(np.median((before - after) / np.maximum(before, 0.05)), 0.0, 1.0))


def check_colour(edit: Edit, scene: RuleInput) -> RuleResult:
    """Check that the named colour replaced another one where the image changed."""
    difference = scene.difference
    if not edit.colours:
        return RuleResult(visible_change(scene.facts), 0.3, "no colour is named: any visible change counts", {})
    changed = difference.colour > max(6.0, 2.0 * scene.facts.colour_median)
    gained = max(_gained(difference, colour) for colour in edit.colours)
    share = gained / max(float(changed.mean()), 1e-4)
    way = max(_way(difference, changed, colour) for colour in edit.colours)
    evidence: JsonDict = {
        "gained": round(gained, 4),
        "share_of_change": round(min(share, 1.0), 3),
        "way": round(way, 3),
    }
    colour_score = ramp(gained, 0.0005, 0.01) * apply_floor(ramp(share, 0.05, 0.5), 0.2)
    # Recolouring keeps the object's edges; where the edges are gone, the object was replaced.
    painted = apply_floor(1.0 - ramp(scene.facts.structure_inside, 0.4, 1.0), 0.3)
    done = max(colour_score, 0.5 * way) * painted * target_score(edit, scene, evidence)
    return RuleResult(done, 0.6, f"looks for {' or '.join(edit.colours)} where the image changed", evidence)


def check_remove(edit: Edit, scene: RuleInput) -> RuleResult:
    """Check for a local change that leaves the area no busier than before."""
    inside = scene.difference.mask
    busier = 0.0
    if inside.sum() > 60:
        after, before = scene.difference.output.slope[inside].mean(), scene.difference.source.slope[inside].mean()
        busier = float(np.log((after + 1.0) / (before + 1.0)))
    evidence: JsonDict = {"busier": round(busier, 3), "detail": round(scene.facts.detail_inside, 3)}
    calm = apply_floor(logistic_fall(busier, 0.25, 0.1), 0.15) * apply_floor(
        1.0 - ramp(scene.facts.detail_inside, -0.2, 0.5), 0.1
    )
    done = visible_change(scene.facts) * calm * target_score(edit, scene, evidence)
    return RuleResult(done, 0.4, "sees whether the changed place became calmer, not what is gone", evidence)


def check_text(edit: Edit, scene: RuleInput) -> RuleResult:
    """Check that the requested text is legible and the old text is not."""
    if scene.lines is None:
        return RuleResult(visible_change(scene.facts), 0.1, "no text was read", {})
    evidence: JsonDict = {"read": " | ".join(line.text for line in scene.lines[:20])}
    if edit.text:
        match = text_match(edit.text, scene.lines)
        evidence["match"] = round(match, 3)
        before = text_match(edit.text, scene.source_lines or ())
        if before >= match > 0.8:
            return RuleResult(visible_change(scene.facts), 0.3, f"'{edit.text}' was legible before too", evidence)
        return RuleResult(ramp(match, 0.4, 1.0), 0.8, f"reads for '{edit.text}'", evidence)
    old = edit.old_text or " ".join(line.text for line in scene.source_lines or ())
    left_over = text_match(old, scene.lines) if old else 0.0
    evidence["left_over"] = round(left_over, 3)
    if edit.operation == "remove":
        return RuleResult(1.0 - ramp(left_over, 0.3, 0.8), 0.7, f"reads whether '{old}' is gone", evidence)
    return RuleResult(visible_change(scene.facts), 0.2, "the new words are not stated in quotes", evidence)
