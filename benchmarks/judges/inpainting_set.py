"""Edits inside a mask with a known worth, made from openly licensed photographs: what `builtin` is tuned and tested on.

A thing is added to a photograph, removed from it or replaced by another thing. The things are cut out of other labelled
photographs and of Tux Paint's stamps. An editor here is what inpainting models are: a way to render (equal to the
source outside of the mask, coded anew, at half the resolution) and a chance for each content of the mask (the right
thing, another thing, the background continued, half of the thing, noise). Which of them came about decides what the
output is worth: sqrt(content * quality), as people's ratings are combined in ImagenHub.

The half `choose` and the half `report` share no photograph, no thing and no editor.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray
from PIL import Image

from imarena.core.protocols import Exhibit
from imarena.studio import encode_pixels
from imarena.vision import saliency

LABELS = Path(__file__).parents[1] / "photographs" / "photographs.yaml"
Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Square = tuple[int, int, int]
"""Left, top and side."""
SIDE = 512


@dataclass(frozen=True)
class Thing:
    """A cut-out thing, red, green, blue and opacity, and its name with an article."""

    name: str
    pixels: Pixels


@dataclass(frozen=True)
class Scene:
    """One item: the photograph, the place, the thing that is asked for and another one."""

    photo: Pixels
    box: Square
    thing: Thing
    other: Thing
    elsewhere: Pixels
    """Another photograph."""
    rng: np.random.Generator

    @property
    def mask(self) -> Mask:
        """What an editor may change."""
        left, top, side = self.box
        mask = np.zeros((SIDE, SIDE), bool)
        mask[max(0, top) : top + side, max(0, left) : left + side] = True
        return mask


@dataclass(frozen=True)
class MadeOutput:
    """One output: who made it, what is in the mask, and what it is worth."""

    item: int
    editor: str
    content: str
    exhibit: Exhibit
    worth: float


def _square(image: Image.Image) -> Pixels:
    rgb = image.convert("RGB")
    side = min(rgb.size)
    left, top = (rgb.width - side) // 2, (rgb.height - side) // 2
    return np.asarray(rgb.crop((left, top, left + side, top + side)).resize((SIDE, SIDE)), np.uint8)


def _labelled(half: str) -> list[dict[str, object]]:
    labels = yaml.safe_load(LABELS.read_text(encoding="utf-8"))
    return [entry for entry in labels["pictures"] if entry["half"] == half and not entry.get("words")]


def photographs(folder: Path, half: str) -> list[Pixels]:
    """The half's photographs, their middle, 512 x 512."""
    found = []
    for entry in _labelled(half):
        with Image.open(folder / str(entry["file"])) as image:
            found.append(_square(image))
    return found


def stamps(packages: Path, half: str) -> list[Thing]:
    """Tux Paint's stamps with an English name, every second one."""
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
            found.append(Thing(words[0].strip(" .!").lower(), values))
    return found[::2] if half == "choose" else found[1::2]


def cut_outs(folder: Path, half: str) -> list[Thing]:
    """Things that stand alone in a labelled box, cut out by what is salient there."""
    found = []
    for entry in _labelled(half):
        with Image.open(folder / str(entry["file"])) as image:
            rgb = image.convert("RGB")
        for name, boxes in dict(entry.get("objects") or {}).items():  # type: ignore[call-overload]
            if len(boxes) != 1:
                continue
            left, top, right, bottom = (v / 100 for v in boxes[0])
            if not 0.02 < (right - left) * (bottom - top) < 0.85:
                continue
            cut = rgb.crop(
                (int(left * rgb.width), int(top * rgb.height), int(right * rgb.width), int(bottom * rgb.height))
            )
            if min(cut.size) < 80:
                continue
            cut.thumbnail((320, 320))
            values = np.asarray(cut, np.uint8)
            alpha = cv2.resize(saliency(values.astype(np.float32) / 255), cut.size)
            if 0.2 < (alpha > 0.5).mean() < 0.95:
                article = "an" if str(name)[0] in "aeiou" else "a"
                soft = np.clip((alpha - 0.3) / 0.4, 0, 1) * 255
                found.append(Thing(f"{article} {name}", np.dstack([values, soft.astype(np.uint8)])))
    return found


def pasted(photo: Pixels, thing: Pixels, box: Square, opacity: float = 1.0) -> Pixels:
    """The thing on the photograph, fitted into the square."""
    left, top, side = box
    scale = side / max(thing.shape[:2])
    small = cv2.resize(thing, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA).astype(np.float32)
    height, width = min(small.shape[0], SIDE - top), min(small.shape[1], SIDE - left)
    out = photo.astype(np.float32)
    place = np.s_[top : top + height, left : left + width]
    alpha = small[:height, :width, 3:] / 255 * opacity
    out[place] += alpha * (small[:height, :width, :3] - out[place])
    return np.asarray(np.clip(out, 0, 255), np.uint8)


def _warped(image: Floats, rng: np.random.Generator, far: float) -> Floats:
    field = rng.standard_normal((2, 8, 8)).astype(np.float32) * far
    height, width = image.shape[:2]
    moves = [cv2.resize(part, (width, height), interpolation=cv2.INTER_CUBIC) for part in field]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return np.asarray(cv2.remap(image, x + moves[0], y + moves[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT))


def _deformed(scene: Scene, far: float) -> Pixels:
    bent = _warped(scene.thing.pixels.astype(np.float32), scene.rng, far * max(scene.thing.pixels.shape) / 100)
    return pasted(scene.photo, np.asarray(np.clip(bent, 0, 255), np.uint8), scene.box)


def _half_thing(scene: Scene) -> Pixels:
    cut = scene.thing.pixels.copy()
    cut[: cut.shape[0] // 2, :, 3] = 0
    return pasted(scene.photo, cut, scene.box)


def _upper_part(scene: Scene) -> Pixels:
    cut = scene.thing.pixels.copy()
    cut[:, int(cut.shape[1] * 0.55) :, 3] = 0
    return pasted(scene.photo, cut, scene.box)


def _filled(scene: Scene, method: int) -> Pixels:
    return np.asarray(cv2.inpaint(scene.photo, scene.mask.astype(np.uint8), 4, method), np.uint8)


def _continued(scene: Scene, from_photo: Pixels) -> Pixels:
    """The place filled by another place of equal size, its border faded."""
    left, top, side = scene.box
    tall, wide = (min(side, SIDE - at) for at in (top, left))
    y, x = (int(scene.rng.integers(0, SIDE - side)) for _ in range(2))
    out = scene.photo.astype(np.float32)
    alpha = np.zeros((SIDE, SIDE, 1), np.float32)
    alpha[top : top + tall, left : left + wide] = 1
    alpha = cv2.GaussianBlur(alpha, (0, 0), 4)[..., None] * scene.mask[..., None]
    patch = out.copy()
    patch[top : top + tall, left : left + wide] = from_photo[y : y + tall, x : x + wide]
    return np.asarray(out + alpha * (patch - out), np.uint8)


def _blobs(scene: Scene) -> Pixels:
    """Coloured blobs in the place of a thing: what a weak generator makes."""
    coarse = scene.rng.integers(0, 255, (12, 12, 3)).astype(np.float32)
    big = cv2.resize(coarse, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    fine = scene.rng.standard_normal((SIDE, SIDE, 3)).astype(np.float32)
    blob = np.clip(big + cv2.GaussianBlur(fine, (0, 0), 2) * 60, 0, 255)
    shape = np.zeros((SIDE, SIDE), np.float32)
    left, top, side = scene.box
    cv2.ellipse(shape, (left + side // 2, top + side // 2), (int(side * 0.4), int(side * 0.3)), 20, 0, 360, 1.0, -1)
    alpha = cv2.GaussianBlur(_warped(shape, scene.rng, 15), (0, 0), 2)[..., None]
    return np.asarray(scene.photo + alpha * (blob - scene.photo), np.uint8)


def _stripes(scene: Scene) -> Pixels:
    """A periodic texture in the whole mask."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    wave = np.sin(x * scene.rng.uniform(0.2, 0.7) + y * scene.rng.uniform(0.2, 0.7))[..., None]
    colour = scene.rng.integers(60, 200, 3).astype(np.float32)
    out = scene.photo.copy()
    out[scene.mask] = np.clip(colour + 50 * wave, 0, 255).astype(np.uint8)[scene.mask]
    return out


def _flat(scene: Scene) -> Pixels:
    out = scene.photo.copy()
    out[scene.mask] = scene.photo[scene.mask].mean(axis=0)
    return out


def _renewed(scene: Scene) -> Scene:
    """The mask's background made anew, like and not equal: what an inpainting model does even where it does well."""
    down, right = (int(v) for v in scene.rng.integers(8, 24, 2))
    moved = cv2.GaussianBlur(np.roll(scene.photo, (down, right), axis=(0, 1)).astype(np.float32), (0, 0), 0.7)
    alpha = cv2.GaussianBlur(scene.mask.astype(np.float32), (0, 0), 3)[..., None]
    mixed = scene.photo + alpha * (moved - scene.photo)
    return replace(scene, photo=np.asarray(np.clip(mixed, 0, 255), np.uint8))


Maker = Callable[[Scene], Pixels]
CONTENTS: dict[str, dict[str, tuple[Maker, float, float]]] = {
    "choose": {
        "right": (lambda s: pasted(s.photo, s.thing.pixels, s.box), 1.0, 1.0),
        "deformed": (lambda s: _deformed(s, 3.0), 0.6, 0.5),
        "half": (_half_thing, 0.5, 0.8),
        "faint": (lambda s: pasted(s.photo, s.thing.pixels, s.box, 0.35), 0.4, 0.5),
        "other": (lambda s: pasted(s.photo, s.other.pixels, s.box), 0.1, 0.9),
        "filled": (lambda s: _filled(s, cv2.INPAINT_TELEA), 0.0, 0.7),
        "continued": (lambda s: _continued(s, s.photo), 0.0, 0.8),
        "blobs": (_blobs, 0.05, 0.2),
    },
    "report": {
        "right": (lambda s: pasted(s.photo, s.thing.pixels, s.box), 1.0, 1.0),
        "boxed": (lambda s: pasted(_flat(s), s.thing.pixels, s.box), 0.7, 0.4),
        "part": (_upper_part, 0.5, 0.8),
        "ghost": (lambda s: pasted(s.photo, s.thing.pixels, s.box, 0.45), 0.5, 0.5),
        "other": (lambda s: pasted(s.photo, s.other.pixels, s.box), 0.1, 0.9),
        "smeared": (lambda s: _filled(s, cv2.INPAINT_NS), 0.0, 0.7),
        "patched": (lambda s: _continued(s, s.elsewhere), 0.0, 0.5),
        "stripes": (_stripes, 0.0, 0.2),
    },
}
"""How each content of the mask is made where a thing is added; what it is worth as content and as quality."""


def _smeared(scene: Scene, method: int) -> Pixels:
    source = pasted(scene.photo, scene.thing.pixels, scene.box)
    changed = cv2.dilate((source != scene.photo).any(axis=2).astype(np.uint8), np.ones((7, 7), np.uint8))
    return np.asarray(cv2.inpaint(source, changed, 4, method), np.uint8)


def _partly(scene: Scene, across: bool) -> Pixels:
    out = pasted(scene.photo, scene.thing.pixels, scene.box)
    left, top, side = scene.box
    part = np.s_[:, : left + side // 2] if across else np.s_[: top + side // 2]
    out[part] = scene.photo[part]
    return out


REMOVALS: dict[str, dict[str, tuple[Maker, float, float]]] = {
    "choose": {
        "right": (lambda s: s.photo, 1.0, 1.0),
        "smeared": (lambda s: _smeared(s, cv2.INPAINT_TELEA), 0.8, 0.5),
        "half": (lambda s: _partly(s, True), 0.3, 0.6),
        "other": (lambda s: pasted(s.photo, s.other.pixels, s.box), 0.2, 0.9),
        "blobs": (_blobs, 0.2, 0.2),
    },
    "report": {
        "right": (lambda s: s.photo, 1.0, 1.0),
        "smeared": (lambda s: _smeared(s, cv2.INPAINT_NS), 0.8, 0.5),
        "part": (lambda s: _partly(s, False), 0.3, 0.6),
        "other": (lambda s: pasted(s.photo, s.other.pixels, s.box), 0.2, 0.9),
        "stripes": (_stripes, 0.2, 0.2),
    },
}
"""The same where the thing is removed: the source is the photograph with the thing."""


def _jpeg(image: Pixels, quality: int) -> Pixels:
    data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    return np.asarray(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)[..., ::-1], np.uint8)


def _small(image: Pixels, side: int) -> Pixels:
    return np.asarray(cv2.resize(image, (side, side), interpolation=cv2.INTER_AREA), np.uint8)


def _coded(image: Pixels, rng: np.random.Generator) -> Pixels:
    """Like a latent code: a slight blur and a small local shift of tone."""
    tone = cv2.resize(
        rng.standard_normal((16, 16, 3)).astype(np.float32) * 3, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC
    )
    soft = cv2.GaussianBlur(image.astype(np.float32), (0, 0), 0.6)
    return np.asarray(np.clip(soft + tone, 0, 255), np.uint8)


def _grainy(image: Pixels, rng: np.random.Generator) -> Pixels:
    return np.asarray(np.clip(image + rng.standard_normal(image.shape) * 8, 0, 255), np.uint8)


Render = Callable[[Pixels, np.random.Generator], Pixels]
EDITORS: dict[str, dict[str, tuple[Render, float, float]]] = {
    "choose": {
        "exact": (lambda image, _: image, 1.0, 0.55),
        "coded": (_coded, 0.9, 0.45),
        "half-size": (lambda image, _: _small(image, 256), 0.5, 0.3),
        "jpeg": (lambda image, _: _jpeg(image, 25), 0.6, 0.3),
    },
    "report": {
        "same-size": (lambda image, _: _jpeg(image, 95), 1.0, 0.5),
        "warped": (lambda image, rng: np.asarray(_warped(image.astype(np.float32), rng, 1.0), np.uint8), 0.85, 0.45),
        "blurred": (lambda image, _: np.asarray(cv2.GaussianBlur(image, (0, 0), 1.6), np.uint8), 0.5, 0.35),
        "grainy": (_grainy, 0.5, 0.25),
    },
}
"""How each editor renders, what that is worth as quality, and how often the right thing is in the mask."""
RENEWING = frozenset({"coded", "half-size", "warped", "blurred"})
"""Editors that make the mask's background anew around the thing."""


def made_outputs(photos: list[Pixels], things: list[Thing], items: int, seed: int, half: str) -> Iterator[MadeOutput]:
    """One output per item and editor; the same for the same arguments. One in a dozen is the source handed back."""
    for item in range(items):
        rng = np.random.default_rng([seed, item])
        one, two, three = (int(i) for i in rng.choice(len(things), 3, replace=False))
        photo, elsewhere = (photos[int(i)] for i in rng.choice(len(photos), 2, replace=False))
        side = int(rng.integers(110, 260))
        box = (int(rng.integers(0, SIDE - side)), int(rng.integers(0, SIDE - side)), side)
        scene = Scene(photo, box, things[one], things[two], elsewhere, rng)
        kind = ("add", "add", "replace", "remove")[item % 4]
        name = scene.thing.name
        contents = CONTENTS[half]
        source, words = photo, f"Add {name} to the picture"
        if kind == "remove":
            source, words = pasted(photo, scene.thing.pixels, box), f"Remove the {name.split(' ', 1)[1]}"
            contents = REMOVALS[half]
        elif kind == "replace":
            source = pasted(photo, things[three].pixels, box)
            words = f"Replace the {things[three].name.split(' ', 1)[1]} with {name}"
        for editor, (render, quality, chance) in EDITORS[half].items():
            others = [c for c in contents if c != "right"]
            content = "right" if rng.random() < chance else str(rng.choice(others))
            make, sc, pq = contents[content]
            if rng.random() < 1 / 12:
                content, sc, pq = "copy", 0.0, 1.0
            place = _renewed(scene) if editor in RENEWING and kind != "remove" else scene
            image = source if content == "copy" else make(place)
            exhibit = Exhibit(words, encode_pixels(render(image, rng)), sources=(encode_pixels(source),))
            yield MadeOutput(item, editor, content, exhibit, float(np.sqrt((sc + 0.02) * pq * quality)))
