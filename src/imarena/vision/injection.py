"""Detect text inside an image that addresses the judge. The text is read by OCR and reported, never obeyed."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from imarena.core import package_yaml
from imarena.vision.difference import Difference
from imarena.vision.frame import Frame
from imarena.vision.ocr import TextLine

_GAP = r"[\s,.!'\"“”’·-]*"
_BETWEEN = r"[\s,.'\"“”’-]*"
_WRAPPED = 3
"""Up to this many lines are also read as one, because sentences wrap."""


_SENTENCE = re.compile(r"(?<=[a-z0-9)\"'])[.!?]+(?=\s|$)|[。！？\n]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_GLUED = frozenset({"zh", "ja", "ko"})
"""Languages that do not put spaces between words."""


@dataclass(frozen=True)
class _Language:
    """Phrases of one language by feature, and the rules: which features together make which kind of injection."""

    features: dict[str, re.Pattern[str]]
    rules: tuple[tuple[str, frozenset[str]], ...]

    def kinds(self, sentence: str) -> set[str]:
        features = {name for name, pattern in self.features.items() if pattern.search(sentence)}
        return {kind for kind, required in self.rules if required <= features}


@dataclass(frozen=True)
class _Words:
    version: str
    patterns: dict[str, re.Pattern[str]]
    languages: tuple[_Language, ...]

    def kinds(self, text: str) -> set[str]:
        """The kinds of injection in a text: by a known phrase, or by features that occur together in one sentence."""
        lowered = text.lower()
        kinds = {kind for kind, pattern in self.patterns.items() if pattern.search(lowered)}
        bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", lowered)))
        for sentence in _SENTENCE.split(bare):
            for language in self.languages:
                kinds |= language.kinds(sentence)
        return kinds


@lru_cache(maxsize=1)
def _words() -> _Words:
    raw = package_yaml("imarena.vision", "injection_words.yaml")
    patterns = {}
    for strength in ("strong", "weak"):
        for kind, phrases in raw[strength].items():
            joined = "|".join(f"(?:{pattern})" for pattern in phrases).replace(" ", _GAP)
            patterns[kind] = re.compile(rf"\b(?:{joined})\b" if strength == "weak" else joined)
    return _Words(str(raw["version"]), patterns, _languages())


def _languages() -> tuple[_Language, ...]:
    raw = package_yaml("imarena.vision", "injection_features.yaml")
    return tuple(
        _Language(
            {name: _either(phrases, glued=code in _GLUED) for name, phrases in language["features"].items()},
            tuple((kind, frozenset(features)) for kind, *features in language["rules"]),
        )
        for code, language in raw.items()
    )


def _either(phrases: list[str], *, glued: bool) -> re.Pattern[str]:
    joined = "|".join(f"(?:{pattern})" for pattern in phrases)
    return re.compile(joined if glued else rf"(?<!\w)(?:{joined.replace(' ', _BETWEEN)})(?!\w)")


def injection_words_version() -> str:
    """The version of the word lists: another version may flag other images."""
    return _words().version


@dataclass(frozen=True)
class FoundInjection:
    """Text found in the image, the kind of pattern that it matches, and its box."""

    kind: str
    text: str
    box: tuple[float, float, float, float]


def find_injections(lines: Sequence[TextLine]) -> tuple[FoundInjection, ...]:
    """Lines that address a judge, one per kind. Adjacent lines are also read as one."""
    injections: dict[str, FoundInjection] = {}
    spans = [(i, i + 1) for i in range(len(lines))]
    spans += [(i, i + size) for size in range(2, _WRAPPED + 1) for i in range(len(lines) - size + 1)]
    for start, end in spans:
        joined = " ".join(line.text for line in lines[start:end])
        for kind in sorted(_words().kinds(joined)):
            if kind not in injections:
                boxes = np.array([line.box for line in lines[start:end]])
                low, high = boxes.min(axis=0), boxes.max(axis=0)
                injections[kind] = FoundInjection(
                    kind, joined, (float(low[0]), float(low[1]), float(high[2]), float(high[3]))
                )
    return tuple(injections.values())


def _bars(frame: Frame) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Join dense fine strokes horizontally, so that words become bars."""
    strokes = (frame.slope > 6.0).astype(np.uint8)
    joined = cv2.morphologyEx(strokes, cv2.MORPH_CLOSE, np.ones((1, 9), np.uint8))
    return np.asarray(cv2.morphologyEx(joined, cv2.MORPH_OPEN, np.ones((3, 5), np.uint8)), dtype=np.uint8)


def may_hold_text(difference: Difference) -> bool:
    """Quick check (1 ms) of the changed area: does it contain something like a line of text that was not there before?

    It errs towards yes; OCR then decides.
    """
    bars = _bars(difference.output) & ~_bars(difference.source) & difference.mask.astype(np.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(bars)
    for i in range(1, count):
        _, _, width, height, area = (int(v) for v in stats[i])
        if width >= 5 * height and width >= 40 and height >= 3 and area >= 0.6 * width * height:
            return True
    return False
