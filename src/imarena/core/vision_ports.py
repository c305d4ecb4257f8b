"""Ports of vision tools: one call each. A plain function is an implementation.

Images come as pixels: sRGB, 8 bits, an array of shape (height, width, 3). A tool never changes them, and the same
pixels give the same answer. Boxes are in pixels of that image: left and top inside, right and bottom outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Detection:
    """One detection: its box (left, top, right, bottom), its label, and the tool's confidence (0 to 1)."""

    box: tuple[float, float, float, float]
    label: str = ""
    score: float = 1.0


@dataclass(frozen=True, eq=False)
class SegmentMask:
    """One segment: a mask of shape (height, width), True inside it, with a label and a score (0 to 1)."""

    mask: "NDArray[np.bool_]"
    label: str = ""
    score: float = 1.0


class Detector(Protocol):
    """Detects objects and their places."""

    def __call__(self, pixels: "NDArray[np.uint8]") -> tuple[Detection, ...]:
        """Takes (height, width, 3); returns boxes inside the image, most confident first; none if nothing was found."""
        ...


class Segmenter(Protocol):
    """Divides an image into segments, or cuts out objects."""

    def __call__(self, pixels: "NDArray[np.uint8]") -> tuple[SegmentMask, ...]:
        """Takes (height, width, 3); returns masks (height, width) with at least one pixel each, without overlap."""
        ...


class PhraseDetector(Protocol):
    """Detects the objects that phrases name."""

    def __call__(self, pixels: "NDArray[np.uint8]", phrases: Sequence[str]) -> tuple[Detection, ...]:
        """Takes (height, width, 3); returns boxes inside the image, most confident first, each labelled with a phrase.

        Raises `UserError` if a phrase is empty.
        """
        ...


class BoxSegmenter(Protocol):
    """Cuts out the object in each box."""

    def __call__(
        self, pixels: "NDArray[np.uint8]", boxes: Sequence[tuple[float, float, float, float]]
    ) -> tuple[SegmentMask, ...]:
        """Takes (height, width, 3); returns one mask (height, width) per box, in their order.

        A mask may be empty, and masks may overlap.
        """
        ...


class Embedder(Protocol):
    """Turns an image into a vector, so that similar images have similar vectors."""

    def __call__(self, pixels: "NDArray[np.uint8]") -> "NDArray[np.float32]":
        """Takes (height, width, 3); returns a vector of length 1 and shape (d,), with the same d for every image."""
        ...


class DepthEstimator(Protocol):
    """Estimates the depth of each pixel."""

    def __call__(self, pixels: "NDArray[np.uint8]") -> "NDArray[np.float32]":
        """Takes (height, width, 3); returns a map (height, width) of finite numbers, in the unit of the tool."""
        ...


class Metric(Protocol):
    """One number for an image, or for an image and the one that it was made from."""

    def __call__(self, pixels: "NDArray[np.uint8]", against: "NDArray[np.uint8] | None" = None) -> float:
        """Takes images (height, width, 3) of any two sizes; returns a finite number.

        Raises `UserError` if the metric compares two images but got one.
        """
        ...
