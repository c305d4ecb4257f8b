"""What the bundled tools detect in an image: objects, faces, text, colours, light, blur; and a caption from it."""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.core import JsonDict, counted
from imarena.images import shrink_pixels
from imarena.vision import (
    BASIC_COLOURS,
    PICTURE_TOOLS,
    basic_names,
    frame_of,
    measure_quality,
    saliency,
)

_VERSION = "1"
_TOOLS = ("objects", "faces", "words")
_SIDE = 1024
"""Maximum long side of the copy that the tools use; only compression blocks are measured at the image's own size."""
_SURE = 0.5
_LEGIBLE = 0.6


@dataclass(frozen=True)
class SeenThing:
    """One detected thing: its label, the confidence (0 to 1), its share of the image and its main colours."""

    label: str
    score: float
    share: float
    colours: tuple[str, ...] = ()


@dataclass(frozen=True)
class SeenWords:
    """One line of text and its box as shares of the image."""

    text: str
    confidence: float
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class Perception:
    """Everything that the tools detect in one image."""

    width: int
    height: int
    things: tuple[SeenThing, ...] = ()
    faces: int = 0
    words: tuple[SeenWords, ...] = ()
    colours: tuple[tuple[str, float], ...] = ()
    """Names and shares, the largest first."""
    salient_share: float = 0.0
    lightness: float = 50.0
    """Mean lightness, 0 to 100."""
    contrast: float = 20.0
    clipped: float = 0.0
    haze: float = 0.0
    """Mean of the dark channel, 0 to 1: high if every region is hazy."""
    blur: float = 0.0
    """Perceptual blur (Crete et al. 2007), 0 sharp to 1 blurred."""
    blocking: float = 0.0
    noise: float = 0.0
    extra: JsonDict = field(default_factory=dict)

    def to_json(self) -> JsonDict:
        """A JSON object that `read_perception` can read."""
        value: JsonDict = json.loads(json.dumps(asdict(self)))
        return value

    @property
    def long_side(self) -> int:
        """In pixels."""
        return max(self.width, self.height)


def read_perception(value: Any) -> Perception:
    """The inverse of `Perception.to_json`."""
    things = tuple(SeenThing(**{**thing, "colours": tuple(thing["colours"])}) for thing in value["things"])
    words = tuple(SeenWords(line["text"], line["confidence"], tuple(line["box"])) for line in value["words"])
    colours = tuple((str(name), float(share)) for name, share in value["colours"])
    return Perception(**{**value, "things": things, "words": words, "colours": colours})


def perception_version() -> str:
    """Version that changes with any tool whose results a perception contains."""
    return "; ".join([_VERSION, *(f"{PICTURE_TOOLS[name].tool} {PICTURE_TOOLS[name].version()}" for name in _TOOLS)])


def perceive(pixels: NDArray[np.uint8]) -> Perception:
    """Run every bundled tool on an image, sRGB, shape (height, width, 3). Takes 0.5 to 1 s on one core."""
    height, width = pixels.shape[:2]
    small = shrink_pixels(pixels, _SIDE)
    rgb = np.asarray(small, np.float32) / np.float32(255)
    names = basic_names(rgb)
    quality = measure_quality(frame_of(Image.fromarray(pixels)))
    light = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB)[..., 0], np.float32)
    answers: dict[str, Any] = {name: PICTURE_TOOLS[name].look(small) for name in _TOOLS}
    faces = sum(1 for box in answers["faces"]["boxes"] if box["score"] >= _SURE + 0.3)
    return Perception(
        width, height, _things(answers["objects"], names), faces, _words(answers["words"]), _shares(names),
        round(float((saliency(rgb) >= 0.5).mean()), 3), round(float(light.mean()), 2), round(quality.contrast, 2),
        round(quality.clipped, 4), round(_dark_channel(rgb), 3), round(_blur(light), 3), round(quality.blocking, 3),
        round(quality.noise, 3),
    )  # fmt: skip


def _things(answer: Any, names: NDArray[Any]) -> tuple[SeenThing, ...]:
    things = []
    _height, _width = names.shape
    for detection in answer["boxes"]:
        if detection["score"] < _SURE:
            continue
        left, top, right, bottom = detection["box"]
        share = (right - left) * (bottom - top) / (answer["width"] * answer["height"])
        inset_x, inset_y = 0.2 * (right - left), 0.2 * (bottom - top)
        rows = slice(int(top + inset_y), max(int(bottom - inset_y), int(top + inset_y) + 1))
        columns = slice(int(left + inset_x), max(int(right - inset_x), int(left + inset_x) + 1))
        inner = names[rows, columns]
        colours = tuple(name for name, part in _shares(inner)[:3] if part >= 0.2) if inner.size else ()
        things.append(SeenThing(detection["label"], round(detection["score"], 3), round(share, 4), colours))
    return tuple(things)


def _words(answer: Any) -> tuple[SeenWords, ...]:
    return tuple(
        SeenWords(text, confidence, tuple(box))
        for text, confidence, box in answer["lines"]
        if confidence >= _LEGIBLE and sum(letter.isalnum() for letter in text) > 1
    )


def _shares(names: NDArray[Any]) -> tuple[tuple[str, float], ...]:
    shares = np.bincount(names.ravel(), minlength=len(BASIC_COLOURS)) / max(names.size, 1)
    order = np.argsort(-shares, kind="stable")
    return tuple((BASIC_COLOURS[at], round(float(shares[at]), 3)) for at in order if shares[at] >= 0.03)


def _dark_channel(rgb: NDArray[np.float32]) -> float:
    """Mean of the dark channel (He et al. 2009): the darkest value of any channel around each pixel."""
    side = max(3, round(max(rgb.shape[:2]) / 40))
    return float(cv2.erode(np.ascontiguousarray(rgb.min(axis=2)), np.ones((side, side), np.uint8)).mean())


def _blur(light: NDArray[np.float32]) -> float:
    """How little a strong blur changes the differences between neighbours: the larger value of both directions."""

    def along(values: NDArray[np.float32]) -> float:
        blurred = cv2.blur(values, (9, 1))
        before = np.abs(np.diff(values, axis=1))
        after = np.abs(np.diff(blurred, axis=1))
        total = float(before.sum())
        return float(total - np.maximum(0.0, before - after).sum()) / total if total > 0 else 1.0

    return max(along(light), along(np.ascontiguousarray(light.T)))


def make_caption(seen: Perception, title: str = "", text: str = "") -> str:
    """A dense caption without a model: the source's texts, then things, text, colours, light and sharpness."""
    parts = [part.strip().rstrip(".") for part in (title, text) if part.strip()]
    return ". ".join([*parts, *perception_phrases(seen), ", ".join(_looks(seen)).capitalize()]) + "."


def perception_phrases(view: Perception) -> list[str]:
    """Things, faces, text and colours, each as a phrase."""
    counts = Counter(thing.label for thing in view.things)
    phrases = [_thing_phrase(label, number, view) for label, number in counts.items()]
    parts = [f"Shows {', '.join(phrases)}" if phrases else "No everyday object was detected"]
    if view.faces:
        parts.append(counted(view.faces, "face"))
    if view.words:
        parts.append("Text: " + "; ".join(line.text for line in view.words[:6]))
    if view.colours:
        parts.append("Colours: " + ", ".join(name for name, _ in view.colours[:4]))
    return parts


def _thing_phrase(label: str, number: int, view: Perception) -> str:
    colours = next((thing.colours for thing in view.things if thing.label == label), ())
    look = f"{colours[0]} " if colours and number == 1 else ""
    return f"{look}{label}" if number == 1 else f"{number} {label}s"


def _looks(view: Perception) -> list[str]:
    light = "dark" if view.lightness < 32 else "very bright" if view.lightness > 85 else "normal light"
    focus = "blurred" if view.blur > 0.55 else "sharp" if view.blur < 0.4 else "medium sharpness"
    veil = ["hazy"] if view.haze > 0.4 and view.contrast < 11 else []
    share = view.salient_share
    subject = "large subject" if share > 0.35 else "small subject" if share > 0.02 else "no clear subject"
    shape = (
        "landscape format" if view.width > view.height else "portrait format" if view.height > view.width else "square"
    )
    return [light, focus, *veil, subject, shape, f"{view.width} x {view.height} pixels"]
