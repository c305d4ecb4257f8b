"""How fast the chat client is, and what it costs: against the fake server in a process of its own, on loopback.

Run it with `python -m benchmarks.clients.chat_client` (a minute; `--requests 20000` for the full length). It prints:

- wide: three JPEG pictures of about 350 KB a request, a reply after 2 s, 256 at once, so at best 128 a second; the
  share of that rate, client CPU a request, server CPU apart, and memory at a quarter and at the end;
- small: pictures of a few KB, a reply after 0.2 s, so many at once that the client fills one core: the rate it reaches;
- limits (chat_limits.py): 64 at once, a reply after 0.5 s, without faults, with random 429 and 500 replies and behind a
  token bucket: the rate as a share of what is possible, and the wasted requests; the `openai` client beside it.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.clients.chat_limits import compare_under_limits
from imarena.clients import ChatClient, ChatRequest, Endpoint, ImagePart, image_part, single_question
from imarena.core.records import Status
from imarena.images import prepare
from imarena.images.prepare import encode_image

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Case:
    """One load: what is sent, how long a reply takes, how many are out at once."""

    name: str
    pictures: tuple[ImagePart, ...]
    reply_s: float
    concurrency: int
    requests: int

    @property
    def ideal_per_s(self) -> float:
        return self.concurrency / self.reply_s


def picture(side: int, target_bytes: int, seed: int) -> ImagePart:
    """A JPEG of about so many bytes: noise over a gradient, finer until the size is right."""
    rng = np.random.default_rng(seed)
    ramp = np.linspace(0, 255, side, dtype=np.float32)
    base = np.stack([np.tile(ramp, (side, 1)), np.tile(ramp[:, None], (1, side)), np.full((side, side), 128)], axis=-1)
    noise = rng.normal(size=base.shape)
    low, high = 0.0, 80.0
    for _ in range(8):
        middle = (low + high) / 2
        array = np.clip(base + middle * noise, 0, 255).astype(np.uint8)
        size = len(encode_image(Image.fromarray(array), "image/jpeg"))
        low, high = (middle, high) if size < target_bytes else (low, middle)
    return image_part(prepare(encode_image(Image.fromarray(array), "image/png"), media_type="image/jpeg"))


def start_server(reply_s: float) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "imarena.clients.fake_server", "--port", "0", "--constant"]
    server = subprocess.Popen([*command, "--reply-s", str(reply_s)], stdout=subprocess.PIPE, text=True)
    if server.stdout is None:
        raise SystemExit("the server has no output")
    return server, server.stdout.readline().strip()


def cpu_of(pid: int) -> float:
    """CPU seconds of a process, from /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def own_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def memory_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


def question(number: int, case: Case) -> ChatRequest:
    return single_question(f"Which output follows the instruction better? ({number})", *case.pictures)


async def run_case(case: Case) -> dict[str, float | str | None]:
    server, base_url = start_server(case.reply_s)
    try:
        settings = Endpoint(base_url=(base_url,), model="fake-vlm", max_concurrency=case.concurrency, timeout_s=60)
        async with ChatClient(settings) as client:
            await client.complete(question(-1, case))  # connect and import once
            return await measure(client, case, server.pid)
    finally:
        server.terminate()
        server.wait(10)


async def measure(client: ChatClient, case: Case, server_pid: int) -> dict[str, float | str | None]:
    numbers = iter(range(case.requests))
    memory: list[float] = []
    ends: list[float] = []
    failures = 0

    async def work() -> None:
        nonlocal failures
        for number in numbers:
            reply = await client.complete(question(number, case))
            failures += reply.status is not Status.OK
            ends.append(time.perf_counter())
            if number % max(1, case.requests // 8) == 0:
                memory.append(memory_mb())

    cpu, server_cpu, started = own_cpu(), cpu_of(server_pid), time.perf_counter()
    await asyncio.gather(*(work() for _ in range(case.concurrency)))
    seconds = time.perf_counter() - started
    used, server_used = own_cpu() - cpu, cpu_of(server_pid) - server_cpu
    # Filling the pipe at the start costs once, so a short run looks worse than a long one: the steady rate leaves out
    # the first two waves and the last.
    kept = ends[2 * case.concurrency : len(ends) - case.concurrency]
    steady = round((len(kept) - 1) / (kept[-1] - kept[0]), 1) if len(kept) > case.concurrency else None
    return {
        "case": case.name,
        "requests": case.requests,
        "failures": failures,
        "picture_kb": round(sum(len(part.url) for part in case.pictures) * 0.75 / max(1, len(case.pictures)) / 1e3, 1),
        "rate_per_s": round(case.requests / seconds, 1),
        "ideal_per_s": round(case.ideal_per_s, 1),
        "share_of_ideal": round(case.requests / seconds / case.ideal_per_s, 3),
        "steady_per_s": steady,
        "client_cpu_ms_each": round(used / case.requests * 1e3, 3),
        "client_cpu_share": round(used / seconds, 3),
        "client_fills_a_core_at_per_s": round(case.requests / used),
        "server_cpu_ms_each": round(server_used / case.requests * 1e3, 3),
        "memory_mb_quarter": round(memory[min(2, len(memory) - 1)], 1),
        "memory_mb_end": round(memory[-1], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2560, help="of the wide case; 20000 for the full length")
    parser.add_argument("--small-requests", type=int, default=6000)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--small-concurrency", type=int, default=512)
    parser.add_argument("--limits-s", type=float, default=60.0, help="seconds per case under limits; 0 for none")
    options = parser.parse_args()
    large = tuple(picture(1024, 350_000, seed) for seed in range(3))
    little = tuple(picture(64, 3_000, seed) for seed in range(3))
    cases = (
        Case("wide", large, 2.0, options.concurrency, options.requests),
        Case("small", little, 0.2, options.small_concurrency, options.small_requests),
    )
    for case in cases:
        if case.requests:
            print(json.dumps(asyncio.run(run_case(case))), flush=True)
    if options.limits_s:
        for row in compare_under_limits(options.limits_s):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
