"""The bundled detectors and the text reader on labelled photographs: precision and recall, character error, time.

python -m benchmarks.photographs.fetch FOLDER
python -m benchmarks.vision.seeing FOLDER [--values FILE.json]

Labels are in `photographs/photographs.yaml`. A threshold is chosen on the half `choose` of the pictures that show
things of COCO's 80 kinds (the best F1) and reported on the other half; what is found in the other pictures is wrong.
A detection is right where its kind is that of a labelled thing that it overlaps by half (intersection over union) and
no surer detection has taken; with an overlap of 0, the kind alone counts. Intervals are over pictures (1,000 draws).
What the tools say is kept in the file of values.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from PIL import Image

from imarena.images import pixels
from imarena.vision.efficientdet import find_objects
from imarena.vision.faces import THRESHOLD as FACES
from imarena.vision.faces import find_faces
from imarena.vision.nouns import KINDS
from imarena.vision.ocr import read_lines

LABELS = Path(__file__).parents[1] / "photographs" / "photographs.yaml"
LOW = 0.2
OVERLAP = 0.5
THRESHOLDS = np.round(np.arange(LOW, 0.96, 0.05), 2)
Box = Sequence[float]
Seen = list[Any]
"""A kind, a score and a box in percent."""


def in_percent(box: Box, image: NDArray[np.uint8]) -> Box:
    """A box in pixels as percent of the image."""
    height, width = image.shape[:2]
    return [100 * end / side for end, side in zip(box, (width, height, width, height), strict=True)]


TOOLS: dict[str, Callable[[NDArray[np.uint8]], Seen]] = {
    "efficientdet": lambda image: [(d.label, d.score, in_percent(d.box, image)) for d in find_objects(image, LOW)],
    "yunet": lambda image: [("face", face.score, in_percent(face.box, image)) for face in find_faces(image, LOW)],
    "words": lambda image: [[line.text, line.confidence, line.box] for line in read_lines(Image.fromarray(image))],
}


def overlap(one: Box, other: Box) -> float:
    """Intersection over union."""
    across, down = (min(one[at + 2], other[at + 2]) - max(one[at], other[at]) for at in (0, 1))
    if across <= 0 or down <= 0:
        return 0.0
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return across * down / (sum(areas) - across * down)


def half_inside(box: Box, region: Box) -> bool:
    """Is at least half of a box in a region?"""
    across, down = (min(box[at + 2], region[at + 2]) - max(box[at], region[at]) for at in (0, 1))
    return across > 0 and down > 0 and across * down >= 0.5 * (box[2] - box[0]) * (box[3] - box[1])


@dataclass(frozen=True)
class Counts:
    """Of one picture: right detections, wrong ones, labelled things."""

    right: int
    wrong: int
    things: int


def count(picture: dict[str, Any], seen: Seen, threshold: float, least: float) -> Counts:
    """Compare what a tool saw with a picture's labels."""
    labels = [(kind, box) for kind, boxes in picture["things"].items() for box in boxes]
    ignored = [(kind, box) for kind, boxes in picture.get("ignored", {}).items() for box in boxes]
    taken: set[int] = set()
    wrong = 0
    for kind, score, box in sorted(seen, key=lambda entry: -entry[1]):
        if score < threshold:
            break
        free = [(overlap(box, own), at) for at, (name, own) in enumerate(labels) if name == kind and at not in taken]
        best, at = max(free, default=(0.0, -1))
        if best >= least and at >= 0:
            taken.add(at)
        elif not any(kind == name and half_inside(box, region) for name, region in ignored):
            wrong += 1
    return Counts(len(taken), wrong, len(labels))


def rates(counts: Sequence[Counts]) -> tuple[float, float]:
    """Precision and recall."""
    right, wrong = sum(each.right for each in counts), sum(each.wrong for each in counts)
    return right / max(1, right + wrong), right / max(1, sum(each.things for each in counts))


def with_interval(counts: Sequence[Counts]) -> str:
    """Precision and recall, each with a 95% interval over pictures."""
    rng = np.random.default_rng(0)
    draws = np.array([rates([counts[at] for at in rng.integers(len(counts), size=len(counts))]) for _ in range(1000)])
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    return "  ".join(
        f"{name} {value:.2f} ({low[at]:.2f} to {high[at]:.2f})"
        for at, (name, value) in enumerate(zip(("precision", "recall"), rates(counts), strict=True))
    )


def report(tool: str, pictures: list[Any], values: dict[str, Any], least: float) -> None:
    """Choose a threshold on one half of the pictures with labelled things and print the other one."""
    shown = [each for each in pictures if each["things"]]

    def counted(half: str, threshold: float, those: list[Any]) -> list[Counts]:
        return [count(each, values[each["file"]][tool], threshold, least) for each in those if each["half"] == half]

    def quality(threshold: float) -> float:
        precision, recall = rates(counted("choose", threshold, shown))
        return 2 * precision * recall / max(1e-9, precision + recall)

    threshold = float(max(THRESHOLDS, key=quality))
    chosen, reported = (counted(half, threshold, shown) for half in ("choose", "report"))
    others = counted("report", threshold, [each for each in pictures if not each["things"]])
    alarms = sum(each.wrong for each in others)
    print(f"{tool:13} overlap {least}  threshold {threshold:.2f}", end="  ")
    print("choose: precision {:.2f}, recall {:.2f}".format(*rates(chosen)), end="  ")
    print(f"report ({len(reported)} pictures, {sum(each.things for each in reported)} things):", end=" ")
    print(f"{with_interval(reported)}; in {len(others)} pictures without such things {alarms} found")


def edits(one: str, other: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        before, row[0] = row[0], at
        for column, against in enumerate(other, start=1):
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, before + (letter != against))
    return row[-1]


def reading_order(lines: Seen) -> list[str]:
    """Lines from top to bottom; parts whose middles lie on one height are one line, from left to right."""
    rows: list[list[Any]] = []
    for line in sorted(lines, key=lambda entry: entry[2][1] + entry[2][3]):
        middle = (line[2][1] + line[2][3]) / 2
        if rows and rows[-1][-1][2][1] < middle < rows[-1][-1][2][3]:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [" ".join(part[0] for part in sorted(row, key=lambda part: part[2][0])) for row in rows]


def report_words(pictures: list[dict[str, Any]], values: dict[str, Any]) -> None:
    """Character error by half: edits from what is written to what was read, over the letters written."""
    total: dict[str, dict[str, list[int]]] = {}
    for picture in pictures:
        written, read = "\n".join(picture["words"]), "\n".join(reading_order(values[picture["file"]]["words"]))
        parts = []
        for name, own, other in (
            ("as read", written, read),
            ("without spaces", "".join(written.split()), "".join(read.split())),
        ):
            wrong = edits(own, other)
            for half in (picture["half"], "all"):
                sums = total.setdefault(half, {}).setdefault(name, [0, 0])
                sums[0] += wrong
                sums[1] += len(own)
            parts.append(f"{name} {wrong} of {len(own)}")
        print(f"words {picture['file']} ({picture['half']}): {', '.join(parts)}")
    for half, by_name in total.items():
        figures = ", ".join(
            f"{name} {wrong} of {letters}: {wrong / letters:.3f}" for name, (wrong, letters) in by_name.items()
        )
        print(f"words, {half}: {figures}")


def main() -> None:
    """Look at what is not stored, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--values", type=Path, default=Path("seeing.json"))
    chosen = parser.parse_args()
    pictures = yaml.safe_load(LABELS.read_text(encoding="utf-8"))["pictures"]
    values: dict[str, Any] = json.loads(chosen.values.read_text()) if chosen.values.exists() else {}
    for picture in pictures:
        asked = [name for name in TOOLS if name != "words" or "words" in picture]
        stored = values.setdefault(picture["file"], {})
        if any(name not in stored for name in asked):
            image = pixels((chosen.folder / picture["file"]).read_bytes())
            for name in asked:
                started = time.process_time()
                stored[name] = TOOLS[name](image)
                stored.setdefault("seconds", {})[name] = time.process_time() - started
            chosen.values.write_text(json.dumps(values))
    for picture in pictures:
        picture["things"] = {kind: boxes for kind, boxes in picture.get("objects", {}).items() if kind in KINDS}
    for least in (OVERLAP, 0.0):
        report("efficientdet", pictures, values, least)
    for picture in pictures:
        picture["things"], picture["ignored"] = {"face": picture.get("faces", [])}, {}
    counts = [count(picture, values[picture["file"]]["yunet"], FACES, OVERLAP) for picture in pictures]
    print(
        f"yunet, all pictures, {sum(each.things for each in counts)} faces, threshold {FACES}: {with_interval(counts)}"
    )
    report_words([picture for picture in pictures if "words" in picture], values)
    for name in TOOLS:
        spent = [value["seconds"][name] for value in values.values() if name in value.get("seconds", {})]
        print(f"{name}: median {np.median(spent):.3f} s of CPU a picture")


if __name__ == "__main__":
    main()
