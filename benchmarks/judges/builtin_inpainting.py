"""How `builtin` does on editors that work inside a mask, over openly licensed photographs (inpainting_set.py).

    python -m benchmarks.photographs.fetch PHOTOGRAPHS     (and tuxpaint-stamps-default unpacked into PACKAGES)
    python -m benchmarks.judges.builtin_inpainting PHOTOGRAPHS PACKAGES [--items 24] [--half choose|report]

Prints the pooled Spearman correlation of `builtin` with what the outputs are worth, and the mean one within an editor,
with 95% intervals from drawing whole items; and the mean score of each editor and of each content of the mask. The
half `choose` was tuned on, `report` was not.
"""

import argparse
import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.judges.inpainting_set import MadeOutput, cut_outs, made_outputs, photographs, stamps
from imarena.judges.builtin.judge import BuiltinJudge, BuiltinSettings

ROUNDS = 1000


def pooled(rows: Sequence[tuple[MadeOutput, float]]) -> float:
    """Spearman over all outputs; ties share their rank."""
    ours, worth = rankdata([score for _, score in rows]), rankdata([output.worth for output, _ in rows])
    return float(np.corrcoef(ours, worth)[0, 1]) if np.ptp(ours) > 0 and np.ptp(worth) > 0 else float("nan")


def within(rows: Sequence[tuple[MadeOutput, float]]) -> float:
    """Spearman within each editor's outputs, the mean over editors."""
    editors = sorted({output.editor for output, _ in rows})
    return float(np.nanmean([pooled([row for row in rows if row[0].editor == editor]) for editor in editors]))


def interval(
    statistic: Callable[[Sequence[tuple[MadeOutput, float]]], float], rows: list[tuple[MadeOutput, float]]
) -> str:
    """The figure with a 95% percentile interval over draws of whole items."""
    by_item: dict[int, list[tuple[MadeOutput, float]]] = {}
    for row in rows:
        by_item.setdefault(row[0].item, []).append(row)
    items, rng = list(by_item.values()), np.random.default_rng(0)
    draws = [
        statistic([row for number in rng.integers(0, len(items), len(items)) for row in items[number]])
        for _ in range(ROUNDS)
    ]
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return f"{statistic(rows):.3f} ({low:.3f} to {high:.3f})"


def print_means(rows: list[tuple[MadeOutput, float]], name: Callable[[MadeOutput], str]) -> None:
    """Mean worth and score by group."""
    for group in sorted({name(output) for output, _ in rows}):
        part = [(output.worth, score) for output, score in rows if name(output) == group]
        worth, score = np.mean(part, axis=0)
        print(f"  {group:10s} {len(part):3d} outputs   worth {worth:.2f}   score {score:4.0f}")


def main() -> None:
    """Make the outputs, score them and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photographs", type=Path)
    parser.add_argument("packages", type=Path)
    parser.add_argument("--items", type=int, default=24)
    parser.add_argument("--half", choices=["choose", "report"], default="choose")
    options = parser.parse_args()
    half = options.half
    photos = photographs(options.photographs, half)
    things = cut_outs(options.photographs, half) * 2 + stamps(options.packages, half)
    judge = BuiltinJudge(BuiltinSettings(ocr="never"))
    rows = [
        (output, asyncio.run(judge.judge(output.exhibit)).score or 0.0)
        for output in made_outputs(photos, things, options.items, 18, half)
    ]
    print(f"builtin version {judge.version}, {half}: {len(rows)} outputs of {options.items} items")
    print(f"pooled Spearman {interval(pooled, rows)}, mean within an editor {interval(within, rows)}")
    print_means(rows, lambda output: output.editor)
    print_means(rows, lambda output: output.content)


if __name__ == "__main__":
    main()
