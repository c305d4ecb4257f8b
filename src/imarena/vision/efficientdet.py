"""Boxes of COCO's 80 object categories: EfficientDet-Lite2 (Tan et al. 2020; weights bundled, Apache-2.0).

Loaded on first use. `tools/convert_efficientdet.py` made the file from the published 8-bit network; preprocessing,
anchors and non-maximum suppression are here.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from imarena.core import Detection, Floats
from imarena.vision.networks import network
from imarena.vision.nouns import KINDS

SIDE = 448
THRESHOLD = 0.5
"""Chosen on one half of the labelled photographs (docs/guide/see.md)."""
OVERLAP = 0.5
"""If two boxes of one category overlap by more (intersection over union), only the more confident one is kept."""
MOST = 100
_GREY = 127
"""The padding that the network was trained with for images that are not square."""
LEVELS = (56, 28, 14, 7, 4)
"""Cells per side of the network's five feature maps."""
_OCTAVES = (0.0, 1 / 3, 2 / 3)
_ASPECTS = (1.0, 2.0, 0.5)
_GAPS = frozenset({12, 26, 29, 30, 45, 66, 68, 69, 71, 83})
"""COCO numbers its categories from 1 to 90 and skips these; the network has a score for each number."""
_COLUMNS = tuple(number - 1 for number in range(1, 91) if number not in _GAPS)


@cache
def anchors() -> Floats:
    """The anchors: centre y and x, height and width, as fractions of the input. (37629, 4)."""
    levels = []
    for cells in LEVELS:
        middle = (np.arange(cells) + 0.5) / cells
        sizes = [
            (3.0 / cells * 2.0**octave / aspect**0.5, 3.0 / cells * 2.0**octave * aspect**0.5)
            for octave in _OCTAVES
            for aspect in _ASPECTS
        ]
        rows, columns, shapes = np.meshgrid(middle, middle, np.arange(len(sizes)), indexing="ij")
        levels.append(np.stack([rows, columns, *np.moveaxis(np.asarray(sizes)[shapes], -1, 0)], axis=-1).reshape(-1, 4))
    return np.concatenate(levels).astype(np.float32)


def network_input(pixels: NDArray[np.uint8]) -> tuple[Floats, tuple[float, float]]:
    """The network's input for an image, (1, 3, 448, 448), 0 to 255, and the fractions of its width and height in use.

    The image is scaled to fit into the upper left corner; the rest is grey.
    """
    import cv2

    height, width = pixels.shape[:2]
    scale = SIDE / max(height, width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    square = np.full((SIDE, SIDE, 3), _GREY, np.float32)
    square[: size[1], : size[0]] = cv2.resize(np.ascontiguousarray(pixels), size, interpolation=way)
    return np.ascontiguousarray(square.transpose(2, 0, 1)[None]), (size[0] / SIDE, size[1] / SIDE)


def decode_boxes(boxes: Floats, around: Floats) -> Floats:
    """Apply the network's corrections (n, 4) to anchors (n, 4): left, top, right, bottom as fractions of the input."""
    middle = boxes[:, :2] * around[:, 2:] + around[:, :2]
    half = np.exp(boxes[:, 2:]) * around[:, 2:] / 2
    return np.concatenate([(middle - half)[:, ::-1], (middle + half)[:, ::-1]], axis=1)


def suppress(boxes: Floats, scores: Floats, overlap: float = OVERLAP) -> list[int]:
    """Non-maximum suppression of boxes (n, 4) of one category: the indices to keep, the most confident first."""
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    order = np.argsort(-scores, kind="stable")
    indices: list[int] = []
    while len(order):
        first, others = order[0], order[1:]
        indices.append(int(first))
        sides = np.minimum(boxes[first, 2:], boxes[others, 2:]) - np.maximum(boxes[first, :2], boxes[others, :2])
        common = np.maximum(sides, 0).prod(axis=1)
        order = others[common <= overlap * np.maximum(areas[first] + areas[others] - common, 1e-9)]
    return indices


def run_network(pixels: Floats) -> tuple[Floats, Floats]:
    """The network's output for each anchor: corrections of its box (37629, 4) and a score per category (37629, 80)."""
    corrections, scores = network("efficientdet_lite2").run(["boxes", "scores"], {"pixels": pixels})
    return np.asarray(corrections[0], np.float32), np.asarray(scores[0], np.float32)[:, _COLUMNS]


def find_objects(pixels: NDArray[np.uint8], threshold: float = THRESHOLD) -> tuple[Detection, ...]:
    """Objects of at least this score (0 to 1), the most confident first. `pixels` is sRGB, shape (height, width, 3)."""
    height, width = pixels.shape[:2]
    network_pixels, (across, down) = network_input(pixels)
    corrections, by_kind = run_network(network_pixels)
    likely = np.flatnonzero(by_kind.max(axis=1) >= threshold)
    if not len(likely):
        return ()
    kinds, sure = by_kind[likely].argmax(axis=1), by_kind[likely].max(axis=1)
    shares = decode_boxes(corrections[likely], anchors()[likely])
    boxes = np.clip(shares / np.array([across, down, across, down]), 0, 1) * np.array([width, height, width, height])
    detections = [
        Detection((left, top, right, bottom), KINDS[kind], min(1.0, float(sure[rows[at]])))
        for kind in np.unique(kinds)
        for rows in [np.flatnonzero(kinds == kind)]
        for at in suppress(boxes[rows], sure[rows])
        for left, top, right, bottom in [tuple(float(end) for end in boxes[rows[at]])]
        if left < right and top < bottom
    ]
    return tuple(sorted(detections, key=lambda detection: (-detection.score, detection.label, detection.box))[:MOST])
