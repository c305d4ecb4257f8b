"""Text inside a picture that speaks to the judge: found by OCR, reported, never obeyed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import cv2
import numpy as np
import yaml

from imarena.vision.difference import Difference
from imarena.vision.frame import Frame
from imarena.vision.ocr import Line

_GAP = r"[\s,.!'\"“”’·-]*"
_WRAPPED = 3
"""Lines that are read as one, because sentences wrap."""


@dataclass(frozen=True)
class _Words:
    version: str
    patterns: dict[str, re.Pattern[str]]


@lru_cache(maxsize=1)
def _words() -> _Words:
    raw = yaml.safe_load((files("imarena.vision") / "injection_words.yaml").read_text(encoding="utf-8"))
    patterns = {}
    for strength in ("strong", "weak"):
        for kind, found in raw[strength].items():
            joined = "|".join(f"(?:{pattern})" for pattern in found).replace(" ", _GAP)
            patterns[kind] = re.compile(rf"\b(?:{joined})\b" if strength == "weak" else joined)
    return _Words(str(raw["version"]), patterns)


def injection_words_version() -> str:
    """The version of the words: another one may flag other pictures."""
    return _words().version


@dataclass(frozen=True)
class Injection:
    """Words found in the picture, which pattern they match and where they stand."""

    kind: str
    text: str
    box: tuple[float, float, float, float]


def find_injections(lines: Sequence[Line]) -> tuple[Injection, ...]:
    """Lines that address a judge, each kind once. Adjoining lines are also read as one."""
    found: dict[str, Injection] = {}
    spans = [(i, i + 1) for i in range(len(lines))]
    spans += [(i, i + size) for size in range(2, _WRAPPED + 1) for i in range(len(lines) - size + 1)]
    for start, end in spans:
        joined = " ".join(line.text for line in lines[start:end])
        lowered = joined.lower()
        for kind, pattern in _words().patterns.items():
            if kind not in found and pattern.search(lowered):
                boxes = np.array([line.box for line in lines[start:end]])
                low, high = boxes.min(axis=0), boxes.max(axis=0)
                found[kind] = Injection(kind, joined, (float(low[0]), float(low[1]), float(high[2]), float(high[3])))
    return tuple(found.values())


def _bars(frame: Frame) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Dense fine strokes joined sideways: words become bars."""
    strokes = (frame.slope > 6.0).astype(np.uint8)
    joined = cv2.morphologyEx(strokes, cv2.MORPH_CLOSE, np.ones((1, 9), np.uint8))
    return np.asarray(cv2.morphologyEx(joined, cv2.MORPH_OPEN, np.ones((3, 5), np.uint8)), dtype=np.uint8)


def may_hold_text(difference: Difference) -> bool:
    """A quick look (1 ms) at what changed: is there something like a line of writing in it that was not there before?

    It errs towards yes; the OCR then decides.
    """
    bars = _bars(difference.output) & ~_bars(difference.source) & difference.mask.astype(np.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(bars)
    for i in range(1, count):
        _, _, width, height, area = (int(v) for v in stats[i])
        if width >= 5 * height and width >= 40 and height >= 3 and area >= 0.6 * width * height:
            return True
    return False
