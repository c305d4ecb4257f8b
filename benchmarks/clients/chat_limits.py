"""The chat client under faults and rate limits, and the `openai` client beside it. Run by chat_client.py.

Each case runs for a fixed time, the start included: 64 requests at once, a reply after 0.5 s, `Retry-After: 1` on 429.
`share` is the rate as a share of what is possible: (1 - share of faults) x the rate without faults of the same client,
or the rate of the token bucket. `wasted` is the share of requests that were answered with 429. `wrong` counts replies
that are not the server's answer to that question, and must be 0.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import openai

from imarena.clients import ChatClient, Endpoint, single_question
from imarena.clients.fake_answers import ChatQuery, answer_by_hash
from imarena.core.records import Status

CONCURRENCY = 64
REPLY_S = 0.5
Ask = Callable[[str], Awaitable[str | None]]
"""One question; the reply's text, None where the request ended without one."""


@dataclass(frozen=True)
class LimitCase:
    """One way in which the server limits or fails."""

    name: str
    options: tuple[str, ...] = ()
    faults: float = 0.0
    per_s: float | None = None


CASES = (
    LimitCase("no faults"),
    LimitCase("429 for 10%", ("--fault", "rate_limited=0.1"), faults=0.1),
    LimitCase("500 for 20%", ("--fault", "server_error=0.2"), faults=0.2),
    LimitCase("token bucket of 20 per second", ("--accept-per-s", "20"), per_s=20.0),
)


@contextmanager
def limited_server(case: LimitCase) -> Iterator[str]:
    """The fake server in a process of its own; its base URL."""
    command = [sys.executable, "-m", "imarena.clients.fake_server", "--port", "0", "--reply-s", str(REPLY_S)]
    process = subprocess.Popen(
        [*command, "--retry-after", "1", *case.options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # requests that are cancelled at the end of a case leave tracebacks there
        text=True,
        env=os.environ,
    )
    if process.stdout is None:
        raise SystemExit("the server has no output")
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(10)


def read_counts(url: str) -> dict[str, Any]:
    """What the server has seen."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/fake/counts", timeout=10) as reply:  # noqa: S310
        counts: dict[str, Any] = json.load(reply)
    return counts


async def ask_for(ask: Ask, seconds: float) -> tuple[int, int, int]:
    """Ask with 64 workers for a time: answers, requests without one, and wrong answers."""
    numbers = count()
    answers: list[tuple[str, str]] = []
    failed = 0

    async def work() -> None:
        nonlocal failed
        for number in numbers:
            text = f"Which output follows the instruction better? ({number})"
            reply = await ask(text)
            if reply is None:
                failed += 1
            else:
                answers.append((text, reply))

    tasks = [asyncio.create_task(work()) for _ in range(CONCURRENCY)]
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    wrong = sum(reply != answer_by_hash(ChatQuery("fake-vlm", "", text, ())) for text, reply in answers)
    return len(answers), failed, wrong


async def run_ours(url: str, seconds: float) -> tuple[int, int, int]:
    """This package's client."""
    endpoint = Endpoint(base_url=(url,), model="fake-vlm", max_concurrency=CONCURRENCY)
    async with ChatClient(endpoint) as client:

        async def ask(text: str) -> str | None:
            reply = await client.complete(single_question(text))
            return reply.text if reply.status is Status.OK else None

        return await ask_for(ask, seconds)


async def run_openai(url: str, seconds: float) -> tuple[int, int, int]:
    """The `openai` package with as many tries."""
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=20) as client:

        async def ask(text: str) -> str | None:
            try:
                reply = await client.chat.completions.create(
                    model="fake-vlm", messages=[{"role": "user", "content": text}], temperature=0.0
                )
            except openai.OpenAIError:
                return None
            text_of_reply: str | None = reply.choices[0].message.content
            return text_of_reply

        return await ask_for(ask, seconds)


def compare_under_limits(seconds: float) -> Iterator[dict[str, float | int | str]]:
    """One row per case and client."""
    for name, run in (("imarena", run_ours), ("openai", run_openai)):
        free_per_s = 0.0
        for case in CASES:
            with limited_server(case) as url:
                started = time.perf_counter()
                answers, failed, wrong = asyncio.run(run(url, seconds))
                per_s = answers / (time.perf_counter() - started)
                counts = read_counts(url)
            free_per_s = free_per_s or per_s
            possible = case.per_s or (1 - case.faults) * free_per_s
            yield {
                "case": case.name,
                "client": name,
                "rate_per_s": round(per_s, 1),
                "share": round(per_s / possible, 3),
                "wasted": round(counts["faults"].get("rate_limited", 0) / counts["requests"], 3),
                "requests": counts["requests"],
                "failed": failed,
                "wrong": wrong,
            }
