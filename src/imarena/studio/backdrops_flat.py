"""Graphic backgrounds: posters, program windows, charts, space, a painting."""

import cv2
import numpy as np

from imarena.studio import backdrops_outdoor as outdoor
from imarena.studio.canvas import Canvas
from imarena.studio.palette import RGB, darker, lighter

PAPERS: dict[str, tuple[RGB, RGB]] = {
    "day": ((250, 238, 214), (244, 222, 184)),
    "warm": ((252, 214, 170), (244, 172, 130)),
    "cool": ((200, 224, 232), (150, 190, 208)),
    "rose": ((250, 220, 220), (238, 184, 190)),
}


def poster(canvas: Canvas, mood: str) -> None:
    top, bottom = PAPERS.get(mood, PAPERS["day"])
    canvas.gradient(top, bottom)
    rays = 18
    for i in range(0, rays, 2):
        a0, a1 = (np.pi * (0.0 + k / rays) for k in (i, i + 1))
        centre = (0.5, 0.72)
        canvas.poly(
            [centre, (centre[0] + 1.6 * np.cos(-a0), centre[1] + 1.6 * np.sin(-a0)),
             (centre[0] + 1.6 * np.cos(-a1), centre[1] + 1.6 * np.sin(-a1))], lighter(top, 0.55), 0.4,
        )  # fmt: skip
    canvas.gradient(darker(bottom, 0.12), darker(bottom, 0.22), 0.72, 1.0)
    canvas.speckle(0.012, 0.8)
    for box in (
        (0.03, 0.03, 0.97, 0.036),
        (0.03, 0.964, 0.97, 0.97),
        (0.03, 0.03, 0.036, 0.97),
        (0.964, 0.03, 0.97, 0.97),
    ):
        canvas.rect(box, darker(bottom, 0.45), 0.7)


def window(canvas: Canvas, mood: str) -> None:
    dark = mood == "dark"
    page: RGB = (40, 44, 54) if dark else (240, 242, 246)
    panel: RGB = (54, 58, 70) if dark else (255, 255, 255)
    line: RGB = (84, 90, 104) if dark else (214, 218, 226)
    canvas.gradient(page, darker(page, 0.04))
    canvas.rect((0, 0, 1, 0.07), darker(page, 0.12))
    for i, tint in enumerate(((236, 106, 94), (244, 190, 80), (98, 196, 86))):
        canvas.glow((0.03 + 0.033 * i, 0.036), 0.009, tint, 1.0)
    canvas.rect((0.2, 0.018, 0.8, 0.054), panel)
    canvas.rect((0, 0.07, 0.2, 1), darker(page, 0.06))
    for i in range(6):
        canvas.rect((0.03, 0.13 + 0.08 * i, 0.05, 0.15 + 0.08 * i), line)
        canvas.rect((0.065, 0.135 + 0.08 * i, 0.15 + 0.02 * (i % 2), 0.146 + 0.08 * i), line)
    canvas.rect((0.23, 0.11, 0.97, 0.95), panel)
    canvas.rect((0.23, 0.948, 0.97, 0.951), line)


def chart(canvas: Canvas, mood: str) -> None:
    dark = mood == "dark"
    page: RGB = (38, 42, 54) if dark else (252, 251, 247)
    line: RGB = (78, 84, 100) if dark else (220, 220, 216)
    canvas.gradient(page, darker(page, 0.03))
    for i in range(6):
        y = 0.84 - 0.12 * i
        canvas.rect((0.1, y - 0.0015, 0.95, y + 0.0015), line)
    canvas.rect((0.1, 0.838, 0.95, 0.843), (150, 154, 164))
    canvas.rect((0.098, 0.2, 0.102, 0.843), (150, 154, 164))


def space(canvas: Canvas, mood: str) -> None:
    del mood
    canvas.gradient((18, 16, 44), (44, 26, 72))
    canvas.glow((0.25, 0.3), 0.28, (92, 60, 140), 0.5)
    canvas.glow((0.8, 0.7), 0.3, (40, 90, 140), 0.4)
    for x, y in canvas.rng.uniform(0, 1, (130, 2)):
        size = float(canvas.rng.uniform(0.8, 2.4))
        canvas.rect((x, y, x + size / canvas.width, y + size / canvas.height), (255, 252, 236), 0.85)
    canvas.ridge(0.9, 0.015, (126, 98, 126), (86, 62, 98))
    canvas.speckle(0.05, 2.0, 0.9, 1.0)


def painting(canvas: Canvas, mood: str) -> None:
    outdoor.meadow(canvas, mood)
    strokes = canvas.rng.standard_normal((canvas.height, canvas.width), dtype=np.float32)
    kernel = np.zeros((9, 9), np.float32)
    cv2.line(kernel, (0, 8), (8, 0), 1.0 / 9)
    strokes = cv2.filter2D(strokes, -1, kernel)
    base = cv2.bilateralFilter(canvas.rgb, 7, 0.2, 4)
    canvas.rgb = base * (1 + 0.22 * np.clip(strokes, -1, 1))[..., None]
