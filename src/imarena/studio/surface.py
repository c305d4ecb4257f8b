"""From a drawn shape to a lit object: soft relief, and the look of its material on the body."""

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from imarena.core import Floats
from imarena.studio.kinds import object_kind
from imarena.studio.palette import COLOURS, GLOSS
from imarena.studio.pen import ZOOM, Appearance, Pen


@lru_cache(maxsize=96)
def sprite(
    kind: str, width: int, height: int, colour: str, material: str, text: str, state: str, light: str
) -> tuple[Floats, Floats]:
    """One thing, upright: its colours (height, width, 3) in 0..1 and its alpha (height, width). Read-only."""
    base = COLOURS[colour]
    shape = object_kind(kind)
    pen = Pen(width, height, base)
    look = Appearance(base, text, state)
    for stroke in shape.strokes:
        pen.draw(stroke, look)
    canvas = np.asarray(pen.image.reduce(ZOOM), dtype=np.float32) / 255.0
    body = np.asarray(pen.body.reduce(ZOOM), dtype=np.float32) / 255.0
    rgb, alpha = canvas[..., :3].copy(), canvas[..., 3].copy()
    if not shape.flat:
        rgb = _relief(rgb, alpha, light, gloss=GLOSS.get(material, 0.2))
    rgb, alpha = _material(rgb, alpha, body, material)
    rgb.setflags(write=False)
    alpha.setflags(write=False)
    return rgb, alpha


_BROWN: Floats = np.array([0.52, 0.34, 0.2], np.float32)
_STEEL: Floats = np.array([0.6, 0.62, 0.65], np.float32)


def _relief(rgb: Floats, alpha: Floats, light: str, gloss: float) -> Floats:
    """Light from the upper left or right, by the slope of the blurred silhouette."""
    height, width = alpha.shape
    sigma = max(1.0, 0.09 * min(height, width))
    dome = cv2.GaussianBlur(alpha, (0, 0), sigma)
    dx = cv2.Sobel(dome, cv2.CV_32F, 1, 0, ksize=3) * sigma
    dy = cv2.Sobel(dome, cv2.CV_32F, 0, 1, ksize=3) * sigma
    side = 1.0 if light == "left" else -1.0
    lambert = np.clip((side * dx * 0.75 + dy * 0.65) * 0.42, -0.5, 0.5)
    x = np.linspace(-0.5, 0.5, width, dtype=np.float32)[None, :] * side
    y = np.linspace(-0.5, 0.5, height, dtype=np.float32)[:, None]
    shade = 1.0 - 0.16 * x - 0.12 * y + lambert
    lit = rgb * np.clip(shade, 0.35, 1.35)[..., None]
    spot_x = 0.32 if light == "left" else 0.68
    gx = (np.linspace(0, 1, width, dtype=np.float32)[None, :] - spot_x) / 0.16
    gy = (np.linspace(0, 1, height, dtype=np.float32)[:, None] - 0.26) / 0.2
    glint = gloss * np.exp(-(gx * gx + gy * gy))
    result: Floats = np.clip(lit + (1.0 - lit) * glint[..., None], 0.0, 1.0).astype(np.float32)
    return result


def _grain(height: int, width: int, seed: int) -> Floats:
    """Soft noise in -1..1, the same for the same size and seed."""
    noise = np.random.default_rng(seed).standard_normal((height, width), dtype=np.float32)
    return np.asarray(np.clip(noise / 2.5, -1, 1), np.float32)


def _material(rgb: Floats, alpha: Floats, body: Floats, material: str) -> tuple[Floats, Floats]:
    """Apply the material's appearance to the body; details keep their own."""
    height, width = alpha.shape
    x = np.linspace(0, 1, width, dtype=np.float32)[None, :]
    y = np.linspace(0, 1, height, dtype=np.float32)[:, None]
    factor: npt.NDArray[Any] = np.ones((height, width), dtype=np.float32)
    veil: npt.NDArray[Any] = np.zeros((height, width), dtype=np.float32)
    tint, share = _STEEL, 0.0
    if material == "wood":
        wave = 6 * np.sin(2.2 * x + 0.6) + 0.8 * cv2.GaussianBlur(_grain(height, width, 5), (0, 0), 3)
        factor = 0.9 + 0.08 * np.sin(30 * y + wave) + 0.05 * np.sin(71 * y + 2 * wave) + 0.04 * np.sin(123 * y - wave)
        tint, share = _BROWN, 0.2
    elif material == "metal":
        bands = np.sin(9.5 * (x + 0.35 * y) + 0.4)
        factor = 0.86 + 0.2 * bands
        veil = 0.5 * np.clip(bands - 0.55, 0, 1) / 0.45
        tint, share = _STEEL, 0.12
    elif material == "stone":
        rough = cv2.GaussianBlur(_grain(height, width, 11), (0, 0), 0.9)
        factor = 0.94 + 0.5 * rough
        tint, share = _STEEL, 0.3
    elif material == "fabric":
        factor = 0.96 + 0.06 * np.sin(x * width * 1.15) * np.sin(y * height * 1.15) + 0.05 * _grain(height, width, 3)
    elif material == "glass":
        veil = 0.3 * np.exp(-(((x - 0.24) / 0.06) ** 2)) + 0.16 * np.exp(-(((x - 0.78) / 0.03) ** 2)) + 0 * y
        alpha = (alpha * (1.0 - 0.42 * body)).astype(np.float32)
    changed = np.clip((rgb + (tint - rgb) * share) * factor[..., None], 0, 1)
    changed = changed + (1 - changed) * np.clip(veil, 0, 1)[..., None]
    result = rgb + (changed - rgb) * body[..., None]
    return result.astype(np.float32), alpha
