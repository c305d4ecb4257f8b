"""Pairs for `pvc-small`: two candidates for one edit of a picture, and how much each damaged the rest of it.

The edit has a known region: a pasted thing, a recoloured, removed or replaced place, a new background, or two
renderings of a studio scene. Damage is done outside of it or everywhere, at a known level (damage.yaml). Everything
runs on NumPy or on torch (`xp`); this file needs NumPy alone.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from imarena.preferences.damage import PLACE_DRAWS, TRIES, choose_places
from imarena.preferences.damage_operations import (
    DamageInput,
    do_damage,
    gaussian_blur,
    grid,
    painted_over,
    sample,
    to_lab,
    to_rgb,
    whole_numbers,
)
from tools.pvc_small.packing import unpack_pictures

Array = Any
EDITS = ("studio", "stamp", "recolour", "remove", "replace", "background", "none")
_SHARES = (0.25, 0.25, 0.16, 0.10, 0.15, 0.05, 0.04)
_NUISANCES = ("blocks", "blur", "noise", "lightness", "saturation", "zoom")
SEVERE = 14.0
"""The level that stands for another picture in place of this one."""


class Dice:
    """Random numbers as arrays of NumPy, or as tensors on a device."""

    def __init__(self, seed: int, xp: Any = np, device: str = "cpu") -> None:
        self.xp, self.device = xp, device
        self.plain = np.random.default_rng(seed)
        """For choices that decide which code runs."""
        self._torch = None if xp is np else xp.Generator(device=device).manual_seed(seed)

    def uniform(self, *shape: int) -> Array:
        """Uniform on 0 to 1."""
        if self._torch is None:
            return self.plain.random(shape, dtype=np.float32)
        return self.xp.rand(shape, generator=self._torch, device=self.device)

    def normal(self, *shape: int) -> Array:
        """Standard normal."""
        if self._torch is None:
            return self.plain.standard_normal(shape, dtype=np.float32)
        return self.xp.randn(shape, generator=self._torch, device=self.device)

    def below(self, n: int, end: int) -> Array:
        """`n` whole numbers from 0 to `end` - 1."""
        return whole_numbers(self.uniform(n) * (end - 1e-3), self.xp)


@dataclass(frozen=True)
class Stock:
    """The pictures of a packed file, as bytes; `kinds` as damage.yaml has them: step, reach, area, held out."""

    photo: Array
    salient: Array
    stamp: Array
    alpha: Array
    studio: Array
    edited: Array
    kinds: Mapping[str, tuple[float, str, float, float, bool]]

    def kind_names(self, *, held_out: bool) -> list[str]:
        """The kinds that are held out of training, or the others."""
        return sorted(name for name, kind in self.kinds.items() if kind[4] is held_out)


@dataclass(frozen=True)
class Candidates:
    """Edits before or after damage: source, output (n, height, width, 3), region (n, height, width, 1), level (n,)."""

    source: Array
    output: Array
    region: Array
    level: Array


def load_stock(file: Path, xp: Any = np, device: str = "cpu") -> Stock:
    """Read a packed file; with torch the pictures go to the device."""
    with np.load(file) as packed:
        arrays = {name: unpack_pictures(name, packed, xp, device) for name in ("photo", "stamp", "studio")}
        side = arrays["photo"].shape[1] // 4
        arrays["salient"] = np.unpackbits(packed["salient"], axis=2)[..., :side] * np.uint8(255)
        arrays["alpha"], arrays["edited"] = packed["alpha"], packed["edited"]
        kinds = {name: tuple(values) for name, values in json.loads(packed["kinds"].tobytes()).items()}
    if xp is not np:
        arrays = {name: xp.asarray(array, device=device) for name, array in arrays.items()}
    return Stock(**arrays, kinds=kinds)


def _floats(values: Array) -> Array:
    return (values.astype(np.float32) if isinstance(values, np.ndarray) else values.float()) / 255.0


def _column(values: Array) -> Array:
    return values[:, None, None, None]


class Synthesis:
    """Makes pairs from a stock of pictures."""

    def __init__(self, stock: Stock, dice: Dice, recode: Callable[[Array, Array, int], Array] | None = None) -> None:
        """`recode` passes images through an editor's encoding, with noise in the code (n,), by encoder number."""
        self.stock, self.dice, self.xp, self._recode = stock, dice, dice.xp, recode

    # Pictures

    def _cut(self, pictures: Array, size: tuple[int, int], at: tuple[float, float], flip: bool) -> Array:
        """The same part of each picture, mirrored or not."""
        height, width = min(size[0], pictures.shape[1]), min(size[1], pictures.shape[2])
        top, left = int(at[0] * (pictures.shape[1] - height + 0.999)), int(at[1] * (pictures.shape[2] - width + 0.999))
        part = pictures[:, top : top + height, left : left + width]
        return self.xp.flip(part, (2,)) if flip else part

    def _photos(self, n: int, size: tuple[int, int]) -> tuple[Array, Array]:
        """Photographs and where their salient thing is."""
        xp, stock = self.xp, self.stock
        which = self.dice.below(n, stock.photo.shape[0])
        at, flip = (
            (float(self.dice.plain.random()), float(self.dice.plain.random())),
            bool(self.dice.plain.random() < 0.5),
        )
        full = stock.photo.shape[1]
        mask = _floats(stock.salient[which])[..., None]
        rows, columns = grid(_floats(stock.photo[which][..., :1]), xp)
        scale = mask.shape[1] / full
        large = sample(mask, rows * scale, columns * scale, xp)
        large = gaussian_blur(large, _column(mask[:, 0, 0, 0] * 0 + 1.5), xp)
        return self._cut(_floats(stock.photo[which]), size, at, flip), self._cut(large, size, at, flip)

    def _blob(self, image: Array, area: tuple[float, float], empty: Array) -> Array:
        return choose_places(image, empty, area, self.dice.uniform(image.shape[0], TRIES, PLACE_DRAWS), self.xp)

    # Edits

    def edits(self, kind: str, n: int, size: tuple[int, int], *, same: bool) -> tuple[Candidates, Candidates]:
        """Two candidates for one edit, undamaged; `same`: pixel for pixel."""
        if kind == "studio":
            left, right = self._studio(n, size)
        else:
            source, salient = self._photos(n, size)
            region = self._region(kind, source, salient)
            seeds = self.dice.uniform(n, 8)
            left = self._edited(kind, source, region, seeds)
            right = self._edited(kind, source, self._varied(region), self.dice.uniform(n, 8) * 0.5 + seeds * 0.5)
        return left, replace(left) if same else right

    def _studio(self, n: int, size: tuple[int, int]) -> tuple[Candidates, Candidates]:
        xp, stock = self.xp, self.stock
        which = self.dice.below(n, stock.studio.shape[0] // 3)
        at, flip = (
            (float(self.dice.plain.random()), float(self.dice.plain.random())),
            bool(self.dice.plain.random() < 0.5),
        )
        source = self._cut(_floats(stock.studio[which * 3]), size, at, flip)
        made = []
        for number in (0, 1):
            mask = _floats(stock.edited[which * 2 + number])[..., None]
            rows, columns = grid(_floats(stock.studio[which * 3][..., :1]), xp)
            large = xp.clip(sample(mask, rows / 4, columns / 4, xp) * 4.0, 0, 1)
            output = self._cut(_floats(stock.studio[which * 3 + 1 + number]), size, at, flip)
            made.append(Candidates(source, output, self._cut(large, size, at, flip), source[:, 0, 0, 0] * 0))
        return made[0], made[1]

    def _region(self, kind: str, source: Array, salient: Array) -> Array:
        xp = self.xp
        empty = xp.zeros_like(source[..., :1])
        share = xp.mean(salient, axis=(1, 2, 3), keepdims=True)
        if kind == "background":
            return xp.where((share > 0.05) & (share < 0.7), 1.0 - salient, self._blob(source, (0.2, 0.4), empty))
        blob = self._blob(source, (0.02, 0.28), empty)
        usable = (share > 0.02) & (share < 0.45) & (_column(self.dice.uniform(source.shape[0])) < 0.55)
        return xp.where(usable, salient, blob)

    def _varied(self, region: Array) -> Array:
        """The region a little larger or smaller, for some of the images."""
        xp = self.xp
        soft = gaussian_blur(region, _column(self.dice.uniform(region.shape[0]) * 4.0 + 0.5), xp)
        choice = _column(self.dice.uniform(region.shape[0]))
        larger, smaller = xp.clip(soft * 2.5, 0, 1), xp.clip(soft * 2.5 - 1.5, 0, 1)
        return xp.where(choice < 0.4, region, xp.where(choice < 0.7, larger, smaller))

    def _edited(self, kind: str, source: Array, region: Array, seeds: Array) -> Candidates:
        xp = self.xp
        none = source[:, 0, 0, 0] * 0
        if kind == "none":
            return Candidates(source, source, region * 0, none)
        if kind == "stamp":
            return self._stamped(source, seeds)
        if kind == "recolour":
            turn = _column(seeds[:, 0]) * 6.2832
            far = _column(seeds[:, 1]) * 45 + 15
            light = _column(seeds[:, 2]) * 30 - 15
            step = xp.concatenate([light, far * xp.cos(turn), far * xp.sin(turn)], 3)
            content = to_rgb(to_lab(source, xp) + step, xp)
        elif kind == "remove":
            content = painted_over(source, region, xp)
        else:
            content, _ = self._photos(source.shape[0], (source.shape[1], source.shape[2]))
        return Candidates(source, source + region * (content - source), region, none)

    def _stamped(self, source: Array, seeds: Array) -> Candidates:
        """A cut-out thing pasted on."""
        xp, stock = self.xp, self.stock
        height, width = source.shape[1:3]
        which = whole_numbers(seeds[:, 3] * (stock.stamp.shape[0] - 1e-3), xp)
        layer = xp.concatenate([_floats(stock.stamp[which]), _floats(stock.alpha[which])[..., None]], 3)
        side = layer.shape[1]
        wide = (0.12 + 0.4 * seeds[:, 0]) * min(height, width)
        rows, columns = grid(source, xp)
        part = [seeds[:, i][:, None, None] for i in (1, 2, 4)]
        wide = wide[:, None, None]
        y = (rows - wide / 2 - part[0] * (height - wide)) / wide * side + side / 2
        x = (columns - wide / 2 - part[1] * (width - wide)) / wide * side + side / 2
        x = xp.where(part[2] < 0.5, x, side - 1.0 - x)
        inside = ((y > 0) & (y < side - 1) & (x > 0) & (x < side - 1))[..., None]
        shown = sample(layer, y, x, xp)
        alpha = shown[..., 3:] * inside
        output = source + alpha * (shown[..., :3] - source)
        return Candidates(source, output, alpha, source[:, 0, 0, 0] * 0)

    # Damage

    def damage(self, given: Candidates, kind: str, level: Array, *, everywhere: bool) -> Candidates:
        """More damage to the candidates; `level` (n,)."""
        xp = self.xp
        step, reach, low, high, _ = self.stock.kinds[kind]
        n = given.output.shape[0]
        if reach == "patch":
            place = self._blob(given.output, (low, high), given.region)
        else:
            place = xp.ones_like(given.region) if everywhere else 1.0 - given.region
        other = self._photos(n, given.output.shape[1:3])[0] if kind == "ghost" else given.output
        noise = self.dice.normal(*given.output.shape) if kind == "noise" else given.output
        amount = _column(xp.clip(level, 1e-3, None)) * step
        output = do_damage(
            kind, DamageInput(given.output, amount, self.dice.uniform(n, 1, 1, 4), place, noise, other), xp
        )
        return replace(given, output=output, level=xp.maximum(given.level, level))

    def another_picture(self, given: Candidates) -> Candidates:
        """What was to stay is another picture, more or less."""
        n = given.output.shape[0]
        other, _ = self._photos(n, given.output.shape[1:3])
        opacity = _column(self.dice.uniform(n)) * 0.65 + 0.35
        output = given.output + (1.0 - given.region) * opacity * (other - given.output)
        return replace(given, output=output, level=given.level * 0 + SEVERE)

    def test_pair(
        self, kind: str, level: float, n: int, size: tuple[int, int] = (512, 512)
    ) -> tuple[Candidates, Candidates]:
        """`n` pairs for one cell of the test: two edits of a kind, the right one damaged at the level."""
        left, right = self.edits(self._any_edit(), n, size, same=False)
        everywhere = bool(self.dice.plain.random() < 0.5)
        return left, self.damage(right, kind, left.level * 0 + level, everywhere=everywhere)

    def _any_edit(self) -> str:
        return str(self.dice.plain.choice(EDITS, p=np.array(_SHARES) / sum(_SHARES)))

    def training_pair(self, n: int, size: tuple[int, int]) -> tuple[Candidates, Candidates, bool]:
        """`n` pairs of one recipe, the right ones worse; and whether the levels tell all the damage that there is."""
        plain = self.dice.plain
        left, right = self.edits(self._any_edit(), n, size, same=bool(plain.random() < 0.3))
        told = True
        if plain.random() < 0.25:  # an encoding that both went through
            told = False
            shared = self.dice.uniform(n) * 2.5 + 0.5
            nuisance = str(plain.choice(_NUISANCES))
            left = replace(self.damage(left, nuisance, shared, everywhere=True), level=left.level)
            right = replace(self.damage(right, nuisance, shared, everywhere=True), level=right.level)
        if self._recode is None or plain.random() < 0.4:
            left, right = self._one_worse(left, right, n)
        else:
            told = False
            left, right = self._recoded(left, right, n)
        return self._stored(left), self._stored(right), told

    def _one_worse(self, left: Candidates, right: Candidates, n: int) -> tuple[Candidates, Candidates]:
        """The right ones damaged more, by one of four recipes."""
        plain, xp = self.dice.plain, self.xp
        kinds = self.stock.kind_names(held_out=False)
        recipe, kind = plain.random(), str(plain.choice(kinds))
        wide = [bool(plain.random() < 0.6) for _ in range(2)]
        if recipe < 0.5:
            u = self.dice.uniform(n)
            level = 0.6 * xp.exp(u * 2.81) if plain.random() < 0.6 else 4.0 + 6.0 * u
            right = self.damage(right, kind, level, everywhere=wide[0])
        elif recipe < 0.75:
            low = self.dice.uniform(n) * 6.0
            right = self.damage(right, kind, low * 1.4 + 0.6 + self.dice.uniform(n), everywhere=wide[0])
            left = self.damage(left, kind, low, everywhere=wide[0])
        elif recipe < 0.9:
            other = str(plain.choice(kinds))
            left = self.damage(left, other, self.dice.uniform(n) * 2.5, everywhere=wide[1])
            right = self.damage(right, kind, 5.5 + self.dice.uniform(n) * 4.5, everywhere=wide[0])
        else:
            right = self.another_picture(right)
            left = self.damage(left, kind, self.dice.uniform(n) * 9.0, everywhere=wide[1])
        return left, right

    def _recoded(self, left: Candidates, right: Candidates, n: int) -> tuple[Candidates, Candidates]:
        """Both through an encoder, as by an editor that works in a latent space. Half of the time the right ones are
        damaged before, half of the time more of them is redrawn: more noise in the code, outside of the edit or
        everywhere.
        """
        plain = self.dice.plain
        encoders = [int(number) for number in plain.integers(0, 3, 2)]
        if plain.random() < 0.5:
            left, right = self._one_worse(left, right, n)
            noise = [self.dice.uniform(n) * 0.25 for _ in range(2)]
            encoders[1] = encoders[0]
        else:
            more = self.dice.uniform(n) * 1.6 + 0.35
            noise = [more * self.dice.uniform(n) * 0.55, more]
            if plain.random() < 0.3:
                encoders[1] = encoders[0]
        return self._through(left, noise[0], encoders[0]), self._through(right, noise[1], encoders[1])

    def _through(self, given: Candidates, noise: Array, encoder: int) -> Candidates:
        if self._recode is None:
            return given
        plain = self._recode(given.output, noise * 0, encoder)
        redrawn = self._recode(given.output, noise, encoder)
        place = 1.0 - given.region if self.dice.plain.random() < 0.6 else 1.0
        return replace(given, output=plain + place * (redrawn - plain))

    def _stored(self, given: Candidates) -> Candidates:
        """Rounded to bytes, as a picture file is."""
        return replace(given, output=self.xp.round(given.output * 255.0) / 255.0)
