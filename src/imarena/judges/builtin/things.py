"""Evidence about objects in the changed area. For objects that the detector knows: is the new one there, is the old
one gone, did the change hit it? For all objects: an object has detail and colours of its own, while a filled area
has those of its surroundings. Each answer shifts the odds that the edit was made. None decides alone, because the
detector misses many objects and detail does not say which object it is.
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
from imarena.vision import RASTER_SIZE, detection_scores, kinds_in_phrase

_NEW = frozenset({EditKind.ADD, EditKind.REPLACE, EditKind.COUNT})
_GONE = frozenset({EditKind.REMOVE, EditKind.REPLACE})
_BLIND = frozenset({EditKind.ADD, EditKind.TEXT})
"""Kinds of edit whose named target need not change itself."""
_SURE = 0.3
"""Detection score above which the named object counts as present in the source."""
_CEILING = 0.75
"""Highest certainty that pixels alone give that the edit made the right object."""
_HARDLY = 0.01
"""Up to this value of `done`, detection is not worth its time: the odds would stay near 0."""
# Lower and upper value of the evidence, then the odds at each.
_APPEARED = (0.05, 0.4, 0.35, 12.0)
_VANISHED = (0.2, 0.8, 0.5, 2.0)
_HIT = (0.0, 10.0, 0.5, 2.0)
_DETAIL = (-0.8, 0.6, 0.35, 1.8)
_STANDS_OUT = (0.0, 20.0, 0.4, 1.8)
_BLENDS = (5.0, 25.0, 0.35, 1.8)
_LIKENESS = (-0.02, 0.06, 0.25, 6.0)
"""CLIP's cosines differ by a few hundredths between an image with the object and one without."""
_CURVES = {
    "appeared": _APPEARED, "vanished": _VANISHED, "hit": _HIT, "detail": _DETAIL,
    "stands_out": _STANDS_OUT, "blends": _BLENDS,
    "likeness": _LIKENESS, "likeness_there": _LIKENESS,
}  # fmt: skip


def _near(values: Floats, cells: int) -> Floats:
    return np.asarray(cv2.dilate(values, np.ones((cells, cells), np.uint8)), dtype=np.float32)


def _odds(value: float, curve: tuple[float, float, float, float]) -> float:
    """The log odds at `value`, linear between the two ends of the curve."""
    low, high, against, favour = curve
    return math.log(against) + (math.log(favour) - math.log(against)) * ramp(value, low, high)


def appearance_score(before: Floats, after: Floats) -> float:
    """Highest rise in the detection score of an object, compared with the source nearby; both (32, 32)."""
    return float((after - _near(before, 5)).max())


def vanished_share(before: Floats, after: Floats) -> float:
    """Share of the object that is no longer detected where it was: 1 means gone. `before` has it; both (32, 32)."""
    weight = before * before * (before > 0.5 * before.max())
    left = np.minimum(_near(after, 3) / np.maximum(before, 1e-6), 1.0)
    return float(1.0 - (left * weight).sum() / weight.sum())


def change_contrast(before: Floats, change: Floats) -> float:
    """How much more (Lab) the image changed on the object than elsewhere; both (32, 32)."""
    outline = _near(np.asarray(_near(before, 5) > 0.5 * before.max(), dtype=np.float32), 3) > 0
    if outline.all():
        return 0.0
    return float(change[outline].mean() - change[~outline].mean())


def _evidence(edit: Edit, scene: RuleInput) -> dict[str, float]:
    """All evidence about the objects that the edit names, by question."""
    gains = {} if scene.likeness is None else likeness_gains(edit, scene.difference, scene.likeness)
    return {**_pixel_evidence(edit, scene), **_detector_evidence(edit, scene), **gains}


def _pixel_evidence(edit: Edit, scene: RuleInput) -> dict[str, float]:
    """Does the changed area look like an object (for a new one), or like its surroundings (for a removal)?"""
    facts = scene.facts
    if edit.kind is EditKind.REMOVE:
        return {"blends": facts.apart_before - facts.apart_after}
    if edit.kind not in _NEW:
        return {}
    was = 0.0 if edit.kind is EditKind.REPLACE else facts.apart_before
    return {"detail": facts.texture_inside, "stands_out": facts.apart_after - was}


def _detector_evidence(edit: Edit, scene: RuleInput) -> dict[str, float]:
    """The detector's evidence about the objects that the edit names, by question."""
    new = kinds_in_phrase(edit.value) if edit.kind in _NEW else frozenset()
    old = kinds_in_phrase(edit.target) if edit.kind not in _BLIND and not edit.whole_image else frozenset()
    if new & old:
        new, old = frozenset(), frozenset()  # a boy turned into a girl: both are persons
    if not new and not old:
        return {}
    difference = scene.difference
    before, after = detection_scores(difference.source.full), detection_scores(difference.output.full)
    scores: dict[str, float] = {}
    if new:
        scores["appeared"] = appearance_score(before[list(new)].max(axis=0), after[list(new)].max(axis=0))
    thing = before[list(old)].max(axis=0) if old else np.zeros((RASTER_SIZE, RASTER_SIZE), np.float32)
    if thing.max() > _SURE:
        if edit.kind in _GONE:
            scores["vanished"] = vanished_share(thing, after[list(old)].max(axis=0))
        change = cv2.resize(difference.colour, (RASTER_SIZE, RASTER_SIZE), interpolation=cv2.INTER_AREA)
        scores["hit"] = change_contrast(thing, np.asarray(change, dtype=np.float32))
    return scores


def adjust_by_detections(check: RuleResult, edit: Edit, scene: RuleInput) -> RuleResult:
    """The check, with its odds shifted by the evidence about the objects that the edit names."""
    if check.done <= _HARDLY:
        return check
    findings = _evidence(edit, scene)
    if not findings:
        return check
    shift = math.fsum(_odds(value, _CURVES[name]) for name, value in findings.items())
    done = min(check.done, _CEILING)
    odds = done / (1.0 - done) * math.exp(shift)
    evidence: JsonDict = {**check.evidence, "things": {name: round(value, 3) for name, value in findings.items()}}
    chance = odds / (1.0 + odds)
    return replace(check, done=max(chance, check.done) if shift > 0 else chance, evidence=evidence)
