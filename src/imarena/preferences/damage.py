"""Damage of known kind and strength: what an edit does to the part of an image that it should have left alone.

Kinds and levels are data (damage.yaml). The operations run on NumPy and on torch (damage_operations.py).
"""

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from imarena.core import Noun, UserError, package_yaml
from imarena.preferences.damage_operations import OPERATIONS, DamageInput, do_damage
from imarena.preferences.damage_places import PLACE_DRAWS, TRIES, choose_places

DamagePixels = NDArray[np.uint8]
LEVELS = tuple(range(1, 11))


class DamageKind(Noun):
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
    """All kinds by name, as damage.yaml has them."""
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
        raise UserError(f"There is no damage '{name}'.", hint=f"Kinds: {', '.join(sorted(kinds))}.")
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
    """The image (height, width, 3) with damage of one kind; the same for the same arguments.

    It acts outside of `region` (height, width), the edit, or on the whole image with `everywhere` or without a region;
    a patch lies outside of the region in any case. `other` is the picture that shows through in `ghost`, by default
    this one mirrored. Level 0 changes nothing.
    """
    known = damage_kind(kind)
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
    if known.reach == "patch":
        place = choose_places(pixels, edit, known.area, places)
    else:
        place = np.ones_like(edit) if everywhere else 1.0 - edit
    shown = pixels[:, :, ::-1] if other is None else other[None].astype(np.float32) / np.float32(255)
    noise = rng.standard_normal(pixels.shape, dtype=np.float32)
    amount = np.full((1, 1, 1, 1), known.amount(level), np.float32)
    damaged = do_damage(kind, DamageInput(pixels, amount, draws, place, noise, shown))
    return np.asarray(np.round(damaged[0] * 255), np.uint8)
