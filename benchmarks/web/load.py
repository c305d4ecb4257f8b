"""Many raters at once against a real server: latency, and every acknowledged vote in the store exactly once.

    python -m benchmarks.web.load                     100 raters, a vote a second each, 60 s, both databases, with kills
    python -m benchmarks.web.load --seconds 15 --raters 40 --database sqlite --kills 2
    python -m benchmarks.web.load --seconds 15 --saturate         the votes a second that each database takes at most

Each rater asks for the next task, has the one after it kept ready as the pages do, looks for the rest of the second,
and votes. With kills the server is ended by SIGKILL and started again; raters post the same vote, under the same key,
until it is acknowledged.
"""

import argparse
import asyncio
import contextlib
import gc
import os
import random
import resource
import secrets
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from imarena.core.records import Rater, Vote
from imarena.routing.campaign_plan import CampaignPlan
from imarena.storage import access, init_workspace, open_workspace
from imarena.web.keys import COOKIE, Keys
from imarena.workflows.rating.campaigns import create_campaign
from imarena.workflows.views import View
from tests.servers.postgres import new_database, server
from tests.web.people import fill

EDITORS = tuple(f"editor-{letter}" for letter in "abcde")


@dataclass
class Seen:
    """What the raters saw."""

    next_s: list[float] = field(default_factory=list)
    ahead_s: list[float] = field(default_factory=list)
    vote_s: list[float] = field(default_factory=list)
    picture_s: list[float] = field(default_factory=list)
    acknowledged: set[str] = field(default_factory=set)
    errors: Counter[str] = field(default_factory=Counter)
    retries: int = 0
    looked_again: int = 0
    """Votes for which pictures had to be requested once more: the server was killed before it had noted them."""
    start_cpu_s: float = 0.0
    """CPU seconds that the server had used when it first answered."""


def prepare(root: Path, url: str, raters: int, items: int, key: str) -> tuple[str, list[tuple[str, str]]]:
    """A campaign with enough work, and signed-in raters: cookie and CSRF token of each."""
    keys = Keys(key)
    with init_workspace(root, url=url) as workspace:
        fill(workspace, items=items, editors=EDITORS)
        plan = CampaignPlan(name="load", raters_per_unit=raters, weekly_quota=100_000)
        campaign = create_campaign(workspace, plan).campaign_id
        people = []
        for number in range(raters):
            workspace.store.add([Rater(rater_id=f"load-{number}")])
            engine = workspace.store.engine
            _, secret = access.invite(
                engine, campaign_id=campaign, role="rater", name="", days=1, max_people=1, person_param=""
            )
            session = access.accept_invitation(engine, secret, {}, 1.0)
            if session is None:
                raise RuntimeError("the invitation was not accepted")
            people.append((keys.seal(session), keys.csrf(access.hash_secret(session))))
    return campaign, people


class Served:
    """The server as a process of its own."""

    def __init__(self, root: Path, key: str) -> None:
        self.root, self.key = root, key
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it may take a moment to answer."""
        command = [sys.executable, "-m", "imarena", "-w", str(self.root), "serve", "--port", str(self.port)]
        env = {**os.environ, "IMARENA_SECRET_KEY": self.key}
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        """End it without warning."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def cpu_s(self) -> float:
        """CPU seconds of the server that runs now."""
        pid = self.process.pid if self.process is not None else 0
        numbers = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return sum(map(int, numbers[11:13])) / os.sysconf("SC_CLK_TCK")

    async def ready(self, client: aiohttp.ClientSession) -> None:
        """Wait until it answers."""
        for _ in range(600):
            with contextlib.suppress(aiohttp.ClientError):
                async with client.get(f"http://127.0.0.1:{self.port}/api/me") as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.1)
        raise RuntimeError("the server does not answer")


async def post(
    client: aiohttp.ClientSession, url: str, who: tuple[str, str], body: Any, seen: Seen, times: list[float]
) -> Any:
    """Post until there is an answer; the time of the attempt that got it counts."""
    headers = {"cookie": f"{COOKIE}={who[0]}", "x-csrf-token": who[1]}
    while True:
        started = time.perf_counter()
        try:
            async with client.post(url, json=body, headers=headers) as answer:
                document = await answer.json()
                times.append(time.perf_counter() - started)
                if document.get("code") == "pictures_not_seen":  # a server that was killed forgot the newest marks
                    return document
                if answer.status != 200:
                    seen.errors[f"{answer.status} {document.get('code')}"] += 1
                    return None
                return document
        except (aiohttp.ClientError, TimeoutError):
            seen.retries += 1
            await asyncio.sleep(0.2 + random.random())  # spread, as the pages do it


async def look(client: aiohttp.ClientSession, base: str, task: Any, who: tuple[str, str], seen: Seen) -> None:
    """Request every picture of a task, as a page does; without them its answer is refused."""
    for shown in (*task["sources"], *task["references"], task["left"], task["right"]):
        begun = time.perf_counter()
        try:
            async with client.get(f"{base}{shown['url']}", headers={"cookie": f"{COOKIE}={who[0]}"}) as answer:
                await answer.read()
        except (aiohttp.ClientError, TimeoutError):
            continue  # the server was killed: the vote will say so
        seen.picture_s.append(time.perf_counter() - begun)


async def rate(
    client: aiohttp.ClientSession,
    base: str,
    campaign: str,
    who: tuple[str, str],
    until: float,
    seen: Seen,
    every: float,
) -> None:
    """One rater's minute."""
    await asyncio.sleep(every * secrets.randbelow(1000) / 1000)
    voting_s, fetched = 0.0, ""
    while time.perf_counter() < until:
        found = await post(client, f"{base}/api/rating/campaigns/{campaign}/next", who, None, seen, seen.next_s)
        if not found or found["task"] is None:
            seen.errors["no task"] += found is not None
            return
        there = time.perf_counter() - seen.next_s[-1]
        if found["task"]["address"] != fetched:
            await look(client, base, found["task"], who, seen)
        ahead = await post(client, f"{base}/api/rating/campaigns/{campaign}/ahead", who, None, seen, seen.ahead_s)
        if ahead and ahead["task"] is not None:
            await look(client, base, ahead["task"], who, seen)
            fetched = ahead["task"]["address"]
        await asyncio.sleep(max(0.0, there + every - voting_s - time.perf_counter()))  # looking
        key = f"load-{secrets.token_hex(12)}"
        ballot = {"idempotency_key": key, "preference": "left", "time_spent_s": 1.0}
        url = f"{base}/api/tasks/{found['task']['address']}/vote"
        receipt = await post(client, url, who, ballot, seen, seen.vote_s)
        while receipt is not None and "code" in receipt:
            seen.looked_again += 1
            await look(client, base, found["task"], who, seen)
            receipt = await post(client, url, who, ballot, seen, seen.vote_s)
        if receipt is not None:
            seen.acknowledged.add(key)
        voting_s = seen.vote_s[-1]


async def run(
    served: Served, campaign: str, people: list[tuple[str, str]], seconds: float, kills: int, every: float
) -> Seen:
    """All raters at once, and the killer."""
    seen = Seen()
    base = f"http://127.0.0.1:{served.port}"
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=30)) as client:
        await served.ready(client)
        seen.start_cpu_s = served.cpu_s()
        gc.collect()
        gc.freeze()  # the raters' own pauses are not the server's
        until = time.perf_counter() + seconds
        work = [asyncio.create_task(rate(client, base, campaign, who, until, seen, every)) for who in people]
        for _ in range(kills):
            await asyncio.sleep(seconds / (kills + 1))
            served.kill()
            served.start()
        await asyncio.gather(*work)
    return seen


def check(root: Path, seen: Seen) -> dict[str, int]:
    """Is every acknowledged vote there exactly once, and nothing else?"""
    with open_workspace(root) as workspace:
        stored = Counter(vote.idempotency_key for vote in workspace.store.records(Vote))
        live = int(View(workspace).votes.counts.sum())
    lost = len(seen.acknowledged - set(stored))
    twice = sum(1 for count in stored.values() if count > 1)
    return {"acknowledged": len(seen.acknowledged), "stored": len(stored), "live": live, "lost": lost, "twice": twice}


def told(times: list[float]) -> str:
    """Milliseconds at the middle, the 95th of a hundred, and the worst."""
    if len(times) < 2:
        return "-"
    cuts = statistics.quantiles(times, n=100)
    return f"p50 {cuts[49] * 1e3:.0f} ms, p95 {cuts[94] * 1e3:.0f} ms, max {max(times) * 1e3:.0f} ms, n {len(times)}"


def _children_s() -> float:
    """Seconds of CPU of the servers that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one(url: str, name: str, options: argparse.Namespace, kills: int, every: float) -> bool:
    """One run on one database."""
    key = secrets.token_urlsafe(32)
    items = max(2, -(-int(options.seconds / max(every, 0.02) * 1.2) // 10))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "arena"
        campaign, people = prepare(root, url, options.raters, items, key)
        served = Served(root, key)
        served.start()
        begun, before = time.perf_counter(), _children_s()
        try:
            seen = asyncio.run(run(served, campaign, people, options.seconds, kills, every))
        finally:
            served.kill()
        spent, cpu_s = time.perf_counter() - begun, _children_s() - before
        counts = check(root, seen)
    pace = "as fast as it goes" if every == 0 else f"a vote every {every:g} s"
    print(f"{name}: {options.raters} raters, {pace}, {options.seconds:g} s, {kills} kills")
    print(f"  next:  {told(seen.next_s)}\n  ahead: {told(seen.ahead_s)}\n  vote:  {told(seen.vote_s)}")
    print(f"  picture: {told(seen.picture_s)}; requested once more after a kill: {seen.looked_again}")
    found = f"{len(seen.acknowledged) / spent:.0f} votes a second"
    votes = max(1, len(seen.acknowledged))
    found += f", {1e3 * cpu_s / votes:.1f} ms of the server's CPU per vote (with its starts)"
    if not kills:  # a slow machine takes fewer votes, and the start then looks like a part of each
        found += f", {1e3 * (cpu_s - seen.start_cpu_s) / votes:.1f} ms without its start"
    print(f"  {found}; {counts}; errors {dict(seen.errors)}; retries {seen.retries}", flush=True)
    return counts["lost"] == 0 and counts["twice"] == 0 and counts["stored"] == counts["live"] and not seen.errors


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--saturate", action="store_true", help="only the rate at which it saturates")
    options = parser.parse_args()
    steady = [(0, 1.0)] + [(options.kills, 1.0)] * (options.kills > 0)
    runs = [(0, 0.0)] if options.saturate else steady
    good = True
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(server()) if options.database != "sqlite" else ""
        for name in ("sqlite", "postgresql"):
            if options.database not in (name, "both"):
                continue
            for kills, every in runs:
                url = new_database(address) if name == "postgresql" else ""
                good &= one(url, name, options, kills, every)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
