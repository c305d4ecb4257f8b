"""The grounding filter (algorithm 1 of EdiVal-Agent): keep objects that a detector finds and that leave room."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from imarena.core import Detection, Pixels
from imarena.vision import DETECTORS, PHRASE_DETECTORS, find_objects, kinds_in_phrase, phrase_detector

THRESHOLD = 0.35
SIDE = 512
LARGEST_SIDE = 0.9
LARGEST_AREA = 0.4
OWN_DETECTOR = "efficientdet"

Grounder = Callable[[Pixels, Sequence[str]], Mapping[str, tuple[Detection, ...]]]
"""Maps object names to the boxes of each in pixels of the image; no boxes if it was not found."""


def too_large(detections: Sequence[Detection], width: int, height: int) -> str:
    """Why an object with these boxes is dropped; empty if it is kept."""
    for detection in detections:
        left, top, right, bottom = detection.box
        across, down = (right - left) / width, (bottom - top) / height
        if across >= LARGEST_SIDE or down >= LARGEST_SIDE:
            return f"a box spans {max(across, down):.2f} of the image ({LARGEST_SIDE} or more)"
        if across * down > LARGEST_AREA:
            return f"a box covers {across * down:.2f} of the image (over {LARGEST_AREA})"
    return ""


def grounder_of(name: str = OWN_DETECTOR, threshold: float = THRESHOLD) -> Grounder:
    """The detector of this name as a grounder. Without phrases, it finds names whose noun is one of its categories."""
    if name in PHRASE_DETECTORS:
        return _by_phrase(name, threshold)
    detector = DETECTORS.get(name)

    def ground(pixels: Pixels, names: Sequence[str]) -> dict[str, tuple[Detection, ...]]:
        detections = find_objects(pixels, threshold) if name == OWN_DETECTOR else detector(pixels)
        return {
            phrase: tuple(
                detection
                for detection in detections
                if detection.score >= threshold and kinds_in_phrase(detection.label) & kinds_in_phrase(phrase)
            )
            for phrase in names
        }

    return ground


def _by_phrase(name: str, threshold: float) -> Grounder:
    def ground(pixels: Pixels, names: Sequence[str]) -> dict[str, tuple[Detection, ...]]:
        import cv2

        height, width = pixels.shape[:2]
        square = np.asarray(cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.uint8)
        detect = phrase_detector(name)
        boxes: dict[str, tuple[Detection, ...]] = {}
        for phrase in names:  # one at a time: in a list of phrases each box has one label, and similar names compete
            detections = detect(square, [phrase]) if phrase else ()
            boxes[phrase] = tuple(
                Detection(_scaled(detection.box, width / SIDE, height / SIDE), phrase, detection.score)
                for detection in detections
                if detection.score >= threshold
            )
        return boxes

    return ground


def _scaled(box: tuple[float, float, float, float], across: float, down: float) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    return left * across, top * down, right * across, bottom * down
