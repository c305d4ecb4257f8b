"""The only downloader: public addresses only, limited size and time, and only the expected file type.

An address is checked after name resolution, and the connection goes to exactly the checked address, so that a name
that resolves differently the second time gains nothing. Each redirect is checked again.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from imarena.core import VERSION, InvalidImage, UserError, error_line
from imarena.images import media_type_of

MAX_BYTES = 64 * 1024 * 1024
MAX_REDIRECTS = 5
_MAX_ERROR_BYTES = 8192
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REFUSED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "168.63.129.16/32",  # Azure's host agent: it looks public but is not
        # IANA's special-purpose blocks that some Python versions do not call private
        *(
            "192.0.0.0/24",
            "192.88.99.0/24",
            "64:ff9b:1::/48",
            "100::/64",
            "2001::/23",
            "3fff::/20",
            "5f00::/16",
            "fec0::/10",
        ),
    )
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

_IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class DownloadRefused(UserError):
    """The download was refused or stopped; the message says why.

    `status` is the server's HTTP status if it was not 200, and `retry_after_s` is the delay that it asks for.
    `unreachable`: there was no complete answer. `body` is the beginning of an answer with a status other than 200.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        status: int | None = None,
        retry_after_s: float | None = None,
        unreachable: bool = False,
        body: bytes = b"",
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after_s = retry_after_s
        self.unreachable = unreachable
        self.body = body


class DownloadRedirected(Exception):
    """The server redirects to `url`, which is checked but was not requested yet."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


@dataclass(frozen=True)
class Download:
    """A downloaded file; `url` is the address after redirects."""

    data: bytes
    media_type: str
    url: str
    retry_after_s: float | None = None
    """The delay that the server asks for; some APIs report that they are busy with HTTP 200."""


async def download_file(
    url: str,
    *,
    max_bytes: int = MAX_BYTES,
    timeout_s: float = 60.0,
    type_of: Callable[[bytes], str] = media_type_of,
    allow_loopback: bool = False,
    headers: Mapping[str, str] | None = None,
    follow: bool = True,
) -> Download:
    """Download one file over http or https. Raises `DownloadRefused` with one reason.

    `type_of` determines the type from the bytes and raises `InvalidImage` for a wrong one (default: images only).
    `allow_loopback` is for tests. `headers` are sent with the first request only: a redirect may lead to another host.
    With `follow=False`, a redirect raises `DownloadRedirected`.
    """
    connector = aiohttp.TCPConnector(resolver=_CheckedResolver(allow_loopback), use_dns_cache=False, limit=1)
    timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=min(10.0, timeout_s))
    base = {"User-Agent": f"imarena/{VERSION}", "Accept-Encoding": "identity"}
    jar = aiohttp.DummyCookieJar()
    try:
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, headers=base, cookie_jar=jar) as session:
            data, final, wait_s = await _follow(
                session, url, max_bytes, headers or {}, allow_loopback=allow_loopback, follow=follow
            )
    except TimeoutError as error:
        raise DownloadRefused(f"{_clean(url)} gave no whole reply in {timeout_s:g} s", unreachable=True) from error
    except (aiohttp.ClientError, OSError) as error:
        raise DownloadRefused(
            f"{_clean(url)} cannot be downloaded: {error_line(error, 200)}", unreachable=True
        ) from error
    try:
        return Download(data, type_of(data), str(final), wait_s)
    except InvalidImage as error:
        raise DownloadRefused(f"{_clean(url)} is of the wrong type: {error}") from error


def refusal_reason(address: _IpAddress, *, allow_loopback: bool = False) -> str:
    """The reason why nothing is fetched from this address; "" if it is public."""
    inner = _embedded(address)
    if inner is not None:
        return refusal_reason(inner, allow_loopback=allow_loopback)
    if address.is_loopback:
        return "" if allow_loopback else "a loopback address"
    if address.is_link_local:
        return "a link-local address"
    if isinstance(address, ipaddress.IPv6Address) and (address.sixtofour or address.teredo):
        return "a tunnel to another address"
    if address.is_multicast or address.is_unspecified or address.is_reserved or any(address in net for net in _REFUSED):
        return "a reserved address"
    return "" if address.is_global else "a private address"


async def _follow(
    session: aiohttp.ClientSession,
    url: str,
    max_bytes: int,
    headers: Mapping[str, str],
    *,
    allow_loopback: bool,
    follow: bool,
) -> tuple[bytes, URL, float | None]:
    current = _checked_url(url, allow_loopback=allow_loopback)
    for _ in range(MAX_REDIRECTS + 1):
        async with session.get(current, allow_redirects=False, headers=headers) as response:
            headers = {name: value for name, value in headers.items() if name == "User-Agent"}
            target = response.headers.get("Location")
            if response.status in _REDIRECTS and target:
                current = _checked_url(str(_joined(current, target)), allow_loopback=allow_loopback)
                if not follow:
                    raise DownloadRedirected(str(current))
                continue
            wait_s = _seconds(response.headers.get("Retry-After", ""))
            if response.status != 200:
                raise DownloadRefused(
                    f"{_clean(url)} answers with HTTP {response.status}", status=response.status, retry_after_s=wait_s,
                    body=await response.content.read(_MAX_ERROR_BYTES),
                )  # fmt: skip
            return await _read(response, max_bytes, url), current, wait_s
    raise DownloadRefused(f"{_clean(url)} redirects more than {MAX_REDIRECTS} times")


def _seconds(text: str) -> float | None:
    """Seconds to wait according to `Retry-After`: a number, or a date (RFC 9110)."""
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds()) if moment.tzinfo else None


def _joined(base: URL, target: str) -> URL:
    try:
        return base.join(URL(target))
    except ValueError as error:
        raise DownloadRefused(f"{_clean(str(base))} redirects to something that is no address") from error


async def _read(response: aiohttp.ClientResponse, max_bytes: int, url: str) -> bytes:
    too_large = f"{_clean(url)} is larger than {max_bytes:,} bytes"
    if (response.content_length or 0) > max_bytes:
        raise DownloadRefused(too_large)
    data = bytearray()
    async for chunk in response.content.iter_chunked(65536):
        data += chunk
        if len(data) > max_bytes:
            raise DownloadRefused(too_large)
    return bytes(data)


def _checked_url(text: str, *, allow_loopback: bool) -> URL:
    """A plain http(s) URL; an IP address in it is checked here, since no name is resolved for it."""
    try:
        url = URL(text)
        host = url.host
        port = url.port
    except ValueError as error:
        raise DownloadRefused(f"{text[:200]!r} is not an address") from error
    if url.scheme not in {"http", "https"} or not host or not port:
        raise DownloadRefused(f"{_clean(text)} is not an http or https address")
    if url.user or url.password:
        raise DownloadRefused(f"{_clean(text)} carries a user name or password", hint="Remove it from the address.")
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return url
    reason = refusal_reason(address, allow_loopback=allow_loopback)
    if reason:
        raise DownloadRefused(f"{_clean(text)} is {reason}: only public addresses are fetched")
    return url


def _embedded(address: _IpAddress) -> _IpAddress | None:
    """The IPv4 address inside an IPv6 one (mapped or NAT64), which is the address that is actually reached."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else address.ipv4_mapped


class _CheckedResolver(AbstractResolver):
    """Resolve names to addresses; refuse if any of them is not public. The connection goes to a returned address."""

    def __init__(self, allow_loopback: bool) -> None:
        self._allow_loopback = allow_loopback

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
        results: list[ResolveResult] = []
        for kind, _, protocol, _, address in rows:
            text = str(address[0])
            reason = refusal_reason(ipaddress.ip_address(text.partition("%")[0]), allow_loopback=self._allow_loopback)
            if reason:
                raise DownloadRefused(f"{host} is {reason}: only public addresses are fetched")
            results.append(
                ResolveResult(
                    hostname=host,
                    host=text,
                    port=port,
                    family=kind,
                    proto=protocol,
                    flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
                )
            )
        return results

    async def close(self) -> None:
        """Nothing to close."""


def _clean(url: str) -> str:
    """A URL for messages, without password and query (which may contain a token)."""
    try:
        return str(URL(url).with_user(None).with_query(None).with_fragment(None))[:200]
    except ValueError:
        return repr(url[:200])
