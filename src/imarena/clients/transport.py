"""One HTTP exchange: sends the pieces of a body and returns one classified result. Only here are keys revealed."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from yarl import URL

from imarena.clients.endpoint import Endpoint
from imarena.clients.replies import EndpointAnswer, Failure, FailureKind, read_reply
from imarena.clients.routes import Route
from imarena.clients.secret import Secret, scrub, scrub_bytes
from imarena.core import VERSION

MAX_REPLY_BYTES = 8 * 1024 * 1024
MAX_UPLOADS = 32
"""Maximum number of bodies sent at the same time. Hundreds of large bodies that share the line all finish together,
and so do their replies: the endpoint then idles between the waves. Sending a few at a time keeps it busy."""
_CHUNK = 256 * 1024  # asyncio copies what the socket does not take at once, so write small chunks


R = TypeVar("R")
"""The result of a reader."""


class Body(aiohttp.payload.Payload):
    """A JSON body in pieces that are sent without joining them, and can be sent again."""

    def __init__(self, pieces: tuple[bytes, ...], gate: asyncio.Semaphore) -> None:
        super().__init__(pieces, content_type="application/json")
        self._pieces = pieces
        self._gate = gate
        self._size = sum(len(piece) for piece in pieces)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return b"".join(self._pieces).decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        async with self._gate:
            for piece in self._pieces:
                view = memoryview(piece)
                for start in range(0, len(view), _CHUNK):
                    await writer.write(view[start : start + _CHUNK])


def new_session(endpoint: Endpoint) -> aiohttp.ClientSession:
    """A session for one endpoint; the routes limit the number of concurrent requests."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
        timeout=aiohttp.ClientTimeout(total=endpoint.timeout_s, sock_connect=endpoint.connect_timeout_s),
        headers={"User-Agent": f"imarena/{VERSION}", "Accept": "application/json", **endpoint.headers},
        trust_env=endpoint.use_proxy_env,
        cookie_jar=aiohttp.DummyCookieJar(),
    )


async def request(
    session: aiohttp.ClientSession,
    route: Route,
    url: URL,
    parse: Callable[[int, Mapping[str, str], bytes], R | Failure],
    *,
    method: str = "POST",
    data: Any = None,
    json: Any = None,
    max_bytes: int = MAX_REPLY_BYTES,
) -> R | Failure:
    """Make one exchange with a route's key and parse the reply with `parse`. An echoed key is removed before that.

    Redirects are not followed: a key is only sent to the address that it was given for.
    """
    secrets = () if route.secret is None else (route.secret,)
    started = asyncio.get_running_loop().time()
    try:
        async with session.request(
            method, url, data=data, json=json, headers=_key(route), allow_redirects=False
        ) as response:
            body = scrub_bytes(await _read(response, max_bytes), secrets)
            if 300 <= response.status < 400:
                why = f"HTTP {response.status}: it redirects; set base_url to the new address"
                return Failure(FailureKind.REJECTED, why, response.status)
            return parse(response.status, response.headers, body)
    except TimeoutError:
        waited = asyncio.get_running_loop().time() - started
        return Failure(FailureKind.TIMEOUT, f"no reply after {waited:.1f} s", maybe_charged=True)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        never_sent = isinstance(error, aiohttp.ClientConnectorError | aiohttp.InvalidURL)
        return Failure(FailureKind.FAILED, _reason(error, secrets), maybe_charged=not never_sent)


async def post(
    session: aiohttp.ClientSession, route: Route, pieces: tuple[bytes, ...], gate: asyncio.Semaphore
) -> EndpointAnswer | Failure:
    """Send one chat request."""
    started = asyncio.get_running_loop().time()
    url = endpoint_url(route.url, "chat", "completions")
    result = await request(session, route, url, read_reply, data=Body(pieces, gate))
    if isinstance(result, Failure):
        return result
    latency_s = asyncio.get_running_loop().time() - started
    return replace(result, usage=result.usage.model_copy(update={"latency_s": latency_s}))


async def get_models(session: aiohttp.ClientSession, route: Route) -> list[str]:
    """The ids from `/models`; raises `ValueError` if the reply is not a list of them."""
    async with session.get(endpoint_url(route.url, "models"), headers=_key(route), allow_redirects=False) as response:
        if response.status != 200:
            raise ValueError(f"HTTP {response.status}")
        document: Any = await response.json(content_type=None)
    rows: Iterable[Any] = document.get("data") if isinstance(document, dict) else None  # type: ignore[assignment]
    if not isinstance(rows, list):
        raise ValueError("the reply is not a list of models")  # noqa: TRY004 - a wrong value from outside
    return [str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row]


def endpoint_url(base_url: str, *parts: str) -> URL:
    """A path below the base URL; its query (Azure's api-version) is kept."""
    base = URL(base_url)
    path = "/".join((base.raw_path.rstrip("/"), *parts))
    return base.with_path(path, encoded=True, keep_query=True)


def _key(route: Route) -> dict[str, str]:
    if route.secret is None:
        return {}
    name = route.endpoint.key_header
    value = route.secret.reveal()
    return {name: f"{route.endpoint.key_prefix} {value}" if name.lower() == "authorization" else value}


async def _read(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > max_bytes:
            raise ValueError(f"the reply is larger than {max_bytes:,} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def _reason(error: Exception, secrets: tuple[Secret, ...]) -> str:
    text = scrub(" ".join(str(error).split()), secrets)
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__
