"""Conditions that a task needs or a filter refuses: dark, blurred, hazy, with text. Each from 0 to 1.

The limits are ours, chosen on the bundled photographs and their damaged copies: blur of sharp photographs is below 0.45
and of blurred ones above 0.6; haze has a bright dark channel and little contrast.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping

from imarena.curation.perception import Perception, perception_phrases
from imarena.curation.task_needs import task_file
from imarena.vision import kinds_in_phrase

_ANIMALS = ("bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe")
_MARKS = re.compile(
    r"\b(?:watermark|preview|sample|proof|shutterstock|getty\s*images|alamy|istock|dreamstime|depositphotos|123rf|adobe\s*stock"
    r"|copyright|all rights reserved|stock photo)|©|\bpre.iew\b",
    re.IGNORECASE,
)
_BUTTONS = re.compile(
    r"\b(?:rate this app|subscribe|cookies?|accept|dismiss|not now|later|ok|cancel|close|sign up|log in|install)\b",
    re.IGNORECASE,
)


def measure_condition(name: str, perception: Perception, words: frozenset[str] = frozenset()) -> float:
    """How far a condition of `tasks.yaml` is met. `words` come from the source's texts."""
    if name == "text" and not perception.words:
        return 0.7 if words & set(task_file().conditions["text"].words) else 0.0
    return _MEASURES[name](perception)


_MEASURES: Mapping[str, Callable[[Perception], float]] = {
    "badly_exposed": lambda image: max(
        _below(image.lightness, 36, 46), _above(image.lightness, 78, 88), _above(image.clipped, 0.1, 0.25)
    ),
    "dark": lambda image: _below(image.lightness, 30, 40),
    "blurry": lambda image: _above(image.blur, 0.5, 0.6),
    "coarse": lambda image: max(
        _above(image.blur, 0.5, 0.6), _above(image.blocking, 0.6, 1.0), _below(image.long_side, 480, 800)
    ),
    "hazy": lambda image: min(_above(image.haze, 0.35, 0.5), _below(image.contrast, 10, 14)),
    "sharp": lambda image: _below(image.blur, 0.45, 0.55),
    "face": lambda image: 1.0 if image.faces or animal_share(image) >= 0.04 else 0.0,
    "text": lambda image: 1.0 if image.words else 0.0,
    "overlay": lambda image: 1.0 if overlay_text(image) else 0.0,
    "subject": lambda image: 1.0 if 0.02 <= image.salient_share <= 0.75 or image.things else 0.3,
}


def describe_seen(seen: Perception) -> str:
    """Description of an image for text search: things, text, colours, and the task conditions that are met."""
    fulfilled = [words.about for name, words in task_file().conditions.items() if measure_condition(name, seen) >= 0.8]
    parts = [
        *perception_phrases(seen),
        *([", ".join(fulfilled).capitalize()] if fulfilled else []),
        f"{seen.width} x {seen.height} pixels",
    ]
    return ". ".join(parts)


def overlay_text(perception: Perception) -> str:
    """The text of a watermark, a stock photo mark, pop-up buttons or a repeated line; empty if there is none."""
    for line in perception.words:
        if _MARKS.search(line.text) or _BUTTONS.search(line.text):
            return line.text
    repeated = Counter(line.text.casefold() for line in perception.words if len(line.text) >= 4)
    return next((text for text, number in repeated.items() if number >= 3), "")


def animal_share(perception: Perception) -> float:
    """The largest animal's share of the image."""
    kinds = frozenset().union(*(kinds_in_phrase(name) for name in _ANIMALS))
    return max((thing.share for thing in perception.things if kinds & kinds_in_phrase(thing.label)), default=0.0)


def _below(value: float, full: float, none: float) -> float:
    """1 at `full` or less, 0 at `none` or more."""
    return min(1.0, max(0.0, (none - value) / (none - full)))


def _above(value: float, none: float, full: float) -> float:
    """0 at `none` or less, 1 at `full` or more."""
    return min(1.0, max(0.0, (value - none) / (full - none)))
