"""The fake chat server, as a process of its own or in this one, and a workspace that knows it."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from imarena.clients.fake_answers import AnswerFunction, ChatQuery, answer_by_hash
from imarena.clients.fake_server import FakeServer

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = """
[endpoints.fake]
base_url = "{url}"
model = "fake-vlm"
timeout_s = {timeout_s}
max_attempts = 2
max_timeouts = 1
max_throttled = 3
backoff_s = 0.01
breaker_failures = 1000
max_concurrency = {concurrency}
input_usd_per_million = 2.0
output_usd_per_million = 8.0
{more}
"""


def answer(query: ChatQuery) -> str:
    """Two pictures: the one with the larger hash is better, in either order. One: scores by its hash."""
    if "Candidate B" in query.text:
        first = query.first_is_better
        reply: dict[str, Any] = {
            "reasons": {},
            "score": 5 if first else 2,
            "winner": "A" if first else "B",
            "confidence": 0.5,
        }
        return json.dumps(reply)
    return answer_by_hash(query)


def logged_answer(query: ChatQuery) -> str:
    """The same, with a line in a file for each answer: the time, and the question's images."""
    with Path(os.environ["IMARENA_TEST_LOG"]).open("a", encoding="utf-8") as file:
        file.write(f"{time.time()} {'-'.join(query.images)}\n")
    return answer(query)


class Server:
    """A running fake server."""

    def __init__(self, url: str) -> None:
        self.url = url

    def counts(self) -> dict[str, Any]:
        """What it has seen."""
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/fake/counts", timeout=10) as reply:  # noqa: S310
            found: dict[str, Any] = json.load(reply)
        return found


@contextmanager
def fake_server(*options: str, env: dict[str, str] | None = None) -> Iterator[Server]:
    """Run it with options such as ``--fault``, ``refusal=0.2``."""
    script = ("-m", "imarena.clients.fake_server", "--port", "0", "--answer", "tests.servers.fake_endpoint:answer")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    process = subprocess.Popen([sys.executable, *script, *options], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        line = process.stdout.readline().strip() if process.stdout else ""
        assert line.startswith("http://"), "the fake server did not start"
        yield Server(line)
    finally:
        process.terminate()
        process.wait(timeout=20)
        if process.stdout:
            process.stdout.close()


@contextmanager
def serve_here(answers: AnswerFunction, models: tuple[str, ...] = ()) -> Iterator[str]:
    """Run it in a thread, for these models (none: of any name); gives its address."""
    ready, stop = threading.Event(), threading.Event()
    address: list[str] = []

    async def serve() -> None:
        async with FakeServer(answer=answers, models=models) as server:
            address.append(server.base_url)
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(20), "the fake server did not start"
        yield address[0]
    finally:
        stop.set()
        thread.join()


def point_at(root: Path, url: str, *, timeout_s: float = 20.0, concurrency: int = 8, more: str = "") -> None:
    """Write the endpoint ``fake`` into a workspace's settings, in place of an earlier one."""
    path = root / "imarena.toml"
    before = path.read_text().split("\n[endpoints.fake]")[0]
    path.write_text(before + SETTINGS.format(url=url, timeout_s=timeout_s, concurrency=concurrency, more=more))
