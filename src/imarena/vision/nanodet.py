"""Which of COCO's 80 kinds of things stand where: NanoDet-g (RangiLyu 2021; weights bundled, Apache-2.0). Loaded on
first use. Only the scores are read; boxes are drawn around the cells in which a kind was seen.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imarena.core import Detection
from imarena.images import components
from imarena.vision.networks import network

KINDS = (
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light",
    "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant",
    "bear", "zebra", "giraffe", "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard",
    "sports ball", "kite", "baseball bat", "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle",
    "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple", "sandwich", "orange", "broccoli",
    "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch", "potted plant", "bed", "dining table", "toilet",
    "tv", "laptop", "mouse", "remote", "keyboard", "cell phone", "microwave", "oven", "toaster", "sink",
    "refrigerator", "book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush",
)  # fmt: skip
"""In the order of the network's outputs."""
SIDE = 256
GRID = SIDE // 8
THRESHOLD = 0.5
"""A kind counts as found where the network is at least this sure; below it is often wrong."""
_MEAN = np.array([103.53, 116.28, 123.675], np.float32)
_SPREAD = np.array([57.375, 57.12, 58.395], np.float32)


def _spread_out(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """A coarse map, (80, n, n), on the finest raster."""
    times = GRID // scores.shape[1]
    return np.asarray(scores.repeat(times, axis=1).repeat(times, axis=2), np.float32)


@lru_cache(maxsize=8)
def _found(pixels: bytes) -> NDArray[np.float32]:
    """The maps of a small copy; the last few are kept, since all outputs of an item share their source."""
    small = np.frombuffer(pixels, np.uint8).reshape(SIDE, SIDE, 3)
    ready = (small[..., ::-1].astype(np.float32) - _MEAN) / _SPREAD
    given = {"picture": np.ascontiguousarray(ready.transpose(2, 0, 1)[None])}
    levels = [_spread_out(np.asarray(level[0], np.float32)) for level in network("nanodet_g").run(None, given)]
    found = np.maximum.reduce(levels)
    found.setflags(write=False)
    return np.asarray(found, np.float32)


def detection_scores(rgb: NDArray[np.floating]) -> NDArray[np.float32]:
    """How sure the network is of each of `KINDS` at each place: (80, 32, 32), 0 to 1; under 0.5 it is often wrong.

    `rgb` is sRGB, 0 to 1, shape (height, width, 3); it is stretched to 256 by 256 pixels.
    """
    import cv2

    way = cv2.INTER_AREA if min(rgb.shape[:2]) > SIDE else cv2.INTER_LINEAR
    small = cv2.resize(np.asarray(rgb, np.float32), (SIDE, SIDE), interpolation=way)
    return _found(np.asarray(np.clip(small * 255 + 0.5, 0, 255), np.uint8).tobytes())


def detect(pixels: NDArray[np.uint8]) -> tuple[Detection, ...]:
    """Boxes around the cells in which a kind was seen, the surest first.

    `pixels` is sRGB, shape (height, width, 3). Boxes end at cells of a 32nd of a side; two things of one kind that
    touch are one box, and a box lies on its thing without covering all of it.
    """
    height, width = pixels.shape[:2]
    seen = detection_scores(np.asarray(pixels, np.float32) / np.float32(255))
    found = []
    for kind in np.flatnonzero(seen.max(axis=(1, 2)) >= THRESHOLD):
        for box in components(seen[kind] >= THRESHOLD):
            left, top, right, bottom = (int(end) for end in box.as_tuple())
            sure = float(seen[kind, top:bottom, left:right].max())
            found.append(Detection(box.scaled(width / GRID, height / GRID).as_tuple(), KINDS[kind], min(1.0, sure)))
    return tuple(sorted(found, key=lambda one: (-one.score, one.label, one.box)))
