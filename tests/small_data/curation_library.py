"""A folder of images with metadata, made from the bundled photographs and rendered scenes."""

import csv
import io
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from PIL import Image

from imarena.studio import photo_of

HEADER = ("file_name", "title", "text", "licence", "creator")


def photograph(name: str, *, long_side: int = 400, quality: int = 88) -> bytes:
    """A bundled photograph, scaled down, as JPEG."""
    data = (files("imarena.studio") / "photographs" / f"{name}.jpg").read_bytes()
    with Image.open(io.BytesIO(data)) as image:
        image.thumbnail((long_side, long_side))
        file = io.BytesIO()
        image.convert("RGB").save(file, "JPEG", quality=quality)
    return file.getvalue()


def make_library(folder: Path, texts: Mapping[str, str], *, licence: str = "") -> Path:
    """Write photographs (`name` or `name=other file`) with the texts that their metadata state."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, text in texts.items():
        photo, _, called = name.partition("=")
        saved = f"{called or photo}.jpg"
        (folder / saved).write_bytes(photograph(photo))
        rows.append((saved, "", text, licence or photo_of(photo).licence, photo_of(photo).author))
    with (folder / "metadata.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(HEADER)
        table.writerows(rows)
    return folder


def make_instructions(path: Path, *rows: tuple[str, str, str, str]) -> Path:
    """A table of key, instruction, task and topic."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("key", "instruction", "task", "topic"))
        table.writerows(rows)
    return path
