"""The true quality of an output: how well the change was made, how much was kept, and how clean it is.

Only tests and reports use it: it knows the scene, judges never do. It compares with the one exact image, so it is
meant for editors that edit the given image, such as the built-in ones: a good answer to a generation task that looks
different from the exact image scores low. For a generation task "before" is the empty place: `made` is
about the things in it, `kept` about the place.
"""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from imarena.core import Floats
from imarena.studio.canvases import align_canvas, change_mask, decode_pixels
from imarena.studio.catalogue import entry_of
from imarena.studio.render import render_scene
from imarena.studio.scene import Scene

LONG_SIDE = 448


@dataclass(frozen=True)
class TrueQuality:
    """True quality, all values in 0..1. `score` = 0.6 made + 0.25 kept + 0.15 clean."""

    made: float
    kept: float
    clean: float

    @property
    def score(self) -> float:
        return 0.6 * self.made + 0.25 * self.kept + 0.15 * self.clean


def true_quality(key: str, image: bytes, *, turn: int | None = None, complex_mode: bool = False) -> TrueQuality:
    """The true quality of the encoded `image` as the result of one turn of an entry (by default the first).

    With `complex_mode`, as the result of all instructions at once, or of those up to `turn`.
    """
    entry = entry_of(key)
    at = turn or 0
    first, last = (0, len(entry.steps) if turn is None else turn + 1) if complex_mode else (at, at + 1)
    before, after = entry.scene_after(first), entry.scene_after(last)
    if after is None:
        return TrueQuality(0.0, 0.0, 0.0)
    before = before if before is not None else after.with_things(())
    base, target, region, (height, width) = _exact(before, after)
    output = _fitted(align_canvas(decode_pixels(image), before, after, (height, width)))
    return TrueQuality(_made(base, target, output, region), _kept(target, output, region), _clean(base, target, output))


@lru_cache(maxsize=8)
def _exact(before: Scene, after: Scene) -> tuple[Floats, Floats, npt.NDArray[np.bool_], tuple[int, int]]:
    target = render_scene(after).pixels
    height, width = target.shape[:2]
    base = align_canvas(render_scene(before).pixels, before, after, (height, width))
    region = _shrunk(change_mask(base, target).astype(np.uint8)) > 0
    return _fitted(base), _fitted(target), region, (height, width)


def _shrunk(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    scale = min(1.0, LONG_SIDE / max(pixels.shape[:2]))
    size = (round(pixels.shape[1] * scale), round(pixels.shape[0] * scale))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA) if scale < 1 else pixels, np.uint8)


def _fitted(pixels: npt.NDArray[np.uint8]) -> Floats:
    return _shrunk(pixels).astype(np.float32) / np.float32(255)


def _made(base: Floats, target: Floats, output: Floats, region: npt.NDArray[np.bool_]) -> float:
    """Share of the requested change that was made, inside the region where something should change."""
    if not region.any():
        return 1.0
    change = float(np.abs(base - target)[region].sum())
    missing = float(np.abs(output - target)[region].sum())
    return float(np.clip(1 - missing / max(change, 1e-6), 0, 1))


def _kept(target: Floats, output: Floats, region: npt.NDArray[np.bool_]) -> float:
    """How little changed outside the region; for global changes, how well the edges of the image survived."""
    outside = ~region
    if outside.mean() > 0.03:
        return float(np.exp(-float(np.abs(output - target)[outside].mean()) / 0.05))
    return float(np.clip(np.corrcoef(_edges(target).ravel(), _edges(output).ravel())[0, 1], 0, 1))


def _edges(picture: Floats) -> Floats:
    grey = cv2.GaussianBlur(picture.mean(axis=2), (0, 0), 1.5)
    strength = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    ramp = np.arange(strength.size).reshape(strength.shape) / strength.size
    return np.asarray(strength + 1e-6 * ramp, np.float32)  # the ramp avoids a division by zero for a blank image


def _clean(base: Floats, target: Floats, output: Floats) -> float:
    """How near each pixel is to a blend of the image before and the exact one; everything else is an artefact."""
    step = target - base
    length = np.maximum((step * step).sum(axis=2, keepdims=True), 1e-4)
    share = np.clip(((output - base) * step).sum(axis=2, keepdims=True) / length, 0, 1)
    return float(np.exp(-float(np.abs(output - (base + share * step)).mean()) / 0.04))
