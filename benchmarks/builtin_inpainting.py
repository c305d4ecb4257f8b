"""What `builtin` is tuned on beside `studio`: editors that work inside a mask, over openly licensed photographs.

A cut-out thing (Tux Paint's stamps) is added to a photograph or removed from it. Each made-up editor has one habit, as
inpainting models do: the right thing, the right thing blurred, in a box of flat colour or half transparent, another
thing, the place filled from its surroundings, noise, the source handed back. Some outputs are also damaged outside of
the mask, at a known level. What an output is worth follows from how it was made.

    python benchmarks/fetch_photographs.py PHOTOGRAPHS     (and tuxpaint-stamps-default unpacked into PACKAGES)
    python -m benchmarks.builtin_inpainting PHOTOGRAPHS PACKAGES [--items 40] [--half choose|report]

Prints the pooled Spearman correlation of `builtin` with that worth, the mean one within an editor, and the mean score
of each editor. The half `choose` was tuned on, `report` was not.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray
from PIL import Image
from scipy.stats import spearmanr

from imarena.core.protocols import Exhibit
from imarena.judges.builtin.judge import BuiltinJudge
from imarena.preferences import apply_damage, damage_kinds
from imarena.studio import encode_pixels

Pixels = NDArray[np.uint8]
Square = tuple[int, int, int]
"""Left, top and side."""
SIDE = 512
WORTH = {
    "right": 1.0, "faint": 0.5, "blurred": 0.55, "boxed": 0.45, "other": 0.15, "filled": 0.05,
    "noise": 0.0, "copy": 0.0,
}  # fmt: skip
"""What each habit of an editor is worth without further damage."""
REMOVED = {"right": 1.0, "smeared": 0.7, "blurred": 0.1, "other": 0.15, "noise": 0.0, "copy": 0.0, "half": 0.3}


@dataclass(frozen=True)
class MadeOutput:
    """One output: who made it and what it is worth."""

    item: int
    editor: str
    exhibit: Exhibit
    worth: float


def _things(packages: Path) -> list[tuple[str, Pixels]]:
    """Cut-out things with the English name that their file gives."""
    found = []
    for text in sorted(packages.rglob("stamps/**/*.txt")):
        picture = text.with_suffix(".png")
        words = text.read_text(encoding="utf-8", errors="ignore").splitlines()[:1]
        named = words and 3 < len(words[0]) < 30 and words[0].lower().startswith(("a ", "an "))
        if not named or not picture.is_file():
            continue
        with Image.open(picture) as image:
            if image.mode != "RGBA" or min(image.size) < 100:
                continue
            values = np.asarray(image, np.uint8)
        if 0.15 < (values[..., 3] > 128).mean() < 0.95:
            found.append((words[0].strip(" .!").lower(), values))
    return found


def _photographs(folder: Path, half: str) -> list[Pixels]:
    labels = yaml.safe_load((Path(__file__).parent / "photographs.yaml").read_text(encoding="utf-8"))
    found = []
    for picture in labels["pictures"]:
        if picture["half"] != half or picture.get("words"):
            continue
        with Image.open(folder / picture["file"]) as image:
            rgb = image.convert("RGB")
        side = min(rgb.size)
        left, top = (rgb.width - side) // 2, (rgb.height - side) // 2
        found.append(np.asarray(rgb.crop((left, top, left + side, top + side)).resize((SIDE, SIDE)), np.uint8))
    return found


def _pasted(photo: Pixels, thing: Pixels, box: Square, opacity: float = 1.0, sigma: float = 0.0) -> Pixels:
    """The thing on the photograph; `box` is left, top and side."""
    left, top, side = box
    scale = side / max(thing.shape[:2])
    small = cv2.resize(thing, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA).astype(np.float32)
    colour, alpha = small[..., :3], small[..., 3:] / 255 * opacity
    if sigma:
        mixed = np.dstack([colour * alpha, alpha])
        mixed = cv2.copyMakeBorder(mixed, 12, 12, 12, 12, cv2.BORDER_CONSTANT)
        mixed = cv2.GaussianBlur(mixed, (0, 0), sigma)
        alpha = mixed[..., 3:]
        colour, left, top = mixed[..., :3] / np.maximum(alpha, 1e-3), left - 12, top - 12
    out = photo.astype(np.float32)
    height, width = min(alpha.shape[0], SIDE - top), min(alpha.shape[1], SIDE - left)
    y, x = max(0, -top), max(0, -left)
    place = np.s_[top + y : top + height, left + x : left + width]
    alpha, colour = alpha[y:height, x:width], colour[y:height, x:width]
    out[place] += alpha * (colour - out[place])
    return np.asarray(np.clip(out, 0, 255), np.uint8)


def _inpainted(photo: Pixels, mask: NDArray[np.bool_]) -> Pixels:
    return np.asarray(cv2.inpaint(photo, mask.astype(np.uint8), 5, cv2.INPAINT_TELEA), np.uint8)


def _box_mask(box: Square) -> NDArray[np.bool_]:
    left, top, side = box
    mask = np.zeros((SIDE, SIDE), bool)
    mask[max(0, top) : top + side, max(0, left) : left + side] = True
    return mask


def _added(photo: Pixels, thing: Pixels, other: Pixels, box: Square, rng: np.random.Generator) -> dict[str, Pixels]:
    mask = _box_mask(box)
    flat = photo.copy()
    flat[mask] = photo[mask].mean(axis=0)
    noisy = photo.copy()
    noisy[mask] = cv2.GaussianBlur(rng.integers(0, 255, photo.shape).astype(np.float32), (0, 0), 3)[mask].clip(0, 255)
    return {
        "right": _pasted(photo, thing, box), "faint": _pasted(photo, thing, box, 0.35),
        "blurred": _pasted(photo, thing, box, sigma=4), "boxed": _pasted(flat, thing, box),
        "other": _pasted(photo, other, box), "filled": _inpainted(photo, mask), "noise": noisy, "copy": photo,
    }  # fmt: skip


def _gone(photo: Pixels, thing: Pixels, other: Pixels, box: Square, rng: np.random.Generator) -> dict[str, Pixels]:
    source = _pasted(photo, thing, box)
    changed = cv2.dilate((source != photo).any(axis=2).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    half = source.copy()
    half[:, : box[0] + box[2] // 2] = photo[:, : box[0] + box[2] // 2]
    soft, noisy = source.copy(), source.copy()
    soft[changed] = cv2.GaussianBlur(source, (0, 0), 3)[changed]
    noisy[changed] = rng.integers(0, 255, source.shape)[changed]
    return {
        "right": photo, "smeared": _inpainted(source, changed), "blurred": soft, "other": _pasted(photo, other, box),
        "noise": noisy, "half": half, "copy": source,
    }  # fmt: skip


def made_outputs(photos: list[Pixels], things: list[tuple[str, Pixels]], items: int, seed: int) -> Iterator[MadeOutput]:
    """All outputs of all items; the same for the same arguments."""
    kinds = sorted(damage_kinds())
    for item in range(items):
        rng = np.random.default_rng([seed, item])
        photo = photos[int(rng.integers(len(photos)))]
        (name, thing), (_, other) = (things[int(i)] for i in rng.choice(len(things), 2, replace=False))
        side = int(rng.integers(110, 240))
        box = (int(rng.integers(0, SIDE - side)), int(rng.integers(0, SIDE - side)), side)
        adds = item % 3 != 2
        source = photo if adds else _pasted(photo, thing, box)
        outputs = (_added if adds else _gone)(photo, thing, other, box, rng)
        words = f"Add {name} to the picture" if adds else f"Remove the {name.split(' ', 1)[1]}"
        mask = _box_mask(box)
        for editor, output in outputs.items():
            level = float(rng.choice([0, 0, 0, 3, 8])) if editor != "copy" else 0.0
            kind = str(rng.choice(kinds))
            shown = apply_damage(output, kind, level, seed=item, region=mask)
            worth = (WORTH if adds else REMOVED)[editor] * (1.0 - level / 14.0)
            exhibit = Exhibit(words, encode_pixels(shown), sources=(encode_pixels(source),))
            yield MadeOutput(item, editor, exhibit, worth)


def tell(outputs: list[MadeOutput], scores: list[float]) -> None:
    """Print the figures."""
    worth = [output.worth for output in outputs]
    by: dict[str, list[int]] = defaultdict(list)
    for number, output in enumerate(outputs):
        by[output.editor].append(number)
    within = []
    for editor, numbers in sorted(by.items()):
        values = [worth[n] for n in numbers]
        rho = spearmanr(values, [scores[n] for n in numbers]).statistic if len(set(values)) > 1 else float("nan")
        within.append(rho)
        given = np.mean([scores[n] for n in numbers])
        print(f"  {editor:8s} worth {np.mean(values):.2f}   score {given:4.0f}   within {rho:.3f}")
    pooled = spearmanr(worth, scores).statistic
    print(f"pooled Spearman {pooled:.3f} of {len(outputs)} outputs, mean within {np.nanmean(within):.3f}")


def main() -> None:
    """Make the outputs, score them and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photographs", type=Path)
    parser.add_argument("packages", type=Path)
    parser.add_argument("--items", type=int, default=40)
    parser.add_argument("--half", choices=["choose", "report"], default="choose")
    options = parser.parse_args()
    things = _things(options.packages)
    things = things[::2] if options.half == "choose" else things[1::2]
    photos = _photographs(options.photographs, options.half)
    print(f"{len(photos)} photographs, {len(things)} things")
    judge = BuiltinJudge()
    outputs = list(made_outputs(photos, things, options.items, seed=5))
    scores = [asyncio.run(judge.judge(output.exhibit)).score or 0.0 for output in outputs]
    tell(outputs, scores)


if __name__ == "__main__":
    main()
