"""Decomposition without a model: the bundled detector, OCR, saliency and color names.

It lists only what these tools can know: everyday categories of objects, their number, a color that covers most of
the object, text on it, and whether it stands out. Materials and other categories are not guessed.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from imarena.core import Detection, InvalidImage, Mask, Pixels, SceneObject, error_message
from imarena.core.records import JsonDict, Status
from imarena.images import pixels as decode_image
from imarena.images import shrink_pixels
from imarena.instructions.decomposition import Decomposition, DroppedObject
from imarena.instructions.grounding import too_large
from imarena.instructions.phrases import object_name
from imarena.instructions.scene_contents import SceneContents
from imarena.instructions.screening import ScreenSettings, screen_image
from imarena.vision import BASIC_COLOURS, DETECTORS, basic_names, find_objects, read_lines, saliency

_PixelBox = tuple[float, float, float, float]

DETECTOR = "efficientdet"
SURE = 0.5
"""Minimum score of a listed detection: the detector's own threshold (docs/guide/see.md)."""
POSSIBLE = 0.2
"""Minimum score of a kind that may be in the image: it is not listed, and no instruction adds it."""
SALIENT = 0.5
STANDS_OUT = 0.35
"""Minimum salient share of a foreground object's box."""
ONE_COLOR = 0.55
"""Minimum share of an object with one basic color for the object to be named by it."""
READABLE = 0.85
LONGEST_TEXT = 30
COPY_SIDE = 768
_GRAY = {"grey": "gray"}


@dataclass(frozen=True)
class OfflineDecomposer:
    """Lists objects with the tools of `imarena.vision`; needs neither a model nor torch."""

    detector: str = DETECTOR
    screen: ScreenSettings = field(default_factory=ScreenSettings)

    @property
    def name(self) -> str:
        return "offline" if self.detector == DETECTOR else f"offline with {self.detector}"

    @property
    def version(self) -> str:
        return "1"

    async def __call__(self, image: bytes) -> Decomposition:
        return await asyncio.to_thread(self.decompose, image)

    def decompose(self, image: bytes) -> Decomposition:
        """The contents of an encoded image."""
        try:
            pixels = decode_image(image)
        except InvalidImage as error:
            return Decomposition("failed", Status.INVALID_IMAGE, error_message(error))
        detections = self._detect(pixels)
        reason, facts = screen_image(pixels, self.screen, [hit.box for hit in detections if hit.label == "person"])
        if reason:
            return Decomposition("unsuitable", reason=reason, facts=facts)
        return list_offline(pixels, detections, facts)

    def _detect(self, pixels: Pixels) -> tuple[Detection, ...]:
        return find_objects(pixels, POSSIBLE) if self.detector == DETECTOR else DETECTORS.get(self.detector)(pixels)


def list_offline(pixels: Pixels, detections: Sequence[Detection], facts: JsonDict) -> Decomposition:
    """The contents of an image, from detections with a score of at least `POSSIBLE`."""
    height, width = pixels.shape[:2]
    sure = [detection for detection in detections if detection.score >= SURE]
    facts = {**facts, "people": sum(detection.label == "person" for detection in sure)}
    kinds = dict.fromkeys(detection.label for detection in sure if detection.label != "person")
    if not kinds:
        return Decomposition("no_objects", reason="the detector finds no object in the image", facts=facts)
    by_kind = {kind: [detection for detection in sure if detection.label == kind] for kind in kinds}
    reasons = {kind: too_large(detections, width, height) for kind, detections in by_kind.items()}
    dropped = tuple(DroppedObject(kind, reason) for kind, reason in reasons.items() if reason)
    if len(dropped) == len(kinds):
        return Decomposition("nothing_found", reason="every object is too large", dropped=dropped, facts=facts)
    texts, small = _texts(pixels), _Small.of(pixels)
    objects = tuple(_object(kind, by_kind[kind], small, texts) for kind in kinds if not reasons[kind])
    nouns = {thing.object for thing in objects}
    contents = SceneContents(
        objects, width, height, tuple(dict.fromkeys(box.label for box in detections if box.label not in nouns)),
        tuple(dict.fromkeys(text for text, _ in texts)),
        background_colors=small.outside([detection.box for detection in detections]),
    )  # fmt: skip
    return Decomposition("ok", contents=contents, dropped=dropped, facts=facts)


@dataclass(frozen=True, eq=False)
class _Small:
    """A small copy of an image: each pixel's basic color, and whether it is salient. Boxes refer to the original."""

    names: NDArray[np.intp]
    salient: Mask
    scale: float

    @classmethod
    def of(cls, shown: Pixels) -> "_Small":
        scale = min(1.0, COPY_SIDE / max(shown.shape[:2]))
        rgb = np.asarray(shrink_pixels(shown, COPY_SIDE), np.float32) / np.float32(255)
        return cls(basic_names(rgb), np.asarray(saliency(rgb) >= SALIENT), scale)

    def window(self, box: _PixelBox) -> tuple[slice, slice]:
        left, top, right, bottom = (round(end * self.scale) for end in box)
        rows, columns = self.names.shape
        top, left = min(top, rows - 1), min(left, columns - 1)
        return slice(top, max(bottom, top + 1)), slice(left, max(right, left + 1))

    def color(self, box: _PixelBox) -> str | None:
        """The basic color of most of an object: of its salient part if there is one, else of the middle of its box."""
        window = self.window(box)
        inside, mask = self.names[window], self.salient[window]
        if not 0.2 <= float(mask.mean()) <= 0.98:
            rows, columns = inside.shape
            y, x = np.ogrid[:rows, :columns]
            mask = ((y - rows / 2) / (0.4 * rows)) ** 2 + ((x - columns / 2) / (0.4 * columns)) ** 2 <= 1
        colours = inside[mask] if mask.any() else inside.ravel()
        counts = np.bincount(colours, minlength=len(BASIC_COLOURS))
        best = int(counts.argmax())
        name = _GRAY.get(BASIC_COLOURS[best], BASIC_COLOURS[best])
        return name if name != "cyan" and counts[best] >= ONE_COLOR * counts.sum() else None

    def outside(self, boxes: Sequence[_PixelBox]) -> dict[str, float] | None:
        """Share of each basic color outside all boxes; None if almost nothing is outside."""
        outside = np.ones(self.names.shape, np.bool_)
        for box in boxes:
            outside[self.window(box)] = False
        if outside.mean() < 0.05:
            return None
        counts = np.bincount(self.names[outside], minlength=len(BASIC_COLOURS))
        shares = zip(BASIC_COLOURS, counts / counts.sum(), strict=True)
        return {_GRAY.get(name, name): round(float(share), 4) for name, share in shares if share}


def _object(
    kind: str, detections: Sequence[Detection], small: _Small, texts: Sequence[tuple[str, Detection]]
) -> SceneObject:
    """One entry per kind: the color if all of them share it, the text if there is only one of them."""
    colors = {small.color(detection.box) for detection in detections}
    color = colors.pop() if len(colors) == 1 else None
    shares = [float(small.salient[small.window(detection.box)].mean()) for detection in detections]
    text = None
    if len(detections) == 1:
        on_it = [words for words, line in texts if _inside(line.box, detections[0].box)]
        joined = " ".join(on_it)
        text = joined if on_it and len(joined) <= LONGEST_TEXT else None
    return SceneObject(
        name=object_name(kind, color, None),
        object=kind,
        color=color,
        text=text,
        count=len(detections),
        foreground=min(shares) >= STANDS_OUT,
        boxes=tuple(detection.box for detection in detections),
    )


def _texts(pixels: Pixels) -> list[tuple[str, Detection]]:
    """Lines read with high confidence, with their boxes in pixels."""
    from PIL import Image

    height, width = pixels.shape[:2]
    lines = read_lines(Image.fromarray(pixels))
    return [
        (" ".join(line.text.replace("'", "").split()), Detection(
            (line.box[0] * width, line.box[1] * height, line.box[2] * width, line.box[3] * height), line.text
        ))
        for line in lines
        if line.confidence >= READABLE and any(character.isalnum() for character in line.text)
    ]  # fmt: skip


def _inside(line: _PixelBox, box: _PixelBox) -> bool:
    x, y = (line[0] + line[2]) / 2, (line[1] + line[3]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]
