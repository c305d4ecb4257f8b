"""Make a large workspace and the same battles as a Parquet table, for `workspaces.py`.

    python -m benchmarks.scale.fill_workspace FOLDER [--battles 100000] [--url postgresql://...] [--one-order] [--bulk]

The records are those of `scale_records.py`. The program's own writer adds them, and a run that was interrupted goes on
where it stopped; with `--bulk` the judgments go in as `scale_bulk.py` says, in one go.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.scale.bulk import fill_bulk
from benchmarks.scale.records import (
    EDITORS,
    JUDGE,
    OUTCOMES,
    PAIRS,
    about,
    item_count,
    item_of,
    records_of,
    sides_of,
    verdicts,
)
from imarena.core.records import Record
from imarena.storage import Workspace, init_workspace

BATCH = 5_000


def fill(workspace: Workspace, battles: int, *, one_order: bool = False) -> int:
    """Add everything in batches, with a line of progress every few seconds; returns the number of records."""
    begun = told = time.perf_counter()
    total, batch = 0, list[Record]()

    def add() -> None:
        nonlocal total
        outcome = workspace.store.add(batch)
        if outcome.conflicts:
            raise RuntimeError(f"{len(outcome.conflicts)} records were refused: {outcome.conflicts[0].reason}")
        total += len(batch)
        batch.clear()

    for record in records_of(battles, one_order=one_order):
        batch.append(record)
        if len(batch) == BATCH:
            add()
            if time.perf_counter() - told > 10:
                told = time.perf_counter()
                print(f"  {total:,} records, {total / (told - begun):,.0f} per second", flush=True)
    add()
    print(f"  {total:,} records in {time.perf_counter() - begun:.0f} s", flush=True)
    return total


def write_table(path: Path, battles: int, *, one_order: bool = False) -> int:
    """The battles that count as a Parquet table; returns how many there are."""
    said, items = verdicts(battles, one_order=one_order), item_count(battles)
    kept = np.flatnonzero(~said.lost)
    item = kept // len(PAIRS)
    sides = np.array([sides_of(number) for number in range(2 * len(PAIRS))])[kept % (2 * len(PAIRS))]
    told = [about(number, items) for number in range(items)]
    ids = [item_of(number, items).item_id for number in range(items)]
    names, one = pa.array(EDITORS), np.zeros(len(kept), np.int8)
    columns = {
        "left": names.take(pa.array(sides[:, 0])),
        "right": names.take(pa.array(sides[:, 1])),
        "winner": pa.array([outcome.value for outcome in OUTCOMES]).take(pa.array(said.combined[kept])),
        "item": pa.array(ids).take(pa.array(item)),
        "source": pa.array(["judge"]).take(pa.array(one)),
        "judge": pa.array([JUDGE]).take(pa.array(one)),
    }
    for name in ("task", "family", "topic"):
        columns[name] = pa.array([one[name] for one in told]).take(pa.array(item))
    part = path.with_suffix(".part")
    parquet.write_table(pa.table(columns), part)
    part.replace(path)
    return len(kept)


def main() -> None:
    """Make both, or what is missing of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the workspace goes to FOLDER/arena, the table beside it")
    parser.add_argument("--battles", type=int, default=100_000)
    parser.add_argument("--url", default="", help="a PostgreSQL address; empty: SQLite")
    parser.add_argument("--one-order", action="store_true", help="one judgment per battle, not one per order")
    parser.add_argument("--bulk", action="store_true", help="fill an empty workspace the fast way")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    kept = write_table(given.folder / "battles.parquet", given.battles, one_order=given.one_order)
    with init_workspace(given.folder / "arena", url=given.url) as workspace:
        records = (fill_bulk if given.bulk else fill)(workspace, given.battles, one_order=given.one_order)
    made = {"battles": given.battles, "counted": kept, "records": records, "seconds": time.perf_counter() - begun}
    (given.folder / "made.json").write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main()
