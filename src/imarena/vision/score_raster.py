"""The bundled detector's score for each of COCO's 80 categories at each place of an image, before it forms boxes.

Rules that only ask whether an object is likelier than before need no boxes, and lose less where the detector is
unsure. For boxes use `efficientdet`.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imarena.vision.efficientdet import LEVELS, network_input, run_network

RASTER_SIZE = 32
"""Rows and columns of the raster that the image is divided into."""
_FINEST = max(LEVELS)


def detection_scores(rgb: NDArray[np.floating] | NDArray[np.uint8]) -> NDArray[np.float32]:
    """The network's score for each of `KINDS` at each place: (80, 32, 32), 0 to 1; below 0.5 it is often wrong.

    `rgb` is sRGB, 0 to 1 or integers up to 255, shape (height, width, 3). The raster covers the image,
    whatever its shape.
    """
    if rgb.dtype == np.uint8:
        pixels = np.asarray(rgb, np.uint8)
    else:
        pixels = np.asarray(np.clip(np.asarray(rgb, np.float32) * 255 + 0.5, 0, 255), np.uint8)
    return _score_map(pixels.tobytes(), pixels.shape[0], pixels.shape[1])


@lru_cache(maxsize=8)
def _score_map(data: bytes, height: int, width: int) -> NDArray[np.float32]:
    """The last few are cached, since all outputs of an item share their source."""
    network_pixels, (across, down) = network_input(np.frombuffer(data, np.uint8).reshape(height, width, 3))
    scores, start = run_network(network_pixels)[1], 0
    anchors_per_cell = len(scores) // sum(cells * cells for cells in LEVELS)
    finest = np.zeros((scores.shape[1], _FINEST, _FINEST), np.float32)
    for cells in LEVELS:
        end = start + cells * cells * anchors_per_cell
        level = scores[start:end].reshape(cells, cells, anchors_per_cell, -1).max(axis=2).transpose(2, 0, 1)
        times = _FINEST // cells
        np.maximum(finest, level.repeat(times, axis=1).repeat(times, axis=2), out=finest)
        start = end
    rows, columns = (np.arange(RASTER_SIZE) * max(1, round(share * _FINEST)) // RASTER_SIZE for share in (down, across))
    covered = finest[:, : max(1, round(down * _FINEST)), : max(1, round(across * _FINEST))]
    raster = np.maximum.reduceat(np.maximum.reduceat(covered, rows, axis=1), columns, axis=2)
    raster.setflags(write=False)
    return np.asarray(raster, np.float32)
