"""Failures that need no judge (004, section 5.3): returned input, new image, wrong shape or size, copied reference.

Each flag comes from measured numbers and published thresholds, so that a reader can disagree. Everything is measured
on copies whose long side is 256 pixels.
"""

import numpy as np
import numpy.typing as npt
from PIL import Image

from imarena.core.records import JsonDict
from imarena.images import decode, hash_distance, perceptual_hash
from imarena.language import EditKind, read_instruction

TOOL = "edit-failure-modes"
VERSION = "3"
SIDE = 256

SAME_MEAN = 0.006
"""Maximum mean difference (0..1) of an output that counts as its input; recompression stays below."""
SAME_SHARE = 0.0005
"""... and maximum share of pixels that differ by a tenth or more: a small edit is not a copy.

Measured on the bundled scenes: the smallest true edits (a changed word) reach 0.0007, JPEG at quality 70 stays below
0.0001 (on a noisy photograph 0.0014, but there the mean difference is far above its own threshold).
"""
NEW_EDGES = 0.22
"""Correlation of the edge maps below which an edit kept nothing of its source."""
NEW_HASH = 20
"""... and at least this many of the 64 bits of the perceptual hash differ."""
SHAPE = 0.05
"""Relative change of width over height from which the shape counts as wrong."""
SIZE = 0.25
"""Share of the source's pixels below which the size is wrong: half of each side is lost. A larger size is not wrong."""
COPY_HASH = 6
COPY_MEAN = 0.05
"""Maximum hash distance and mean difference of an output that counts as a copy of a reference."""

FLAG_MEANINGS = {
    "unchanged": "the output is its input",
    "new_image": "the output keeps nothing of its source",
    "wrong_shape": f"width over height differs from the source's by more than {SHAPE:.0%}",
    "wrong_size": f"the output has less than {SIZE:.0%} of the source's pixels",
    "copies_reference": "the output is a copy of a reference image",
}
THRESHOLDS: JsonDict = {
    "same_mean": SAME_MEAN, "same_share": SAME_SHARE, "new_edges": NEW_EDGES, "new_hash": NEW_HASH, "shape": SHAPE,
    "size": SIZE, "copy_hash": COPY_HASH, "copy_mean": COPY_MEAN, "side": SIDE,
}  # fmt: skip

_Floats = npt.NDArray[np.float32]
_SHAPED = frozenset({EditKind.EXTEND, EditKind.VIEW})


def against_source(output: bytes, source: bytes, instruction: str) -> JsonDict:
    """Measurements and flags of an edit and its source: `unchanged`, `new_image`, `wrong_shape`, `wrong_size`."""
    output_image, source_image = decode(output), decode(source)
    measured = _measured(output_image, source_image)
    ratio = (output_image.width / output_image.height) / (source_image.width / source_image.height)
    resize = any(edit.kind in _SHAPED or edit.clause.startswith("crop") for edit in read_instruction(instruction).edits)
    flags = []
    if output == source or (measured["mean"] <= SAME_MEAN and measured["share"] <= SAME_SHARE):
        flags.append("unchanged")
    # If the instruction changes the frame, the images cannot be compared pixel by pixel, so nothing is known.
    if measured["edges"] < NEW_EDGES and measured["hash"] >= NEW_HASH and not resize:
        flags.append("new_image")
    if abs(ratio - 1) > SHAPE and not resize:
        flags.append("wrong_shape")
    pixels = (output_image.width * output_image.height) / (source_image.width * source_image.height)
    if pixels < SIZE and not resize:
        flags.append("wrong_size")
    sizes: JsonDict = {
        "source_size": [source_image.width, source_image.height],
        "output_size": [output_image.width, output_image.height],
    }
    return {"flags": list(flags), **measured, "shape_ratio": round(ratio, 4), "pixel_ratio": round(pixels, 4), **sizes}


def against_reference(output: bytes, reference: bytes) -> JsonDict:
    """Measurements and the flag `copies_reference`."""
    measured = _measured(decode(output), decode(reference))
    copied = measured["hash"] <= COPY_HASH and measured["mean"] <= COPY_MEAN
    return {"flags": ["copies_reference"] if copied else [], **measured}


def _measured(output: Image.Image, source: Image.Image) -> dict[str, float]:
    size = _fitted(source.size)
    first, second = _array(output, size), _array(source, size)
    gap = np.abs(first - second)
    with np.errstate(invalid="ignore", divide="ignore"):  # an image of one colour has no edges, hence no correlation
        edges = np.corrcoef(_edges(first).ravel(), _edges(second).ravel())[0, 1]
    return {
        "mean": round(float(gap.mean()), 5),
        "share": round(float((gap.max(axis=2) > 0.1).mean()), 5),
        "edges": round(float(np.nan_to_num(edges)), 4),
        "hash": float(hash_distance(perceptual_hash(output), perceptual_hash(source))),
    }


def _fitted(size: tuple[int, int]) -> tuple[int, int]:
    scale = min(1.0, SIDE / max(size))
    return max(4, round(size[0] * scale)), max(4, round(size[1] * scale))


def _array(image: Image.Image, size: tuple[int, int]) -> _Floats:
    small = image.convert("RGB").resize(size, Image.Resampling.BILINEAR)
    return np.asarray(small, np.float32) / np.float32(255)


def _edges(picture: _Floats) -> _Floats:
    import cv2

    grey = cv2.GaussianBlur(picture.mean(axis=2), (0, 0), 2.0)
    return np.asarray(np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)), np.float32)
