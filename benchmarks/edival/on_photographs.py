"""EdiVal-IF offline on photographs: how many edits of known truth the bundled tools decide, and how many rightly.

python -m benchmarks.photographs.fetch FOLDER
python -m benchmarks.edival.on_photographs FOLDER [--half choose|report] [--wrong] [--pictures DIR]

The edits are those of `edits.yaml`: six types, 30 a type and half, every other one failed. Thresholds were
chosen on the half `choose`; figures are those of `report`. What the tools cannot tell is counted, and is neither right
nor wrong.
"""

import argparse
import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.edival.edit_pictures import KnownEdit, make_edit
from benchmarks.edival.edits import TYPES, read_list
from imarena.core import Exhibit, PlannedEdit
from imarena.core.records import Mode
from imarena.judges.edival.judge import make
from imarena.stats.proportion import wilson
from imarena.studio import encode_pixels


def judged(edit: KnownEdit) -> tuple[bool | None, str]:
    """What the judge says with the offline tools: passed, failed or undecided; and why."""
    judge = make(
        {
            "dimension": "instruction_following",
            "detector": "efficientdet",
            "answers": "colour-names",
            "reader": "rapidocr",
        },
        None,
    )
    planned = PlannedEdit(edit.plan, 0, Mode.MULTI_TURN, (encode_pixels(edit.before),))
    verdict = asyncio.run(judge.judge(Exhibit("", left=encode_pixels(edit.after), planned=planned)))
    edits: Any = verdict.reasons["edits"]
    return edits[0]["passed"], edits[0]["reason"]


def main() -> None:
    """Judge the edits of a half and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("choose", "report"), default="report")
    parser.add_argument("--type", dest="only", choices=TYPES)
    parser.add_argument("--wrong", action="store_true", help="list the wrong and the undecided ones")
    parser.add_argument("--pictures", type=Path, help="write each edit as a picture: before and after")
    chosen = parser.parse_args()
    counts: dict[str, Counter[str]] = {name: Counter() for name in TYPES}
    for number, row in enumerate(read_list(chosen.half)):
        if chosen.only and row["type"] != chosen.only:
            continue
        edit = make_edit(row, chosen.folder)
        says, reason = judged(edit)
        outcome = "undecided" if says is None else ("right" if says is edit.right else "wrong")
        counts[row["type"]][outcome] += 1
        if chosen.wrong and outcome != "right":
            print(
                f"{number:4d} {outcome:9} {row['type']:18} {row['kind']:10} {row['how']:13} {reason} {row['picture']}"
            )
        if chosen.pictures:
            chosen.pictures.mkdir(parents=True, exist_ok=True)
            height = max(edit.before.shape[0], edit.after.shape[0])
            sheets = [np.pad(one, ((0, height - one.shape[0]), (0, 8), (0, 0))) for one in (edit.before, edit.after)]
            name = f"{number:03d}-{row['type']}-{row['how'].replace(' ', '-')}-{outcome}.jpg"
            Image.fromarray(np.hstack(sheets)).save(chosen.pictures / name, quality=80)
    print(f"{'type':20}{'edits':>6}{'decided':>9}{'right of decided':>18}")
    total: Counter[str] = Counter()
    for name, count in counts.items():
        if count:
            total += count
            print(_line(name, count))
    print(_line("all", total))


def _line(name: str, count: Counter[str]) -> str:
    edits, decided = count.total(), count["right"] + count["wrong"]
    share = count["right"] / decided if decided else float("nan")
    low, high = wilson(share, decided) if decided else (float("nan"), float("nan"))
    return f"{name:20}{edits:6d}{decided / edits:9.1%}{share:10.1%} [{low:.0%}, {high:.0%}]"


if __name__ == "__main__":
    main()
