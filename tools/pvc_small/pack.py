"""Pack the pictures that `pvc-small` is trained and tested on into one file.

    python -m benchmarks.photographs.fetch PHOTOGRAPHS
    apt-get download tuxpaint-stamps-default plasma-workspace-wallpapers gcompris-qt-data
    (each: dpkg-deb -x NAME.deb PACKAGES)
    python -m tools.pvc_small.pack PHOTOGRAPHS PACKAGES OUT.npz [--test TEST.npz]

Sources, all openly licensed and none of them part of this project: the photographs of photographs.yaml in
benchmarks/photographs (half `choose` for training, half `report` for the test file), further photographs of
gcompris-qt-data and the wallpapers of Plasma, cut-out things with an alpha channel of Tux Paint, and scenes of
`imarena.studio` before and after an edit. Nothing else is read. The same inputs give the same file, and its content
hash is printed; training records it.
"""

import argparse
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray
from PIL import Image

from benchmarks.photographs.fetch import resource_files
from imarena.preferences import damage_kinds
from imarena.vision import saliency
from tools.pvc_small.packing import pack_pictures, packed_sha256
from tools.pvc_small.scenes import studio_triples

LABELS = Path(__file__).parents[2] / "benchmarks" / "photographs" / "photographs.yaml"
SIDE, STAMP = 544, 176
STAMPS, TEST_STAMPS = 260, 40
Pixels = NDArray[np.uint8]
FOLDERS = ("explore_monuments.rcc", "details.rcc", "explore_world_animals.rcc", "explore_farm_animals.rcc",
           "erase.rcc", "explore_world_music.rcc", "babyshapes.rcc")  # fmt: skip


def opened(data: bytes | Path) -> Image.Image | None:
    """The picture in RGB where it is large and colourful enough."""
    with Image.open(BytesIO(data) if isinstance(data, bytes) else data) as image:
        rgb = image.convert("RGB")
    if min(rgb.size) < 300:
        return None
    small = np.asarray(rgb.resize((64, 64)), np.float32)
    return rgb if (small.max(axis=2) - small.min(axis=2)).mean() > 8 and small.std() > 14 else None


def cuts(image: Image.Image, rng: np.random.Generator, most: int) -> Iterator[Pixels]:
    """Squares of the picture: all of its shorter side first, then closer looks where it has the pixels for them."""
    width, height = image.size
    short = min(width, height)
    for number in range(most):
        side = short if number == 0 else int(short * rng.uniform(0.45, 0.8))
        if number and side < SIDE:
            return
        left, top = (int(rng.integers(0, full - side + 1)) for full in (width, height))
        cut = image.crop((left, top, left + side, top + side)).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        yield np.asarray(cut, np.uint8)


def salient(picture: Pixels) -> NDArray[np.uint8]:
    """The mask of the salient thing at a quarter of the size, 0 to 255."""
    soft = saliency(picture.astype(np.float32) / np.float32(255))
    return np.asarray(cv2.resize(soft, (SIDE // 4, SIDE // 4)) * 255, np.uint8)


def stamps(folder: Path, most: int, rng: np.random.Generator) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Cut-out things on squares: colours and alpha."""
    colours, alphas = [], []
    files = sorted(folder.rglob("stamps/**/*.png"))
    for file in (files[i] for i in rng.permutation(len(files))):
        with Image.open(file) as image:
            if image.mode != "RGBA" or "filled" in file.parts or "alphabets" in file.parts:
                continue
            box = image.getbbox()
            cut = image.crop(box) if box else image
        if min(cut.size) < 90:
            continue
        cut.thumbnail((STAMP, STAMP), Image.Resampling.LANCZOS)
        square = Image.new("RGBA", (STAMP, STAMP))
        square.paste(cut, ((STAMP - cut.width) // 2, (STAMP - cut.height) // 2))
        values = np.asarray(square, np.uint8)
        if not 0.15 < (values[..., 3] > 128).mean() < 0.9:
            continue
        colours.append(values[..., :3] * (values[..., 3:] > 0))
        alphas.append(values[..., 3])
        if len(colours) == most:
            break
    return np.stack(colours), np.stack(alphas)


def thinned(values: NDArray[np.uint8], most: int) -> NDArray[np.uint8]:
    """At most so many of them, evenly spread."""
    return values[np.unique(np.linspace(0, len(values) - 1, min(most, len(values))).astype(int))]


def photographs(folder: Path, packages: Path, half: str) -> Iterator[bytes | Path]:
    """The pictures of one half; the training half also gets those that photographs.yaml does not label."""
    labels = yaml.safe_load(LABELS.read_text("utf-8"))
    labelled = {picture.get("path") for picture in labels["pictures"]}
    for picture in labels["pictures"]:
        if picture["half"] == half and not picture.get("words"):
            yield folder / picture["file"]
    if half == "report":
        return
    for name in FOLDERS:
        for resource in sorted(packages.rglob(name)):
            for path, data in resource_files(resource.read_bytes()):
                if path.endswith((".webp", ".jpg")) and len(data) > 25_000 and path not in labelled:
                    yield data
    for file in sorted(packages.rglob("wallpapers/*/contents/images/*.jpg")):
        if file.stem in {"2560x1600", "3200x2000"}:
            yield file


def pack(options: argparse.Namespace, half: str) -> dict[str, NDArray[np.generic]]:
    """Everything of one half."""
    rng = np.random.default_rng([options.seed, half == "report"])
    found = []
    for given in photographs(options.photographs, options.packages, half):
        image = opened(given)
        if image is not None:
            found += list(cuts(image, rng, 3 if half == "choose" else 1))
    pictures = thinned(np.stack(found), options.photos)
    print(f"{half}: {len(pictures)} photographs")
    colours, alphas = stamps(options.packages, STAMPS, rng)
    part = np.s_[-TEST_STAMPS:] if half == "report" else np.s_[:-TEST_STAMPS]
    colours, alphas = (thinned(array[part], options.stamps) for array in (colours, alphas))
    first, count = (10_000, options.scenes // 2) if half == "report" else (0, options.scenes)
    triples, masks = studio_triples(first, count)
    kinds = {k.name: [k.step, k.reach, *k.area, k.held_out] for k in damage_kinds().values()}
    return {
        **pack_pictures("photo", pictures), **pack_pictures("stamp", colours), **pack_pictures("studio", triples),
        "salient": np.packbits(np.stack([salient(p) for p in pictures]) > 127, axis=2), "alpha": alphas,
        "edited": masks, "kinds": np.frombuffer(json.dumps(kinds).encode(), np.uint8),
    }  # fmt: skip


def main() -> None:
    """Pack both halves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photographs", type=Path)
    parser.add_argument("packages", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--test", type=Path)
    parser.add_argument("--photos", type=int, default=150)
    parser.add_argument("--stamps", type=int, default=130)
    parser.add_argument("--scenes", type=int, default=60, help="half as many for the test file")
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    for half, file in (("choose", options.out), ("report", options.test)):
        if file is not None:
            arrays = pack(options, half)
            np.savez_compressed(file, **arrays)
            print(f"{file}: {file.stat().st_size / 1e6:.1f} MB, content SHA-256 {packed_sha256(arrays)}")


if __name__ == "__main__":
    main()
