"""How long planning a batch and ranking again take on a large benchmark, with memory.

    python -m benchmarks.scale.routing [--items 12000] [--models 21] [--batch 1000] [--votes 5000]

Fills a fresh SQLite workspace with items, outputs, a judge's scores and votes, then times `route assign` and
`route rerank` as the command runs them: read the workspace, decide, write.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from imarena.core.ids import sha256_hex
from imarena.core.records import ImageRef, Item, Judgment, Outcome, Output, Rater, Record, Turn, Vote
from imarena.ranking import Options
from imarena.routing import AssignmentRequest, draw_batch
from imarena.storage import Workspace, init_workspace
from imarena.workflows.active_elo.assigning import assign_battles
from imarena.workflows.active_elo.planning import current_belief
from imarena.workflows.boards.weighted.boards import rerank
from imarena.workflows.boards.weighted.vote_data import read_vote_data


def memory_mb() -> float:
    """Peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(name: str, work: Callable[[], Any], told: dict[str, float]) -> Any:
    """Run, and note the seconds."""
    start, cpu = time.perf_counter(), time.process_time()
    found = work()
    told[name] = round(time.perf_counter() - start, 2)
    spent = time.process_time() - cpu
    print(f"{name}: {told[name]} s, of CPU {spent:.2f} s, peak memory {memory_mb():.0f} MB", flush=True)
    return found


def picture(key: str, model: int) -> ImageRef:
    """A picture that is registered without its bytes: routing asks only whether it is there."""
    return ImageRef(sha256=sha256_hex(f"{key}-{model}".encode()), size_bytes=1, media_type="image/png")


def fill(workspace: Workspace, n_items: int, n_models: int, n_votes: int) -> None:
    """Items of sixteen tasks, an output of every model for each, scores, and votes on random pairs."""
    rng = np.random.default_rng(0)
    strength = np.linspace(1.0, -1.0, n_models)
    for start in range(0, n_items, 500):
        outputs: list[Output] = []
        items = [
            Item(dataset="scale", key=str(n), turns=(Turn(instruction=f"edit {n}"),), family=f"family-{n % 16}")
            for n in range(start, min(start + 500, n_items))
        ]
        for item in items:
            outputs += [
                Output(item_id=item.item_id, editor=f"model-{m:02d}", image=picture(item.key, m))
                for m in range(n_models)
            ]
        scores = np.clip(500 + 110 * np.tile(strength, len(items)) + rng.normal(0, 110, len(outputs)), 0, 1000)
        judged: Iterator[Record] = (
            Judgment(work_id=o.output_id, judge="robot", item_id=o.item_id, left_id=o.output_id, score=float(s))
            for o, s in zip(outputs, scores, strict=True)
        )
        workspace.store.keep_images([output.image for output in outputs if output.image is not None])
        for records in (items, outputs, judged):
            workspace.store.add(records)
    _votes(workspace, n_votes, strength, rng)


def _votes(workspace: Workspace, n_votes: int, strength: Any, rng: np.random.Generator) -> None:
    arena = read_vote_data(workspace, "robot")
    workspace.store.add([Rater(rater_id="ann")])
    made = []
    for n in range(n_votes):
        item = int(rng.integers(arena.pool.n_items))
        left, right = (int(x) for x in rng.choice(arena.pool.n_models, 2, replace=False))
        won = rng.random() < 1 / (1 + np.exp(strength[right] - strength[left]))
        made.append(
            Vote(
                rater_id="ann", item_id=arena.unit[item][0], left_id=arena.output_id(item, left),
                right_id=arena.output_id(item, right), idempotency_key=str(n),
                preference=Outcome.LEFT if won else Outcome.RIGHT,
            )
        )  # fmt: skip
    workspace.store.add(made)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=12_000)
    parser.add_argument("--models", type=int, default=21)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--votes", type=int, default=5000)
    given = parser.parse_args()
    told: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, init_workspace(Path(folder) / "arena") as workspace:
        timed("fill", lambda: fill(workspace, given.items, given.models, given.votes), told)
        arena = timed("read the workspace", lambda: read_vote_data(workspace, "robot"), told)
        belief = timed("belief from votes and scores", lambda: current_belief(arena, claims=True), told)
        rng = np.random.default_rng(0)
        gated, told_most = AssignmentRequest(given.batch, "two-gate"), AssignmentRequest(given.batch)
        timed("draw a batch by two gates", lambda: draw_batch(arena.pool, arena.gold, belief, gated, rng), told)
        timed("draw a batch by information", lambda: draw_batch(arena.pool, arena.gold, belief, told_most, rng), told)
        sheet = Path(folder) / "sheet.csv"
        timed("route assign, whole", lambda: assign_battles(workspace, "robot", told_most, sheet), told)
        board = Options(matrices=False)
        timed("rank again, corrected, whole", lambda: rerank(workspace, "robot", options=board), told)
        arena = read_vote_data(workspace, "robot")
        timed("rank again, corrected, without reading", lambda: current_belief(arena, claims=True), told)
    print(json.dumps({**told, "peak_mb": round(memory_mb())}))


if __name__ == "__main__":
    main()
