"""Locate the object that an edit names with a small detector, to choose among colour and saliency candidates.

It knows 80 everyday kinds by the nouns of `vision/nouns.yaml`, and tells where such a thing is, not how far it reaches.
"""

import cv2
import numpy as np
import numpy.typing as npt

from imarena.core import Floats

SURE = 0.4
"""Below it the detector is more often wrong than of use."""


def detection_map(small: Floats, named: list[str]) -> Floats | None:
    """How sure the detector is of what `named` says at each pixel, 1 where it is surest; None: not sure at all.

    Shape (height, width). A cell of the detector's raster is widened by one, because a thing is more than its middle.
    """
    from imarena.vision import detection_scores, kinds_in_phrase

    kinds = sorted(kinds_in_phrase(" ".join(named)))
    if not kinds:
        return None
    raster = np.asarray(detection_scores(small)[kinds].max(axis=0), np.float32)
    if float(raster.max()) < SURE:
        return None
    wide = cv2.dilate(raster / raster.max(), np.ones((3, 3), np.uint8))
    height, width = small.shape[:2]
    return np.asarray(cv2.resize(wide, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def area_confidence(area: npt.NDArray[np.bool_], where: Floats | None) -> float:
    """How sure it is that an area is the thing, 0 to 1; 1 where nothing is known."""
    return 1.0 if where is None else float(where[area].max(initial=0.0))
