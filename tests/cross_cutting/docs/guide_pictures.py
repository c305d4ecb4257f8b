"""The pictures of the guides: tests make them, and every one that they make is shown by a page."""

import io
import os
import re
from functools import cache
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "guide" / "images"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_SHOWN = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


@cache
def shown() -> dict[str, list[str]]:
    """The file names in the folder that pages show, each with these pages."""
    found: dict[str, list[str]] = {}
    for page in PAGES:
        for target in _SHOWN.findall(page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve()
            if path.parent == FOLDER:
                found.setdefault(path.name, []).append(str(page.relative_to(ROOT)))
    return found


def keep(page: Page, name: str) -> None:
    """Keep a picture of a page in the folder IMARENA_SCREENSHOTS, where it is set (``make pictures``)."""
    if f"{name}.png" not in shown():
        raise AssertionError(f"no guide shows {name}.png: show it in docs/guide, or make no picture")
    taken = page.screenshot()
    folder = os.environ.get("IMARENA_SCREENSHOTS")
    if folder:
        whole = Image.open(io.BytesIO(taken)).convert("RGB")
        Path(folder).mkdir(parents=True, exist_ok=True)
        _few_colours(whole).save(Path(folder) / f"{name}.png", optimize=True)


def _few_colours(image: Image.Image) -> Image.Image:
    """The picture in 256 colours, a third of the bytes: the 96 that the page uses most as they are, the rest close."""
    used = sorted(image.getcolors(image.width * image.height) or [], reverse=True)[:96]
    exact = [int(part) for _, colour in used if isinstance(colour, tuple) for part in colour]
    near = image.quantize(256 - len(exact) // 3).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette((exact + near)[:768])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)
