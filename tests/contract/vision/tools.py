"""Images that every vision tool is asked about, and tools by name."""

import io
from functools import cache
from importlib.resources import files
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from imarena.core.errors import MissingExtra
from imarena.core.registry import Registry
from imarena.images import pixels

Pixels = NDArray[np.uint8]
T = TypeVar("T")


@cache
def shapes() -> Pixels:
    """A red disc and a word on a plain ground, 240 x 180."""
    image = Image.new("RGB", (240, 180), (225, 225, 215))
    draw = ImageDraw.Draw(image)
    draw.ellipse((20, 30, 110, 120), fill=(200, 30, 30))
    draw.text((120, 125), "HELLO", fill=(10, 10, 10), font=ImageFont.load_default(28))
    return np.asarray(image)


@cache
def photograph(name: str = "astronaut") -> Pixels:
    """A photograph that comes with the package."""
    return pixels((files("imarena.studio") / "photographs" / f"{name}.jpg").read_bytes())


def from_file(mode: str, orientation: int = 1) -> Pixels:
    """A photograph as it comes out of a PNG of another mode, and of one that is to be turned when it is shown."""
    image = Image.fromarray(photograph()[60:261:2, 120:401:2]).convert(mode)
    if mode == "LA":
        image.putalpha(Image.linear_gradient("L").resize(image.size))
    exif = Image.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    image.save(buffer, "PNG", exif=exif)
    return pixels(buffer.getvalue())


IMAGES: dict[str, Pixels] = {
    "shapes": shapes(),
    "photograph": photograph()[::2, ::2].copy(),
    "black": np.zeros((48, 64, 3), np.uint8),
    "white line": np.full((1, 90, 3), 255, np.uint8),
    "one pixel": np.array([[[200, 30, 90]]], np.uint8),
    "odd sizes": photograph()[3:140, 5:106].copy(),
    "grey": from_file("L"),
    "grey with alpha": from_file("LA"),
    "turned": from_file("RGB", orientation=6),
    "noise": np.random.default_rng(3).integers(0, 256, (70, 50, 3), dtype=np.uint8),
}
"""Named images of several sizes and shapes, the flat and the narrow among them."""


def tool(registry: Registry[T], name: str) -> T:
    """The tool called `name`; the test is skipped with the reason where its packages or weights are missing."""
    try:
        return registry.get(name)
    except (ImportError, MissingExtra) as error:
        pytest.skip(f"{registry.kind} '{name}': {error}")


def asked(registry: Registry[T], name: str) -> T:
    """As `tool`, after a first call: weights are loaded then, and may be missing."""
    found = tool(registry, name)
    try:
        found(shapes(), shapes()) if registry.kind == "metric" else found(shapes())  # type: ignore[operator]
    except (ImportError, MissingExtra, FileNotFoundError) as error:
        pytest.skip(f"{registry.kind} '{name}': {error}")
    return found
