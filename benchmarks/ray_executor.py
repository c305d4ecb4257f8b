"""What Ray costs per judgment, and what a second worker brings, beside this process alone.

    PYTHONPATH=. python -m benchmarks.ray_executor [--calls 40] [--call-s 0.5] [--image-kb 350]

Each question carries three images, of which one (the source) is shared by 21 questions, as in a benchmark with 21
editors. An answer waits for `--call-s` and computes nothing, so that the figures are those of the way there and back.
RAY_ADDRESS names a cluster; without it, one is started on this machine as `--executor ray` does (RAY_worker_niceness=15
gives its workers the low priority that is Ray's own default).
"""

import argparse
import asyncio
import json
import os
import resource
import time
from dataclasses import dataclass
from typing import Any

from imarena.core import ExecutorKind
from imarena.engine import RunPlan, WorkerTask, cluster, open_executor, run_plan

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
    asked = parser.parse_args()
    rows = []
    kinds: tuple[tuple[ExecutorKind, int], ...] = (("threads", 1), ("ray", 1), ("ray", 2))
    with cluster():
        for kind, workers in kinds:
            rows.append(asyncio.run(measure(kind, asked.calls, asked.call_s, 1024 * asked.image_kb, workers)))
            print(json.dumps(rows[-1]), flush=True)
    local, one, two = (row["per_s"] for row in rows)
    print(f"one Ray worker: {100 * one / local:.1f} % of the local rate; two workers: {two / one:.2f} times one")


if __name__ == "__main__":
    from benchmarks.ray_executor import main as run  # by its own name: workers import what it sends

    run()
