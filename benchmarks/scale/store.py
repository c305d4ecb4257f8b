"""How fast the store takes records in and counts them, with its memory.

    python -m benchmarks.scale.store [--battles 100000] [--judgments 1000000]

Imports a GenArena battle log through the real importer and workflow into a fresh SQLite workspace, then fills the
workspace up with judgments and times listing and counting.
"""

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

from imarena.core.records import Judgment, Order, Outcome, Output, Record
from imarena.datasets.formats import READERS
from imarena.storage import Workspace, init_workspace
from imarena.workflows.exchange.importing import import_records
from imarena.workflows.upkeep.status import workspace_status


def memory_mb() -> float:
    """Peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write_log(folder: Path, battles: int) -> None:
    """A GenArena battle log: ten models, every pair, many samples."""
    models = [f"model-{n}" for n in range(10)]
    pairs = [(a, b) for i, a in enumerate(models) for b in models[i + 1 :]]
    logs = folder / "basic" / "pk_logs" / "GenArena_bench_20260101"
    logs.mkdir(parents=True)
    each = -(-battles // len(pairs))
    for left, right in pairs:
        with (logs / f"{left}_vs_{right}.jsonl").open("w") as file:
            for sample in range(each):
                winner = (left, right, "tie")[sample % 3]
                line = {
                    "model_a": left, "model_b": right, "sample_index": sample, "final_winner": winner,
                    "is_consistent": winner != "tie", "timestamp": "2026-01-01T00:00:00",
                }  # fmt: skip
                file.write(json.dumps(line) + "\n")


def fill(workspace: Workspace, total: int) -> None:
    """Add judgments until there are `total`."""
    output = next(iter(workspace.store.records(Output)))
    other = next(o for o in workspace.store.records(Output, item_id=output.item_id) if o.editor != output.editor)
    have = workspace.store.count(Judgment)[()]
    for start in range(have, total, 5_000):
        batch: list[Record] = [
            Judgment(
                work_id=f"bench-{n}", judge=f"judge-{n % 7}", item_id=output.item_id, left_id=output.output_id,
                right_id=other.output_id, order=Order.BOTH, preference=Outcome.LEFT,
            )
            for n in range(start, min(start + 5_000, total))
        ]  # fmt: skip
        workspace.store.add(batch)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--battles", type=int, default=100_000)
    parser.add_argument("--judgments", type=int, default=1_000_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, init_workspace(Path(name) / "arena") as workspace:
        write_log(Path(name) / "log", chosen.battles)
        marks: list[float] = []
        wall, cpu = time.perf_counter(), time.process_time()
        report = import_records(
            workspace,
            READERS.get("genarena"),
            format_name="genarena",
            path=Path(name) / "log",
            progress=lambda _stage, _done, _total: marks.append(memory_mb()),
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        records = sum(report.new.values())
        print(f"import: {dict(report.new)}, skipped {report.skipped}")
        print(f"  {records / wall:,.0f} records a second ({wall:.1f} s, {cpu:.1f} CPU s)")
        third = marks[len(marks) // 3]
        print(f"  peak memory {marks[-1]:.0f} MB; {marks[-1] - third:.0f} MB more than a third of the way in")
        fill(workspace, chosen.judgments)
        for title, action in (
            ("status", lambda: workspace_status(workspace)),
            ("count by judge and status", lambda: workspace.store.count(Judgment, "judge", "status")),
            ("count all", lambda: workspace.store.count(Judgment)),
            ("first page of 1,000", lambda: list(workspace.store.rows(Judgment, limit=1_000))),
            ("a page from the middle", lambda: list(workspace.store.rows(Judgment, after=500_000, limit=1_000))),
            ("a page of one judge", lambda: list(workspace.store.rows(Judgment, judge="judge-3", limit=1_000))),
        ):
            start = time.perf_counter()
            action()
            print(f"{chosen.judgments:,} judgments, {title}: {time.perf_counter() - start:.3f} s")


if __name__ == "__main__":
    main()
