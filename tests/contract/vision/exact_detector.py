"""A detector and a segmenter that know the truth about rendered scenes, so that rules can be tested against it.

It is here and in no registry on purpose: no judge may see the truth.
"""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from imarena.core import Detection, SegmentMask
from imarena.studio import Scene, render_scene
from imarena.studio.render import RenderedScene


class ExactDetector:
    """Knows the scenes that it was given, by their pixels. About any other picture it says nothing: it raises."""

    def __init__(self, scenes: Iterable[Scene]) -> None:
        """Renders each scene once."""
        self._known: dict[bytes, RenderedScene] = {}
        for scene in scenes:
            rendered = render_scene(scene)
            self._known[_key(rendered.pixels)] = rendered

    def __call__(self, pixels: NDArray[np.uint8]) -> tuple[Detection, ...]:
        """Every thing that can be seen, nearest first, with its kind as the label and a score of 1."""
        seen = reversed(self._rendered(pixels).seen())
        return tuple(Detection(_floats(one.box), one.thing.kind, 1.0) for one in seen if one.box is not None)

    def segment(self, pixels: NDArray[np.uint8]) -> tuple[SegmentMask, ...]:
        """The visible pixels of each thing."""
        return tuple(
            SegmentMask(one.mask, one.thing.kind) for one in self._rendered(pixels).seen() if one.box is not None
        )

    def _rendered(self, pixels: NDArray[np.uint8]) -> RenderedScene:
        try:
            return self._known[_key(pixels)]
        except KeyError as error:
            raise LookupError("this is no picture of the scenes that the exact detector was given") from error


def _key(pixels: NDArray[np.uint8]) -> bytes:
    return hashlib.sha256(repr(pixels.shape).encode() + np.ascontiguousarray(pixels).tobytes()).digest()


def _floats(box: tuple[int, int, int, int]) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    return float(left), float(top), float(right), float(bottom)
