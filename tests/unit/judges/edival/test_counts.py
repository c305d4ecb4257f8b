"""Counting with a detector that misses things: copies are found by their look, and doubt is not a wrong count."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import pytest

from imarena.core import Detection, ObjectPlan, ObjectTurn, Pixels, SceneObject
from imarena.core.records import JsonDict
from imarena.judges.edival.following import EvaluationContext, count_objects
from imarena.judges.edival.judge import make
from imarena.judges.edival.measurement_cache import MeasurementCache, encoded_image
from imarena.judges.edival.same_look import LIKE, PERHAPS_LIKE, find_same_look
from imarena.judges.edival.settings import EdiValSettings
from imarena.judges.edival.tools import Thresholds, Toolbox
from imarena.studio import encode_pixels

SIDE, HIGH = 240, 60
PLACES = [(10, 90), (90, 90), (170, 90)]


def thing(seed: int) -> Pixels:
    """A blotchy patch that looks like nothing else."""
    small = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(small, (HIGH, HIGH), interpolation=cv2.INTER_CUBIC), np.uint8)


def scene(*things: tuple[int, tuple[int, int]]) -> Pixels:
    ground = np.random.default_rng(99).integers(90, 130, (12, 12, 3), dtype=np.uint8)
    pixels = np.asarray(cv2.resize(ground, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC), np.uint8)
    for seed, (x, y) in things:
        pixels[y : y + HIGH, x : x + HIGH] = thing(seed)
    return pixels


@dataclass(frozen=True)
class Blinking:
    """A detector that finds what it is told to, by the number of calls; it misses much."""

    found: Sequence[Detection]
    name: str = "blinking"
    version: str = "1"
    thresholds: Thresholds = Thresholds()
    missed_source_fails: bool = False
    calls: list[str] = field(default_factory=list)

    def params(self, phrase: str) -> JsonDict | None:
        return {"phrase": phrase, "found": len(self.found), "scores": [one.score for one in self.found]}

    def search(self, pixels: Pixels, phrase: str) -> Sequence[Detection]:  # noqa: ARG002
        self.calls.append(phrase)
        return self.found

    def chosen(self, found: Sequence[Detection], phrase: str) -> Sequence[Detection]:  # noqa: ARG002
        return found


def counted(after: Pixels, found: Sequence[Detection], *, misses: bool = True) -> tuple[int, int]:
    """How many objects, and how many more perhaps."""
    first = scene((1, PLACES[0]))
    offline = make({"detector": "efficientdet", "features": "st-lpips", "quality": "brisque"}, None).tools
    finder = Blinking(found, missed_source_fails=not misses)
    tools = Toolbox(finder, offline.answerer, offline.reader, offline.comparer, offline.metric)
    base = encoded_image(encode_pixels(first))
    context = EvaluationContext(tools, MeasurementCache(), EdiValSettings(), base)
    x, y = PLACES[0]
    known = SceneObject(name="cup", object="cup", boxes=((float(x), float(y), float(x + HIGH), float(y + HIGH)),))
    turn = ObjectTurn(type="count_change", object="cup", count=3)
    plan = ObjectPlan(objects=(known,), turns=(turn,))
    boxes, perhaps = count_objects(context, plan, turn, base, encoded_image(encode_pixels(after)))
    return len(boxes or ()), perhaps


def detected(place: tuple[int, int], score: float) -> Detection:
    x, y = place
    return Detection((float(x), float(y), float(x + HIGH), float(y + HIGH)), "cup", score)


THREE = scene(*((1, place) for place in PLACES))


def test_copies_are_found_by_their_look() -> None:
    places = find_same_look(scene((1, PLACES[0])), (10 / SIDE, 90 / SIDE, 70 / SIDE, 150 / SIDE), THREE)
    assert sum(like >= LIKE for _, like in places) == 3
    assert all(like >= PERHAPS_LIKE for _, like in places)


@pytest.mark.parametrize("found", [(), (detected(PLACES[1], 0.8),), tuple(detected(place, 0.8) for place in PLACES)])
def test_what_the_detector_misses_is_counted_once(found: tuple[Detection, ...]) -> None:
    assert counted(THREE, found) == (3, 0)


def test_another_thing_is_not_counted() -> None:
    assert counted(scene((1, PLACES[0]), (2, PLACES[1]), (3, PLACES[2])), (detected(PLACES[0], 0.8),)) == (1, 0)


def test_weak_boxes_are_perhaps() -> None:
    strangers = scene((1, PLACES[0]), (2, PLACES[1]), (3, PLACES[2]))
    weak = (detected(PLACES[0], 0.8), detected(PLACES[1], 0.25), detected(PLACES[2], 0.3))
    assert counted(strangers, weak) == (1, 2)


def test_a_detector_by_phrase_counts_as_in_the_paper() -> None:
    assert counted(THREE, (detected(PLACES[1], 0.8), detected(PLACES[2], 0.3)), misses=False) == (1, 0)
