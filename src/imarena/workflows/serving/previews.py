"""Images for a screen: a bounded JPEG, and tiles with true pixels, made on demand and cached.

Every image is decoded and encoded anew: no metadata, no profile, one type. No original bytes are sent.
"""

import math
import threading
from dataclasses import dataclass
from functools import cache, partial

from cachetools import LRUCache
from PIL import Image

from imarena.core.records import ImageRef
from imarena.images import JPEG, PNG, decode, encode_image, pixels, prepare
from imarena.storage import Workspace
from imarena.vision import Segment, segment

TILE = 512
DISPLAY_SIDE = 1_600
FIRST_LOOK_SIDE = 2_048
"""No pane of a screen shows more pixels of a whole image."""
_RULES = "1"  # increase it when the same image would give other bytes
_AT_HAND_BYTES = 640 * 1024 * 1024  # twice the largest image that is decoded, with its levels


@dataclass(frozen=True)
class TilePyramid:
    """An image's size and the levels of its tiles: the highest level is 1:1."""

    width: int
    height: int
    max_level: int


class Previews:
    """Previews of images. Decoded images stay in memory while there is room; each is decoded once at a time."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._levels: LRUCache[str, list[Image.Image]] = LRUCache(_AT_HAND_BYTES, getsizeof=_bytes)
        self._sizes: dict[str, tuple[int, int]] = {}
        self._guard = threading.Lock()
        self._busy: dict[str, threading.Lock] = {}

    def shape(self, image: ImageRef) -> TilePyramid:
        """The size and levels of an image."""
        width, height = self._size(image)
        return TilePyramid(width, height, max(0, math.ceil(math.log2(max(width, height) / TILE))))

    def _size(self, image: ImageRef) -> tuple[int, int]:
        if image.width is not None and image.height is not None:
            return image.width, image.height
        if image.sha256 not in self._sizes:
            self._sizes[image.sha256] = decode(self.workspace.load(image)).size
        return self._sizes[image.sha256]

    def display(self, image: ImageRef) -> bytes:
        """A JPEG that fits a screen."""

        def make() -> bytes:
            return prepare(self.workspace.load(image), max_side=DISPLAY_SIDE, media_type=JPEG, quality=92).data

        return self.workspace.cache.get(f"display:{_RULES}:{DISPLAY_SIDE}:{image.sha256}", make)

    def has_tile(self, image: ImageRef, level: int, column: int, row: int) -> bool:
        """Whether this tile exists."""
        shape = self.shape(image)
        width, height = _at_level(shape, level)
        return level <= shape.max_level and column * TILE < width and row * TILE < height

    def tile(self, image: ImageRef, level: int, column: int, row: int) -> bytes:
        """A PNG of one existing tile."""
        shape = self.shape(image)

        def make() -> bytes:
            return _cut(self._level_images(image, shape)[shape.max_level - level], column, row)

        return self.workspace.cache.get(_tile_key(image, level, column, row), make)

    def warm(self, image: ImageRef) -> None:
        """Make and cache what the first look at an image needs: the display and the smaller levels."""
        self.display(image)
        shape = self.shape(image)
        levels = cache(
            lambda: _levels(decode(self.workspace.load(image)), shape)
        )  # not even decoded if everything is cached

        def make(level: int, column: int, row: int) -> bytes:
            return _cut(levels()[shape.max_level - level], column, row)

        for level in range(shape.max_level + 1):
            width, height = _at_level(shape, level)
            if max(width, height) > FIRST_LOOK_SIDE:
                return
            for column in range(math.ceil(width / TILE)):
                for row in range(math.ceil(height / TILE)):
                    self.workspace.cache.get(_tile_key(image, level, column, row), partial(make, level, column, row))

    def regions(self, image: ImageRef) -> list[Segment]:
        """Numbered regions of an image, the same every time."""
        return segment(pixels(self.workspace.load(image)))

    def _level_images(self, image: ImageRef, shape: TilePyramid) -> list[Image.Image]:
        """The image at each level, the largest first."""
        with self._guard:
            lock = self._busy.setdefault(image.sha256, threading.Lock())
        with lock:
            with self._guard:
                levels = self._levels.get(image.sha256)
            if levels is not None:
                return levels
            levels = _levels(decode(self.workspace.load(image)), shape)
            with self._guard:
                self._levels[image.sha256] = levels
                self._busy.pop(image.sha256, None)
            return levels


def _levels(image: Image.Image, shape: TilePyramid) -> list[Image.Image]:
    levels = [image]
    for _ in range(shape.max_level):
        levels.append(levels[-1].reduce(2))
    return levels


def _cut(image: Image.Image, column: int, row: int) -> bytes:
    left, top = column * TILE, row * TILE
    return encode_image(image.crop((left, top, min(left + TILE, image.width), min(top + TILE, image.height))), PNG)


def _tile_key(image: ImageRef, level: int, column: int, row: int) -> str:
    return f"tile:{_RULES}:{image.sha256}:{level}:{column}:{row}"


def _at_level(shape: TilePyramid, level: int) -> tuple[int, int]:
    width, height = shape.width, shape.height
    for _ in range(max(0, shape.max_level - level)):
        width, height = math.ceil(width / 2), math.ceil(height / 2)
    return width, height


def _bytes(levels: list[Image.Image]) -> int:
    return sum(3 * level.width * level.height for level in levels)
