"""Fragility: how often the search finds the true minimum on small boards, and its CPU time on a large one.

    python -m benchmarks.fragility [--boards 1000] [--battles 1000000] [--models 100]

Small boards have 3 to 5 models and 8 to 16 battles; the true minimum is found by trying every removal. Boards are made
until `--boards` of them were compared: one without a removal of up to 6 votes is left out, because trying all larger
ones takes too long. On the large board every answer is fitted again by the board's own fit.
"""

import argparse
import time
from collections import Counter

import numpy as np

from imarena.ranking import Options
from imarena.ranking.fragility.board import board_fragility
from tests.unit.ranking.test_fragility import arena, compare_with_all


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=1000)
    parser.add_argument("--battles", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=100)
    options = parser.parse_args()
    missed: Counter[int] = Counter()
    seed = 0
    while missed.total() < options.boards:
        missed.update(compare_with_all(range(seed, seed + 1)))
        seed += 1
    total = missed.total()
    print(f"small boards: {total} compared of {seed}, equal to the minimum {missed[0] / total:.1%}")
    print(f"  below the minimum: {sum(count for above, count in missed.items() if above < 0)}")
    for above, count in sorted(missed.items()):
        print(f"  {above} above the minimum: {count}")
    battles = arena(1, options.models, options.battles)
    start = time.process_time()
    answer = board_fragility(battles, Options(fragility=3))
    seconds = time.process_time() - start
    print(f"{options.battles:,} battles, {options.models} models: {seconds:.1f} CPU s for {len(answer.orders)} orders")
    first = answer.orders[0]
    print(f"  first place: {first.removed} of {first.total:,} votes ({(first.removed or np.nan) / first.total:.5%})")
    wrong = [one for one in answer.orders if one.difference_without is not None and one.difference_without >= 0]
    print(f"  removals that do not change the order when fitted again: {len(wrong)}")


if __name__ == "__main__":
    main()
