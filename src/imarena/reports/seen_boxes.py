"""Draw what was detected in an image on top of it: boxes of objects, faces, words and the salient region."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from imarena.images import decode

LONG_SIDE = 1600
"""A larger image is scaled down, so that boxes and their labels stay readable."""
COLOURS = {"salient": (255, 200, 0), "objects": (230, 30, 60), "faces": (20, 140, 255), "words": (20, 160, 60)}


@dataclass(frozen=True, slots=True)
class SeenBox:
    """Something that a tool detected in an image: left, top, right and bottom in pixels, and the tool's score."""

    box: tuple[float, float, float, float]
    score: float
    label: str = ""
    """The kind of object, or the text; empty for the salient region."""
    share: float | None = None
    """The share of the image, for a region that is not a rectangle."""


def picture_with_boxes(data: bytes, boxes: Mapping[str, Sequence[SeenBox]]) -> bytes:
    """A PNG of the image with boxes (in its pixels) by kind of detection; see the names in `COLOURS`."""
    image = decode(data)
    scale = min(1.0, LONG_SIDE / max(image.size))
    size = max(1, round(image.size[0] * scale)), max(1, round(image.size[1] * scale))
    canvas = image.resize(size, Image.Resampling.LANCZOS) if scale < 1 else image.copy()
    pen = ImageDraw.Draw(canvas)
    font = ImageFont.load_default(max(10, min(size) // 40))
    width = max(1, max(size) // 400)
    for kind, colour in COLOURS.items():
        for entry in boxes.get(kind, ()):
            left, top, right, bottom = (end * scale for end in entry.box)
            pen.rectangle((left, top, max(left, right - 1), max(top, bottom - 1)), outline=colour, width=width)
            label = f"{_printable(entry.label or kind)} {entry.score:.2f}"
            area = pen.textbbox((left + width, top + width), label, font=font)
            pen.rectangle(area, fill=colour)
            pen.text((left + width, top + width), label, fill=(255, 255, 255), font=font)
    buffer = io.BytesIO()
    canvas.save(buffer, "PNG")
    return buffer.getvalue()


def _printable(text: str) -> str:
    """Text from an image as a short line of printable characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:40]
