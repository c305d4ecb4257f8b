"""Read text in an image with RapidOCR (PP-OCR models inside the package, Apache-2.0). Loaded on first use."""

import difflib
import hashlib
import logging
import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray
from PIL import Image

from imarena.core import Detection, ShareBox

LONG_SIDE = 768
_SMALLEST = 384
_SMALLEST_PART = 480
_ReadLines = tuple[tuple[str, float, Any], ...]
_KEEP = 256


@dataclass(frozen=True)
class TextLine:
    """A line of text, the reader's confidence (0 to 1) and its box as fractions of the image."""

    text: str
    confidence: float
    box: ShareBox


@lru_cache(maxsize=1)
def _engine() -> Any:
    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    # One thread: the package's idle threads spin, and judging processes several images at once anyway. The detector
    # uses the image as `_readable` returns it; by default it would enlarge it again, at twice the cost.
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": LONG_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _readable(image: Image.Image, smallest: int) -> NDArray[np.uint8]:
    array = np.asarray(image.convert("RGB"), dtype=np.uint8)[:, :, ::-1]
    longest = max(array.shape[:2])
    target = min(max(longest, smallest), LONG_SIDE)
    if target != longest:
        scale = target / longest
        size = (max(1, round(array.shape[1] * scale)), max(1, round(array.shape[0] * scale)))
        array = np.asarray(
            cv2.resize(array, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC), dtype=np.uint8
        )
    return np.ascontiguousarray(array)


def _cut(image: Image.Image, box: ShareBox) -> tuple[Image.Image, ShareBox]:
    """The part of the image in `box` plus a margin, and the box that was actually used."""
    margin_x, margin_y = 0.15 * (box[2] - box[0]) + 0.02, 0.15 * (box[3] - box[1]) + 0.02
    left, top = max(0.0, box[0] - margin_x), max(0.0, box[1] - margin_y)
    right, bottom = min(1.0, box[2] + margin_x), min(1.0, box[3] + margin_y)
    width, height = image.size
    corners = (int(left * width), int(top * height), max(int(right * width), 1), max(int(bottom * height), 1))
    return image.crop(corners), (left, top, right, bottom)


def _key(array: NDArray[np.uint8]) -> bytes:
    return hashlib.sha256(array.data).digest() + repr(array.shape).encode()


@cached(LRUCache(_KEEP), key=_key, lock=threading.Lock())
def _recognise(array: NDArray[np.uint8]) -> _ReadLines:
    """The engine's result for an image (pixels). All editors share the same source, so the last results are cached."""
    result = _engine()(array)
    nothing = result is None or result.txts is None or result.boxes is None
    return () if nothing else tuple(zip(result.txts, result.scores, result.boxes, strict=True))


def read_lines(image: Image.Image, box: ShareBox | None = None) -> tuple[TextLine, ...]:
    """All lines of text in the image, or in an enlarged `box` of it, top to bottom. About 0.4 s per image."""
    part, area = (image, (0.0, 0.0, 1.0, 1.0)) if box is None else _cut(image, box)
    array = _readable(part, _SMALLEST if box is None else _SMALLEST_PART)
    height, width = array.shape[:2]
    lines = []
    for text, confidence, corners_ in _recognise(array):
        corners = np.asarray(corners_, dtype=np.float64) / (width, height)
        corners = corners * (area[2] - area[0], area[3] - area[1]) + (area[0], area[1])
        left, top = corners.min(axis=0)
        right, bottom = corners.max(axis=0)
        lines.append(TextLine(str(text), float(confidence), (float(left), float(top), float(right), float(bottom))))
    return tuple(sorted(lines, key=lambda line: (line.box[1], line.box[0])))


def detect_text(pixels: NDArray[np.uint8]) -> tuple[Detection, ...]:
    """Every line of text as a box in pixels with the text as its label, the most confident first.

    `pixels` is sRGB, shape (height, width, 3).
    """
    height, width = pixels.shape[:2]
    detections = []
    for line in read_lines(Image.fromarray(pixels)):
        left, top, right, bottom = (min(1.0, max(0.0, end)) for end in line.box)
        box = (left * width, top * height, right * width, bottom * height)
        detections.append(Detection(box, line.text, line.confidence))
    return tuple(sorted(detections, key=lambda detection: (-detection.score, detection.box)))


def fold_text(text: str) -> str:
    """Letters and digits only, lower case, without accents: the form in which texts are compared."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return re.sub(r"[^\w]|_", "", "".join(c for c in plain if not unicodedata.combining(c)))


def text_match(wanted: str, lines: Sequence[TextLine]) -> float:
    """How legible `wanted` is, 0 to 1: the best match with a line, or with all lines in order."""
    goal = fold_text(wanted)
    if not goal:
        return 0.0
    candidates = [fold_text(line.text) for line in lines]
    candidates.append("".join(candidates))
    return max((_similar(goal, c) for c in candidates if c), default=0.0)


def _similar(goal: str, text: str) -> float:
    if goal in text:
        # A short word inside a long line is a match; one letter inside a sentence is chance.
        return 1.0 if len(goal) > 2 or len(text) <= 2 * len(goal) else 0.5
    return difflib.SequenceMatcher(None, goal, text, autojunk=False).ratio()
