"""Requests that are malformed or sent only half: each is refused with the right status, and none keeps a place."""

import asyncio
import socket
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from imarena.storage import Workspace
from imarena.web import request_deadline
from imarena.web.app import create_app
from imarena.web.request_deadline import with_deadline
from imarena.web.static_files import serve_pages
from tests.web.people import Person, administrator, fill, settings_of

HOSTS = (
    "[::1].evil.com", "[::1]evil", "[::1", "localhost.evil.com", "localhost:80:80", "localhost:x", "a b", "", "user@localhost",
)  # fmt: skip


@pytest.fixture
def app(any_workspace: Workspace) -> FastAPI:
    """A server over a filled workspace on each kind of database."""
    fill(any_workspace)
    return create_app(settings_of(any_workspace.root))


def test_hosts_that_are_none_or_not_ours_are_refused(app: FastAPI) -> None:
    person = Person(app)
    for host in HOSTS:
        answer = person.client.get("/api/me", headers={"host": host})
        assert (answer.status_code, answer.json()["code"]) == (400, "host"), host
    for good in ("localhost", "LOCALHOST:8000", "[::1]:8000", "127.0.0.1"):
        assert person.client.get("/api/me", headers={"host": good}).status_code == 200


def test_two_hosts_are_refused(app: FastAPI) -> None:
    for second in (b"evil.com", b"testserver"):
        scope = {
            "type": "http", "method": "GET", "path": "/api/me", "raw_path": b"/api/me", "query_string": b"",
            "scheme": "http", "server": ("testserver", 80), "client": ("127.0.0.1", 1), "http_version": "1.1",
            "headers": [(b"host", b"testserver"), (b"host", second)],
        }  # fmt: skip
        assert asyncio.run(_status(app, scope)) == 400


async def _status(app: Any, scope: dict[str, Any]) -> int:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return int(sent[0]["status"])


def test_bodies_say_how_long_they_are(app: FastAPI) -> None:
    admin = administrator(app)
    headers = {"x-csrf-token": admin.csrf, "content-type": "application/json"}

    def chunks() -> Any:
        yield b'{"name": "c"}'

    chunked = admin.client.post("/api/lead/campaigns", content=chunks(), headers=headers)
    assert (chunked.status_code, chunked.json()["code"]) == (411, "length_required")
    large = admin.client.post("/api/lead/campaigns", content=b" " * 1_000_001, headers=headers)
    assert (large.status_code, large.json()["code"]) == (413, "too_large")
    odd = admin.client.post("/api/lead/campaigns", content=b"{}", headers={**headers, "content-length": "+2"})
    assert (odd.status_code, odd.json()["code"]) == (400, "length")


def test_unknown_files_are_not_the_page() -> None:
    app = FastAPI()
    serve_pages(app, {"/index.html": (b"<head></head>", "text/html"), "/assets/a.js": (b"1", "text/javascript")})
    client = TestClient(app)
    assert client.get("/assets/a.js").text == "1"
    for unknown in ("/assets/b.js", "/assets/", "/assets/a.js/x"):
        answer = client.get(unknown)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert client.get("/board").status_code == 200


HALF = {
    "nothing at all": b"",
    "half of the headers": b"GET /api/me HTTP/1.1\r\nhost: test",
    "half of a body": b"POST /api/session/password HTTP/1.1\r\nhost: testserver\r\ncontent-type: application/json\r\n"
    b'content-length: 100\r\n\r\n{"pass',
}


def test_a_request_that_is_sent_half_is_closed_after_a_limit(app: FastAPI) -> None:
    for data in HALF.values():
        asyncio.run(_send_half(app, data))


async def _send_half(app: Any, data: bytes) -> None:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        config = uvicorn.Config(app, http=with_deadline(AutoHTTPProtocol, 0.5), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        await writer.drain()
        answer = await asyncio.wait_for(reader.read(), 20)  # until the server closes
        assert answer.startswith(b"HTTP/1.1 408") or not answer
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):  # a whole request on a connection that is used again is answered
            writer.write(b"GET /api/me HTTP/1.1\r\nhost: testserver\r\n\r\n")
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
            assert head.startswith(b"HTTP/1.1 200")
            length = int(next(line for line in head.lower().split(b"\r\n") if b"content-length" in line).split(b":")[1])
            await reader.readexactly(length)
        writer.close()
        server.should_exit = True
        await running


def test_the_limit_is_shorter_than_a_proxy_waits() -> None:
    assert 5 <= request_deadline.REQUEST_S <= 60
