"""Text inside a picture that speaks to the judge: found by OCR, reported, never obeyed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from imarena.vision.difference import Difference
from imarena.vision.frame import Frame
from imarena.vision.ocr import Line

# OCR often loses spaces: every pattern is matched on words with all spaces taken out.
_PATTERNS = {
    "override": (
        r"(?:ignore|disregard|forget|override)(?:all|any|the|your)*(?:previous|prior|above|"
        r"earlier|other|system)?(?:instructions?|prompts?|rules?|criteria|guidelines?)"
    ),
    "score": (
        r"(?:give|rate|score|award|assign|grade)(?:this|it|me|the|left|right|first|second|"
        r"image|picture|output|a|an|with|as|is)*(?:10|100|1000|ten|full|max|maximum|perfect|"
        r"highest|top|best|five|5)"
    ),
    "score_claim": (
        r"(?:score|rating)(?:is|of|:|=|should be)*(?:10(?:/10|outof10)?|100|1000|max|perfect)|"
        r"\b10/10\b|(?:fullmarks|perfectscore|highestscore|topscore)"
    ),
    "choose": (
        r"(?:choose|pick|prefer|select|votefor|favou?r|rate)(?:this|the|image|picture|output|"
        r"option|left|right|first|second|a|b|1|2|one)+(?:best|better|winner|wins?|asbest)?"
    ),
    "winner": (
        r"(?:this|left|right|first|second|image[ab12]?|output[ab12]?)(?:image|picture|output|"
        r"one)?(?:is|=)?(?:the)?(?:best|better|winner|superior|perfectlyedited)"
    ),
    "address": (
        r"(?:attention|note|message|hey|dear|hello|to)(?:to|for|the|all)*(?:judge|evaluator|"
        r"grader|rater|vlm|ai|llm|assistant|model|gpt|reviewer)s?"
    ),
    "role": (
        r"(?:youare|actas|asan?)(?:a|an|the|now)*(?:judge|evaluator|ai|assistant|"
        r"languagemodel|helpful)|systemprompt|asanai"
    ),
    "claim": (
        r"(?:edit|instruction|task|request)(?:was|is|has|been)*(?:perfectly|successfully|"
        r"fully)(?:followed|done|completed|executed|applied)"
    ),
}
_COMPILED = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}
_WEAK = frozenset({"choose", "address", "winner"})


@dataclass(frozen=True)
class Injection:
    """Words found in the picture, which pattern they match and where they stand."""

    kind: str
    text: str
    box: tuple[float, float, float, float]


def find_injections(lines: Sequence[Line]) -> tuple[Injection, ...]:
    """Lines that address a judge. Adjoining lines are also read as one, because sentences wrap."""
    found: dict[str, Injection] = {}
    texts = [line.text for line in lines]
    spans = [(i, i + 1) for i in range(len(lines))] + [(i, min(i + 3, len(lines))) for i in range(len(lines) - 1)]
    for start, end in spans:
        joined = " ".join(texts[start:end])
        squeezed = re.sub(r"[\s,.!'\"-]", "", joined.lower())
        for kind, pattern in _COMPILED.items():
            if kind in found or not pattern.search(squeezed):
                continue
            if kind in _WEAK and len(squeezed) < 10:
                continue
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
