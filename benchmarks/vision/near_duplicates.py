"""Near-duplicates: recall and precision on images with known duplicates, and speed and memory of the index.

    python -m benchmarks.vision.near_duplicates [--images 2000] [--hashes 100000] [--photographs FOLDER]

Sources are rendered scenes and parts of the bundled photographs (and of the pictures in FOLDER, which
`fetch_photographs.py` fetches). Each has four copies: resized, recompressed, cropped by 5%, flipped or with a global
colour shift. A pair is found where the index says near-duplicate. Local edits of a source are added as well, and pairs
with them are left out of both figures.
"""

import argparse
import io
import json
import resource
import time
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.curation import CurationSettings, DuplicateIndex, HashTable, make_fingerprint
from imarena.images import pixels
from imarena.studio import photos, random_scene, render_picture

Pixels = NDArray[np.uint8]
KINDS = ("resized", "recompressed", "cropped", "flipped", "colour")
BACKDROPS = ("table", "beach", "street", "shelf", "snow", "room", "forest", "meadow")


def photo_parts(folder: Path | None, rng: np.random.Generator, number: int) -> Iterator[Pixels]:
    """Parts of photographs: no two of one photograph overlap by more than half."""
    files_ = [(files("imarena.studio") / "photographs" / f"{photo.name}.jpg").read_bytes() for photo in photos()]
    if folder is not None:
        files_ += [path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in (".jpg", ".png")]
    yielded = 0
    for data in files_:
        whole = pixels(data)
        height, width = whole.shape[:2]
        side_y, side_x = height // 3, width // 3
        cells = [(row, column) for row in range(3) for column in range(3)] if min(side_x, side_y) > 120 else [(-1, -1)]
        for row, column in cells:
            if yielded == number:
                return
            yielded += 1
            part = (
                whole if row < 0 else whole[row * side_y : (row + 1) * side_y, column * side_x : (column + 1) * side_x]
            )
            yield np.ascontiguousarray(part)


def scenes(number: int, seed: int = 0) -> Iterator[Pixels]:
    """Rendered scenes: eight backdrops, so that many share theirs."""
    for at in range(number):
        yield pixels(render_picture(random_scene(10_000 * (seed + 1) + at, BACKDROPS[at % len(BACKDROPS)])))


def jpeg(image: Pixels, quality: int) -> Pixels:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return pixels(file.getvalue())


def changed(image: Pixels, kind: str, rng: np.random.Generator) -> Pixels:
    height, width = image.shape[:2]
    if kind == "resized":
        scale = rng.uniform(0.3, 0.8)
        size = max(32, round(width * scale)), max(32, round(height * scale))
        return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
    if kind == "recompressed":
        return jpeg(image, int(rng.integers(25, 75)))
    if kind == "cropped":  # 5% of each side's length, at any place
        top, left = round(rng.uniform(0, 0.05) * height), round(rng.uniform(0, 0.05) * width)
        return np.ascontiguousarray(image[top : top + round(0.95 * height), left : left + round(0.95 * width)])
    if kind == "flipped":
        return np.ascontiguousarray(image[:, ::-1])
    gains = rng.uniform(0.8, 1.2, 3)
    return np.asarray(np.clip(image * gains + rng.uniform(-20, 20), 0, 255), np.uint8)


def local_edit(image: Pixels, rng: np.random.Generator) -> Pixels:
    edited = image.copy()
    height, width = image.shape[:2]
    top, left = int(rng.uniform(0.1, 0.6) * height), int(rng.uniform(0.1, 0.6) * width)
    edited[top : top + height // 4, left : left + width // 4] = rng.integers(0, 255, 3)
    return edited


def measure_quality_of_search(number: int, folder: Path | None, seed: int, distance: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    wanted = number // 5
    sources = [*photo_parts(folder, rng, wanted // 2)]
    sources += [*scenes(wanted - len(sources), seed)]
    labelled: list[tuple[int, str]] = []
    index = DuplicateIndex(distance)
    pairs: set[tuple[int, int]] = set()
    for group, source in enumerate(sources):
        kinds = ["original", *rng.permutation(KINDS)[:4]]
        edits = [(kind, source if kind == "original" else changed(source, kind, rng)) for kind in kinds]
        edits.append(("local", local_edit(source, rng)))
        for kind, image in edits:
            at = len(labelled)
            fingerprint = make_fingerprint(image)
            pairs |= {(int(near.key), at) for near in index.search(fingerprint)}
            index.add(str(at), fingerprint)
            labelled.append((group, kind))
    scored = {(a, b) for a, b in pairs if "local" not in (labelled[a][1], labelled[b][1])}
    right = {(a, b) for a, b in scored if labelled[a][0] == labelled[b][0]}
    found: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for at, (group, kind) in enumerate(labelled):
        if kind in KINDS:
            original = next(i for i in range(at, -1, -1) if labelled[i] == (group, "original"))
            asked[kind] += 1
            found[kind] += (original, at) in pairs
    return {
        "images": sum(kind != "local" for _, kind in labelled),
        "sources": len(sources),
        "duplicates": sum(asked.values()),
        "recall": round(sum(found.values()) / sum(asked.values()), 4),
        "precision": round(len(right) / max(1, len(scored)), 4),
        "pairs": len(scored),
        "recall_by_kind": {kind: round(found[kind] / asked[kind], 4) for kind in KINDS if asked[kind]},
    }


def measure_speed(number: int, seed: int, distance: int) -> dict[str, object]:
    """Random hashes, one in ten a near copy of another: index them all, then query them all."""
    rng = np.random.default_rng(seed)
    hashes = rng.integers(0, 2**64, (number, 22), dtype=np.uint64)
    for at in range(0, number - 1, 10):
        hashes[at + 1] = hashes[at] ^ np.uint64(1 << int(rng.integers(0, 64)))
    HashTable(hashes[:10]).search_many(hashes[:2], distance)  # compile
    start = time.perf_counter()
    table = HashTable(hashes)
    indexed = time.perf_counter() - start
    hits = 0
    for first in range(0, number, 5000):
        hits += sum(
            len({at for at, *_ in found}) for found in table.search_many(hashes[first : first + 5000], distance)
        )
    total = time.perf_counter() - start
    return {
        "hashes": number, "index_s": round(indexed, 2), "index_and_query_all_s": round(total, 2), "hits": hits,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--hashes", type=int, default=100_000)
    parser.add_argument("--photographs", type=Path)
    parser.add_argument("--distance", type=int, default=CurationSettings().hash_distance)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    result: dict[str, object] = {}
    if arguments.hashes:
        result["speed"] = measure_speed(arguments.hashes, arguments.seed, arguments.distance)
    if arguments.images:
        result["quality"] = measure_quality_of_search(
            arguments.images, arguments.photographs, arguments.seed, arguments.distance
        )
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
