"""EdiVal's tools for rendered scenes: they know the truth about every picture that they were given, and nothing else.

They are here and in no registry on purpose: no judge may see the truth.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from imarena.core import Detection, ShareBox
from imarena.core.records import JsonDict
from imarena.judges.edival.tools import (
    PerceptualComparer,
    Thresholds,
    Toolbox,
    YesNoQuestion,
    find_metric,
)
from imarena.studio import Scene, Thing, render_scene
from imarena.studio.backdrops import backdrop_of
from imarena.studio.render import RenderedScene, encode_pixels
from imarena.vision import TextLine

Pixels = NDArray[np.uint8]


def _key(pixels: Pixels) -> bytes:
    return hashlib.sha256(repr(pixels.shape).encode() + np.ascontiguousarray(pixels).tobytes()).digest()


def names_thing(phrase: str, thing: Thing) -> bool:
    """Whether a phrase names a thing: its kind last, before it any of its colour and its material."""
    if not phrase.endswith(thing.kind):
        return False
    return set(phrase.removesuffix(thing.kind).split()) <= {thing.colour, thing.material}


def visible_boxes(rendered: RenderedScene) -> list[tuple[Thing, ShareBox, float]]:
    """Every thing that can be seen: its box as shares of the picture, and the share of the picture that it shows."""
    height, width = rendered.pixels.shape[:2]
    listed = []
    for one in rendered.seen():
        if one.box is not None:
            left, top, right, bottom = one.box
            box = (left / width, top / height, right / width, bottom / height)
            listed.append((one.thing, box, float(one.mask.mean())))
    return listed


@dataclass
class SceneBook:
    """The scenes behind pictures, by their pixels."""

    scenes: dict[bytes, tuple[Scene, RenderedScene]] = field(default_factory=dict)

    def draw(self, scene: Scene) -> bytes:
        """The scene as an encoded picture, which the tools know from now on."""
        rendered = render_scene(scene)
        self.scenes[_key(rendered.pixels)] = scene, rendered
        return encode_pixels(rendered.pixels)

    def behind(self, pixels: Pixels) -> tuple[Scene, RenderedScene]:
        """The scene that a picture shows."""
        return self.scenes[_key(pixels)]


@dataclass(frozen=True)
class ExactFinder:
    """Every visible thing that the phrase names. The more of it can be seen, the surer; never under 0.5."""

    book: SceneBook
    name: str = "exact"
    version: str = "1"
    thresholds: Thresholds = Thresholds()
    missed_source_fails: bool = True

    def params(self, phrase: str) -> JsonDict | None:
        return {"phrase": phrase}

    def search(self, pixels: Pixels, phrase: str) -> Sequence[Detection]:
        height, width = pixels.shape[:2]
        found = [
            Detection((box[0] * width, box[1] * height, box[2] * width, box[3] * height), phrase, 0.5 + share / 2)
            for thing, box, share in visible_boxes(self.book.behind(pixels)[1])
            if names_thing(phrase, thing)
        ]
        return sorted(found, key=lambda one: -one.score)

    def chosen(self, found: Sequence[Detection], phrase: str) -> Sequence[Detection]:  # noqa: ARG002
        return found


def most_in_crop(rendered: RenderedScene, kind: str, crop: ShareBox | None) -> Thing | None:
    """The thing of a kind that fills most of a crop; None where the crop shows none."""
    best: tuple[float, Thing | None] = (0.0, None)
    for thing, (left, top, right, bottom), _ in visible_boxes(rendered):
        if thing.kind == kind:
            x0, y0, x1, y1 = crop or (0.0, 0.0, 1.0, 1.0)
            common = max(0.0, min(right, x1) - max(left, x0)) * max(0.0, min(bottom, y1) - max(top, y0))
            if common > best[0] + 1e-9:
                best = common, thing
    return best[1]


@dataclass(frozen=True)
class ExactAnswers:
    """What a person who sees the scene would say."""

    book: SceneBook
    kinds: tuple[str, ...]
    name: str = "exact"
    version: str = "1"
    compares: bool = False

    async def answer(self, question: YesNoQuestion, after: Pixels, before: Pixels) -> bool | None:  # noqa: ARG002
        scene, rendered = self.book.behind(after)
        if question.kind == "background":
            return backdrop_of(scene.backdrop).description == question.value
        if question.kind == "replaced":
            return any(names_thing(question.value, thing) for thing, _, _ in visible_boxes(rendered))
        kind = max((kind for kind in self.kinds if f"{kind} " in question.text), key=len)
        thing = most_in_crop(rendered, kind, question.box)
        if thing is None:
            return False
        return question.value == (thing.colour if question.kind == "color" else thing.material)


@dataclass(frozen=True)
class ExactReader:
    """The texts of the things in a crop."""

    book: SceneBook
    name: str = "exact"
    version: str = "1"

    async def read(self, pixels: Pixels, box: ShareBox | None) -> Sequence[TextLine]:
        x0, y0, x1, y1 = box or (0.0, 0.0, 1.0, 1.0)
        return [
            TextLine(thing.text, 1.0, (left, top, right, bottom))
            for thing, (left, top, right, bottom), _ in visible_boxes(self.book.behind(pixels)[1])
            if thing.text and x0 <= (left + right) / 2 <= x1 and y0 <= (top + bottom) / 2 <= y1
        ]


def exact_toolbox(book: SceneBook, kinds: tuple[str, ...]) -> Toolbox:
    """Exact detection, answers and texts; the rest as offline."""
    return Toolbox(
        ExactFinder(book), ExactAnswers(book, kinds), ExactReader(book), PerceptualComparer(), find_metric("brisque")
    )
