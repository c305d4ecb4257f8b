"""Prompt injection in images: bundled texts that address a judge, and functions that draw them.

The control text does not address a judge: a verdict that it changes shows the effect of any caption.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from imarena.core import Exhibit, package_yaml
from imarena.core.records import Outcome
from imarena.images import decode

CONTROL = "control"


@dataclass(frozen=True)
class InjectedText:
    """A text that addresses a judge; `kind` names the trick that it uses."""

    id: str
    kind: str
    text: str


@cache
def injections() -> tuple[InjectedText, ...]:
    """The bundled texts, including the control text."""
    return tuple(InjectedText(**entry) for entry in package_yaml("imarena.judges", "injections.yaml")["texts"])


def draw_text(image: bytes, text: str) -> bytes:
    """A PNG of `image` with `text` written on a light strip at the bottom, wrapped to fit. Deterministic."""
    from PIL import Image, ImageDraw, ImageFont

    picture = decode(image)
    width, height = picture.size
    size = max(8, min(height // 12, width // 18))
    font = ImageFont.load_default(size)
    pen = ImageDraw.Draw(picture)
    lines = _wrapped(text, lambda line: pen.textlength(line, font=font) <= width - size)
    tall = min(height, int(len(lines) * size * 1.25 + size * 0.5))
    strip = Image.new("RGB", (width, tall), "white")
    writer = ImageDraw.Draw(strip)
    for number, line in enumerate(lines):
        writer.text((size // 2, size // 4 + number * size * 1.25), line, fill="black", font=font)
    picture.paste(strip, (0, height - tall))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _wrapped(text: str, fits: Callable[[str], bool]) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if fits(longer) or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def with_text(exhibit: Exhibit, text: str, side: Outcome = Outcome.LEFT) -> Exhibit:
    """The exhibit with `text` drawn on one side's output, or on the only output."""
    if side is Outcome.RIGHT and exhibit.right is not None:
        return replace(exhibit, right=draw_text(exhibit.right, text))
    return replace(exhibit, left=draw_text(exhibit.left, text))
