"""What stands in the changed place. Where a detector knows the things that the instruction names: is the new one there,
is the old one gone, did the change hit it? In any case: a thing has detail and colours of its own, a place that was
filled has those of its surroundings. Each answer shifts the odds that the edit was made; none decides it, for the
detector misses much, and detail has no name.
"""

import math
from dataclasses import replace

import cv2
import numpy as np

from imarena.core import Floats
from imarena.core.records import JsonDict
from imarena.judges.builtin.checks import RuleInput, RuleResult
from imarena.judges.builtin.curves import ramp
from imarena.judges.builtin.likeness import likeness_gains
from imarena.language import Edit, EditKind
from imarena.vision import GRID, detection_scores, kinds_in_phrase

_NEW = frozenset({EditKind.ADD, EditKind.REPLACE, EditKind.COUNT})
_GONE = frozenset({EditKind.REMOVE, EditKind.REPLACE})
_BLIND = frozenset({EditKind.ADD, EditKind.TEXT})
"""Where what is named as the target need not change itself."""
_SURE = 0.3
"""The source's thing is known to be there."""
_CEILING = 0.75
"""Pixels alone make nobody surer than this that it is the right thing."""
_HARDLY = 0.01
"""Where so little was done, no sighting is worth the time: the odds stay near nothing."""
# Odds for and against, each from a lower to an upper value of what was seen.
_APPEARED = (0.05, 0.4, 0.35, 12.0)
_VANISHED = (0.2, 0.8, 0.5, 2.0)
_HIT = (0.0, 10.0, 0.5, 2.0)
_DETAIL = (-0.8, 0.6, 0.35, 1.8)
_STANDS_OUT = (0.0, 20.0, 0.4, 1.8)
_BLENDS = (5.0, 25.0, 0.35, 1.8)
_LIKENESS = (-0.02, 0.06, 0.25, 6.0)
"""Cosines of CLIP differ by a few hundredths between an image with the thing and one without."""
_CURVES = {
    "appeared": _APPEARED, "vanished": _VANISHED, "hit": _HIT, "detail": _DETAIL,
    "stands_out": _STANDS_OUT, "blends": _BLENDS,
    "likeness": _LIKENESS, "likeness_there": _LIKENESS,
}  # fmt: skip


def _near(values: Floats, cells: int) -> Floats:
    return np.asarray(cv2.dilate(values, np.ones((cells, cells), np.uint8)), dtype=np.float32)


def _odds(value: float, curve: tuple[float, float, float, float]) -> float:
    """The logarithm of the odds at `value`: straight between the curve's two ends."""
    low, high, against, favour = curve
    return math.log(against) + (math.log(favour) - math.log(against)) * ramp(value, low, high)


def appearance_score(before: Floats, after: Floats) -> float:
    """How sure it is of the thing where it was not sure before; both (32, 32)."""
    return float((after - _near(before, 5)).max())


def vanished_share(before: Floats, after: Floats) -> float:
    """Share of the thing that is seen no longer where it was: 1 is gone. `before` has it somewhere; both (32, 32)."""
    weight = before * before * (before > 0.5 * before.max())
    left = np.minimum(_near(after, 3) / np.maximum(before, 1e-6), 1.0)
    return float(1.0 - (left * weight).sum() / weight.sum())


def change_contrast(before: Floats, change: Floats) -> float:
    """How much more (Lab) the picture changed on the thing than elsewhere; both (32, 32)."""
    there = _near(np.asarray(_near(before, 5) > 0.5 * before.max(), dtype=np.float32), 3) > 0
    if there.all():
        return 0.0
    return float(change[there].mean() - change[~there].mean())


def _evidence(edit: Edit, scene: RuleInput) -> dict[str, float]:
    """What was seen of the things that the edit names, by question."""
    alike = {} if scene.likeness is None else likeness_gains(edit, scene.difference, scene.likeness)
    return {**_pixel_evidence(edit, scene), **_detector_evidence(edit, scene), **alike}


def _pixel_evidence(edit: Edit, scene: RuleInput) -> dict[str, float]:
    """Does a thing stand in the changed place (where one shall be), or its surroundings (where one shall be gone)?"""
    facts = scene.facts
    if edit.kind is EditKind.REMOVE:
        return {"blends": facts.apart_before - facts.apart_after}
    if edit.kind not in _NEW:
        return {}
    was = 0.0 if edit.kind is EditKind.REPLACE else facts.apart_before
    return {"detail": facts.texture_inside, "stands_out": facts.apart_after - was}


def _detector_evidence(edit: Edit, scene: RuleInput) -> dict[str, float]:
    """What the detector says about the things that the edit names, by question."""
    new = kinds_in_phrase(edit.value) if edit.kind in _NEW else frozenset()
    old = kinds_in_phrase(edit.target) if edit.kind not in _BLIND and not edit.whole_image else frozenset()
    if new & old:
        new, old = frozenset(), frozenset()  # a boy into a girl: both are persons
    if not new and not old:
        return {}
    difference = scene.difference
    before, after = detection_scores(difference.source.full), detection_scores(difference.output.full)
    scores: dict[str, float] = {}
    if new:
        scores["appeared"] = appearance_score(before[list(new)].max(axis=0), after[list(new)].max(axis=0))
    thing = before[list(old)].max(axis=0) if old else np.zeros((GRID, GRID), np.float32)
    if thing.max() > _SURE:
        if edit.kind in _GONE:
            scores["vanished"] = vanished_share(thing, after[list(old)].max(axis=0))
        change = cv2.resize(difference.colour, (GRID, GRID), interpolation=cv2.INTER_AREA)
        scores["hit"] = change_contrast(thing, np.asarray(change, dtype=np.float32))
    return scores


def adjust_by_detections(check: RuleResult, edit: Edit, scene: RuleInput) -> RuleResult:
    """The check, its odds shifted by what was seen of the things that the edit names."""
    if check.done <= _HARDLY:
        return check
    seen = _evidence(edit, scene)
    if not seen:
        return check
    shift = math.fsum(_odds(value, _CURVES[name]) for name, value in seen.items())
    done = min(check.done, _CEILING)
    odds = done / (1.0 - done) * math.exp(shift)
    evidence: JsonDict = {**check.evidence, "things": {name: round(value, 3) for name, value in seen.items()}}
    made = odds / (1.0 + odds)
    return replace(check, done=max(made, check.done) if shift > 0 else made, evidence=evidence)
