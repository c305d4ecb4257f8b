"""The bundled photographs, used as backgrounds for effects, views and text.

A scene whose backdrop is ``photo:NAME`` shows a photograph; everything else works as with painted backgrounds, so
the exact result of an instruction on a photograph is a classical operation with known parameters.
"""

from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO

import numpy as np
import numpy.typing as npt
import yaml
from PIL import Image
from pydantic import TypeAdapter

from imarena.core import FrozenModel, UserError

PREFIX = "photo:"
LICENCE_ADDRESSES = {
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "Public-Domain": "https://creativecommons.org/publicdomain/mark/1.0/",
    "CC-BY-2.0": "https://creativecommons.org/licenses/by/2.0/",
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
}


class Photo(FrozenModel):
    """One bundled photograph: its author and licence, and the place of its subject."""

    name: str
    title: str
    author: str
    licence: str
    package: str
    original: str
    width: int
    height: int
    subject: tuple[float, float, float, float]
    words: str
    year: int | None = None
    address: str = ""


@cache
def photos() -> tuple[Photo, ...]:
    """All bundled photographs, in the order of the data file."""
    text = _folder().joinpath("photographs.yaml").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Photo, ...]).validate_python(yaml.safe_load(text))


def photo_of(name: str) -> Photo:
    """The photograph called `name`, with or without ``photo:``."""
    bare_name = name.removeprefix(PREFIX)
    for photo in photos():
        if photo.name == bare_name:
            return photo
    names = ", ".join(photo.name for photo in photos())
    raise UserError(f"There is no bundled photograph called '{bare_name}'.", hint=f"Known: {names}.")


def photo_bytes(name: str) -> bytes:
    """The bundled JPEG file of the photograph."""
    return _folder().joinpath(f"{photo_of(name).name}.jpg").read_bytes()


@lru_cache(maxsize=2)
def photo_pixels(name: str) -> npt.NDArray[np.uint8]:
    """The photograph's pixels (height, width, 3), read-only."""
    with Image.open(BytesIO(photo_bytes(name))) as picture:
        pixels = np.array(picture.convert("RGB"))
    pixels.setflags(write=False)
    return pixels


def subject_mask(name: str, height: int, width: int) -> npt.NDArray[np.bool_]:
    """Mask of the subject: an ellipse, (height, width)."""
    cx, cy, rx, ry = photo_of(name).subject
    x = (np.arange(width, dtype=np.float32)[None, :] / width - cx) / rx
    y = (np.arange(height, dtype=np.float32)[:, None] / height - cy) / ry
    return np.asarray(x * x + y * y <= 1.0)


def _folder() -> Traversable:
    return files("imarena.studio").joinpath("photographs")
