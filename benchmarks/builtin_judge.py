"""How well `builtin` agrees with people, and what it costs.

Museum: 179 edits by eight editors from ImagenHub (pixels from the ImagenMuseum) against the mean over three raters of
sqrt(SC * PQ), pooled Spearman. What was tuned by looking at these pictures was tuned on the uids whose SHA-256 is even;
the odd half was not looked at.

Studio: the bundled benchmark with editors of known order; Kendall's tau of their mean scores and of their battles won,
and how many battles end as the true quality has it. `--others`: the items that the demo does not use.

    python benchmarks/builtin_judge.py museum [--data DIR]
    python benchmarks/builtin_judge.py studio [--all | --others]
"""

import argparse
import ast
import asyncio
import csv
import hashlib
import json
import math
import os
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from scipy.stats import kendalltau, spearmanr

from imarena.core.protocols import EditRequest, Exhibit
from imarena.core.records import Outcome, Status
from imarena.editors.studio import QUALITY_ORDER, studio_editor
from imarena.judges.builtin import BuiltinJudge
from imarena.studio import DEMO_KEYS, entries, entry_of, picture, true_quality

EDITORS = (
    "CycleDiffusion", "DiffEdit", "InstructPix2Pix", "MagicBrush",
    "Pix2PixZero", "Prompt2prompt", "SDEdit", "Text2Live",
)  # fmt: skip
Cell = tuple[str, str]
WON = {Outcome.LEFT: 1.0, Outcome.RIGHT: 0.0, Outcome.TIE: 0.5, Outcome.BOTH_BAD: 0.5}


def human_scores(folder: Path) -> dict[Cell, float]:
    """The mean over raters of sqrt(SC * PQ), rounded so that the order of addition breaks no tie."""
    given: dict[Cell, list[float]] = defaultdict(list)
    for file in sorted(folder.glob("*.tsv")):
        with file.open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                for editor in EDITORS:
                    sc, pq = ast.literal_eval(row[editor])
                    given[row["uid"], editor].append(math.sqrt(sc * pq))
    return {cell: round(sum(values) / len(values), 9) for cell, values in given.items()}


def is_tuning(uid: str) -> bool:
    """The half that was looked at."""
    return hashlib.sha256(uid.encode()).digest()[-1] % 2 == 0


def museum(data: Path) -> None:
    folder = data / "imagenmuseum" / "Text-Guided_IE"
    humans = human_scores(data / "imagenhub" / "human_ratings" / "Text-Guided_IE")
    asked = json.loads((folder / "dataset_lookup.json").read_text(encoding="utf-8"))
    judge = BuiltinJudge()
    found: dict[Cell, float] = {}
    cpu, wall = time.process_time(), time.perf_counter()
    for uid, entry in asked.items():
        source = (folder / "input" / uid).read_bytes()
        for editor in EDITORS:
            exhibit = Exhibit(entry["instruction"], (folder / editor / uid).read_bytes(), sources=(source,))
            verdict = asyncio.run(judge.judge(exhibit))
            if verdict.status is Status.OK and verdict.score is not None:
                found[uid, editor] = verdict.score
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    parts: dict[str, Callable[[str], bool]] = {
        "tuning half": is_tuning, "held-out half": lambda uid: not is_tuning(uid), "pooled": lambda _: True,
    }  # fmt: skip
    print(f"{len(found)} of {len(asked) * len(EDITORS)} outputs judged")
    for name, wanted in parts.items():
        cells = [cell for cell in found if wanted(cell[0])]
        rho = spearmanr([found[c] for c in cells], [humans[c] for c in cells]).statistic
        print(f"{name:15s} n = {len(cells):4d}   Spearman {rho:.3f}")
    by_human = {e: sum(humans[u, e] for u in asked) / len(asked) for e in EDITORS}
    by_judge = {e: sum(found[u, e] for u in asked) / len(asked) for e in EDITORS}
    tau = kendalltau([by_human[e] for e in EDITORS], [by_judge[e] for e in EDITORS]).statistic
    print(f"order of the eight editors: Kendall tau {tau:.3f}")
    for editor in sorted(EDITORS, key=lambda e: -by_human[e]):
        print(f"  {editor:16s} people {by_human[editor]:.3f}   builtin {by_judge[editor]:4.0f}")
    print(f"{cpu / len(found):.3f} CPU seconds and {wall / len(found):.3f} seconds an output, text reading included")


def exhibits_of(key: str) -> dict[str, Exhibit]:
    """The outputs of the editors of known quality for one studio item, each as a judge sees it."""
    entry = entry_of(key)
    sources = () if entry.scene is None else (picture(entry.scene),)
    references = tuple(picture(scene) for scene in entry.references)
    step = entry.steps[0]
    request = EditRequest(step.instruction, sources=sources, references=references, task=step.task, seed=0)
    shown = {}
    for habit in QUALITY_ORDER:
        made = asyncio.run(studio_editor(habit).edit(request))
        if made.image is not None:
            shown[habit] = Exhibit(step.instruction, made.image, sources=sources, references=references)
    return shown


def studio(keys: tuple[str, ...]) -> None:
    judge = BuiltinJudge()
    totals: dict[str, list[float]] = defaultdict(list)
    wins: dict[str, float] = defaultdict(float)
    right = decided = 0.0
    start, judged = time.process_time(), 0
    for key in keys:
        shown = exhibits_of(key)
        truth = {habit: true_quality(key, exhibit.left).score for habit, exhibit in shown.items()}
        for habit, exhibit in shown.items():
            verdict = asyncio.run(judge.judge(exhibit))
            judged += 1
            if verdict.score is not None:
                totals[habit].append(verdict.score)
        for ours, theirs in combinations(shown, 2):
            verdict = asyncio.run(judge.judge(replace(shown[ours], right=shown[theirs].left)))
            if verdict.preference is None:
                continue
            won = WON[verdict.preference]
            wins[ours] += won
            wins[theirs] += 1.0 - won
            if abs(truth[ours] - truth[theirs]) > 0.02:
                decided += 1
                right += won if truth[ours] > truth[theirs] else 1.0 - won
    means = {habit: sum(values) / len(values) for habit, values in totals.items()}
    ranks = [-QUALITY_ORDER.index(habit) for habit in QUALITY_ORDER]
    spent = (time.process_time() - start) / max(judged, 1)
    print(f"{len(keys)} items, {spent:.2f} CPU seconds an output with editing, battles and truth")
    for habit in QUALITY_ORDER:
        print(f"  {habit:14s} mean {means[habit]:4.0f}   battles won {wins[habit]:.1f}")
    print(f"pointwise: Kendall tau {kendalltau([means[h] for h in QUALITY_ORDER], ranks).statistic:.3f}")
    print(f"pairwise:  Kendall tau {kendalltau([wins[h] for h in QUALITY_ORDER], ranks).statistic:.3f}")
    print(f"battles decided as the truth has it (ties count half): {right / decided:.3f} of {decided:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["museum", "studio"])
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--all", action="store_true", help="every studio item, not the demo's sample")
    parser.add_argument("--others", action="store_true", help="the studio items outside of the demo's sample")
    options = parser.parse_args()
    if options.what == "studio":
        every = tuple(entry.key for entry in entries())
        others = tuple(key for key in every if key not in DEMO_KEYS)
        studio(every if options.all else others if options.others else DEMO_KEYS)
        return
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    data = options.data or Path(os.environ.get("IMARENA_SHARED_DATA", beside))
    if not data.is_dir():
        raise SystemExit(f"No data at {data}: give --data or set IMARENA_SHARED_DATA.")
    museum(data)


if __name__ == "__main__":
    main()
