"""Drawing of backgrounds: gradients, soft noise, polygons with smooth edges, on a float picture (height, width, 3)."""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from imarena.studio.palette import RGB

Floats = npt.NDArray[np.float32]
Point = tuple[float, float]


class Canvas:
    """A picture of `height` x `width` in 0..1 that is painted from back to front in unit coordinates."""

    def __init__(self, width: int, height: int, seed: int) -> None:
        self.width, self.height = width, height
        self.rng = np.random.default_rng(seed)
        self.rgb: Floats = np.zeros((height, width, 3), dtype=np.float32)
        self.x: Floats = np.linspace(0, 1, width, dtype=np.float32)[None, :]
        self.y: Floats = np.linspace(0, 1, height, dtype=np.float32)[:, None]

    def gradient(self, top: RGB, bottom: RGB, y0: float = 0.0, y1: float = 1.0) -> None:
        """A vertical gradient over the rows between `y0` and `y1`."""
        r0, r1 = round(y0 * self.height), round(y1 * self.height)
        if r1 <= r0:
            return
        t = np.linspace(0, 1, r1 - r0, dtype=np.float32)[:, None, None]
        a, b = np.asarray(top, np.float32) / 255, np.asarray(bottom, np.float32) / 255
        self.rgb[r0:r1] = a + (b - a) * t

    def poly(self, points: Sequence[Point], fill: RGB, share: float = 1.0) -> None:
        """A polygon with smooth edges, `share` of it opaque."""
        xy: Any = np.array([[(x * self.width * 16, y * self.height * 16) for x, y in points]]).round().astype(np.int32)
        colour = tuple(c / 255 for c in fill)
        layer = self.rgb if share >= 1.0 else self.rgb.copy()
        cv2.fillPoly(layer, xy, colour, lineType=cv2.LINE_8, shift=4)
        cv2.polylines(layer, xy, True, colour, 1, lineType=cv2.LINE_AA, shift=4)
        if share < 1.0:
            self.rgb += (layer - self.rgb) * np.float32(share)

    def rect(self, box: tuple[float, float, float, float], fill: RGB, share: float = 1.0) -> None:
        """An upright rectangle (left, top, right, bottom)."""
        x0, x1 = (round(v * self.width) for v in (box[0], box[2]))
        y0, y1 = (round(v * self.height) for v in (box[1], box[3]))
        part = self.rgb[max(0, y0) : y1, max(0, x0) : x1]
        part += (np.asarray(fill, np.float32) / 255 - part) * share

    def glow(self, centre: Point, radius: float, colour: RGB, share: float) -> None:
        """A soft round light; `radius` is a share of the height."""
        dx = (self.x - centre[0]) * self.width / self.height
        spot = share * np.exp(-(dx**2 + (self.y - centre[1]) ** 2) / (2 * radius**2))
        self.rgb += (np.asarray(colour, np.float32) / 255 - self.rgb) * spot[..., None]

    def ridge(self, level: float, swing: float, fill: RGB, foot: RGB, waves: int = 3) -> None:
        """Hills: everything below a wavy line, fading from `fill` to `foot` downwards."""
        phase = self.rng.uniform(0, 6.28, waves)
        line = np.zeros(self.width, dtype=np.float32)
        for i in range(waves):
            line += np.sin(self.x[0] * (2.2 + 2.7 * i) * 2 + phase[i]).astype(np.float32) / (i + 1)
        line = level + swing * line / 1.8
        cover = np.clip((self.y - line[None, :]) * self.height + 0.5, 0, 1)
        depth = np.clip((self.y - line[None, :]) / max(0.05, 1 - level), 0, 1)[..., None]
        a, b = np.asarray(fill, np.float32) / 255, np.asarray(foot, np.float32) / 255
        self.rgb += ((a + (b - a) * depth) - self.rgb) * cover[..., None]

    def speckle(self, strength: float, blur: float, y0: float = 0.0, y1: float = 1.0, stretch: float = 1.0) -> None:
        """Soft random lightness between two heights; `stretch` > 1 draws it out sideways."""
        r0, r1 = round(y0 * self.height), round(y1 * self.height)
        if r1 <= r0:
            return
        noise = self.rng.standard_normal((r1 - r0, self.width), dtype=np.float32)
        noise = cv2.GaussianBlur(noise, (0, 0), sigmaX=blur * stretch, sigmaY=blur)
        noise /= max(1e-6, float(noise.std()))
        self.rgb[r0:r1] *= 1 + strength * np.clip(noise, -2.5, 2.5)[..., None]

    def done(self) -> Floats:
        """The finished picture, in 0..1."""
        result: Floats = np.clip(self.rgb, 0, 1)
        return result
