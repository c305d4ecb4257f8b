"""Masks: boolean arrays of shape (height, width), true where marked; stored as PNG files and as run lengths."""

from itertools import pairwise
from typing import TypedDict

import numpy as np
from PIL import Image

from imarena.core import InvalidImage, Mask
from imarena.images.decode import decode
from imarena.images.inspect import MAX_PIXELS

_NEAR = 48
_MASK_SHARE = 0.95


class RunLengths(TypedDict):
    """Uncompressed COCO run lengths: column by column, unmarked first. `size` is [height, width]."""

    size: list[int]
    counts: list[int]


def mask_from_image(data: bytes, size: tuple[int, int] | None = None) -> Mask:
    """Read a mask file: pixels brighter than middle grey are marked. `size` (width, height) resizes it (nearest)."""
    image = decode(data).convert("L")
    if size is not None and image.size != size:
        image = image.resize(size, Image.Resampling.NEAREST)
    return np.asarray(np.asarray(image) >= 128, dtype=np.bool_)


def check_mask(data: bytes, size: tuple[int, int]) -> None:
    """Raise `InvalidImage` unless a file is a mask of this size (width, height) with only black and white.

    Soft edges and the noise of JPEG are allowed: one pixel in twenty may be grey.
    """
    image = decode(data)
    if image.size != size:
        raise InvalidImage(f"the mask is {image.width} x {image.height}, the source {size[0]} x {size[1]}")
    values = np.asarray(image)
    black_or_white = (values <= _NEAR).all(axis=2) | (values >= 255 - _NEAR).all(axis=2)
    if black_or_white.mean() < _MASK_SHARE:
        raise InvalidImage(
            f"only {black_or_white.mean():.0%} of its pixels are black or white",
            hint="A mask is white where the edit was asked for, and black elsewhere.",
        )


def mask_to_rle(mask: Mask) -> RunLengths:
    """Encode a mask as run lengths that COCO tools can read."""
    flat = np.asarray(mask, dtype=np.bool_).ravel(order="F")
    edges = [0, *(np.flatnonzero(flat[1:] != flat[:-1]) + 1).tolist(), flat.size]
    counts = [end - start for start, end in pairwise(edges)] if flat.size else []
    if flat.size and flat[0]:
        counts.insert(0, 0)
    height, width = mask.shape
    return {"size": [height, width], "counts": counts}


def mask_from_rle(rle: RunLengths) -> Mask:
    """Decode the mask. Raises `InvalidImage` if the runs do not fill the size."""
    height, width = rle["size"]
    counts = np.asarray(rle["counts"], dtype=np.int64)
    if height < 0 or width < 0 or height * width > MAX_PIXELS:
        raise InvalidImage(f"a mask of {width} x {height} is not read")
    if (counts < 0).any() or int(counts.sum()) != height * width:
        raise InvalidImage(f"the mask's runs add up to {int(counts.sum())}, not to {height} x {width} pixels")
    flat = np.repeat(np.arange(counts.size) % 2 == 1, counts)
    return np.asarray(flat.reshape((height, width), order="F"), dtype=np.bool_)
