"""What Ray costs per judgment, and what a second worker brings, beside this process alone.

    PYTHONPATH=. python -m benchmarks.scale.ray_executor [--calls 40] [--call-s 0.5] [--image-kb 350]
    PYTHONPATH=. python -m benchmarks.scale.ray_executor --elo 1000000 [--rounds 200]

Each question carries three images, of which one (the source) is shared by 21 questions, as in a benchmark with 21
editors. An answer waits for `--call-s` and computes nothing, so that the figures are those of the way there and back.
RAY_ADDRESS names a cluster; without it, one is started on this machine as `--executor ray` does (RAY_worker_niceness=15
gives its workers the low priority that is Ray's own default).

`--elo` measures the bootstrap of `rank --method elo` instead: that many battles of 21 models on items with 210 battles
each, their rounds in this process, in processes and on Ray. All must give the same ratings.
"""

import argparse
import asyncio
import json
import os
import resource
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from imarena.core import ExecutorKind
from imarena.engine import RunPlan, WorkerTask, cluster, open_executor, run_plan
from imarena.ranking import Battles, Options
from imarena.ranking.boards.online import BATCH_BATTLES, EloReplay, RoundRange

SHARE = 21


@dataclass(frozen=True)
class Wait:
    """Answers after a while with the size of what it was shown."""

    seconds: float

    async def __call__(self, question: tuple[bytes, ...]) -> int:
        """Wait, whatever was asked."""
        await asyncio.sleep(self.seconds)
        return sum(map(len, question))


def failed(_: object, error: Exception) -> int:
    """No question fails here."""
    raise SystemExit(f"a question failed: {error}")


@dataclass(frozen=True)
class Rounds:
    """Plays rounds of online Elo, as `rank --method elo --executor` does."""

    replay: EloReplay

    async def __call__(self, question: RoundRange) -> np.ndarray:
        """The ratings of these rounds."""
        return self.replay(question)


def elo_replay(battles: int, rounds: int) -> EloReplay:
    """Battles with known strengths, ready to be played again in every round."""
    rng = np.random.default_rng(battles)
    left = rng.integers(0, 21, battles)
    right = (left + rng.integers(1, 21, battles)) % 21
    won = rng.random(battles) < 1 / (1 + np.exp((left - right) / 10))
    models = tuple(f"editor-{number:02d}" for number in range(21))
    given = Battles(models, left.astype(np.int32), right.astype(np.int32), np.where(won, 0, 2).astype(np.int8))
    unit = (np.arange(battles) // 210).astype(np.int32)
    options = Options(method="elo", rounds=rounds)
    return EloReplay(given, options, np.full(21, 1000.0), None, unit, int(unit[-1]) + 1)


async def measure_rounds(kind: ExecutorKind, replay: EloReplay, workers: int) -> tuple[dict[str, Any], np.ndarray]:
    """Seconds that the workers take to start, and to play all rounds; the ratings."""
    ranges = list(replay.ranges(max(1, BATCH_BATTLES // len(replay.battles))))
    found: dict[int, Any] = {}
    begun = time.monotonic()
    async with open_executor(
        kind, WorkerTask(Rounds(replay), failed), len(ranges), computes=True, at_once=workers
    ) as executor:

        async def do(slot: int, number: int) -> Any:
            found[number] = await executor.ask(slot, ranges[number])

        first = replace(ranges[0], number=1)  # imports, the data, and the compiled loop
        await asyncio.gather(*(executor.ask(slot, first) for slot in range(executor.slots)))
        started, load = time.monotonic(), os.getloadavg()[0]
        plan = RunPlan(range(len(ranges)), do, failed, lambda _: None, concurrency=workers)
        await run_plan(plan)
        took = time.monotonic() - started
    row = {
        "executor": kind, "workers": executor.slots, "battles": len(replay.battles), "rounds": replay.options.rounds,
        "start_s": round(started - begun, 1), "play_s": round(took, 2), "load": round(load, 1),
    }  # fmt: skip
    return row, np.concatenate([found[number] for number in range(len(ranges))])


def compare_rounds(battles: int, rounds: int) -> None:
    """Print a line per executor and number of workers; end where two of them give different ratings."""
    replay = elo_replay(battles, rounds)
    replay.ratings()  # compiles the loop
    begun, cpu = time.monotonic(), time.process_time()
    rng, size = np.random.default_rng(0), max(1, BATCH_BATTLES // battles)
    here = np.concatenate([replay.resampled(rng, min(size, rounds - begin)) for begin in range(0, rounds, size)])
    took = {"play_s": round(time.monotonic() - begun, 2), "cpu_s": round(time.process_time() - cpu, 2)}
    print(json.dumps({"executor": "this process", "battles": battles, "rounds": rounds, **took}), flush=True)
    kinds: tuple[tuple[ExecutorKind, int], ...] = (("processes", 1), ("processes", 2), ("ray", 1), ("ray", 2))
    for kind, workers in kinds:
        row, ratings = asyncio.run(measure_rounds(kind, replay, workers))
        if not np.array_equal(ratings, here):
            raise SystemExit(f"{kind} with {workers} workers gives other ratings")
        print(json.dumps(row), flush=True)


async def measure(kind: ExecutorKind, calls: int, call_s: float, size: int, workers: int) -> dict[str, Any]:
    """The rate of one executor, without its start, and the CPU of this process per call."""
    sources = [os.urandom(size) for _ in range(-(-calls // SHARE))]
    questions = [(sources[number // SHARE], os.urandom(size), os.urandom(size)) for number in range(calls)]
    async with open_executor(
        kind, WorkerTask(Wait(call_s), failed), calls, computes=False, at_once=workers
    ) as executor:

        async def do(slot: int, question: tuple[bytes, ...]) -> int:
            return await executor.ask(slot, question)

        for slot in range(executor.slots):  # the start of the workers is not measured
            await executor.ask(slot, (b"",))
        before, begun = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        plan = RunPlan(questions, do, failed, lambda _: None, concurrency=executor.slots)
        await run_plan(plan)
        took, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "executor": kind, "workers": executor.slots, "calls": calls, "call_s": call_s, "per_s": round(calls / took, 3),
        "overhead_ms": round(1000 * (took * executor.slots / calls - call_s), 1),
        "cpu_ms": round(1000 * cpu / calls, 2),
    }  # fmt: skip


def main() -> None:
    """Print a line per executor and the two ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--call-s", type=float, default=0.5)
    parser.add_argument("--image-kb", type=int, default=350)
    parser.add_argument("--elo", type=int, metavar="BATTLES", help="measure the bootstrap of online Elo")
    parser.add_argument("--rounds", type=int, default=200, help="with --elo")
    asked = parser.parse_args()
    if asked.elo:
        compare_rounds(asked.elo, asked.rounds)
        return
    rows = []
    kinds: tuple[tuple[ExecutorKind, int], ...] = (("threads", 1), ("ray", 1), ("ray", 2))
    with cluster():
        for kind, workers in kinds:
            rows.append(asyncio.run(measure(kind, asked.calls, asked.call_s, 1024 * asked.image_kb, workers)))
            print(json.dumps(rows[-1]), flush=True)
    local, one, two = (row["per_s"] for row in rows)
    print(f"one Ray worker: {100 * one / local:.1f}% of the local rate; two workers: {two / one:.2f} times one")


if __name__ == "__main__":
    from benchmarks.scale.ray_executor import main as run  # by its own name: workers import what it sends

    run()
