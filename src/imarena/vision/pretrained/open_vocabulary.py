"""What detectors by phrase share: the default phrases, and boxes of a network as detections."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from imarena.core import Detection, UserError


@cache
def default_phrases() -> tuple[str, ...]:
    """The 80 kinds of COCO: what a detector looks for where no phrases are given."""
    from imarena.vision.coco_kinds import KINDS

    return KINDS


def checked_phrases(phrases: Sequence[str] | None) -> tuple[str, ...]:
    """Phrases in small letters, without full stops and blanks around them; none, or an empty one, raises."""
    clean = tuple(" ".join(phrase.lower().replace(".", " ").split()) for phrase in phrases or default_phrases())
    if not all(clean):
        raise UserError("A phrase to look for is empty.", hint="Give nouns such as 'red mug'.")
    return clean


def corners(boxes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Boxes (n, 4) from centre and size to left, top, right and bottom."""
    centre, half = boxes[:, :2], boxes[:, 2:] / 2
    return np.concatenate([centre - half, centre + half], axis=1)


def to_detections(
    boxes: NDArray[np.float32],
    labels: Sequence[str],
    scores: NDArray[np.float32],
    size: tuple[int, int],
    threshold: float,
) -> tuple[Detection, ...]:
    """Boxes (n, 4) in pixels, cut at the edges of an image (height, width); the surest first.

    A box below the threshold, or without area inside the image, is left out. Numbers that are not finite raise.
    """
    if not (np.isfinite(boxes).all() and np.isfinite(scores).all()):
        raise UserError("The detector gives a number that is not finite.", hint="Check its weights.")
    height, width = size
    limits = np.array([width, height, width, height], np.float64)
    inside = np.clip(boxes.astype(np.float64), 0, limits)
    detections = []
    for box, label, score in zip(inside.tolist(), labels, scores.tolist(), strict=True):
        left, top, right, bottom = box
        if score > threshold and left < right and top < bottom:
            detections.append(Detection((left, top, right, bottom), label, min(1.0, float(score))))
    return tuple(sorted(detections, key=lambda found: (-found.score, found.label, found.box)))
