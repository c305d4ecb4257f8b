"""Fit of an image to an instruction, in [0, 1], without a model: each requirement against pixels and metadata.

The score is the weighted mean of the requirements. If an essential one is not met, it is at most `CEILING`, so that
no image without the main thing of the instruction enters the pool because of its other qualities.
"""

import re
from dataclasses import dataclass
from typing import Any

from imarena.core import JsonDict
from imarena.curation.brief import ImageBrief, Requirement
from imarena.curation.conditions import measure_condition
from imarena.curation.perception import Perception
from imarena.vision import TextLine, kinds_in_phrase, text_match

CEILING = 0.5
STATED = 0.9
"""Value of a thing that no bundled detector knows, if the source states it."""
NAMED = 0.85
"""Value of a thing that no bundled detector knows, if only the file name names it."""
UNSEEN = 0.5
"""Value of a thing that the detector knows but does not see, although the source states it."""
_WORD = re.compile(r"[a-z][a-z'-]+")


@dataclass(frozen=True)
class ImageScore:
    """A score and the value of each requirement, by its name."""

    value: float
    parts: dict[str, float]
    note: str = ""

    def to_json(self) -> JsonDict:
        """For the journal."""
        return {"score": self.value, "parts": {**self.parts}, "note": self.note}

    @classmethod
    def from_json(cls, value: JsonDict) -> "ImageScore":
        """The inverse of `to_json`."""
        parts: Any = value["parts"]
        return cls(float(str(value["score"])), dict(parts), str(value.get("note") or ""))

    @property
    def missing(self) -> tuple[str, ...]:
        """Requirements that are not met."""
        return tuple(name for name, value in self.parts.items() if value < 0.6)


def score_image(brief: ImageBrief, view: Perception, text: str, shows: str = "", file_name: str = "") -> ImageScore:
    """Score one image. `text` is stated by its source: title, description and tags. `shows` is stated by the user, who
    knows the image: it counts although no detector sees it. The words of `file_name` count less.
    """
    words, labels, stem = stated_words(f"{text} {shows}"), stated_words(shows), stated_words(file_name)
    parts: dict[str, float] = {}
    total = weight = 0.0
    gate = 1.0
    for requirement in brief.requirements:
        value = round(_satisfaction(requirement, view, words, labels, stem), 3)
        parts[requirement.name] = value
        total += requirement.weight * value
        weight += requirement.weight
        if requirement.essential and value < 0.5:
            gate = CEILING
    if not weight:  # nothing to check: any image of enough quality fits
        return ImageScore(STATED, parts, "the instruction names nothing that can be checked")
    return ImageScore(round(min(total / weight, gate), 3), parts)


def stated_words(text: str) -> frozenset[str]:
    """The words of a text, plus their likely singulars."""
    words = set(_WORD.findall(text.casefold()))
    return frozenset(words | {singular for word in words for singular in _singulars(word)})


def _singulars(word: str) -> tuple[str, ...]:
    return word.removesuffix("s"), word.removesuffix("es"), re.sub(r"ies$", "y", word), re.sub(r"ves$", "f", word)


def _satisfaction(
    requirement: Requirement, view: Perception, words: frozenset[str], labels: frozenset[str], stem: frozenset[str]
) -> float:
    value = requirement.value
    if requirement.kind == "thing":
        return thing_visible(value, view, words, labels, stem)
    words = words | stem
    if requirement.kind == "absent":
        return 0.3 if _is_seen(value, view) else 1.0
    if requirement.kind == "condition":
        return measure_condition(value, view, words)
    if requirement.kind == "colour":
        return _coloured(value, requirement.of, view, words)
    if requirement.kind == "several":
        return min(1.0, len(view.things) / int(value))
    lines = [TextLine(line.text, line.confidence, line.box) for line in view.words]
    return 1.0 if lines and text_match(value, lines) >= 0.6 else 0.7 if lines else 0.3


def thing_visible(
    phrase: str, view: Perception, words: frozenset[str], labels: frozenset[str], stem: frozenset[str] = frozenset()
) -> float:
    """1 if the detector sees it; less if only the user, the source or the file name mentions it."""
    if _is_seen(phrase, view):
        return 1.0
    names = _names(phrase)
    if names & labels:
        return STATED
    if not names & (words | stem):
        return 0.0
    if kinds_in_phrase(phrase):
        return UNSEEN
    return STATED if names & words else NAMED


def text_evidence(brief: ImageBrief, stated: str, file_name: str) -> int:
    """How well texts name the instruction's things, to order images with equal scores: 2 for each stated thing,
    1 for each in the file name.
    """
    words, stem = stated_words(stated), stated_words(file_name)
    return sum(2 * bool(_names(thing) & words) + bool(_names(thing) & stem) for thing in brief.things)


def _names(phrase: str) -> set[str]:
    """The head noun of a phrase, with its likely singulars."""
    head = phrase.rsplit(maxsplit=1)[-1].casefold()
    return {head, *_singulars(head)}


def _is_seen(phrase: str, view: Perception) -> bool:
    kinds = kinds_in_phrase(phrase)
    if kinds & kinds_in_phrase("person") and view.faces:
        return True
    return any(kinds & kinds_in_phrase(thing.label) for thing in view.things)


def _coloured(colour: str, thing: str, view: Perception, words: frozenset[str]) -> float:
    kinds = kinds_in_phrase(thing)
    for visible in view.things:
        if kinds & kinds_in_phrase(visible.label) and colour in visible.colours:
            return 1.0
    if colour in words:
        return 0.7
    return 0.6 if dict(view.colours).get(colour, 0.0) >= 0.05 else 0.2
