"""Small edits with a known amount of damage outside the edit region, as a folder that `imarena import table` reads."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.core import EditRequest
from imarena.images import pixels

Pixels = NDArray[np.uint8]
SIZE = 96
BOX = slice(30, 62), slice(34, 66)
"""Where the edit is."""


def scene(seed: int) -> Pixels:
    """A smooth random picture with one patterned square."""
    rng = np.random.default_rng(seed)
    small = rng.integers(60, 200, (8, 8, 3), dtype=np.uint8)
    picture = np.asarray(cv2.resize(small, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC), np.uint8).copy()
    rows, columns = np.mgrid[0:32, 0:32]
    picture[BOX] = np.where(((rows // 4 + columns // 4) % 2)[..., None] == 0, (200, 60, 50), (150, 30, 30))
    return picture


def edited(source: Pixels, damage: float, seed: int = 0) -> Pixels:
    """The square in blue, and noise of this strength everywhere else."""
    output = source.astype(np.float64)
    noise = np.random.default_rng(seed).normal(0, 1, source.shape)
    outside = np.ones(source.shape[:2], bool)
    outside[BOX] = False
    output[outside] += (noise * damage)[outside]
    result = np.clip(np.rint(output), 0, 255).astype(np.uint8)
    result[BOX] = source[BOX][..., ::-1]
    return result


def png_bytes(pixels: Pixels) -> bytes:
    """The picture as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


DAMAGE = {"clean": 0.0, "slight": 6.0, "strong": 18.0, "broken": 45.0}


def write_arena(folder: Path, items: int = 4, names: dict[str, str] | None = None, task: str = "color_alter") -> Path:
    """Items and four editors' outputs. `names`: other names for the editors."""
    (folder / "sources").mkdir(parents=True)
    lines = []
    for number in range(items):
        source = scene(number)
        Image.fromarray(source).save(folder / f"sources/{number}.png")
        lines.append({"key": f"k{number}", "instruction": "make the tile blue", "source": f"sources/{number}.png",
                      "task": task})  # fmt: skip
        for editor, damage in DAMAGE.items():
            home = folder / "outputs" / (names or {}).get(editor, editor)
            home.mkdir(parents=True, exist_ok=True)
            Image.fromarray(edited(source, damage, number)).save(home / f"k{number}.png")
    (folder / "items.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return folder


def editor_of(damage: float) -> Callable[[EditRequest], Image.Image]:
    """An editor that does this damage."""
    return lambda request: Image.fromarray(edited(pixels(request.sources[0]), damage))


clean, slight, strong, broken = map(editor_of, DAMAGE.values())
