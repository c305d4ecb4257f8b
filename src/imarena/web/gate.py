"""The gate in front of all routes: checks host, size, rate, the caller, and whether our own pages sent the request.

It is plain ASGI: one layer that does not copy bodies. It also adds the security headers to every response.
"""

import ipaddress
import re
from asyncio import Semaphore, Task, get_running_loop
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from imarena.core import DatabaseFailed
from imarena.storage import Visitor
from imarena.web.arena import ServedWorkspace
from imarena.web.callers import Caller, as_caller
from imarena.web.keys import bearer_secret, presented_sessions
from imarena.web.limits import ANYBODY, COSTLY, INVITED, SIGN_IN, SIGNED_IN
from imarena.web.problems import database_error, database_unavailable, log, problem_response

MOST_BYTES = 1_000_000
SAFE = ("GET", "HEAD", "OPTIONS")
COSTLY_PATHS = ("/api/board", "/api/head-to-head", "/api/heat-map", "/api/battles", "/api/exports/", "/api/judges")
"""Requests that may take seconds to compute. They get only some of the threads, so that raters never wait for them."""
COSTLY_AT_ONCE = 4
SLOW_PATHS = (*COSTLY_PATHS, "/api/lead/")
"""Requests that may legitimately take long: a board, a campaign with many items."""
LONGEST_S = 25.0
"""Everything else is answered within this time, whatever the database does; pages and proxies wait longer."""
RATING_PATHS = ("/api/rating/", "/api/tasks/")
"""Paths on which a browser with several sessions acts as a rater first."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    (b"x-frame-options", b"DENY"),
)
_OURS = frozenset(name for name, _ in HEADERS)

_PROXY = (
    "requests come through a proxy at %s that --trusted-proxy does not name: all of its visitors share one rate limit,"
    " and cookies are not marked secure"
)


class Gate:
    """Rejects unacceptable requests early."""

    def __init__(self, app: ASGIApp, arena: ServedWorkspace) -> None:
        self.app = app
        self.arena = arena
        self._hosts = arena.settings.hosts
        self._places = Semaphore(COSTLY_AT_ONCE)
        self._warned = False
        self._telling: set[Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        traffic, waiting = self.arena.traffic, True
        traffic.request_started()

        def answered() -> None:
            nonlocal waiting
            if waiting:
                waiting = False
                traffic.request_finished()

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered()
                headers = [*(header for header in message.get("headers", ()) if header[0] not in _OURS), *HEADERS]
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                if scope.get("scheme") == "https":
                    headers.append((b"strict-transport-security", b"max-age=31536000"))
                message = {**message, "headers": headers}
            await send(message)

        try:
            if scope["path"].startswith(SLOW_PATHS):
                await self._answer(scope, receive, dressed)
            else:
                await self._in_time(scope, receive, dressed)
        finally:
            answered()

    async def _in_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Report that the database is unavailable if no response has begun in time.

        The work itself continues: a vote may still be stored, and is not stored twice when it is sent again.
        """
        begun = given_up = False

        async def sent(message: Message) -> None:
            nonlocal begun
            begun = True
            if not given_up:
                await send(message)

        def give_up() -> None:
            nonlocal given_up
            if not begun:
                given_up = True
                log.error("%s %s was not answered within %d s", scope["method"], scope["path"], LONGEST_S)
                telling = loop.create_task(database_unavailable()(scope, receive, send))
                self._telling.add(telling)
                telling.add_done_callback(self._telling.discard)

        loop = get_running_loop()
        timer = loop.call_later(LONGEST_S, give_up)
        try:
            await self._answer(scope, receive, sent)
        finally:
            timer.cancel()

    async def _answer(self, scope: Scope, receive: Receive, dressed: Send) -> None:
        try:
            refusal = await self._refusal(scope)
        except DatabaseFailed as error:
            log.error("%s %s failed: %s", scope["method"], scope["path"], error)
            # the pages need no database: they load, show the problem and try again
            refusal = database_error(error) if scope["path"].startswith("/api") or scope["method"] not in SAFE else None
        if refusal is None and scope["path"].startswith(COSTLY_PATHS):
            await self._in_line(scope, receive, dressed)
        else:
            await (refusal or self.app)(scope, receive, dressed)

    async def _in_line(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for a slot without using a thread. It is freed when the response begins: slow readers do not keep it."""
        async with AsyncExitStack() as slot:
            await slot.enter_async_context(self._places)

            async def free_slot(message: Message) -> None:
                await slot.aclose()
                await send(message)

            await self.app(scope, receive, free_slot)

    async def _refusal(self, scope: Scope) -> Any:
        """An error response, or None to accept; also determines the caller."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        name = _host(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            return problem_response(400, "host", "The request needs one Host header, with a name and perhaps a port.")
        if self._hosts and name not in self._hosts:
            return problem_response(400, "host", "This server is not known by that name.")
        unfit = _unfit_body(headers)
        if unfit is not None:
            return unfit
        if not self._warned and not self.arena.settings.trusted_proxies and "x-forwarded-for" in headers:
            self._warned = True
            log.warning(_PROXY, (scope.get("client") or ("?",))[0])
        caller = await self._caller(scope, headers)
        scope["imarena.caller"] = caller
        wait = self._wait_s(scope, caller)
        if wait:
            response = problem_response(
                429, "slow_down", "Too many requests.", hint=f"Try again in {wait:.0f} seconds."
            )
            response.headers["retry-after"] = str(max(1, round(wait)))
            return response
        if scope["method"] not in SAFE and not caller.machine and not self._ours(scope, headers, caller):
            hint = "Reload the page. (A proxy in front has to pass the header Host on as it came.)"
            return problem_response(403, "csrf", "The request did not come from this arena's pages.", hint=hint)
        return None

    async def _caller(self, scope: Scope, headers: Headers) -> Caller:
        """The caller. If a browser has sessions of several roles, rating uses the rater's, all else a lead's first."""
        public, token = self.arena.settings.public, bearer_secret(headers)
        if token is not None:
            return as_caller(await self._visitor(token, machine=True), machine=True, public=public)
        presented = presented_sessions(headers, self.arena.keys)
        if len(presented) > 1 and scope["path"].startswith(RATING_PATHS):
            presented.sort(key=lambda session: session[0] != "rater")
        live: list[Visitor] = []
        for _, secret in presented:
            visitor = await self._visitor(secret, machine=False)
            if visitor is not None:
                live.append(visitor)
        caller = as_caller(live[0] if live else None, machine=False, public=public)
        return replace(caller, others=tuple(live[1:]))

    async def _visitor(self, secret: str, *, machine: bool) -> Visitor | None:
        cached = self.arena.sessions.cached_visitor(secret)
        if cached is not None:
            return cached[1]
        return await run_in_threadpool(self.arena.sessions.visitor, secret, machine=machine)

    def _wait_s(self, scope: Scope, caller: Caller) -> float:
        buckets = self.arena.buckets
        signs_in = scope["path"].startswith("/api/session/") and scope["method"] == "POST"
        if caller.role is not None and not signs_in:
            return buckets.wait_s(caller.session or f"machine:{caller.name}", SIGNED_IN)
        client = scope.get("client")
        address = _household(client[0]) if client else "nobody"
        if signs_in and scope["path"] == "/api/session/invitation":
            return buckets.wait_s(f"invited:{address}", INVITED)
        if signs_in:
            return buckets.wait_s(f"sign-in:{address}", SIGN_IN)
        if scope["path"].startswith(COSTLY_PATHS):
            return buckets.wait_s(f"costly:{address}", COSTLY)
        return buckets.wait_s(f"anybody:{address}", ANYBODY)

    def _ours(self, scope: Scope, headers: Headers, caller: Caller) -> bool:
        """Did our own page send this? Checks the origin that the browser reports, and the session's token."""
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return False
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
            return False
        if caller.role is None or scope["path"].startswith("/api/session/"):
            kind = headers.get("content-type", "application/json")
            return kind.partition(";")[0].strip().lower() == "application/json"
        token = headers.get("x-csrf-token", "")
        sessions = (caller.session, *(visitor.key for visitor in caller.others))
        return any(self.arena.keys.csrf_fits(session, token) for session in sessions)


def _household(address: str) -> str:
    """An address as rate limits count it: for IPv6 the network, since one person owns all of its 2^64 addresses."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if ip.version == 4:
        return address
    mapped = ip.ipv4_mapped
    return str(mapped) if mapped is not None else str(ipaddress.ip_network((ip.packed[:8] + bytes(8), 64)))


_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}))(?::[0-9]{1,5})?")


def _host(value: str) -> str | None:
    """A host without its port; None if invalid."""
    match = _HOST.fullmatch(value)
    return match["name"].lower() if match is not None else None


def _unfit_body(headers: Headers) -> Any:
    """Reject a body that is too large or has no length, before reading any of it. Chunked bodies have no length."""
    lengths = headers.getlist("content-length")
    if "transfer-encoding" in headers:
        hint = "Send Content-Length; a chunked body is not accepted."
        return problem_response(411, "length_required", "The request does not say how long its body is.", hint)
    if len(set(lengths)) > 1 or not all(length.isascii() and length.isdecimal() for length in lengths):
        return problem_response(400, "length", "The Content-Length of the request is not a number.")
    if lengths and int(lengths[0]) > MOST_BYTES:
        return problem_response(413, "too_large", "The request is too large.", f"At most {MOST_BYTES:,} bytes.")
    return None
