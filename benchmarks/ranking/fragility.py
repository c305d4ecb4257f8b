"""Fragility: how often the search finds the true minimum on small boards, and its CPU time on a large one.

    python -m benchmarks.ranking.fragility [--boards 1000] [--first 0] [--battles 1000000] [--models 100]
                                   [--items 12000 300] [--raters 1000 30]

Small boards have 3 to 5 models and 8 to 16 battles, on half as many items, by two thirds as many raters. All removals
of up to 4 votes, 4 items and 4 raters are tried: for the first place with all challengers, for the top 2 with all pairs
across its edge, and for each two neighbours. A removal is enough if the two models are then in the other order and
still in one group of models that met. The brute force has its own fit and its own groups. An answer that is too large
for it is counted apart if no smaller removal is enough.

Each battle of a large board names one of the items and one of the raters, at random; `--items` and `--raters` give
their numbers, one board after the other. All removed units are listed, and every answer is fitted again by the fit of
the brute force.
"""

import argparse
import resource
import time
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from imarena.ranking import Battles, CodedColumn, Options
from imarena.ranking.fragility import board
from imarena.ranking.fragility.board import UNITS, BoardFragility, board_fragility
from imarena.ranking.fragility.removal import FittedRemovals
from tests.unit.ranking.brute_force import Comparison, all_points, arena, changes, compare_with_all, small_board

TRIED = 4
SHOWN = 100
"""Small boards between two tables of results."""


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first small board")
    parser.add_argument("--battles", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--items", type=int, nargs="+", default=[12_000, 300])
    parser.add_argument("--raters", type=int, nargs="+", default=[1_000, 30])
    options = parser.parse_args()
    if options.battles:
        for items, raters in zip(options.items, options.raters, strict=True):
            print(f"{items:,} items, {raters:,} raters")
            large(large_board(options.battles, options.models, items, raters))
    if options.boards:
        small(options.first, options.boards)


def small(first: int, boards: int) -> None:
    """Compare all answers with the true minimum."""
    compared = {unit: Comparison() for unit in UNITS}
    for done in range(1, boards + 1):
        compare_with_all(small_board(first + done - 1, 16), TRIED, compared)
        if done % SHOWN == 0 or done == boards:
            for unit, one in compared.items():
                show(done, unit, one)


def show(boards: int, unit: str, compared: Comparison) -> None:
    """Print how many answers are how far above the minimum."""
    total = compared.above.total()
    equal = compared.above[0] / total
    print(f"{boards} small boards, {unit}s: {total} answers compared with the minimum; equal {equal:.2%}")
    for above, count in sorted(compared.above.items()):
        print(f"  {above} above the minimum: {count}")
    beyond = f"none found or larger than {TRIED + 1}, and nothing up to {TRIED} {unit}s is enough: {compared.beyond}"
    print(f"  {beyond}", flush=True)


def large_board(n: int, models: int, items: int, raters: int) -> Battles:
    """Battles on random items by random raters."""
    rng = np.random.default_rng(0)

    def column(name: str, size: int) -> CodedColumn | None:
        names = tuple(f"{name} {k}" for k in range(size))
        return CodedColumn(rng.integers(0, size, n).astype(np.int32), names) if size else None

    return replace(arena(1, models, n), item=column("item", items), rater=column("rater", raters))


def large(battles: Battles) -> None:
    """Time all questions about all kinds of units in one call."""
    board_fragility(arena(1, 5, 200, items=20), Options(fragility=3))  # imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fits = 0
    fit = FittedRemovals.strengths

    def counted(*arguments: object) -> object:
        nonlocal fits
        fits += 1
        return fit(*arguments)  # type: ignore[arg-type]

    with patch.object(FittedRemovals, "strengths", counted), patch.object(board, "LISTED", len(battles)):
        start = time.process_time()
        answer = board_fragility(battles, Options(fragility=3))
        seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{len(battles):,} battles, {len(battles.models)} models: {seconds:.1f} CPU s, {fits:,} fits, peak memory "
        f"{memory / 1024:,.0f} MiB ({before / 1024:,.0f} MiB before), {len(answer.orders)} answers"
    )
    report(battles, answer)


def report(battles: Battles, answer: BoardFragility) -> None:
    """Print the answers for the first place and the top 3, and how many fail when the board is fitted again."""
    for order in answer.orders:
        if order.question != "neighbours":
            share = "none found" if order.removed is None else f"{order.removed:,} ({order.removed / order.total:.4%})"
            print(f"  {order.question}: {share} of {order.total:,} {order.unit}s")
    for unit in UNITS:
        sizes = [one.removed for one in answer.orders if one.unit == unit and one.question == "neighbours"]
        known = [size for size in sizes if size is not None]
        if known:
            largest, none = max(known), len(sizes) - len(known)
            print(f"  neighbours, {unit}s: median {np.median(known):,.0f}, largest {largest:,}, none found {none}")
    removals = [order for order in answer.orders if order.removed is not None]
    points = all_points(battles)
    wrong = sum(not changes(battles, order, points) for order in removals)
    print(f"  removals without the other order in one group when fitted again: {wrong} of {len(removals)}")


if __name__ == "__main__":
    main()
