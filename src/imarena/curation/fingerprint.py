"""Image fingerprints for near-duplicates: perceptual hashes of the image and of slightly cropped and mirrored
copies, and a small grey copy for a detailed comparison.
"""

import base64
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.fft import dctn

from imarena.core import JsonDict

THUMB = 32
_WORK = 128
_C = 0.05
CROPS: tuple[tuple[float, float, float, float], ...] = (
    (0, 0, 0, 0),
    (_C / 2, _C / 2, _C / 2, _C / 2),
    (_C, _C, _C, _C),
    (_C, _C, 0, 0), (0, _C, _C, 0), (_C, 0, 0, _C), (0, 0, _C, _C),
    (_C, 0, 0, 0), (0, _C, 0, 0), (0, 0, _C, 0), (0, 0, 0, _C),
)  # fmt: skip
"""Shares cut off at left, top, right and bottom: whole, centre, corners, sides."""


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """`hashes`, shape (22,): of each crop, then of each crop mirrored; `thumb`: the whole image, (32, 32), grey."""

    hashes: NDArray[np.uint64]
    thumb: NDArray[np.uint8]

    def to_json(self) -> JsonDict:
        """As JSON, for storage."""
        return {
            "hashes": [f"{int(value):016x}" for value in self.hashes],
            "thumb": base64.b64encode(self.thumb.tobytes()).decode(),
        }


def read_fingerprint(value: Any) -> Fingerprint:
    """The inverse of `Fingerprint.to_json`."""
    hashes = np.array([int(text, 16) for text in value["hashes"]], np.uint64)
    thumb = np.frombuffer(base64.b64decode(value["thumb"]), np.uint8).reshape(THUMB, THUMB)
    return Fingerprint(hashes, thumb)


def make_fingerprint(pixels: NDArray[np.uint8]) -> Fingerprint:
    """Fingerprint of an image, sRGB, shape (height, width, 3). Takes about 2 ms besides the first scaling."""
    grey = cv2.cvtColor(_square(pixels), cv2.COLOR_RGB2GRAY)
    hashes = [_hash(_cropped(grey, crop)) for crop in CROPS]
    flipped = np.ascontiguousarray(grey[:, ::-1])
    hashes += [_hash(_cropped(flipped, crop)) for crop in CROPS]
    thumb = cv2.resize(grey, (THUMB, THUMB), interpolation=cv2.INTER_AREA)
    return Fingerprint(np.array(hashes, np.uint64), np.asarray(thumb, np.uint8))


def compare_thumbs(
    first: NDArray[np.uint8], other: NDArray[np.uint8], crop: int, *, mirrored: bool
) -> tuple[float, float]:
    """Correlation (-1 to 1) of two grey copies, the first cropped and mirrored, at the best of several small shifts,
    and their largest local difference there, in standard deviations: scenes with the same backdrop differ in a part.
    """
    grey = first[:, ::-1] if mirrored else first
    large = cv2.resize(np.ascontiguousarray(grey), (_WORK, _WORK), interpolation=cv2.INTER_CUBIC)
    aligned = _cropped(large, CROPS[crop])
    target = cv2.GaussianBlur(other.astype(np.float32), (0, 0), 0.7)
    best, at_best = -1.0, target
    for shift_x in (-3, 0, 3):
        for shift_y in (-3, 0, 3):
            moved = np.array([[1, 0, shift_x], [0, 1, shift_y]], np.float32)
            height, width = aligned.shape
            shifted = cv2.warpAffine(aligned, moved, (width, height), borderMode=cv2.BORDER_REPLICATE)
            small = cv2.resize(shifted, (THUMB, THUMB), interpolation=cv2.INTER_AREA).astype(np.float32)
            smooth = cv2.GaussianBlur(small, (0, 0), 0.7)
            likeness = _correlation(smooth, target)
            best, at_best = (likeness, smooth) if likeness > best else (best, at_best)
    return best, _local_difference(at_best, target)


def _local_difference(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    standard = [(values - values.mean()) / (values.std() + 1e-6) for values in (left, right)]
    return float(cv2.blur(np.abs(standard[0] - standard[1]), (7, 7))[3:-3, 3:-3].max())


def _square(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.asarray(cv2.resize(pixels, (_WORK, _WORK), interpolation=cv2.INTER_AREA), np.uint8)


def _cropped(grey: NDArray[Any], crop: tuple[float, float, float, float]) -> NDArray[Any]:
    height, width = grey.shape
    left, top = round(crop[0] * width), round(crop[1] * height)
    return np.ascontiguousarray(grey[top : height - round(crop[3] * height), left : width - round(crop[2] * width)])


def _hash(grey: NDArray[Any]) -> int:
    """64 bits: is each low cosine coefficient (except the constant) of a 32 x 32 copy above their median?"""
    small = cv2.resize(grey, (32, 32), interpolation=cv2.INTER_AREA).astype(np.float32)
    low = dctn(small, norm="ortho")[:9, :9].ravel()[1:65]
    return int(np.packbits(low > np.median(low)).view(">u8")[0])


def _correlation(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    left, right = left - left.mean(), right - right.mean()
    size = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float((left * right).sum()) / size if size > 1e-6 else 0.0
