"""The salient object of an image: U²-Net, small (Qin et al. 2020; weights bundled, Apache-2.0). Loaded on first use."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imarena.core import SegmentMask
from imarena.vision.networks import network

SIDE = 320
SMALLEST = 24
"""Images with a shorter side are too small for a distinguishable object."""
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_SPREAD = np.array([0.229, 0.224, 0.225], np.float32)


@lru_cache(maxsize=8)
def _saliency_map(pixels: bytes) -> NDArray[np.float32]:
    """The map of a small copy; the last few are cached, since one edit may need its image's map several times."""
    small = np.frombuffer(pixels, np.uint8).reshape(SIDE, SIDE, 3).astype(np.float32)
    ready = (small / max(float(small.max()), 1e-6) - _MEAN) / _SPREAD
    session = network("u2netp")
    inputs = {session.get_inputs()[0].name: np.ascontiguousarray(ready.transpose(2, 0, 1)[None], np.float32)}
    saliency_map = np.asarray(session.run([session.get_outputs()[0].name], inputs)[0][0, 0], np.float32)
    saliency_map.setflags(write=False)
    return saliency_map


def saliency(rgb: NDArray[np.floating]) -> NDArray[np.float32]:
    """How much each pixel belongs to the image's main subject, 0 to 1, shape (height, width).

    `rgb` is sRGB, 0 to 1, shape (height, width, 3). The map is computed at 320 by 320 pixels.
    """
    import cv2

    height, width = rgb.shape[:2]
    if min(height, width) < SMALLEST:
        return np.zeros((height, width), np.float32)
    shrinks = max(height, width) > SIDE
    way = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    small = cv2.resize(np.asarray(rgb, np.float32), (SIDE, SIDE), interpolation=way)
    saliency_map = _saliency_map(np.asarray(np.clip(small * 255 + 0.5, 0, 255), np.uint8).tobytes())
    return np.asarray(
        np.clip(cv2.resize(saliency_map, (width, height), interpolation=cv2.INTER_LINEAR), 0, 1), np.float32
    )


def segment_salient(pixels: NDArray[np.uint8]) -> tuple[SegmentMask, ...]:
    """The image's main subject as one mask (height, width); no mask if nothing stands out.

    `pixels` is sRGB, shape (height, width, 3). The score is the mean of the map inside the mask.
    """
    saliency_map = saliency(np.asarray(pixels, np.float32) / np.float32(255))
    mask = np.asarray(saliency_map >= 0.5, np.bool_)
    return (SegmentMask(mask, "salient", float(saliency_map[mask].mean())),) if mask.any() else ()
