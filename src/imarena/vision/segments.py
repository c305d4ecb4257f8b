"""A classical segmenter that needs no weights: numbered regions of a picture for raters to click.

Watershed from a grid of low-gradient points on the colour gradient, then similar neighbours are joined until few
are left. The same picture always gives the same numbers, from the top left to the bottom right.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import SegmentMask
from imarena.images import shrink_pixels

WORKING_SIDE = 512
MAX_REGIONS = 24
_GRID = 12
_LIKE = 14.0
"""Regions whose mean colours (CIE Lab, 8 bits) are nearer than this are joined."""
_LEAST_SHARE = 0.004


@dataclass(frozen=True)
class Segment:
    """One numbered region, in pixels of the picture: its outlines, the position of its number, and its box."""

    number: int
    outlines: tuple[tuple[tuple[int, int], ...], ...]
    label: tuple[int, int]
    box: tuple[int, int, int, int]


def segment(pixels: NDArray[np.uint8]) -> list[Segment]:
    """Numbered regions of a picture, shape (height, width, 3), sRGB."""
    height, width = pixels.shape[:2]
    labels = _labels(pixels)
    return _regions(labels, width / labels.shape[1], height / labels.shape[0], (width, height))


def segment_masks(pixels: NDArray[np.uint8]) -> tuple[SegmentMask, ...]:
    """The same regions as masks (height, width), which together cover the picture."""
    import cv2

    height, width = pixels.shape[:2]
    labels = cv2.resize(_labels(pixels), (width, height), interpolation=cv2.INTER_NEAREST)
    masks = (np.asarray(labels == label, np.bool_) for label in np.unique(labels))
    return tuple(SegmentMask(mask) for mask in masks)


def _labels(pixels: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The region of every pixel at working size."""
    import cv2

    small = shrink_pixels(pixels, WORKING_SIDE)
    return _joined(_watershed(small), cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.float64))


def _watershed(small: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Labels 1 .. n for every pixel."""
    import cv2

    height, width = small.shape[:2]
    smooth = cv2.bilateralFilter(small, 7, 40, 7)
    grey = cv2.cvtColor(smooth, cv2.COLOR_RGB2GRAY)
    gradient = cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    markers = np.zeros((height, width), np.int32)
    step_y, step_x = max(1, height // _GRID), max(1, width // _GRID)
    number = 0
    for top in range(0, height, step_y):
        for left in range(0, width, step_x):
            cell = gradient[top : top + step_y, left : left + step_x]
            row, column = np.unravel_index(int(np.argmin(cell)), cell.shape)
            number += 1
            markers[top + row, left + column] = number
    if min(height, width) < 3:
        return np.ones((height, width), np.int32)
    labels: NDArray[np.int32] = cv2.watershed(np.ascontiguousarray(smooth), markers)
    return _without_lines(labels)


def _without_lines(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Assign the lines between regions (-1) to an adjacent region."""
    labels = labels.copy()
    for _ in range(4):
        gaps = labels <= 0
        if not gaps.any():
            break
        padded = np.pad(labels, 1, mode="edge")
        around = np.stack([padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]])
        labels[gaps] = around.max(axis=0)[gaps]
    labels[labels <= 0] = 1
    return labels


def _joined(labels: NDArray[np.int32], lab: NDArray[np.float64]) -> NDArray[np.int32]:
    """Join similar neighbours, then the smallest or most similar ones, until at most `MAX_REGIONS` are left."""
    count = int(labels.max()) + 1
    sizes = np.bincount(labels.ravel(), minlength=count).astype(np.float64)
    sums = np.stack(
        [np.bincount(labels.ravel(), lab[..., c].ravel(), minlength=count) for c in range(3)], axis=1
    ).astype(np.float64)
    beside = _neighbours(labels)
    owner = np.arange(count)
    least = _LEAST_SHARE * labels.size
    while True:
        pair = _next_pair(beside, sizes, sums, least)
        if pair is None:
            break
        keep, gone = pair
        sizes[keep] += sizes[gone]
        sums[keep] += sums[gone]
        owner[owner == gone] = keep
        for other in beside.pop(gone):
            beside[other].discard(gone)
            if other != keep:
                beside[other].add(keep)
                beside[keep].add(other)
    result: NDArray[np.int32] = owner[labels].astype(np.int32)
    return result


def _neighbours(labels: NDArray[np.int32]) -> dict[int, set[int]]:
    across = np.stack([labels[:, :-1].ravel(), labels[:, 1:].ravel()], axis=1)
    down = np.stack([labels[:-1].ravel(), labels[1:].ravel()], axis=1)
    pairs = np.concatenate([across, down])
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    beside: dict[int, set[int]] = {int(label): set() for label in np.unique(labels)}
    for first, second in pairs.tolist():
        beside[first].add(second)
        beside[second].add(first)
    return beside


def _next_pair(
    beside: dict[int, set[int]], sizes: NDArray[np.float64], sums: NDArray[np.float64], least: float
) -> tuple[int, int] | None:
    """The two neighbours to join next: the most similar. Tiny regions join their most similar neighbour in any case."""
    best: tuple[float, int, int] | None = None
    for first, neighbours in beside.items():
        for second in neighbours:
            if second < first:
                continue
            gap = float(np.linalg.norm(sums[first] / sizes[first] - sums[second] / sizes[second]))
            if min(sizes[first], sizes[second]) < least:
                gap /= 100.0
            if best is None or (gap, first, second) < best:
                best = (gap, first, second)
    if best is None or (best[0] > _LIKE and len(beside) <= MAX_REGIONS):
        return None
    return best[1], best[2]


def _regions(labels: NDArray[np.int32], stretch_x: float, stretch_y: float, size: tuple[int, int]) -> list[Segment]:
    import cv2

    def at(point: Any) -> tuple[int, int]:
        return min(size[0], round(float(point[0]) * stretch_x)), min(size[1], round(float(point[1]) * stretch_y))

    segments = []
    for label in np.unique(labels):
        mask = (labels == label).astype(np.uint8)
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        outlines = [tuple(at(p) for p in cv2.approxPolyDP(c, 1.5, True)[:, 0]) for c in contours]
        depth = cv2.distanceTransform(np.pad(mask, 1), cv2.DIST_L2, 3)[1:-1, 1:-1]
        row, column = np.unravel_index(int(np.argmax(depth)), depth.shape)
        rows, columns = np.nonzero(mask)
        corner = (int(rows.min()), int(columns.min()))
        box = (*at((columns.min(), rows.min())), *at((columns.max() + 1, rows.max() + 1)))
        segments.append((corner, tuple(outlines), at((column + 0.5, row + 0.5)), box))
    segments.sort(key=lambda region: (region[0], region[3]))
    return [Segment(number, outlines, label, box) for number, (_, outlines, label, box) in enumerate(segments, 1)]
