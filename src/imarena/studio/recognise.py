"""Recognise the entry and turns of a request. Only the built-in editors use this; judges never do.

A request contains only text and pixels. The text decides first: an instruction of the benchmark that occurs in the
request determines entry and turn, so an editor's own imperfect output of the turn before is as good a source as the
exact one. If several entries share the text, or none has it (it was rephrased), the image decides: the entry with
the most similar image. Nothing is remembered between calls.

In both cases the source must show the entry (`is_picture_of`): an image from elsewhere belongs to none, whatever the
text. `benchmarks/editors/studio_likeness.py` measures how different images of the benchmark and others are.
"""

from dataclasses import dataclass
from functools import cache, lru_cache

import cv2
import numpy as np

from imarena.core import Floats, Pixels
from imarena.studio.canvases import decode_pixels
from imarena.studio.catalogue import entries, entry_of
from imarena.studio.edits import BenchmarkEntry
from imarena.studio.render import render_picture, render_scene

FAR = 0.2
"""Mean difference of two thumbnails (0..1) above which an entry is not compared closely. Own images: .15 at most."""
NEAREST = 20
"""Number of entries to compare closely. Of 2,950 own images all but one are among the nearest 3, that one is 17th."""
SHOWN = 0.38
"""Share of the blocks with any detail that must agree. Measured: own images .49 and more, others .28 at most."""
SIDE, BLOCK, BLUR = 64, 8, 4.0
FLAT = 1.5
"""Lightness (0..100) up to which a block's detail is ignored: an empty wall looks like any other."""
AGREES = 0.75
"""Minimum correlation of two blocks' detail that counts as agreement."""


@dataclass(frozen=True)
class RecognisedRequest:
    """The entry of a request and its turns, from `first` up to but not including `last`."""

    entry: BenchmarkEntry
    first: int
    last: int


def recognise_request(instruction: str, sources: tuple[bytes, ...]) -> RecognisedRequest | None:
    """The entry and turns of a request, or None if it is not from this benchmark."""
    candidates = requests_from_text(instruction, sources)
    if not candidates:
        return _by_picture(sources[0]) if sources else None
    return next((request for request in candidates if not sources or is_picture_of(request.entry, sources[0])), None)


def requests_from_text(instruction: str, sources: tuple[bytes, ...]) -> tuple[RecognisedRequest, ...]:
    """Candidates by the text alone, whatever the image shows; the entry that looks most similar first."""
    query = _plain(instruction)
    matches = [(len(text), key, turn) for text, key, turn in _instructions() if text in query]
    steps_by_key = {key: _first_steps(entry_of(key), query) for key in dict.fromkeys(key for _, key, _ in matches)}
    longest_chain = max(steps_by_key, key=steps_by_key.__getitem__, default="")
    if steps_by_key.get(longest_chain, 0) > 1:
        return (RecognisedRequest(entry_of(longest_chain), 0, steps_by_key[longest_chain]),)
    longest = max((length for length, _, _ in matches), default=0)
    best = [(key, turn) for length, key, turn in matches if length == longest]
    if len(best) > 1 and sources:
        look = _thumbnail(decode_pixels(sources[0]))
        best.sort(key=lambda choice: _far(look, *choice))
    return tuple(RecognisedRequest(entry_of(key), turn, turn + 1) for key, turn in best)


def _first_steps(entry: BenchmarkEntry, query: str) -> int:
    """How many steps of an entry, from the first on, occur word for word in a query."""
    steps = 0
    for step in entry.steps:
        if _plain(step.instruction) not in query:
            break
        steps += 1
    return steps


def is_picture_of(entry: BenchmarkEntry, source: bytes) -> bool:
    """Does an image show an entry, at any of its turns, however well or badly an editor edited it?

    A task without its own image is recognised by its text alone.
    """
    if entry.scene is None or source == render_picture(entry.scene):
        return True
    detail = _detail(decode_pixels(source))
    return any(_agreement(detail, _known_detail(entry.key, turn)) >= SHOWN for turn in range(len(entry.steps) + 1))


def detail_agreement(first: Pixels, second: Pixels) -> float:
    """Share (0..1) of the blocks of two images (height, width, 3) in which their fine detail agrees.

    Brightness, grading, noise, compression and size change it little, and repainting affects only the repainted
    blocks; images of different things agree by chance in a few blocks, however similar their colours are.
    """
    return _agreement(_detail(first), _detail(second))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .")


@cache
def _instructions() -> tuple[tuple[str, str, int], ...]:
    return tuple(
        (_plain(step.instruction), entry.key, turn) for entry in entries() for turn, step in enumerate(entry.steps)
    )


def _by_picture(source: bytes) -> RecognisedRequest | None:
    """The nearest entry that the image shows; an image after the last turn selects that turn again."""
    look = _thumbnail(decode_pixels(source))
    views = [(entry, turn) for entry in entries() if entry.scene is not None for turn in range(len(entry.steps) + 1)]
    near = sorted((_far(look, entry.key, turn), index) for index, (entry, turn) in enumerate(views))
    tried: dict[str, bool] = {}
    for far, index in near:
        entry, turn = views[index]
        if far >= FAR or len(tried) > NEAREST:
            return None
        if entry.key not in tried:
            tried[entry.key] = is_picture_of(entry, source)
        if tried[entry.key]:
            first = min(turn, len(entry.steps) - 1)
            return RecognisedRequest(entry, first, first + 1)
    return None


def _far(look: Floats, key: str, turn: int) -> float:
    return float(np.abs(look - _known_look(key, turn)).mean())


@lru_cache(maxsize=512)
def _known_look(key: str, turn: int) -> Floats:
    scene = entry_of(key).scene_after(turn)
    if scene is None:
        return np.full((24, 24, 3), 2.0, np.float32)
    small = scene.model_copy(update={"width": 144, "height": round(144 * scene.height / scene.width)})
    return _thumbnail(render_scene(small).pixels)  # rendering at a fifth of the size gives the same thumbnail faster


def _thumbnail(pixels: Pixels) -> Floats:
    return np.asarray(cv2.resize(pixels, (24, 24), interpolation=cv2.INTER_AREA), np.float32) / np.float32(255)


@lru_cache(maxsize=512)
def _known_detail(key: str, turn: int) -> Floats:
    scene = entry_of(key).scene_after(turn)
    return _detail(np.zeros((SIDE, SIDE, 3), np.uint8) if scene is None else render_scene(scene).pixels)


def _detail(pixels: Pixels) -> Floats:
    """The detail of each block without broad light and shade, (blocks, pixels of a block)."""
    small = cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    light = cv2.cvtColor(np.asarray(small, np.float32) / np.float32(255), cv2.COLOR_RGB2LAB)[..., 0]
    fine = np.asarray(light - cv2.GaussianBlur(light, (0, 0), BLUR), np.float32)
    across = SIDE // BLOCK
    return fine.reshape(across, BLOCK, across, BLOCK).transpose(0, 2, 1, 3).reshape(across * across, BLOCK * BLOCK)


def _agreement(first: Floats, second: Floats) -> float:
    floor = FLAT * BLOCK
    left, right = np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)
    correlation = (first * second).sum(axis=1) / (np.maximum(left, floor) * np.maximum(right, floor))
    telling = np.maximum(left, right) > floor
    return float(((correlation > AGREES) & telling).sum() / max(telling.sum(), len(first) / 6))
