"""The fetcher: public addresses only, on every hop, and nothing too large, slow or of the wrong type."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from imarena.clients.fetch import Download, DownloadRefused, download, refusal_reason
from imarena.core.errors import InvalidImage
from tests.unit.images.made import encode, photo

PICTURE = encode(photo())


@asynccontextmanager
async def site() -> AsyncIterator[str]:
    """A web site on the loopback interface with good and bad things."""

    async def picture(_request: web.Request) -> web.Response:
        return web.Response(body=PICTURE, content_type="text/html")  # the label lies, the bytes count

    async def page(_request: web.Request) -> web.Response:
        return web.Response(text="<html>", content_type="image/png")

    async def hop(request: web.Request) -> web.Response:
        left = int(request.match_info["left"])
        raise web.HTTPFound(f"/hop/{left - 1}" if left else "/picture")

    async def away(request: web.Request) -> web.Response:
        raise web.HTTPFound(request.query["to"])

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(10_000):
            await response.write(b"\x89PNG" * 4096)
        return response

    async def slow(_request: web.Request) -> web.Response:
        await asyncio.sleep(20)
        return web.Response()

    app = web.Application()
    app.router.add_get("/picture", picture)
    app.router.add_get("/page", page)
    app.router.add_get("/hop/{left}", hop)
    app.router.add_get("/away", away)
    app.router.add_get("/endless", endless)
    app.router.add_get("/slow", slow)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def get(path: str, **options: Any) -> Download:
    async def run() -> Download:
        async with site() as base:
            return await download(base + path, **{"allow_loopback": True, **options})

    return asyncio.run(run())


def test_a_picture_is_fetched_and_told_by_its_bytes() -> None:
    found = get("/picture")
    assert found.data == PICTURE
    assert found.media_type == "image/png"


def test_redirects_are_followed_up_to_a_limit() -> None:
    assert get("/hop/4").url.endswith("/picture")
    with pytest.raises(DownloadRefused, match="more than 5 times"):
        get("/hop/5")


@pytest.mark.parametrize(
    ("path", "reason", "options"),
    [
        ("/page", "wrong type: an HTML page", {}),
        ("/missing", "HTTP 404", {}),
        ("/picture", "larger than 100 bytes", {"max_bytes": 100}),
        ("/endless", "larger than 1,000,000 bytes", {"max_bytes": 1_000_000}),
        ("/slow", "no whole reply in 0.2 s", {"timeout_s": 0.2}),
        ("/picture", "a loopback address", {"allow_loopback": False}),
        ("/away?to=http://10.0.0.1/x", "a private address", {}),
        ("/away?to=http://169.254.169.254/latest/meta-data", "a link-local address", {}),
        ("/away?to=file:///etc/passwd", "not an http or https address", {}),
        ("/away?to=http://user:secret@127.0.0.1/", "user name or password", {}),
        ("/away?to=http://[::ffff:192.168.0.1]/", "a private address", {}),
    ],
)
def test_one_reason_each(path: str, reason: str, options: dict[str, Any]) -> None:
    with pytest.raises(DownloadRefused, match=reason) as caught:
        get(path, **options)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "no address",
        "file:///etc/passwd",
        "ftp://example.org/x.png",
        "data:image/png;base64,AAAA",
        "http://",
        "http://localhost/x.png",
        "http://127.0.0.1/x",
        "http://127.1/x",
        "http://2130706433/x",
        "http://0x7f000001/x",
        "http://0/x",
        "http://[::1]/x",
        "http://[::]/x",
        "http://[::ffff:127.0.0.1]/x",
        "http://[64:ff9b::7f00:1]/x",
        "http://[fd00:ec2::254]/x",
        "http://[fe80::1%25eth0]/x",
        "http://169.254.169.254/latest",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://192.0.0.192/",
        "http://224.0.0.1/",
        "http://[2002:7f00:1::]/",
        "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
        "http://user@8.8.8.8/",
        "http://8.8.8.8:99999/",
    ],
)
def test_addresses_that_are_never_fetched(url: str) -> None:
    with pytest.raises(DownloadRefused):
        asyncio.run(download(url, timeout_s=2))


def test_a_name_is_looked_up_once_and_the_checked_address_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is public at first and loopback the second time: the second answer is never asked for."""
    asked: list[str] = []

    async def answers(self: object, host: str, port: int, **_options: Any) -> list[Any]:
        asked.append(host)
        address = "192.0.2.1" if len(asked) > 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    async def run() -> Download:
        async with site() as base:
            monkeypatch.setattr(type(asyncio.get_running_loop()), "getaddrinfo", answers)
            return await download(base.replace("127.0.0.1", "pictures.test") + "/picture", allow_loopback=True)

    assert asyncio.run(run()).data == PICTURE
    assert asked == ["pictures.test"]


def test_a_name_with_one_private_address_among_public_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answers(self: object, host: str, port: int, **_options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("8.8.8.8", "10.1.2.3")]

    async def run() -> None:
        monkeypatch.setattr(type(asyncio.get_running_loop()), "getaddrinfo", answers)
        await download("http://mixed.test/x.png")

    with pytest.raises(DownloadRefused, match="a private address"):
        asyncio.run(run())


def test_another_type_check() -> None:
    def weights(data: bytes) -> str:
        raise InvalidImage("not weights")

    with pytest.raises(DownloadRefused, match="not weights"):
        get("/picture", type_of=weights)


@given(st.ip_addresses())
def test_only_global_addresses_pass(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    nested = address.version == 6 and (address in ipaddress.ip_network("64:ff9b::/96") or address.ipv4_mapped)
    if not refusal_reason(address) and not nested:
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_loopback
    mapped = ipaddress.IPv6Address(f"::ffff:{address}") if address.version == 4 else None
    if mapped is not None:
        assert bool(refusal_reason(mapped)) == bool(refusal_reason(address))


@pytest.mark.parametrize(
    "text",
    ["192.0.0.8", "192.0.0.192", "192.88.99.1", "64:ff9b:1::7f00:1", "100::1", "2001:2::1", "3fff::1", "fec0::1"],
)
def test_special_purpose_addresses_are_refused_by_the_table_whatever_this_python_calls_them(text: str) -> None:
    """Some Pythons take 192.0.0.0/24 for public, and clouds put services there."""
    assert refusal_reason(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["8.8.8.8", "192.0.1.1", "2001:4860:4860::8888", "2606:4700::1111"])
def test_public_addresses_are_not_refused(text: str) -> None:
    assert refusal_reason(ipaddress.ip_address(text)) == ""
