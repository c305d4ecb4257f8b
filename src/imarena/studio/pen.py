"""A pen that draws one object in unit coordinates, at three times the size, so that edges become smooth."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sin
from typing import Literal

from PIL import Image, ImageDraw, ImageFont

from imarena.core import FrozenModel
from imarena.studio.palette import RGB, darker, ink_on, lighter, mix

ZOOM = 3
Point = tuple[float, float]


class Stroke(FrozenModel):
    """One call of the pen: the method `shape` with the other fields as its arguments."""

    shape: Literal["poly", "blob", "oval", "disc", "rect", "line", "arc", "ring", "text"]
    fill: Literal["colour", "dark", "light", "ink"] | dict[Literal["lighter", "darker", "faded_ink"], float] | RGB
    """A colour, or its derivation from the thing's colour."""
    points: tuple[Point, ...] = ()
    box: tuple[float, float, float, float] = (0, 0, 0, 0)
    centre: Point = (0, 0)
    radius: float = 0
    start: float = 0
    end: float = 0
    width: float = 0
    height: float = 0
    max_width: float = 0
    weight: int = 0
    body: bool = False
    text: str = ""
    default_text: str = ""
    """Text for things without their own. `text` is written on all things of the kind."""
    when: tuple[str, ...] = ()
    """The states in which it is drawn; empty for all."""
    unless: tuple[str, ...] = ()


@dataclass(frozen=True)
class Appearance:
    """The properties of a thing that its shape depends on."""

    colour: RGB
    text: str = ""
    state: str = ""

    def tint(self, stroke: Stroke) -> RGB:
        """The colour of a stroke."""
        colour, ink, fill = self.colour, ink_on(self.colour), stroke.fill
        if isinstance(fill, str):
            return {"colour": colour, "dark": darker(colour, 0.28), "light": lighter(colour, 0.3), "ink": ink}[fill]
        if not isinstance(fill, dict):
            return fill
        [(way, share)] = fill.items()
        towards = {"lighter": lighter, "darker": darker}.get(way)
        return mix(colour, ink, share) if towards is None else towards(colour, share)


@lru_cache(maxsize=256)
def font(size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own scalable font, so that no font of the machine is ever used."""
    return ImageFont.load_default(size=max(4, size_px))


class Pen:
    """Draws an RGBA image and the mask of the body: the part with the thing's colour and material.

    Coordinates run from 0 to 1 over the width and the height of the thing's box. Shapes drawn with
    `body=True` belong to the body; shapes drawn later without it cover the body.
    """

    def __init__(self, width_px: int, height_px: int, ground: RGB) -> None:
        self.width, self.height = width_px * ZOOM, height_px * ZOOM
        self.image = Image.new("RGBA", (self.width, self.height), (*ground, 0))
        self.body = Image.new("L", (self.width, self.height), 0)
        self._ink = ImageDraw.Draw(self.image)
        self._mask = ImageDraw.Draw(self.body)

    def draw(self, stroke: Stroke, look: Appearance) -> None:
        """Draw one stroke, if it belongs to the thing's state."""
        if look.state in stroke.unless or (stroke.when and look.state not in stroke.when):
            return
        arguments = stroke.model_dump(
            exclude_unset=True, exclude={"shape", "fill", "when", "unless", "text", "default_text"}
        )
        if stroke.shape == "text":
            arguments["text"] = stroke.text or look.text or stroke.default_text
        getattr(self, stroke.shape)(**arguments, fill=look.tint(stroke))

    def _xy(self, points: Sequence[Point]) -> list[tuple[float, float]]:
        return [(x * (self.width - 1), y * (self.height - 1)) for x, y in points]

    def poly(self, points: Sequence[Point], fill: RGB, *, body: bool = False) -> None:
        """A filled polygon."""
        xy = self._xy(points)
        self._ink.polygon(xy, fill=fill)
        self._mask.polygon(xy, fill=255 * body)

    def blob(self, points: Sequence[Point], fill: RGB, *, body: bool = False) -> None:
        """A smooth closed shape through `points` (Catmull-Rom)."""
        self.poly(_smooth(points), fill, body=body)

    def oval(self, box: tuple[float, float, float, float], fill: RGB, *, body: bool = False) -> None:
        """An ellipse in the box (left, top, right, bottom)."""
        (x0, y0), (x1, y1) = self._xy([(box[0], box[1]), (box[2], box[3])])
        self._ink.ellipse((x0, y0, x1, y1), fill=fill)
        self._mask.ellipse((x0, y0, x1, y1), fill=255 * body)

    def disc(self, centre: Point, radius: float, fill: RGB, *, body: bool = False) -> None:
        """A true circle; `radius` is a share of the height."""
        rx = radius * self.height / self.width
        self.oval((centre[0] - rx, centre[1] - radius, centre[0] + rx, centre[1] + radius), fill, body=body)

    def rect(
        self, box: tuple[float, float, float, float], fill: RGB, *, radius: float = 0.0, body: bool = False
    ) -> None:
        """A rectangle, its corners rounded by `radius` (share of the height)."""
        (x0, y0), (x1, y1) = self._xy([(box[0], box[1]), (box[2], box[3])])
        r = min(radius * self.height, (x1 - x0) / 2, (y1 - y0) / 2)
        self._ink.rounded_rectangle((x0, y0, x1, y1), r, fill=fill)
        self._mask.rounded_rectangle((x0, y0, x1, y1), r, fill=255 * body)

    def line(self, points: Sequence[Point], fill: RGB, width: float, *, body: bool = False) -> None:
        """A line with round joints and ends; `width` is a share of the height."""
        xy, thick = self._xy(points), max(1, round(width * self.height))
        for ink, colour in ((self._ink, fill), (self._mask, 255 * body)):
            ink.line(xy, fill=colour, width=thick, joint="curve")
            for x, y in (xy[0], xy[-1]):
                r = thick / 2
                ink.ellipse((x - r, y - r, x + r, y + r), fill=colour)

    def arc(self, centre: Point, radius: float, start: float, end: float, fill: RGB, width: float) -> None:
        """Part of a circle, from `start` to `end` degrees clockwise from three o'clock."""
        aspect = self.height / self.width
        angles = [(start + (end - start) * i / 24) * pi / 180 for i in range(25)]
        self.line([(centre[0] + cos(a) * radius * aspect, centre[1] + sin(a) * radius) for a in angles], fill, width)

    def ring(self, centre: Point, radius: float, fill: RGB, width: float, *, body: bool = False) -> None:
        """A circle's outline."""
        aspect = self.height / self.width
        points = [
            (centre[0] + cos(i * pi / 24) * radius * aspect, centre[1] + sin(i * pi / 24) * radius) for i in range(49)
        ]
        self.line(points, fill, width, body=body)

    def text(
        self, centre: Point, text: str, height: float, fill: RGB, *, max_width: float = 0.9, weight: int = 1
    ) -> None:
        """Text centred on a point; reduced to `max_width` (fraction of the width) if it is too long."""
        if not text:
            return
        size = round(height * self.height)
        room = max_width * self.width
        length = font(size).getlength(text)
        if length > room:
            size = max(6, int(size * room / length))
        stroke = weight * size // 42
        (x, y) = self._xy([centre])[0]
        self._ink.text((x, y), text, font=font(size), fill=fill, anchor="mm", stroke_width=stroke, stroke_fill=fill)


def _smooth(points: Sequence[Point], steps: int = 8) -> list[Point]:
    count = len(points)
    result: list[Point] = []
    for i in range(count):
        p0, p1, p2, p3 = (points[(i + k) % count] for k in (-1, 0, 1, 2))
        for s in range(steps):
            t = s / steps
            result.append((_spline(p0[0], p1[0], p2[0], p3[0], t), _spline(p0[1], p1[1], p2[1], p3[1], t)))
    return result


def _spline(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t**3)
