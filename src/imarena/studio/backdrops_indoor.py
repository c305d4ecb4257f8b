"""Indoor backgrounds."""

import numpy as np

from imarena.studio.canvas import Canvas
from imarena.studio.palette import RGB, darker, lighter

WALLS: dict[str, tuple[RGB, RGB]] = {
    "day": ((226, 222, 210), (206, 200, 186)),
    "warm": ((236, 206, 174), (218, 180, 146)),
    "cool": ((188, 206, 214), (160, 184, 196)),
    "rose": ((230, 204, 204), (210, 178, 182)),
}


def _window(canvas: Canvas, x: float, y: float, w: float, h: float) -> None:
    canvas.rect((x - 0.014, y - 0.016, x + w + 0.014, y + h + 0.016), (248, 246, 240))
    rows = slice(round(y * canvas.height), round((y + h) * canvas.height))
    cols = slice(round(x * canvas.width), round((x + w) * canvas.width))
    t = np.linspace(0, 1, rows.stop - rows.start, dtype=np.float32)[:, None, None]
    sky = np.array([0.62, 0.8, 0.93], np.float32) * (1 - t) + np.array([0.93, 0.96, 0.95], np.float32) * t
    canvas.rgb[rows, cols] = sky
    canvas.poly(
        [(x, y + h), (x, y + h * 0.8), (x + w * 0.4, y + h * 0.66), (x + w, y + h * 0.84), (x + w, y + h)],
        (150, 184, 140),
    )
    canvas.rect((x + w / 2 - 0.006, y, x + w / 2 + 0.006, y + h), (248, 246, 240))
    canvas.rect((x, y + h / 2 - 0.006, x + w, y + h / 2 + 0.006), (248, 246, 240))
    canvas.rect((x - 0.03, y + h + 0.014, x + w + 0.03, y + h + 0.034), (238, 234, 226))


def _boards(canvas: Canvas, top: float, colour: RGB, count: int) -> None:
    """Floor or table boards that run towards the viewer."""
    canvas.gradient(darker(colour, 0.16), lighter(colour, 0.08), top, 1.0)
    canvas.speckle(0.035, 1.0, top, 1.0, stretch=14)
    for i in range(-count, 2 * count + 1):
        x_far, x_near = i / count, 0.5 + (i / count - 0.5) * 1.7
        canvas.poly(
            [(x_far, top), (x_far + 0.002, top), (x_near + 0.004, 1.0), (x_near, 1.0)], darker(colour, 0.34), 0.6
        )


def table(canvas: Canvas, mood: str) -> None:
    top, bottom = WALLS.get(mood, WALLS["day"])
    canvas.gradient(top, bottom, 0, 0.64)
    canvas.glow((0.2, 0.1), 0.5, (255, 250, 236), 0.5)
    _window(canvas, float(canvas.rng.uniform(0.06, 0.6)), 0.08, 0.28, 0.34)
    canvas.speckle(0.012, 2.5, 0, 0.64)
    wood = ((172, 122, 80), (150, 104, 70), (190, 148, 104))[int(canvas.rng.integers(3))]
    top_edge = 0.64
    canvas.gradient(darker(wood, 0.1), lighter(wood, 0.14), top_edge, 0.97)
    canvas.speckle(0.045, 0.9, top_edge, 0.97, stretch=22)
    canvas.speckle(0.03, 3.0, top_edge, 0.97, stretch=12)
    canvas.rect((0, top_edge - 0.004, 1, top_edge + 0.004), darker(wood, 0.25), 0.7)
    canvas.gradient(darker(wood, 0.35), darker(wood, 0.55), 0.97, 1.0)
    canvas.glow((0.3, 0.74), 0.22, (255, 244, 220), 0.22)


def shelf(canvas: Canvas, mood: str) -> None:
    top, bottom = WALLS.get(mood, WALLS["day"])
    canvas.gradient(top, bottom)
    for i in range(0, 14, 2):
        canvas.rect((i / 14, 0, (i + 1) / 14, 1), lighter(top, 0.3), 0.16)
    canvas.speckle(0.01, 2.0)
    canvas.glow((0.25, 0.1), 0.6, (255, 250, 236), 0.3)
    canvas.gradient(lighter((196, 154, 112), 0.1), (176, 134, 94), 0.79, 0.85)
    canvas.speckle(0.05, 0.8, 0.79, 0.85, stretch=24)
    canvas.gradient((140, 100, 68), (120, 84, 58), 0.85, 0.885)
    canvas.gradient(darker(bottom, 0.34), bottom, 0.885, 0.95)


def room(canvas: Canvas, mood: str) -> None:
    top, bottom = WALLS.get(mood, WALLS["day"])
    canvas.gradient(top, bottom, 0, 0.68)
    canvas.glow((0.75, 0.2), 0.45, (255, 250, 238), 0.45)
    _window(canvas, float(canvas.rng.uniform(0.52, 0.64)), 0.1, 0.3, 0.38)
    canvas.speckle(0.01, 2.5, 0, 0.66)
    canvas.rect((0, 0.655, 1, 0.69), (244, 241, 234))
    canvas.rect((0, 0.686, 1, 0.692), darker(bottom, 0.4), 0.6)
    _boards(canvas, 0.69, ((184, 142, 100), (164, 124, 90), (196, 164, 124))[int(canvas.rng.integers(3))], 8)
    rug = ((190, 110, 96), (96, 132, 150), (170, 150, 110))[int(canvas.rng.integers(3))]
    canvas.poly([(0.2, 0.8), (0.8, 0.8), (0.95, 0.97), (0.05, 0.97)], rug, 0.85)
    canvas.poly([(0.23, 0.82), (0.77, 0.82), (0.9, 0.95), (0.1, 0.95)], lighter(rug, 0.22), 0.5)
    canvas.glow((0.66, 0.86), 0.16, (255, 246, 222), 0.25)


def studio(canvas: Canvas, mood: str) -> None:
    top, bottom = WALLS.get(mood, WALLS["day"])
    canvas.gradient(darker(top, 0.1), lighter(bottom, 0.2), 0, 0.7)
    canvas.gradient(lighter(bottom, 0.2), lighter(top, 0.35), 0.7, 1.0)
    canvas.glow((0.4, 0.45), 0.4, (255, 255, 252), 0.55)
    canvas.speckle(0.006, 2.0)
