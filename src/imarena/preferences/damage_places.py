"""Where local damage acts: a rounded place outside of the edit, with something to see in it. NumPy or torch (`xp`)."""

import math
from typing import Any

import numpy as np

from imarena.preferences.damage_operations import numbering

Array = Any
TRIES = 8
"""So many places are drawn; the one with the most detail that keeps clear of the edit is taken."""
PLACE_DRAWS = 6
"""Numbers that one place is drawn from."""
_COARSE = 8


def _shape(
    draws: Array, area: tuple[float, float], rows: Array, columns: Array, size: tuple[int, int], xp: Any
) -> Array:
    """The place of `draws` (n, 6) on a grid of pixel positions (n, h, w): 1 inside, falling to 0 over a few pixels."""
    height, width = size
    d = [draws[:, i][:, None, None] for i in range(PLACE_DRAWS)]
    share = area[0] + (area[1] - area[0]) * d[0]
    radius = xp.sqrt(share * height * width / math.pi)
    ratio = xp.exp(0.7 * (d[1] - 0.5))
    margin = radius * 1.1
    cy = margin + (height - 2 * margin) * d[2]
    cx = margin + (width - 2 * margin) * d[3]
    turn = math.pi * d[4]
    y, x = rows - cy, columns - cx
    along, across = xp.cos(turn) * x + xp.sin(turn) * y, xp.cos(turn) * y - xp.sin(turn) * x
    u, v = along / (radius * ratio), across * ratio / radius
    wobble = 1.0 + 0.12 * xp.sin(3.0 * xp.arctan2(v, u + 1e-6) + 2 * math.pi * d[5])
    far = xp.sqrt(u * u + v * v) / wobble
    return xp.clip((1.0 - far) * radius / 4.0 + 0.5, 0, 1)


def coarse_detail(image: Array, xp: Any) -> Array:
    """How much there is to see, by blocks of 8 x 8 pixels: mean size of the lightness step, (n, h, w)."""
    light = xp.mean(image, axis=3)
    steps = xp.abs(light[:, 1:, :-1] - light[:, :-1, :-1]) + xp.abs(light[:, :-1, 1:] - light[:, :-1, :-1])
    n, height, width = steps.shape
    rows, columns = height // _COARSE, width // _COARSE
    cut = steps[:, : rows * _COARSE, : columns * _COARSE].reshape(n, rows, _COARSE, columns, _COARSE)
    return xp.mean(cut, axis=(2, 4))


def choose_places(image: Array, region: Array, area: tuple[float, float], draws: Array, xp: Any = np) -> Array:
    """A place in each image, (n, height, width, 1).

    `region` is the edit, (n, height, width, 1); `draws` (n, TRIES, 6), uniform. Detail counts up to a point: a
    place need not be the busiest, only not empty.
    """
    height, width = image.shape[1:3]
    detail = coarse_detail(image, xp)
    rows = xp.cumsum(xp.ones_like(detail), 1) * _COARSE - _COARSE / 2
    columns = xp.cumsum(xp.ones_like(detail), 2) * _COARSE - _COARSE / 2
    half = _COARSE // 2
    edit = region[:, half::_COARSE, half::_COARSE, 0][:, : detail.shape[1], : detail.shape[2]]
    merits = []
    for attempt in range(TRIES):
        place = _shape(draws[:, attempt], area, rows, columns, (height, width), xp)
        size = xp.sum(place, axis=(1, 2)) + 1e-3
        seen = xp.sum(place * detail, axis=(1, 2)) / size
        merits.append(xp.clip(seen, None, 0.03) - 1.0 * xp.sum(place * edit, axis=(1, 2)) / size - 1e-4 * attempt)
    best = xp.argmax(xp.stack(merits, 1), 1)
    chosen = draws[numbering(image, xp), best]
    ones = xp.ones_like(image[..., 0])
    full = _shape(chosen, area, xp.cumsum(ones, 1) - 1.0, xp.cumsum(ones, 2) - 1.0, (height, width), xp)
    return full[..., None] * (1.0 - region)
