"""Draw backgrounds: gradients, soft noise, polygons with smooth edges, on a float image (height, width, 3)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import cv2
import numpy as np

from imarena.core import Floats
from imarena.studio.palette import RGB
from imarena.studio.pen import Point

TILE = 512


@lru_cache(maxsize=64)
def _soft_noise(blur: float, stretch: float) -> Floats:
    """A square tile of seamless soft noise, cached: mean 0, standard deviation 1, clipped at 2.5."""
    noise = np.random.default_rng(20_26).standard_normal((TILE, TILE), dtype=np.float32)
    edge = min(TILE // 2, round(4 * blur * max(1.0, stretch)) + 1)
    wide = cv2.copyMakeBorder(noise, edge, edge, edge, edge, cv2.BORDER_WRAP)
    soft = cv2.GaussianBlur(wide, (0, 0), sigmaX=blur * stretch, sigmaY=blur)[edge:-edge, edge:-edge]
    result: Floats = np.clip(soft / soft.std(), -2.5, 2.5).astype(np.float32)
    return result


class Canvas:
    """An image of `height` x `width` in 0..1, painted from back to front in unit coordinates."""

    def __init__(self, width: int, height: int, seed: int) -> None:
        self.width, self.height = width, height
        self.rng = np.random.default_rng(seed)
        self.rgb: Floats = np.zeros((height, width, 3), dtype=np.float32)
        self.x: Floats = np.linspace(0, 1, width, dtype=np.float32)[None, :]
        self.y: Floats = np.linspace(0, 1, height, dtype=np.float32)[:, None]

    def _row(self, colour: RGB) -> Floats:
        """One row filled with a colour, flat over channels: NumPy is much faster on long rows than on triples."""
        return np.tile(np.asarray(colour, np.float32) / np.float32(255), self.width)[None, :]

    def _lines(self, rows: slice) -> Floats:
        """Some rows of the image, (rows, 3 * width): a view."""
        return self.rgb[rows].reshape(-1, 3 * self.width)

    def _blend(self, rows: slice, colours: Floats, share: Floats) -> None:
        """Mix `share` of `colours` into some rows; both have the shape of `_lines`."""
        lines = self._lines(rows)
        lines += (colours - lines) * share

    def gradient(self, top: RGB, bottom: RGB, y0: float = 0.0, y1: float = 1.0) -> None:
        """A vertical gradient over the rows between `y0` and `y1`."""
        r0, r1 = round(y0 * self.height), round(y1 * self.height)
        if r1 <= r0:
            return
        t = np.linspace(0, 1, r1 - r0, dtype=np.float32)[:, None]
        a, b = self._row(top), self._row(bottom)
        self._lines(slice(r0, r1))[:] = a + (b - a) * t

    def poly(self, points: Sequence[Point], fill: RGB, share: float = 1.0) -> None:
        """A polygon with smooth edges and the opacity `share`."""
        corners = np.array([(x * self.width, y * self.height) for x, y in points])
        low = np.clip(np.floor(corners.min(axis=0)) - 2, 0, (self.width, self.height)).astype(int)
        high = np.clip(np.ceil(corners.max(axis=0)) + 3, 0, (self.width, self.height)).astype(int)
        part = self.rgb[low[1] : high[1], low[0] : high[0]]
        if not part.size:
            return
        xy: Any = ((corners - low) * 16).round().astype(np.int32)[None]
        layer = part.copy()
        colour = tuple(c / 255 for c in fill)
        cv2.fillPoly(layer, xy, colour, lineType=cv2.LINE_8, shift=4)
        cv2.polylines(layer, xy, True, colour, 1, lineType=cv2.LINE_AA, shift=4)
        part += (layer - part) * np.float32(share)

    def rect(self, box: tuple[float, float, float, float], fill: RGB, share: float = 1.0) -> None:
        """An upright rectangle (left, top, right, bottom)."""
        x0, x1 = (round(v * self.width) for v in (box[0], box[2]))
        y0, y1 = (round(v * self.height) for v in (box[1], box[3]))
        part = self.rgb[max(0, y0) : y1, max(0, x0) : x1]
        part += (np.asarray(fill, np.float32) / 255 - part) * share

    def glow(self, centre: Point, radius: float, colour: RGB, share: float) -> None:
        """A soft round light; `radius` is a share of the height."""
        reach = 3.4 * radius
        rows = slice(*(max(0, round((centre[1] + d) * self.height)) for d in (-reach, reach)))
        dx = (self.x - centre[0]) * self.width / self.height
        dy = self.y[rows] - centre[1]
        across = share * np.exp(-(dx**2) / (2 * radius**2))
        spot = np.repeat(across, 3, axis=1) * np.exp(-(dy**2) / (2 * radius**2))
        self._blend(rows, self._row(colour), spot)

    def ridge(self, level: float, swing: float, fill: RGB, foot: RGB, waves: int = 3) -> None:
        """Hills: fill everything below a wavy line, fading from `fill` to `foot` downwards."""
        phase = self.rng.uniform(0, 6.28, waves)
        line = np.zeros(self.width, dtype=np.float32)
        for i in range(waves):
            line += np.sin(self.x[0] * (2.2 + 2.7 * i) * 2 + phase[i]).astype(np.float32) / (i + 1)
        line = level + swing * line / 1.8
        first = max(0, int(float(line.min()) * self.height) - 1)
        below = self.y[first:] - line[None, :]
        below = np.repeat(below, 3, axis=1)
        depth = np.clip(below / max(0.05, 1 - level), 0, 1)
        a, b = self._row(fill), self._row(foot)
        self._blend(slice(first, None), a + (b - a) * depth, np.clip(below * self.height + 0.5, 0, 1))

    def speckle(self, strength: float, blur: float, y0: float = 0.0, y1: float = 1.0, stretch: float = 1.0) -> None:
        """Soft random lightness between two heights; `stretch` > 1 stretches it horizontally."""
        r0, r1 = round(y0 * self.height), round(y1 * self.height)
        if r1 <= r0:
            return
        tile = _soft_noise(blur, stretch)
        y, x = (int(v) for v in self.rng.integers(TILE, size=2))
        rows, columns = (y + np.arange(r1 - r0)) % TILE, (x + np.arange(self.width)) % TILE
        lighter = 1 + np.float32(strength) * np.repeat(tile[np.ix_(rows, columns)], 3, axis=1)
        self._lines(slice(r0, r1))[:] *= lighter

    def done(self) -> Floats:
        """The finished image, in 0..1."""
        result: Floats = np.clip(self.rgb, 0, 1)
        return result
