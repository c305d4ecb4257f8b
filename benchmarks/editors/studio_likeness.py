"""How far the pictures of the bundled benchmark and others are apart, by the likeness that the studio editors go by.

    python -m benchmarks.editors.studio_likeness                    all entries, all editors, about 1,300 other pictures
    python -m benchmarks.editors.studio_likeness --museum FOLDER    and the JPEG files below a folder

Own pictures are the sources and what each editor makes of them, turn after turn, and once more on its own output; each
also as a coarse JPEG, at a third of the size, and with noise. `studio-new-image` draws something else by design and is
left out. Others are drawings of a few flat shapes, landscapes, tables, windows, gradients, noise, the guide's
screenshots and the bundled photographs mirrored, turned and cut. The likeness is the best over all entries; for own
pictures, over their own.
"""

import argparse
import asyncio
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from imarena.core import Pixels
from imarena.core.protocols import EditRequest
from imarena.editors.studio.editors import StudioEditor, studio_editors
from imarena.studio import SHOWN, BenchmarkEntry, detail_agreement, entries, photos, render_picture, render_scene
from imarena.studio.canvases import decode_pixels
from imarena.studio.photos import photo_bytes

Shown = tuple[str, Pixels]
SIDE = 256
"""Everything is shrunk to this first: the likeness looks at 64 pixels across."""


def small(pixels: Pixels) -> Pixels:
    """A square copy."""
    return np.asarray(cv2.resize(np.ascontiguousarray(pixels), (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.uint8)


def worn(name: str, data: bytes) -> Iterator[Shown]:
    """A picture as it is and as others may hand it on."""
    pixels = decode_pixels(data)
    sink = BytesIO()
    Image.fromarray(pixels).save(sink, "JPEG", quality=25)
    third = cv2.resize(pixels, None, fx=0.33, fy=0.33, interpolation=cv2.INTER_AREA)
    noise = np.random.default_rng(0).normal(0, 30, pixels.shape)
    yield name, small(pixels)
    yield f"{name}, jpeg", small(decode_pixels(sink.getvalue()))
    yield f"{name}, a third", small(np.asarray(third, np.uint8))
    yield f"{name}, noise", small(np.asarray(np.clip(pixels + noise, 0, 255), np.uint8))


def own(entry: BenchmarkEntry) -> Iterator[Shown]:
    """An entry's source and all that the editors make of it."""
    if entry.scene is not None:
        yield from worn(f"{entry.key}, source", render_picture(entry.scene))
        for editor in studio_editors():
            if editor.habit != "new-image":
                yield from chain(entry, editor, render_picture(entry.scene))


def chain(entry: BenchmarkEntry, editor: StudioEditor, source: bytes) -> Iterator[Shown]:
    """One editor's pictures of all turns, each asked for twice."""
    for turn, step in enumerate(entry.steps):
        for seed in (42, 1042):
            made = asyncio.run(editor.edit(EditRequest(step.instruction, (source,), seed=seed)))
            if made.image is None:
                return
            source = made.image
            yield from worn(f"{entry.key}, {editor.habit}, turn {turn + 1}, seed {seed}", source)


def flat(seed: int, kind: str) -> Pixels:
    """A drawing of a few flat shapes: anything, a landscape, a table, or a program's window."""
    rng = np.random.default_rng([seed, len(kind)])
    width, height = (int(side) for side in rng.integers(300, 900, 2))
    image = Image.new("RGB", (width, height), "white" if rng.random() < 0.3 else colour(rng))
    draw = ImageDraw.Draw(image)
    line = float(rng.uniform(0.4, 0.75)) * height
    if kind == "window":
        draw.rectangle((0, 0, width, height * 0.08), fill=colour(rng))
        for row in range(int(rng.integers(3, 16))):
            where = (width * 0.33, height * (0.15 + 0.05 * row))
            draw.text(where, "a line of words " * int(rng.integers(1, 4)), fill="grey", font=ImageFont.load_default(14))
    elif kind != "drawing" or rng.random() < 0.5:
        draw.rectangle((0, line, width, height), fill=colour(rng))
    for _ in range(int(rng.integers(0, 7))):
        x, y = rng.uniform(0, width), rng.uniform(0, height) if kind == "drawing" else line + rng.uniform(-40, 60)
        wide, tall = rng.uniform(0.05, 0.3, 2) * (width, height)
        box = (x - wide / 2, y - tall, x + wide / 2, y)
        (draw.rectangle, draw.ellipse)[int(rng.integers(2))](box, fill=colour(rng))
        if rng.random() < 0.3:
            draw.polygon([(box[0], box[1]), (box[2], box[1]), (x, box[1] - tall / 2)], fill=colour(rng))
    return np.array(image)


def colour(rng: np.random.Generator) -> tuple[int, int, int]:
    """Any colour."""
    red, green, blue = (int(part) for part in rng.integers(0, 256, 3))
    return red, green, blue


def smooth(seed: int) -> Pixels:
    """A gradient, or noise of some coarseness."""
    rng = np.random.default_rng([seed, 99])
    if seed % 2:
        ramp = np.linspace(0, 1, SIDE)
        across = rng.uniform(-1, 1) * ramp[None, :] + rng.uniform(-1, 1) * ramp[:, None]
        across = (across - across.min()) / max(float(np.ptp(across)), 1e-6)
        ends = rng.integers(0, 256, (2, 3))
        return np.asarray(ends[0] + (ends[1] - ends[0]) * across[..., None], np.uint8)
    noise = cv2.GaussianBlur(rng.normal(0, 1, (SIDE, SIDE, 3)), (0, 0), float(rng.uniform(0.5, 25)))
    return np.asarray(np.clip(noise / noise.std() * 50 + 128, 0, 255), np.uint8)


def others(museum: Path | None) -> Iterator[Shown]:
    """Pictures that have nothing to do with the benchmark."""
    for kind, count in (("drawing", 600), ("landscape", 200), ("table", 200), ("window", 100)):
        for seed in range(count):
            yield f"{kind} {seed}", small(flat(seed, kind))
    for seed in range(60):
        yield f"smooth {seed}", small(smooth(seed))
    for photo in photos():
        pixels = decode_pixels(photo_bytes(photo.name))
        high, wide = (side // 4 for side in pixels.shape[:2])
        turned = {"mirrored": pixels[:, ::-1], "upside down": pixels[::-1], "turned": np.rot90(pixels)}
        cut = {"its corner": pixels[: 2 * high, : 2 * wide], "its middle": pixels[high:-high, wide:-wide]}
        for how, changed in (turned | cut).items():
            yield f"{photo.name}, {how}", small(changed)
    guide = Path(__file__).parents[2] / "docs/guide/images"
    found = [*sorted(guide.glob("*.png")), *(sorted(museum.rglob("*.jpg")) if museum else ())]
    for path in found:
        yield path.name, small(decode_pixels(path.read_bytes()))


def told(title: str, rows: list[tuple[float, str]], *, lowest: bool) -> None:
    """How many there are, the quantiles and the worst."""
    values = np.array([value for value, _ in rows])
    ends = np.quantile(values, (0, 0.005, 0.05) if lowest else (1, 0.995, 0.95))
    print(f"{title}: {len(rows):,} pictures; worst {ends[0]:.2f}, 0.5% {ends[1]:.2f}, 5% {ends[2]:.2f}")
    for value, name in sorted(rows, reverse=not lowest)[:4]:
        print(f"  {value:.2f}  {name}")


def main() -> None:
    """Print both tables and how many would be taken for the other kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--museum", type=Path, help="A folder with more pictures (JPEG) from elsewhere.")
    museum = parser.parse_args().museum
    cv2.setNumThreads(1)
    known: list[Pixels] = []
    mine: list[tuple[float, str]] = []
    for entry in entries():
        scenes = [entry.scene_after(turn) for turn in range(len(entry.steps) + 1)] if entry.scene else []
        looks = [small(render_scene(scene).pixels) for scene in scenes if scene is not None]
        mine += [(max(detail_agreement(pixels, look) for look in looks), name) for name, pixels in own(entry)]
        known += looks
    theirs = [(max(detail_agreement(pixels, look) for look in known), name) for name, pixels in others(museum)]
    told("own", mine, lowest=True)
    told("others", theirs, lowest=False)
    refused, taken = sum(value < SHOWN for value, _ in mine), sum(value >= SHOWN for value, _ in theirs)
    print(f"at {SHOWN}: {refused} own pictures refused, {taken} others taken")


if __name__ == "__main__":
    main()
