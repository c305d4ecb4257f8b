"""Backgrounds, and where things can stand on them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from imarena.core import Floats, unknown_name
from imarena.studio import backdrops_flat as flat
from imarena.studio import backdrops_indoor as indoor
from imarena.studio import backdrops_outdoor as outdoor
from imarena.studio.canvas import Canvas


@dataclass(frozen=True)
class Backdrop:
    """A background. `ground` is the range of heights on which things stand; `place` selects their sizes."""

    paint: Callable[[Canvas, str], None]
    place: str
    ground: tuple[float, float]
    description: str
    """Its name in instructions: ``a sunny beach``."""
    moods: tuple[str, ...] = ("day",)


BACKDROPS: dict[str, Backdrop] = {
    "table": Backdrop(indoor.table, "table", (0.76, 0.93), "a wooden table", ("day", "warm", "cool", "rose")),
    "shelf": Backdrop(indoor.shelf, "table", (0.8, 0.83), "a shelf on a painted wall", ("day", "warm", "cool")),
    "room": Backdrop(indoor.room, "room", (0.8, 0.95), "a living room", ("day", "warm", "cool", "rose")),
    "studio": Backdrop(indoor.studio, "table", (0.78, 0.9), "a plain photo studio", ("day", "warm", "cool", "rose")),
    "meadow": Backdrop(outdoor.meadow, "open_air", (0.7, 0.93), "a green meadow", ("day", "sunset")),
    "beach": Backdrop(outdoor.beach, "open_air", (0.78, 0.94), "a sandy beach", ("day", "sunset")),
    "street": Backdrop(outdoor.street, "open_air", (0.8, 0.94), "a city street", ("day", "sunset", "night")),
    "forest": Backdrop(outdoor.forest, "open_air", (0.76, 0.93), "a forest", ("day", "sunset")),
    "snow": Backdrop(outdoor.snow, "open_air", (0.74, 0.94), "a snowy landscape", ("day", "sunset")),
    "desert": Backdrop(outdoor.desert, "open_air", (0.74, 0.94), "a desert", ("day", "sunset")),
    "lake": Backdrop(outdoor.lake, "open_air", (0.86, 0.95), "a mountain lake", ("day", "sunset")),
    "space": Backdrop(flat.space, "flat", (0.3, 0.9), "outer space", ("day",)),
    "poster": Backdrop(flat.poster, "flat", (0.3, 0.9), "a poster", ("day", "warm", "cool", "rose")),
    "window": Backdrop(flat.window, "flat", (0.3, 0.9), "a program window", ("day", "dark")),
    "chart": Backdrop(flat.chart, "flat", (0.84, 0.84), "a chart", ("day", "dark")),
    "painting": Backdrop(flat.painting, "open_air", (0.76, 0.92), "an oil painting", ("day", "sunset")),
}


def backdrop_of(name: str) -> Backdrop:
    """The backdrop called `name`."""
    if name not in BACKDROPS:
        raise unknown_name("There is no backdrop called", name, sorted(BACKDROPS))
    return BACKDROPS[name]


@lru_cache(maxsize=12)
def paint_backdrop(name: str, mood: str, width: int, height: int, seed: int) -> Floats:
    """The empty background, (height, width, 3) in 0..1, read-only."""
    canvas = Canvas(width, height, seed)
    backdrop_of(name).paint(canvas, mood)
    done = canvas.done()
    done.setflags(write=False)
    return done
