"""Damage of known kind and strength: what an edit does to the part of an image that it should leave alone.

Kinds and levels are data (damage.yaml). The operations run on NumPy and on torch (damage_operations.py).
"""

import math
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from imarena.core import FrozenModel, UserError, package_yaml, unknown_name
from imarena.preferences.damage_operations import OPERATIONS, Array, DamageInput, do_damage, numbering

DamagePixels = NDArray[np.uint8]
DAMAGE_LEVELS = tuple(range(1, 11))


class DamageKind(FrozenModel):
    """One kind of damage; level n is n times `step`, in `unit`."""

    name: str
    unit: str
    step: float
    reach: Literal["everywhere", "patch"]
    about: str
    area: tuple[float, float] = (1.0, 1.0)
    """Smallest and largest share of the image that a patch has."""
    held_out: bool = False
    """Never used in training."""

    def amount(self, level: float) -> float:
        """The strength of a level."""
        return self.step * level


@cache
def damage_kinds() -> dict[str, DamageKind]:
    """All kinds by name, from damage.yaml."""
    table = package_yaml("imarena.preferences", "damage.yaml")["kinds"]
    kinds = {name: DamageKind(name=name, **fields) for name, fields in table.items()}
    unknown = kinds.keys() ^ OPERATIONS.keys()
    if unknown:
        raise UserError(f"damage.yaml and the operations differ: {', '.join(sorted(unknown))}.")
    return kinds


def damage_kind(name: str) -> DamageKind:
    """One kind by name."""
    kinds = damage_kinds()
    if name not in kinds:
        raise unknown_name("There is no damage", name, sorted(kinds))
    return kinds[name]


def apply_damage(
    image: DamagePixels,
    kind: str,
    level: float,
    *,
    seed: int,
    region: NDArray[np.bool_] | None = None,
    other: DamagePixels | None = None,
    everywhere: bool = False,
) -> DamagePixels:
    """Damage an image (height, width, 3) in one way; the result depends only on the arguments.

    The damage lies outside `region` (height, width), the edit, or covers the whole image with `everywhere` or without a
    region; a patch always lies outside the region. `other` is the image that shows through in `ghost`, by default
    this image mirrored. Level 0 changes nothing.
    """
    rule = damage_kind(kind)
    if not 0 <= level <= 10:
        raise UserError(f"A level of damage is 0 to 10, not {level}.")
    if region is not None and region.shape != image.shape[:2]:
        (height, width), (tall, wide) = region.shape, image.shape[:2]
        raise UserError(
            f"The region has {width} x {height} pixels, the image {wide} x {tall}.",
            hint="Give a region of the image's size.",
        )
    if level == 0:
        return image.copy()
    rng = np.random.default_rng([seed, sorted(damage_kinds()).index(kind)])
    pixels = image[None].astype(np.float32) / np.float32(255)
    edit = (
        np.zeros((*pixels.shape[:3], 1), np.float32) if region is None else region[None, ..., None].astype(np.float32)
    )
    draws = rng.random((1, 1, 1, 4), dtype=np.float32)
    places = rng.random((1, TRIES, PLACE_DRAWS), dtype=np.float32)
    if rule.reach == "patch":
        place_mask = choose_places(pixels, edit, rule.area, places)
    else:
        place_mask = np.ones_like(edit) if everywhere else 1.0 - edit
    other_pixels = pixels[:, :, ::-1] if other is None else other[None].astype(np.float32) / np.float32(255)
    noise = rng.standard_normal(pixels.shape, dtype=np.float32)
    amount = np.full((1, 1, 1, 1), rule.amount(level), np.float32)
    damaged = do_damage(kind, DamageInput(pixels, amount, draws, place_mask, noise, other_pixels))
    return np.asarray(np.round(damaged[0] * 255), np.uint8)


TRIES = 8
"""Number of random places to try; the one with the most detail that does not touch the edit is used."""
PLACE_DRAWS = 6
"""Random numbers needed per place."""
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
    """Amount of detail in blocks of 8 x 8 pixels: mean absolute lightness step, (n, h, w)."""
    light = xp.mean(image, axis=3)
    steps = xp.abs(light[:, 1:, :-1] - light[:, :-1, :-1]) + xp.abs(light[:, :-1, 1:] - light[:, :-1, :-1])
    n, height, width = steps.shape
    rows, columns = height // _COARSE, width // _COARSE
    cut = steps[:, : rows * _COARSE, : columns * _COARSE].reshape(n, rows, _COARSE, columns, _COARSE)
    return xp.mean(cut, axis=(2, 4))


def choose_places(image: Array, region: Array, area: tuple[float, float], draws: Array, xp: Any = np) -> Array:
    """Choose a place in each image, (n, height, width, 1).

    `region` is the edit, (n, height, width, 1); `draws` (n, TRIES, 6), uniform. The weight of detail is limited: a
    place need not be the busiest one, only not empty.
    """
    height, width = image.shape[1:3]
    detail = coarse_detail(image, xp)
    rows = xp.cumsum(xp.ones_like(detail), 1) * _COARSE - _COARSE / 2
    columns = xp.cumsum(xp.ones_like(detail), 2) * _COARSE - _COARSE / 2
    half = _COARSE // 2
    edit = region[:, half::_COARSE, half::_COARSE, 0][:, : detail.shape[1], : detail.shape[2]]
    merits = []
    for attempt in range(TRIES):
        shape = _shape(draws[:, attempt], area, rows, columns, (height, width), xp)
        size = xp.sum(shape, axis=(1, 2)) + 1e-3
        gain = xp.sum(shape * detail, axis=(1, 2)) / size
        merits.append(xp.clip(gain, None, 0.03) - 1.0 * xp.sum(shape * edit, axis=(1, 2)) / size - 1e-4 * attempt)
    best = xp.argmax(xp.stack(merits, 1), 1)
    best_draws = draws[numbering(image, xp), best]
    ones = xp.ones_like(image[..., 0])
    full = _shape(best_draws, area, xp.cumsum(ones, 1) - 1.0, xp.cumsum(ones, 2) - 1.0, (height, width), xp)
    return full[..., None] * (1.0 - region)
