"""Which entry, and which of its turns, a request is about. Only the built-in editors ask; judges never do.

A request holds words and pixels only. The words decide first: an instruction of the benchmark that occurs in the
request names its entry and turn, so an editor's own imperfect output of the turn before is as good a source as the
exact one. Where several entries share the words, or none has them (they were rewritten), the picture decides:
the entry whose picture before the turn looks most alike. Nothing is remembered between calls.
"""

from dataclasses import dataclass
from functools import cache, lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from imarena.studio.canvases import Pixels, decoded
from imarena.studio.catalogue import entries, entry_of
from imarena.studio.entry import Entry
from imarena.studio.render import render

FAR = 0.14
"""Mean difference of two thumbnails (0..1) beyond which two pictures are of different scenes."""


@dataclass(frozen=True)
class Asked:
    """The entry and the turns, `first` up to but without `last`, that a request is about."""

    entry: Entry
    first: int
    last: int


def asked(instruction: str, sources: tuple[bytes, ...]) -> Asked | None:
    """What a request is about, or None where it is not about this benchmark."""
    words = _plain(instruction)
    found = [(len(text), key, turn) for text, key, turn in _instructions() if text in words]
    if not found:
        return _by_picture(sources) if sources else None
    for key in dict.fromkeys(key for _, key, _ in found):
        entry = entry_of(key)
        if len(entry.steps) > 1 and all(_plain(step.instruction) in words for step in entry.steps):
            return Asked(entry, 0, len(entry.steps))
    longest = max(length for length, _, _ in found)
    best = [(key, turn) for length, key, turn in found if length == longest]
    if len(best) > 1 and sources:
        look = _thumbnail(decoded(sources[0]))
        best.sort(key=lambda choice: _far(look, *choice))
    key, turn = best[0]
    return Asked(entry_of(key), turn, turn + 1)


def _plain(words: str) -> str:
    return " ".join(words.casefold().split()).rstrip(" .")


@cache
def _instructions() -> tuple[tuple[str, str, int], ...]:
    return tuple(
        (_plain(step.instruction), entry.key, turn) for entry in entries() for turn, step in enumerate(entry.steps)
    )


def _by_picture(sources: tuple[bytes, ...]) -> Asked | None:
    look = _thumbnail(decoded(sources[0]))
    choices = [(key, turn) for _, key, turn in _instructions() if entry_of(key).scene is not None]
    key, turn = min(choices, key=lambda choice: _far(look, *choice))
    return Asked(entry_of(key), turn, turn + 1) if _far(look, key, turn) < FAR else None


def _far(look: npt.NDArray[np.float32], key: str, turn: int) -> float:
    return float(np.abs(look - _known_look(key, turn)).mean())


@lru_cache(maxsize=512)
def _known_look(key: str, turn: int) -> npt.NDArray[np.float32]:
    scene = entry_of(key).scene_after(turn)
    if scene is None:
        return np.full((24, 24, 3), 2.0, np.float32)
    small = scene.model_copy(update={"width": 144, "height": round(144 * scene.height / scene.width)})
    return _thumbnail(render(small).pixels)  # a fifth of the size looks the same in a thumbnail, and is quick


def _thumbnail(pixels: Pixels) -> npt.NDArray[np.float32]:
    return np.asarray(cv2.resize(pixels, (24, 24), interpolation=cv2.INTER_AREA), np.float32) / np.float32(255)
