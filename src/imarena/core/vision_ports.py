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
    """One thing that was found: its box (left, top, right, bottom), what it is, and how sure the tool is (0 to 1)."""

    box: tuple[float, float, float, float]
    label: str = ""
    score: float = 1.0


@dataclass(frozen=True, eq=False)
class SegmentMask:
    """One segment: a mask of shape (height, width), true where it is, with a label and a score (0 to 1)."""

    mask: "NDArray[np.bool_]"
    label: str = ""
    score: float = 1.0


class Detector(Protocol):
    """Finds things and where they are."""

    def __call__(self, pixels: "NDArray[np.uint8]") -> tuple[Detection, ...]:
        """(height, width, 3) in; boxes inside the image out, the surest first; none where nothing was found."""
        ...


class Segmenter(Protocol):
    """Divides an image, or cuts things out of it."""

    def __call__(self, pixels: "NDArray[np.uint8]") -> tuple[SegmentMask, ...]:
        """(height, width, 3) in; masks (height, width) with at least one pixel each out; they do not overlap."""
        ...


class PhraseDetector(Protocol):
    """Finds the things that phrases name."""

    def __call__(self, pixels: "NDArray[np.uint8]", phrases: Sequence[str]) -> tuple[Detection, ...]:
        """(height, width, 3) in; boxes inside the image out, the surest first, each labelled with one of the phrases.

        Raises `UserError` where a phrase is empty.
        """
        ...


class BoxSegmenter(Protocol):
    """Cuts out the thing in each box."""

    def __call__(
        self, pixels: "NDArray[np.uint8]", boxes: Sequence[tuple[float, float, float, float]]
    ) -> tuple[SegmentMask, ...]:
        """(height, width, 3) in; one mask (height, width) per box out, in their order.

        A mask may be empty, and masks may overlap.
        """
        ...


class Embedder(Protocol):
    """Turns an image into a vector, so that like images have like vectors."""

    def __call__(self, pixels: "NDArray[np.uint8]") -> "NDArray[np.float32]":
        """(height, width, 3) in; a vector of length 1 out, shape (d,), with the same d for every image."""
        ...


class DepthEstimator(Protocol):
    """Estimates how far away each pixel is."""

    def __call__(self, pixels: "NDArray[np.uint8]") -> "NDArray[np.float32]":
        """(height, width, 3) in; a map (height, width) of finite numbers out, in the unit of the tool."""
        ...


class Metric(Protocol):
    """One number about an image, or about an image and the one that it was made from."""

    def __call__(self, pixels: "NDArray[np.uint8]", against: "NDArray[np.uint8] | None" = None) -> float:
        """(height, width, 3) each in, of any two sizes; a finite number out.

        Raises `UserError` where the metric compares two images and got one.
        """
        ...
