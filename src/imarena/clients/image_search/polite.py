"""Polite requests to image sources: one at a time per host, with pauses, a user agent, robots.txt and few retries.

A host that asks for a long pause, or whose daily quota is used up, is not asked again in the same run.
Everything goes through `download_file`, so search answers and images can only lead to public addresses.
"""

import asyncio
import html
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit
from urllib.robotparser import RobotFileParser

from imarena.clients.fetch import MAX_REDIRECTS, Download, DownloadRedirected, DownloadRefused, download_file
from imarena.core import VERSION, FoundImage, ImageQuery, InvalidImage, SourceFailure

AGENT = "imarena"
_TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_WAIT_S = 60.0
_DAY = re.compile(r"per day|daily ?limit", re.IGNORECASE)
"""Names that Google and others use for a quota that a pause of a minute does not restore."""
_MAX_JSON_BYTES = 16 * 1024 * 1024
_MAX_ROBOTS_BYTES = 512 * 1024


class PoliteFetcher:
    """`interval_s` is the minimum time between two requests to a host; a Crawl-delay in robots.txt may increase it."""

    def __init__(
        self,
        *,
        contact: str = "",
        interval_s: float = 1.0,
        max_attempts: int = 3,
        backoff_s: float = 1.0,
        timeout_s: float = 60.0,
        allow_loopback: bool = False,
    ) -> None:
        about = f" ({contact})" if contact else ""
        self._agent = {"User-Agent": f"{AGENT}/{VERSION}{about}"}
        self._interval_s = interval_s
        self._attempts = max_attempts
        self._backoff_s = backoff_s
        self._timeout_s = timeout_s
        self._allow_loopback = allow_loopback
        self._turns: dict[str, asyncio.Lock] = {}
        self._last: dict[str, float] = {}
        self._delays: dict[str, float] = {}
        self._robots: dict[str, RobotFileParser] = {}
        self._used_up: dict[str, str] = {}

    async def json(
        self, url: str, headers: Mapping[str, str] | None = None, busy: Callable[[Any], str] | None = None
    ) -> Any:
        """The JSON document of an API's answer. `busy` extracts from it why the API wants to be asked later."""

        def check(reply: Download) -> None:
            why = busy(json.loads(reply.data)) if busy else ""
            if why:
                raise DownloadRefused(why, retry_after_s=reply.retry_after_s, unreachable=True)

        reply = await self._get(url, headers or {}, check, type_of=_json_type, max_bytes=_MAX_JSON_BYTES)
        return json.loads(reply.data)

    async def image(self, url: str) -> bytes:
        """An image file, if robots.txt of its host, and of each host that a redirect leads to, permits it."""
        address = url
        for _ in range(MAX_REDIRECTS + 1):
            if not await self._permitted(address):
                raise SourceFailure(f"robots.txt of {urlsplit(address).hostname} forbids downloading the image")
            try:
                return (await self._get(address, {}, follow=False)).data
            except DownloadRedirected as moved:
                address = moved.url
        raise SourceFailure(f"{urlsplit(url).hostname} redirects more than {MAX_REDIRECTS} times")

    async def _get(
        self, url: str, headers: Mapping[str, str], check: Callable[[Download], None] | None = None, **options: Any
    ) -> Download:
        host = urlsplit(url).netloc
        for attempt in range(1, self._attempts + 1):
            try:
                reply = await self._once(url, headers, **options)
                if check is not None:
                    check(reply)
            except DownloadRefused as error:
                why = f"{error.args[0]}{_detail(error.body, url)}"
                wait_s = error.retry_after_s
                if (wait_s or 0.0) > _LONGEST_WAIT_S or (error.status in (403, 429) and _DAY.search(why)):
                    self._used_up[host] = f"{why}; it asks to wait {wait_s:g} s" if wait_s else why
                    raise SourceFailure(self._used_up[host], retriable=True) from error
                temporary = error.unreachable or error.status in _TEMPORARY
                if not temporary or attempt == self._attempts:
                    raise SourceFailure(why, hint=error.hint, retriable=temporary) from error
                await asyncio.sleep(wait_s if wait_s is not None else self._backoff_s * 2 ** (attempt - 1))
            else:
                return reply
        raise SourceFailure("no attempt was made")

    async def _once(self, url: str, headers: Mapping[str, str], **options: Any) -> Download:
        host = urlsplit(url).netloc
        async with self._turns.setdefault(host, asyncio.Lock()):
            if host in self._used_up:
                raise SourceFailure(self._used_up[host], retriable=True)
            pause = max(self._interval_s, self._delays.get(host, 0.0)) - (time.monotonic() - self._last.get(host, -1e9))
            if pause > 0:
                await asyncio.sleep(pause)
            try:
                return await download_file(
                    url, timeout_s=self._timeout_s, allow_loopback=self._allow_loopback,
                    headers={**self._agent, **headers}, **options,
                )  # fmt: skip
            finally:
                self._last[host] = time.monotonic()

    async def _permitted(self, url: str) -> bool:
        """Check robots.txt (RFC 9309): a missing file permits everything; a failing server permits nothing."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        rules = self._robots.get(origin)
        if rules is None:
            rules = RobotFileParser()
            try:
                reply = await self._get(f"{origin}/robots.txt", {}, type_of=_any_type, max_bytes=_MAX_ROBOTS_BYTES)
                rules.parse(reply.data.decode("utf-8", errors="replace").splitlines())
            except SourceFailure as error:
                if error.retriable:
                    raise
                rules.parse([])
            self._robots[origin] = rules
            delay = rules.crawl_delay(AGENT)
            if delay is not None:
                self._delays[parts.netloc] = min(float(delay), _LONGEST_WAIT_S)
        return rules.can_fetch(AGENT, url)


def _json_type(data: bytes) -> str:
    try:
        json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidImage("the answer is not JSON") from error
    return "application/json"


def _detail(body: bytes, url: str) -> str:
    """An API's error message in one line: `error.message` (Google), `detail` (Openverse), `error`."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(document, dict):
        return ""
    error = document.get("error")
    message = error.get("message") if isinstance(error, dict) else document.get("detail") or error
    if not isinstance(message, str) or not message:
        return ""
    text = "".join(letter if letter.isprintable() else " " for letter in message)[:300]
    for secret in parse_qs(urlsplit(url).query).get("key", ()):  # never repeat a key that was sent
        text = text.replace(secret, "...")
    return f": {text}"


def _any_type(data: bytes) -> str:  # noqa: ARG001
    return "text/plain"


class WebSource(ABC):
    """A service that can be searched and that delivers the images: the ports of `core/image_sources.py`."""

    default_url: ClassVar[str]

    def __init__(self, name: str, fetcher: PoliteFetcher, base_url: str, token: str = "") -> None:
        self._name = name
        self._fetcher = fetcher
        self._base_url = (base_url or self.default_url).rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    @abstractmethod
    async def search(self, query: ImageQuery, limit: int) -> list[FoundImage]:
        """The `SearchImages` port."""

    async def load(self, found: FoundImage) -> bytes:
        """The `LoadImage` port."""
        return await self._fetcher.image(found.address)


_TAG = re.compile(r"<[^>]*>")
_LONGEST = 2000


def listed_entries(reply: Any, name: str, source: str) -> list[dict[str, Any]]:
    """A list of objects; raises if the answer has none."""
    entries = reply.get(name) if isinstance(reply, dict) else None
    if not isinstance(entries, list):
        raise SourceFailure(f"{source} answers without '{name}'")
    return [entry for entry in entries if isinstance(entry, dict)]


def _at(entry: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        entry = entry.get(name) if isinstance(entry, dict) else None
    return entry


def text_at(entry: Any, *names: str) -> str:
    """A string at a path; empty if missing. Markup is removed."""
    entry = _at(entry, names)
    if isinstance(entry, int) and not isinstance(entry, bool):
        return str(entry)
    if not isinstance(entry, str):
        return ""
    return " ".join(html.unescape(_TAG.sub(" ", entry)).split())[:_LONGEST]


def url_at(entry: Any, *names: str) -> str:
    """A URL at a path, unchanged: `&copy=1` in it is not markup. Empty if missing or too long."""
    entry = _at(entry, names)
    return entry.strip() if isinstance(entry, str) and len(entry) <= _LONGEST else ""


def integer_at(entry: Any, *names: str) -> int | None:
    """An integer at a path."""
    entry = _at(entry, names)
    return entry if isinstance(entry, int) and not isinstance(entry, bool) and entry > 0 else None
