"""Time the boards and pages of a served workspace over HTTP, for `workspaces.py`."""

import contextlib
import http.client
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlencode

Query = dict[str, str]
PASSWORD = secrets.token_urlsafe(24)
TIMES = 3
FIRST_START = "first start"
CACHED = ("battles", "battle-ids", "judges", "costs")
"""Files of the cache that a server writes when it has computed what pages show."""
MOST_STEPS = 200
"""Requests that looking for the last page may take, where the cursor does not count rows."""


@dataclass(frozen=True)
class Timing:
    """One page: milliseconds of the first request and of the fastest of all; CPU time of the server for the first."""

    group: str
    name: str
    first_ms: float
    first_cpu_ms: float
    best_ms: float
    rows: int | None

    def __str__(self) -> str:
        shown = f"{self.group}: {self.name}" + (f" ({self.rows} rows)" if self.rows is not None else "")
        first = f"first {self.first_ms:9.1f} ms (CPU {self.first_cpu_ms:6.0f} ms)"
        return f"  {first}, best {self.best_ms:7.1f} ms  {shown}"


@dataclass(frozen=True)
class Memory:
    """The most that a process used: `peak_mb` with the pages of files, which the system can reclaim, and without."""

    peak_mb: float = 0.0
    own_mb: float = 0.0

    def __str__(self) -> str:
        return f"{self.peak_mb:.0f} ({self.own_mb:.0f})"

    def __or__(self, other: "Memory") -> "Memory":
        return Memory(max(self.peak_mb, other.peak_mb), max(self.own_mb, other.own_mb))


def own_mb(pid: int) -> float:
    """The memory of a process without the pages of files; 0 if the process has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1024
    return 0.0


class Served:
    """`imarena serve` as a process of its own, and who asks it: the administrator, or anybody where it is public."""

    def __init__(self, root: Path, log: IO[bytes], *, public: bool) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        command = [sys.executable, "-m", "imarena", "-w", str(root), "serve", "--port", str(self.port)]
        command += ["--public"] if public else []
        env = {**os.environ, "IMARENA_ADMIN_PASSWORD": PASSWORD}
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=log)
        self.log = log
        self.cookie = ""
        self.first: dict[str, tuple[float, float]] = {}
        self.own_mb = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while self.process.poll() is None:
            self.own_mb = max(self.own_mb, own_mb(self.process.pid))
            time.sleep(0.02)

    def ready(self) -> None:
        """Wait until the server answers."""
        until = time.monotonic() + 300
        while True:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with status {self.process.returncode}:\n{self.said()}")
            with contextlib.suppress(OSError):
                if self._send("GET", "/api/health")[0] == 200:
                    break
            if time.monotonic() > until:
                raise RuntimeError("the server does not answer")
            time.sleep(0.1)

    def sign_in(self) -> None:
        """Sign in by password."""
        status, headers, body = self._send("POST", "/api/session/password", json.dumps({"password": PASSWORD}))
        if status != 200:
            raise RuntimeError(f"signing in failed: {status} {body[:300]!r}")
        self.cookie = str(headers["set-cookie"]).partition(";")[0]

    def _send(self, method: str, path: str, body: str | None = None) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=900)
        headers = {"cookie": self.cookie, "content-type": "application/json"}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, path: str, query: Query | None = None) -> tuple[Any, float]:
        """A document and the milliseconds until all of it was there; waits where there were too many requests."""
        url = f"{path}?{urlencode(query)}" if query else path
        while True:
            begun, cpu = time.perf_counter(), self.cpu_s()
            status, headers, body = self._send("GET", url)
            spent, cpu = 1000 * (time.perf_counter() - begun), 1000 * (self.cpu_s() - cpu)
            if status != 429:
                break
            time.sleep(float(headers.get("retry-after", "1")))
        if status != 200:
            raise RuntimeError(f"GET {url}: {status} {body[:300]!r}\n{self.said()}")
        self.first.setdefault(url, (spent, cpu))
        return json.loads(body), spent

    def time(self, group: str, name: str, path: str, query: Query | None = None) -> tuple[Any, Timing]:
        """Ask several times and print the line; a page that was asked for before keeps the time of that request."""
        documents, times = zip(*(self.get(path, query) for _ in range(TIMES)), strict=True)
        first_ms, cpu_ms = self.first[f"{path}?{urlencode(query)}" if query else path]
        rows = documents[-1].get(group)
        listed = len(rows) if isinstance(rows, list) else None
        timing = Timing(group, name, first_ms, cpu_ms, min(first_ms, *times), listed)
        print(timing, flush=True)
        return documents[-1], timing

    def cpu_s(self) -> float:
        """CPU seconds of the server so far."""
        numbers = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return sum(map(int, numbers[11:13])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> Memory:
        """The most memory that the server has used so far."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        peak_mb = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
        return Memory(peak_mb, self.own_mb)

    def said(self) -> str:
        """The end of what the server logged."""
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")[-2_000:]

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def served(root: Path, *, public: bool = False) -> Iterator[Served]:
    """A fresh server with nothing in its memory, signed in to where it is not public."""
    with tempfile.TemporaryFile() as log:
        server = Served(root, log, public=public)
        try:
            server.ready()
            if not public:
                server.sign_in()
            yield server
        finally:
            server.stop()


def time_first_start(root: Path) -> tuple[list[Timing], Memory]:
    """Pages on a server that starts without its cache, and its peak memory when everything is in the cache.

    Later servers start from that cache: what they need is the time of a restart, not of the first start of all.
    """
    folder = root / "cache" / "columns"
    shutil.rmtree(folder, ignore_errors=True)
    with served(root) as server:
        page, timing = server.time(FIRST_START, "list of battles", "/api/battles")
        found = [timing]
        found.append(server.time(FIRST_START, "a battle", f"/api/battles/{page['battles'][0]['battle_id']}")[1])
        found.append(server.time(FIRST_START, "judges", "/api/judges")[1])
        until = time.monotonic() + 1_200  # ten million bodies
        while not all((folder / name).exists() for name in CACHED):
            if time.monotonic() > until:
                raise RuntimeError("the server does not fill its cache")
            time.sleep(0.5)
        return found, server.memory()


def time_boards(root: Path, judge: str) -> tuple[list[Timing], Memory]:
    """The judge's board on a fresh server and again, then the default board and one of a filter; and peak memory."""
    with served(root) as server:
        by_judge = {"judge": judge}
        found = [server.time("board", "of the judge", "/api/board", by_judge)[1]]
        found.append(server.time("board", "by default", "/api/board")[1])
        facets, timing = server.time("facets", "facets", "/api/facets")
        found.append(timing)
        one = {**by_judge, "family": facets["families"][0]}
        found.append(server.time("board", "of one family", "/api/board", one)[1])
        return found, server.memory()


def time_pages(root: Path, halfway: str) -> tuple[list[Timing], Memory]:
    """Pages of battles, items and judges on a fresh server, and its peak memory. `halfway`: a day to filter by."""
    with served(root) as server:
        facets = server.get("/api/facets")[0]
        found: list[Timing] = []
        for group, filters in (("battles", battle_filters(facets, halfway)), ("items", item_filters(facets))):
            found += _time_list(server, group, filters)
        found.append(server.time("judges", "how judges behave", "/api/judges")[1])
        return found, server.memory()


def time_public(root: Path, judge: str) -> tuple[list[Timing], Memory]:
    """A board, and the ends of the lists, as anybody sees them: without what raters are busy with."""
    with served(root, public=True) as server:
        found = [server.time("board", "of the judge, in public", "/api/board", {"judge": judge})[1]]
        for group in ("battles", "items"):
            found += _time_list(server, group, {}, "all, in public")
        found.append(server.time("judges", "how judges behave, in public", "/api/judges")[1])
        return found, server.memory()


def battle_filters(facets: dict[str, list[str]], halfway: str) -> dict[str, Query]:
    """Every filter of the list of battles, with a common value and a rare one, and several together."""
    one, other = facets["editors"][0], facets["editors"][-1]
    wide = {"judge": facets["judges"][0], "dataset": facets["datasets"][0], "track": facets["tracks"][0]}
    return {
        "source=human": {"source": "human"},
        "source=judge": {"source": "judge"},
        "judge": {"judge": facets["judges"][0]},
        "dimension": {"dimension": facets["dimensions"][0]},
        **item_filters(facets),
        **{f"mode={mode}": {"mode": mode} for mode in facets["modes"]},
        "since": {"since": halfway},
        "until": {"until": halfway},
        "one model": {"left": one},
        "two models": {"left": one, "right": other},
        "several": {**wide, "since": halfway, "left": one},
    }


def item_filters(facets: dict[str, list[str]]) -> dict[str, Query]:
    """Every filter of the list of items."""
    named = {"dataset": "datasets", "family": "families", "task": "tasks", "topic": "topics", "track": "tracks"}
    common: dict[str, Query] = {name: {name: facets[many][-1]} for name, many in named.items()}
    return {**common, "rare topic": {"topic": facets["topics"][0]}}


def _time_list(server: Served, group: str, filters: dict[str, Query], whole: str = "all") -> Iterator[Timing]:
    """First, second, middle and last page with each filter, the longest page, what the first and last row lead to."""
    path = f"/api/{group}"
    identity = {"battles": "battle_id", "items": "item_id"}[group]
    for name, query in {whole: {}, **filters}.items():
        page, timing = server.time(group, f"{name}, first page", path, query)
        yield timing
        last = page
        if page["next_cursor"] is not None:
            more = {**query, "cursor": page["next_cursor"]}
            yield server.time(group, f"{name}, second page", path, more)[1]
            end = last_cursor(server, path, query, page)
            middle = {**query, "cursor": str(max(1, int(end) // 2))}
            yield server.time(group, f"{name}, middle page", path, middle)[1]
            last, timing = server.time(group, f"{name}, last page", path, {**query, "cursor": end})
            yield timing
        if last["next_cursor"] is not None or not last[group]:
            raise RuntimeError(f"{path} {query}: the last page was not found")
        if name == whole:
            yield server.time(group, f"{name}, first page of 200", path, {"limit": "200"})[1]
            for where, row in (("first", page[group][0]), ("last", last[group][-1])):
                yield server.time(group, f"{name}, the {where} one itself", f"{path}/{row[identity]}")[1]


def last_cursor(server: Served, path: str, query: Query, page: dict[str, Any]) -> str:
    """The cursor of the last page: told by the first one, counted from the total, or looked for."""
    if page.get("last_cursor"):
        return str(page["last_cursor"])
    size = len(next(value for value in page.values() if isinstance(value, list)))
    low = int(page["next_cursor"])
    if page.get("total") and low == size:  # a cursor counts rows
        return str((page["total"] - 1) // size * size)
    high = 0
    for _ in range(MOST_STEPS):  # a cursor is a place in the order of arrival: double it, then halve what is between
        middle = (low + high) // 2 if high else 2 * low
        found = server.get(path, {**query, "cursor": str(middle)})[0]
        rows = next(value for value in found.values() if isinstance(value, list))
        if rows and found["next_cursor"] is None:
            return str(middle)
        low, high = (middle, high) if rows else (low, middle)
    raise RuntimeError(f"{path} {query}: the last page was not found")
