"""Outdoor backgrounds."""

import cv2
import numpy as np

from imarena.studio.canvas import Canvas
from imarena.studio.palette import RGB, darker, lighter, mix

SKIES: dict[str, tuple[RGB, RGB]] = {
    "day": ((96, 158, 216), (214, 232, 240)),
    "sunset": ((92, 86, 146), (250, 186, 128)),
    "night": ((18, 24, 52), (62, 72, 112)),
}


def _sky(canvas: Canvas, mood: str, horizon: float) -> None:
    top, bottom = SKIES.get(mood, SKIES["day"])
    canvas.gradient(top, bottom, 0, horizon)
    if mood == "night":
        for x, y in canvas.rng.uniform((0, 0), (1, horizon * 0.8), (60, 2)):
            canvas.rect((x, y, x + 1.6 / canvas.width, y + 1.6 / canvas.height), (250, 248, 230), 0.8)
        canvas.glow((0.82, 0.14), 0.035, (252, 248, 226), 1.0)
        return
    if mood == "sunset":
        canvas.glow((0.7, horizon * 0.86), 0.06, (255, 240, 200), 1.0)
        canvas.glow((0.7, horizon * 0.86), 0.25, (255, 206, 140), 0.6)
    _clouds(canvas, horizon, (255, 255, 255) if mood == "day" else (252, 206, 178))


def _clouds(canvas: Canvas, horizon: float, colour: RGB) -> None:
    rows = max(8, round(horizon * 0.85 * canvas.height))
    small = canvas.rng.standard_normal((max(2, rows // 22), max(2, canvas.width // 44)), dtype=np.float32)
    field = cv2.resize(small, (canvas.width, rows), interpolation=cv2.INTER_CUBIC)
    fine = cv2.resize(
        canvas.rng.standard_normal((max(2, rows // 9), max(2, canvas.width // 16)), dtype=np.float32),
        (canvas.width, rows), interpolation=cv2.INTER_CUBIC,
    )  # fmt: skip
    cover = np.clip((field + 0.4 * fine - 0.55) * 0.75, 0, 0.85)
    cover *= np.linspace(1, 0.3, rows, dtype=np.float32)[:, None]
    part = canvas.rgb[:rows]
    part += (np.asarray(colour, np.float32) / 255 - part) * cover[..., None]


def _tuned(colour: RGB, mood: str) -> RGB:
    return {"sunset": mix(colour, (150, 84, 70), 0.3), "night": mix(colour, (22, 28, 58), 0.62)}.get(mood, colour)


def meadow(canvas: Canvas, mood: str) -> None:
    _sky(canvas, mood, 0.56)
    canvas.ridge(0.46, 0.05, _tuned((128, 160, 150), mood), _tuned((150, 180, 150), mood))
    canvas.ridge(0.53, 0.03, _tuned((112, 156, 104), mood), _tuned((128, 172, 104), mood))
    canvas.ridge(0.61, 0.012, _tuned((124, 174, 86), mood), _tuned((84, 140, 66), mood))
    canvas.speckle(0.05, 0.9, 0.62, 1.0)
    canvas.speckle(0.03, 5.0, 0.6, 1.0, stretch=4)
    for x, y in canvas.rng.uniform((0, 0.68), (1, 1.0), (46, 2)):
        size = 0.002 + 0.004 * (y - 0.6)
        tint = ((255, 250, 236), (250, 214, 100), (240, 150, 150))[int(canvas.rng.integers(3))]
        canvas.rect((x, y, x + 2 * size, y + 2 * size), tint, 0.9)


def beach(canvas: Canvas, mood: str) -> None:
    _sky(canvas, mood, 0.46)
    canvas.gradient(_tuned((50, 120, 168), mood), _tuned((120, 192, 204), mood), 0.46, 0.68)
    canvas.speckle(0.05, 0.8, 0.46, 0.67, stretch=16)
    canvas.ridge(0.655, 0.012, (240, 246, 244), (240, 240, 232))
    canvas.ridge(0.672, 0.012, _tuned((208, 180, 136), mood), _tuned((238, 214, 168), mood))
    canvas.speckle(0.03, 0.8, 0.7, 1.0)
    canvas.speckle(0.025, 6.0, 0.7, 1.0, stretch=4)


def street(canvas: Canvas, mood: str) -> None:
    _sky(canvas, mood, 0.66)
    walls = ((196, 120, 96), (214, 186, 146), (150, 168, 180), (176, 146, 128), (206, 204, 196), (132, 148, 128))
    x = -0.04
    while x < 1.0:
        w = float(canvas.rng.uniform(0.16, 0.26))
        top = float(canvas.rng.uniform(0.12, 0.34))
        wall = _tuned(walls[int(canvas.rng.integers(len(walls)))], mood)
        _facade(canvas, x, top, w, wall, lit=mood == "night")
        x += w
    canvas.speckle(0.012, 1.2, 0.1, 0.7)
    canvas.gradient(_tuned((196, 192, 186), mood), _tuned((210, 206, 198), mood), 0.7, 0.82)
    canvas.rect((0, 0.815, 1, 0.828), _tuned((160, 158, 154), mood))
    canvas.gradient(_tuned((92, 94, 102), mood), _tuned((112, 114, 120), mood), 0.828, 1.0)
    canvas.speckle(0.02, 0.8, 0.7, 1.0)
    for i in range(6):
        canvas.rect((i / 6 + 0.03, 0.955, i / 6 + 0.12, 0.966), _tuned((236, 232, 214), mood))


def _facade(canvas: Canvas, x: float, top: float, w: float, wall: RGB, *, lit: bool) -> None:
    canvas.rect((x, top, x + w, 0.7), wall)
    canvas.rect((x, top, x + w, top + 0.018), lighter(wall, 0.3))
    canvas.rect((x + w - 0.006, top, x + w, 0.7), darker(wall, 0.2), 0.6)
    columns = 3
    for row in range(4):
        y = top + 0.05 + row * 0.11
        if y + 0.07 > 0.6:
            break
        for c in range(columns):
            wx = x + w * (0.14 + 0.28 * c)
            glass: RGB = (
                (255, 222, 140) if lit and canvas.rng.random() < 0.55 else darker(mix(wall, (120, 150, 176), 0.6), 0.2)
            )
            canvas.rect((wx - 0.004, y - 0.005, wx + w * 0.16 + 0.004, y + 0.068), lighter(wall, 0.42))
            canvas.rect((wx, y, wx + w * 0.16, y + 0.062), glass)
    canvas.rect((x + w * 0.38, 0.58, x + w * 0.62, 0.7), darker(wall, 0.5))
    canvas.rect((x + w * 0.08, 0.6, x + w * 0.32, 0.67), mix(wall, (190, 214, 226), 0.7))
    canvas.rect((x + w * 0.04, 0.575, x + w * 0.36, 0.6), mix(wall, (180, 60, 60), 0.5))


def forest(canvas: Canvas, mood: str) -> None:
    canvas.gradient(_tuned((186, 214, 190), mood), _tuned((150, 184, 140), mood), 0, 0.64)
    canvas.glow((0.55, 0.2), 0.3, (255, 250, 214), 0.6)
    for depth in range(3):
        tone = _tuned(((128, 152, 124), (88, 112, 86), (62, 76, 58))[depth], mood)
        count = (14, 10, 6)[depth]
        for x in np.sort(canvas.rng.uniform(-0.02, 1.0, count)):
            w = (0.012, 0.02, 0.034)[depth]
            foot = 0.62 + 0.02 * depth
            canvas.poly([(x, 0), (x + w, 0), (x + w * 1.25, foot), (x - w * 0.25, foot)], tone, 1.0)
        canvas.glow((0.5, 0.3), 0.6, (226, 238, 206), 0.14)
    canvas.ridge(0.62, 0.012, _tuned((110, 130, 74), mood), _tuned((74, 92, 52), mood))
    canvas.speckle(0.09, 1.2, 0.63, 1.0, stretch=2)
    canvas.glow((0.55, 0.82), 0.16, (246, 240, 190), 0.28)


def snow(canvas: Canvas, mood: str) -> None:
    _sky(canvas, mood, 0.6)
    canvas.ridge(0.4, 0.09, _tuned((150, 170, 196), mood), _tuned((206, 218, 232), mood), waves=4)
    canvas.ridge(0.52, 0.03, _tuned((206, 218, 232), mood), _tuned((226, 234, 242), mood))
    canvas.ridge(0.62, 0.015, _tuned((236, 241, 248), mood), _tuned((214, 224, 238), mood))
    canvas.speckle(0.012, 4.0, 0.62, 1.0, stretch=5)


def desert(canvas: Canvas, mood: str) -> None:
    _sky(canvas, mood, 0.56)
    canvas.ridge(0.47, 0.04, _tuned((196, 132, 92), mood), _tuned((214, 156, 104), mood))
    canvas.ridge(0.56, 0.03, _tuned((224, 170, 110), mood), _tuned((236, 188, 126), mood))
    canvas.ridge(0.65, 0.02, _tuned((242, 202, 142), mood), _tuned((214, 160, 100), mood))
    canvas.speckle(0.025, 0.9, 0.6, 1.0, stretch=6)


def lake(canvas: Canvas, mood: str) -> None:
    _sky(canvas, mood, 0.5)
    canvas.ridge(0.3, 0.11, _tuned((122, 138, 160), mood), _tuned((166, 180, 190), mood), waves=4)
    canvas.ridge(0.44, 0.03, _tuned((74, 112, 92), mood), _tuned((88, 128, 100), mood), waves=4)
    rows = round(0.5 * canvas.height)
    mirror = canvas.rgb[max(0, 2 * rows - round(0.8 * canvas.height)) : rows][::-1]
    canvas.rgb[rows : rows + mirror.shape[0]] = mirror * 0.8 + np.array([0.05, 0.1, 0.13], np.float32)
    canvas.speckle(0.03, 0.8, 0.5, 0.8, stretch=18)
    canvas.ridge(0.8, 0.012, _tuned((150, 164, 110), mood), _tuned((110, 132, 78), mood))
    canvas.speckle(0.05, 0.9, 0.81, 1.0)
