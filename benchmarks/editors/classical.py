"""The classical editors measured by the studio's truth: every turn that has a source and no reference.

    python -m benchmarks.editors.classical [--pictures FOLDER] [--only TASK_OR_KEY]

Each turn starts from the exact picture before it. Prints, as JSON: turns done and refused, mean quality of the source
and of what was made where something was, and the turns that end below their source. `--pictures` saves source and
result side by side, for a look.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from PIL import Image

from imarena.core.protocols import EditRequest
from imarena.editors.catalog import Ports
from imarena.editors.classical.editor import make
from imarena.images import decode
from imarena.studio import BenchmarkEntry, entries, render_picture, true_quality


class Turn(NamedTuple):
    """One turn's true quality: of its source, and of what was made; None where it was refused."""

    key: str
    turn: int
    task: str
    before: float
    after: float | None


def main() -> None:
    """Run it and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pictures", type=Path, help="save source and result of each turn here")
    parser.add_argument("--only", default="", help="only entries and tasks whose name holds this")
    options = parser.parse_args()
    turns: list[Turn] = []
    for entry in entries():
        if entry.scene is not None and not entry.references:
            for turn in measured(entry, options.only, options.pictures):
                turns.append(turn)
                print(*turn, file=sys.stderr, flush=True)
    print(json.dumps(told(turns), indent=2))


def measured(entry: BenchmarkEntry, only: str, folder: Path | None) -> Iterator[Turn]:
    """Every turn of an entry, each from the exact picture before it."""
    for number, step in enumerate(entry.steps):
        scene = entry.scene_after(number)
        if scene is None or only not in f"{entry.key} {step.task}":
            continue
        source = render_picture(scene)
        result = asyncio.run(make("classical", {}, Ports()).edit(EditRequest(step.instruction, (source,))))
        before = true_quality(entry.key, source, turn=number).score
        after = None if result.image is None else true_quality(entry.key, result.image, turn=number).score
        yield Turn(entry.key, number, step.task, round(before, 3), None if after is None else round(after, 3))
        if folder is not None and result.image is not None:
            folder.mkdir(parents=True, exist_ok=True)
            beside([source, result.image]).save(folder / f"{entry.key}-{number}.png")


def beside(pictures: list[bytes]) -> Image.Image:
    """Pictures side by side, each at its own size."""
    shown = [Image.fromarray(np.asarray(decode(data), np.uint8)) for data in pictures]
    sheet = Image.new("RGB", (sum(image.width for image in shown) + 8, max(image.height for image in shown)), "white")
    left = 0
    for image in shown:
        sheet.paste(image, (left, 0))
        left += image.width + 8
    return sheet


def told(turns: list[Turn]) -> dict[str, object]:
    """The figures of the guide."""
    done = [(turn, turn.after) for turn in turns if turn.after is not None]
    return {
        "turns": len(turns), "done": len(done), "refused": len(turns) - len(done),
        "source": round(fmean(turn.before for turn, _ in done), 4) if done else None,
        "made": round(fmean(after for _, after in done), 4) if done else None,
        "below_source": [f"{turn.key} {turn.turn}: {turn.task}" for turn, after in done if after < turn.before],
    }  # fmt: skip


if __name__ == "__main__":
    main()
