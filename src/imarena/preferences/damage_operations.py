"""Operations that damage a batch of images, using calls that NumPy and torch share: `xp` is either module.

Images are (n, height, width, 3), sRGB, 0 to 1, float32. `amount` is (n, 1, 1, 1) in the unit of the kind (damage.yaml).
`draws` is (n, 1, 1, 4), uniform on 0 to 1: direction, sign and so on. `place` is (n, height, width, 1): 1 where the
damage acts. This file needs only NumPy, so that a trainer can load it on a machine where nothing else is installed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
"""A NumPy array or a torch tensor."""

_TO_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]], np.float32
)
_WHITE = np.array([0.95047, 1.0, 1.08883], np.float32)
_RADIUS = 12
_LUMA = np.array([
    [16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55], [14, 13, 16, 24, 40, 57, 69, 56],
    [14, 17, 22, 29, 51, 87, 80, 62], [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92],
    [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99],
], np.float32)  # fmt: skip
_CHROMA = np.full((8, 8), 99, np.float32)
_CHROMA[:4, :4] = [[17, 18, 24, 47], [18, 21, 26, 66], [24, 26, 56, 99], [47, 66, 99, 99]]
TABLES = np.stack([_LUMA, _CHROMA, _CHROMA], axis=2)
"""Quantisation tables of the JPEG standard's annex K, (8, 8, 3) for Y, Cb and Cr."""
_TO_YCC = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]], np.float32)


@dataclass(frozen=True)
class DamageInput:
    """Everything that an operation may use."""

    image: Array
    amount: Array
    draws: Array
    place: Array
    noise: Array
    """Standard normal, the image's shape."""
    other: Array
    """Another image of the same size."""


def constant(values: Any, like: Array, xp: Any) -> Array:
    """`values` as an array with the type and device of `like`."""
    return xp.asarray(values, dtype=like.dtype, device=like.device)


def whole_numbers(values: Array, xp: Any) -> Array:
    """Convert to integers for use as an index."""
    return values.astype(xp.int64) if isinstance(values, np.ndarray) else values.to(xp.int64)


def numbering(images: Array, xp: Any) -> Array:
    """The index of each image, (n,), on the images' device."""
    return whole_numbers(xp.cumsum(xp.ones_like(images[:, 0, 0, 0]), 0) - 1.0, xp)


def grid(image: Array, xp: Any) -> tuple[Array, Array]:
    """The row and the column of each pixel, both (n, height, width)."""
    ones = xp.ones_like(image[..., 0])
    return xp.cumsum(ones, 1) - 1.0, xp.cumsum(ones, 2) - 1.0


def sample(image: Array, rows: Array, columns: Array, xp: Any) -> Array:
    """Sample the image at fractional positions, bilinearly; beyond the border, the border pixels are repeated."""
    n, height, width, channels = image.shape
    rows, columns = xp.clip(rows, 0, height - 1), xp.clip(columns, 0, width - 1)
    top, left = xp.floor(rows), xp.floor(columns)
    down, right = (rows - top)[..., None], (columns - left)[..., None]
    flat = image.reshape(n, height * width, channels)
    number = numbering(image, xp)[:, None]

    def at(row: Array, column: Array) -> Array:
        index = whole_numbers(xp.clip(row, 0, height - 1) * width + xp.clip(column, 0, width - 1), xp)
        return flat[number, index.reshape(n, -1)].reshape(*rows.shape, channels)

    upper = at(top, left) * (1 - right) + at(top, left + 1) * right
    lower = at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right
    return upper * (1 - down) + lower * down


def _move(image: Array, step: int, axis: int, xp: Any) -> Array:
    """Move the image by whole pixels along an axis; the border pixels are repeated."""
    length = image.shape[axis]
    step = max(1 - length, min(length - 1, step))
    if step == 0:
        return image
    parts = [slice(None)] * 4

    def cut(start: int, stop: int) -> Array:
        parts[axis] = slice(start, stop)
        return image[tuple(parts)]

    if step > 0:
        return xp.concatenate([cut(step, length), cut(length - 1, length) + 0 * cut(0, step)], axis)
    return xp.concatenate([cut(0, 1) + 0 * cut(0, -step), cut(0, length + step)], axis)


def gaussian_blur(image: Array, sigma: Array, xp: Any) -> Array:
    """Gaussian blur with a width for each image, (n, 1, 1, 1), up to 5 pixels."""
    sigma = xp.clip(sigma, 1e-3, 5.0)
    weights = [xp.exp(-(step * step) / (2.0 * sigma * sigma)) for step in range(_RADIUS + 1)]
    total = weights[0] + 2.0 * sum(weights[1:])
    for axis in (1, 2):
        blurred = image * weights[0]
        for step in range(1, _RADIUS + 1):
            blurred = blurred + (_move(image, step, axis, xp) + _move(image, -step, axis, xp)) * weights[step]
        image = blurred / total
    return image


def to_lab(image: Array, xp: Any) -> Array:
    """Convert sRGB to CIE Lab (D65)."""
    linear = xp.where(image <= 0.04045, image / 12.92, ((xp.clip(image, 0, 1) + 0.055) / 1.055) ** 2.4)
    t = linear @ constant(_TO_XYZ.T / _WHITE, image, xp)
    f = xp.where(t > 0.008856, xp.clip(t, 1e-6, None) ** (1.0 / 3.0), 7.787 * t + 16.0 / 116.0)
    x, y, z = f[..., 0:1], f[..., 1:2], f[..., 2:3]
    return xp.concatenate([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], 3)


def to_rgb(lab: Array, xp: Any) -> Array:
    """Convert CIE Lab to sRGB, clipped to 0 to 1."""
    y = (lab[..., 0:1] + 16.0) / 116.0
    f = xp.concatenate([y + lab[..., 1:2] / 500.0, y, y - lab[..., 2:3] / 200.0], 3)
    t = xp.where(f > 0.206893, f**3, (f - 16.0 / 116.0) / 7.787)
    linear = xp.clip(t @ constant((np.linalg.inv(_TO_XYZ) * _WHITE).T, lab, xp), 0, 1)
    return xp.where(linear <= 0.0031308, 12.92 * linear, 1.055 * xp.clip(linear, 1e-6, None) ** (1 / 2.4) - 0.055)


def _mean(values: Array, xp: Any) -> Array:
    return xp.mean(values, axis=(1, 2, 3), keepdims=True)


def _sign(draw: Array, xp: Any) -> Array:
    return xp.where(draw < 0.5, -xp.ones_like(draw), xp.ones_like(draw))


def _light_weight(light: Array, xp: Any) -> Array:
    """CIEDE2000's lightness weight: the number of L units that make one unit of colour difference."""
    off = (light - 50.0) ** 2
    return 1.0 + 0.015 * off / xp.sqrt(20.0 + off)


def _on_place(damage: DamageInput, damaged: Array) -> Array:
    return damage.image + damage.place * (damaged - damage.image)


def _with_lab(damage: DamageInput, lab: Array, xp: Any) -> Array:
    return _on_place(damage, to_rgb(lab, xp))


def _lightness(damage: DamageInput, xp: Any) -> Array:
    lab = to_lab(damage.image, xp)
    light = lab[..., 0:1]
    middle = _mean(light, xp)
    sign = _sign(damage.draws[..., 0:1], xp)
    sign = xp.where(middle > 70, -xp.ones_like(sign), xp.where(middle < 30, xp.ones_like(sign), sign))
    return _with_lab(
        damage, xp.concatenate([light + sign * damage.amount * _light_weight(light, xp), lab[..., 1:]], 3), xp
    )


def _contrast(damage: DamageInput, xp: Any) -> Array:
    lab = to_lab(damage.image, xp)
    light = lab[..., 0:1]
    apart = light - _mean(light, xp)
    unit = _mean(xp.abs(apart) / _light_weight(light, xp), xp)
    gain = xp.clip(damage.amount / xp.clip(unit, 0.5, None), 0, 0.9) * _sign(damage.draws[..., 0:1], xp)
    return _with_lab(damage, xp.concatenate([light + gain * apart, lab[..., 1:]], 3), xp)


def _chroma(lab: Array, xp: Any) -> Array:
    return xp.sqrt(lab[..., 1:2] ** 2 + lab[..., 2:3] ** 2 + 1e-6)


def _saturation(damage: DamageInput, xp: Any) -> Array:
    lab = to_lab(damage.image, xp)
    chroma = _chroma(lab, xp)
    unit = _mean(chroma / (1.0 + 0.045 * chroma), xp)
    gain = damage.amount / xp.clip(unit, 0.5, None)
    gain = xp.where(damage.draws[..., 0:1] < 0.5, -xp.clip(gain, 0, 0.95), xp.clip(gain, 0, 2.0))
    return _with_lab(damage, xp.concatenate([lab[..., 0:1], lab[..., 1:] * (1 + gain)], 3), xp)


def _colour_cast(damage: DamageInput, xp: Any) -> Array:
    lab = to_lab(damage.image, xp)
    chroma = _chroma(lab, xp)
    turn = 2 * math.pi * damage.draws[..., 0:1]
    across, along = xp.cos(turn), xp.sin(turn)
    power = xp.clip(chroma / 25.0, 0, 8) ** 7
    stretch = 1.5 - 0.5 * xp.sqrt(power / (power + 1.0))
    length = damage.amount * (1.0 + 0.03 * chroma) / xp.sqrt((stretch * across) ** 2 + along**2)
    moved = xp.concatenate([lab[..., 0:1], lab[..., 1:2] + length * across, lab[..., 2:3] + length * along], 3)
    return _with_lab(damage, moved, xp)


def _direction(damage: DamageInput, xp: Any) -> tuple[Array, Array]:
    """Distance that each image moves down and across, (n, 1, 1)."""
    turn = 2 * math.pi * damage.draws[..., 0]
    return damage.amount[..., 0] * xp.sin(turn), damage.amount[..., 0] * xp.cos(turn)


def _shift(damage: DamageInput, xp: Any) -> Array:
    rows, columns = grid(damage.image, xp)
    down, across = _direction(damage, xp)
    return _on_place(damage, sample(damage.image, rows - down, columns - across, xp))


def _about_middle(damage: DamageInput, turn: Array, scale: Array, xp: Any) -> Array:
    height, width = damage.image.shape[1:3]
    rows, columns = grid(damage.image, xp)
    y, x = rows - (height - 1) / 2, columns - (width - 1) / 2
    cos, sin = xp.cos(turn) * scale, xp.sin(turn) * scale
    moved = sample(damage.image, cos * y + sin * x + (height - 1) / 2, cos * x - sin * y + (width - 1) / 2, xp)
    return _on_place(damage, moved)


def _share_of_side(damage: DamageInput, xp: Any) -> Array:
    """The amount divided by half of the longer side, with random sign, (n, 1, 1)."""
    half = max(damage.image.shape[1:3]) / 2
    return (_sign(damage.draws[..., 0:1], xp) * damage.amount / half)[..., 0]


def _rotation(damage: DamageInput, xp: Any) -> Array:
    turn = _share_of_side(damage, xp)
    return _about_middle(damage, turn, xp.ones_like(turn), xp)


def _zoom(damage: DamageInput, xp: Any) -> Array:
    scale = 1.0 + _share_of_side(damage, xp)
    return _about_middle(damage, xp.zeros_like(scale), scale, xp)


def _blur(damage: DamageInput, xp: Any) -> Array:
    return _on_place(damage, gaussian_blur(damage.image, damage.amount, xp))


def _noise(damage: DamageInput, _: Any) -> Array:
    return _on_place(damage, damage.image + damage.noise * damage.amount / 255.0)


def cosine_matrix() -> Any:
    """The orthonormal discrete cosine transform of 8 values, (8, 8)."""
    n = np.arange(8)
    matrix = np.cos(math.pi * (2 * n[None, :] + 1) * n[:, None] / 16) * 0.5
    matrix[0] /= math.sqrt(2)
    return matrix.astype(np.float32)


def to_coefficients(image: Array, xp: Any) -> Array:
    """Cosine coefficients (n, rows, 8, columns, 8, 3) of Y, Cb and Cr; the sides are multiples of 8."""
    n, height, width, _ = image.shape
    ycc = (image * 255.0) @ constant(_TO_YCC.T, image, xp) - constant([128.0, 0.0, 0.0], image, xp)
    cut = ycc.reshape(n, height // 8, 8, width // 8, 8, 3)
    matrix = constant(cosine_matrix(), image, xp)
    return xp.einsum("vj,nruqjc->nruqvc", matrix, xp.einsum("ui,nriqjc->nruqjc", matrix, cut))


def from_coefficients(coefficients: Array, xp: Any) -> Array:
    """Convert cosine coefficients back to images."""
    n, rows, _, columns, _, _ = coefficients.shape
    matrix = constant(cosine_matrix(), coefficients, xp)
    cut = xp.einsum("vj,nriqvc->nriqjc", matrix, xp.einsum("ui,nruqvc->nriqvc", matrix, coefficients))
    ycc = cut.reshape(n, rows * 8, columns * 8, 3)
    rgb = (ycc + constant([128.0, 0.0, 0.0], ycc, xp)) @ constant(np.linalg.inv(_TO_YCC).T, ycc, xp)
    return xp.clip(rgb / 255.0, 0, 1)


def _blocks(damage: DamageInput, xp: Any) -> Array:
    height, width = (side // 8 * 8 for side in damage.image.shape[1:3])
    tables = constant(TABLES[None, None, :, None, :, :], damage.image, xp) * damage.amount[..., None, None]
    steps = xp.clip(xp.round(tables), 1, None)
    coefficients = to_coefficients(damage.image[:, :height, :width], xp)
    back = from_coefficients(xp.round(coefficients / steps) * steps, xp)
    wide = xp.concatenate([back, damage.image[:, :height, width:]], 2)
    return _on_place(damage, xp.concatenate([wide, damage.image[:, height:]], 1))


def _sharpening(damage: DamageInput, xp: Any) -> Array:
    soft = gaussian_blur(damage.image, xp.ones_like(damage.amount) * 1.5, xp)
    return _on_place(damage, damage.image + damage.amount * (damage.image - soft))


def _banding(damage: DamageInput, xp: Any) -> Array:
    step = damage.amount / 255.0
    return _on_place(damage, xp.round(damage.image / step) * step)


def _ghost(damage: DamageInput, _: Any) -> Array:
    return _on_place(damage, damage.image + damage.amount * (damage.other - damage.image))


def painted_over(image: Array, mask: Array, xp: Any) -> Array:
    """Fill `mask` from its surroundings, coarse to fine."""
    outside = 1.0 - mask
    wide = xp.ones_like(image[:, :1, :1, :1]) * 5.0
    filled = _mean(image * outside, xp) / xp.clip(_mean(outside, xp), 1e-3, None) + 0 * image
    for stride in (16, 4, 1):
        share = gaussian_blur(outside[:, ::stride, ::stride], wide, xp)
        smooth = gaussian_blur((image * outside)[:, ::stride, ::stride], wide, xp) / xp.clip(share, 1e-4, None)
        trust = xp.clip(share * 4.0, 0, 1)
        rows, columns = grid(image, xp)
        smooth, trust = (sample(part, rows / stride, columns / stride, xp) for part in (smooth, trust))
        filled = filled + trust * (smooth - filled)
    return image * outside + filled * mask


def _erasure(damage: DamageInput, xp: Any) -> Array:
    return damage.image + damage.amount * (painted_over(damage.image, damage.place, xp) - damage.image)


def _local_warp(damage: DamageInput, xp: Any) -> Array:
    rows, columns = grid(damage.image, xp)
    down, across = _direction(damage, xp)
    bend = damage.place[..., 0]
    wave = xp.sin(2 * math.pi * (2.0 * rows / damage.image.shape[1] + damage.draws[..., 1]))
    swing = bend * (0.6 + 0.4 * wave)
    return sample(damage.image, rows - down * swing, columns - across * swing, xp)


def _texture_swap(damage: DamageInput, xp: Any) -> Array:
    wide = xp.ones_like(damage.amount) * 3.0
    soft = gaussian_blur(damage.image, wide, xp)
    detail = damage.image - soft
    height, width = damage.image.shape[1:3]
    elsewhere = xp.roll(detail, (height // 2, width // 2), (1, 2))
    return _on_place(damage, damage.image + damage.amount * (elsewhere - detail))


def _object_drift(damage: DamageInput, xp: Any) -> Array:
    rows, columns = grid(damage.image, xp)
    down, across = _direction(damage, xp)
    layers = sample(xp.concatenate([damage.image, damage.place], 3), rows - down, columns - across, xp)
    empty = painted_over(damage.image, damage.place, xp)
    return empty + layers[..., 3:4] * (layers[..., :3] - empty)


OPERATIONS: dict[str, Callable[[DamageInput, Any], Array]] = {
    "lightness": _lightness, "contrast": _contrast, "saturation": _saturation, "shift": _shift, "rotation": _rotation,
    "zoom": _zoom, "blur": _blur, "noise": _noise, "blocks": _blocks, "sharpening": _sharpening, "banding": _banding,
    "patch_lightness": _lightness, "patch_blur": _blur, "ghost": _ghost, "erasure": _erasure, "local_warp": _local_warp,
    "colour_cast": _colour_cast, "texture_swap": _texture_swap, "object_drift": _object_drift,
}  # fmt: skip
"""The operation of each kind of damage."""


def do_damage(kind: str, damage: DamageInput, xp: Any = np) -> Array:
    """Apply one kind of damage to the images, and clip to 0 to 1."""
    return xp.clip(OPERATIONS[kind](damage, xp), 0, 1)
