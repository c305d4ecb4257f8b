"""Endpoints that make pictures: one exchange tried again within bounds, every end told by its true status.

What differs between providers (path, body, reply) is an adapter's business in `editors`; what they share (keys, rate
limits, pauses, money, downloads) is here.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import aiohttp
from pydantic import Field
from yarl import URL

from imarena.clients.budget import Budget, BudgetSpent, Reservation
from imarena.clients.endpoint import Endpoint
from imarena.clients.fetch import FetchRefused, fetch
from imarena.clients.replies import Answer, Failure, Kind, read_reply
from imarena.clients.routes import Dispatcher, EndpointDown, Route
from imarena.clients.secret import Secret, scrub
from imarena.clients.transport import new_session
from imarena.core.errors import UserError
from imarena.core.records import JsonDict, Status, Usage

MAX_REPLY_BYTES = 128 * 1024 * 1024
_MAX_BACKOFF_S = 30.0
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class ImageEndpoint(Endpoint):
    """An endpoint that makes pictures."""

    key_prefix: str = "Bearer"
    """What stands before the key in an Authorization header (fal: `Key`)."""
    usd_per_image: float | None = Field(default=None, ge=0)
    """The most that one picture costs: reserved before a request, charged where the reply does not say more exactly."""
    max_source_bytes: int | None = Field(default=None, ge=1)
    max_pictures: int | None = Field(default=None, ge=1)
    """How many pictures a request may carry."""


@dataclass(frozen=True)
class Call:
    """One request. A form is made anew for every try, because a sent one is used up."""

    path: str
    """Below the base address, or a whole address of the same server."""
    method: str = "POST"
    json: JsonDict | None = None
    form: Callable[[], aiohttp.FormData] | None = None
    charged: bool = True
    """May this request cost money?"""


@dataclass(frozen=True)
class Pictures:
    """The endpoint's final word: encoded pictures or their addresses, a refusal, or why there is none."""

    status: Status
    images: tuple[bytes, ...] = ()
    urls: tuple[str, ...] = ()
    error: str = ""
    text: str = ""
    """What the model said beside the pictures, or instead of them."""
    usage: Usage = Usage()
    document: JsonDict = field(default_factory=dict)
    """The reply itself, where a caller has to read more from it."""


ReadPictures = Callable[[int, Mapping[str, str], bytes], Pictures | Failure]


def read_failure(status: int, headers: Mapping[str, str], body: bytes) -> Pictures | Failure:
    """A reply that is not 2xx: a refusal or a failure, by fields that OpenAI, Gemini and OpenRouter share."""
    result = read_reply(status, headers, body)
    if isinstance(result, Answer):
        return Pictures(Status.REFUSED, error=result.error or "the request was refused")
    return result


@dataclass
class _Tries:
    failed: int = 0
    timeouts: int = 0
    throttled: int = 0


class ImageClient:
    """Use it inside `opened()`, from one event loop."""

    def __init__(
        self, endpoint: ImageEndpoint, *, budget: Budget | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self.endpoint = endpoint
        self._budget = budget
        self._environ = environ
        self._rng = random.Random()
        self._secrets: tuple[Secret, ...] = ()
        self._session: aiohttp.ClientSession | None = None
        self._dispatcher: Dispatcher | None = None
        self._locked_out = ""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the session. A key that is not there raises `UserError` before anything is sent."""
        keys = {name: Secret.from_env(name, self._environ) for name in self.endpoint.api_key_env}
        self._secrets = tuple(keys.values())
        routes = tuple(Route(url, keys[name] if name else None, self.endpoint) for url, name in self.endpoint.pairs)
        self._dispatcher = Dispatcher(routes, asyncio.get_running_loop().time)
        self._session = new_session(self.endpoint)
        self._locked_out = ""
        try:
            yield
        finally:
            self._dispatcher.close()
            await self._session.close()
            self._session = None

    async def ask(self, call: Call, read: ReadPictures) -> Pictures:
        """Send, and try again within the endpoint's bounds. Raises only `BudgetSpent`."""
        tries = _Tries()
        route: Route | None = None
        while True:
            if self._locked_out:
                return Pictures(Status.API_ERROR, error=self._locked_out)
            try:
                route, result = await self._attempt(call, read, route)
            except EndpointDown as error:
                return Pictures(Status.API_ERROR, error=f"the endpoint is down: {error}")
            if isinstance(result, Pictures):
                return replace(result, error=scrub(result.error, self._secrets), usage=self._priced(result))
            if result.http_status in {401, 403}:
                names = ", ".join(self.endpoint.api_key_env) or "no variable"
                self._locked_out = f"the key ({names}) was refused: {result.error}. Set a valid one and run again"
            if not self._try_again(result, tries):
                status = Status.TIMEOUT if result.kind is Kind.TIMEOUT else Status.API_ERROR
                return Pictures(status, error=self._locked_out or result.error)
            if result.kind is not Kind.THROTTLED:
                await asyncio.sleep(self._backoff_s(tries.failed + tries.timeouts))

    async def download(self, url: str) -> Pictures:
        """A picture behind an address, by the safe fetcher; from this machine only where the endpoint is here too."""
        near = all((URL(base).host or "") in _LOOPBACK for base in self.endpoint.base_url)
        try:
            found = await fetch(
                url, timeout_s=self.endpoint.timeout_s, allow_loopback=near, type_of=lambda _: "unchecked"
            )
        except FetchRefused as error:
            return Pictures(Status.API_ERROR, error=f"the picture could not be fetched: {error}")
        return Pictures(Status.OK, images=(found.data,))

    async def _attempt(self, call: Call, read: ReadPictures, avoid: Route | None) -> tuple[Route, Pictures | Failure]:
        if self._session is None or self._dispatcher is None:
            raise UserError("The client is not open.", hint="Use: async with client.opened()")
        reservation = await self._reserve(call)
        result: Pictures | Failure | None = None
        route: Route | None = None
        try:
            route = await self._dispatcher.acquire(avoid)
            result = await self._send(self._session, route, call, read)
            if isinstance(result, Failure):
                result = replace(result, error=scrub(result.error, self._secrets))
            self._teach(route, result)
        finally:
            self._settle(reservation, result, sent=route is not None)
            if route is not None:
                self._dispatcher.release(route, abandoned=result is None)
        return route, result

    async def _send(
        self, session: aiohttp.ClientSession, route: Route, call: Call, read: ReadPictures
    ) -> Pictures | Failure:
        """One exchange. Redirects are not followed: a key goes to the address that it was given for."""
        url = self._address(route, call.path)
        if url is None:
            return Failure(Kind.REJECTED, "the reply names an address of another server: the key is not sent there")
        data = call.form() if call.form else None
        try:
            async with session.request(
                call.method, url, data=data, json=call.json, headers=self._key(route), allow_redirects=False
            ) as response:
                body = await _read(response)
                if 300 <= response.status < 400:
                    return Failure(
                        Kind.REJECTED, f"HTTP {response.status}: it redirects; set base_url to the new address"
                    )
                return read(response.status, response.headers, body)
        except TimeoutError:
            return Failure(Kind.TIMEOUT, f"no reply within {self.endpoint.timeout_s:g} s", maybe_charged=True)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            text = " ".join(str(error).split())[:300]
            return Failure(Kind.FAILED, f"{type(error).__name__}: {text}", maybe_charged=True)

    def _address(self, route: Route, path: str) -> URL | None:
        base = URL(route.url)
        if path.startswith(("http://", "https://")):
            whole = URL(path)
            return whole if whole.origin() == base.origin() else None
        return base.with_path(base.raw_path.rstrip("/") + "/" + path.lstrip("/"), encoded=True, keep_query=True)

    def _key(self, route: Route) -> dict[str, str]:
        if route.secret is None:
            return {}
        name = self.endpoint.key_header
        value = route.secret.reveal()
        return {name: f"{self.endpoint.key_prefix} {value}" if name.lower() == "authorization" else value}

    def _teach(self, route: Route, result: Pictures | Failure) -> None:
        now = asyncio.get_running_loop().time()
        if isinstance(result, Pictures) or result.kind is Kind.REJECTED:
            route.succeeded()
        elif result.kind is Kind.THROTTLED:
            after_s = result.after_s if result.after_s is not None else self._backoff_s(route.throttled_in_a_row + 1)
            route.throttled(now, min(after_s, self.endpoint.max_wait_s) * self._rng.uniform(1.0, 1.1))
        else:
            route.failed(now, result.error)

    def _try_again(self, failure: Failure, tries: _Tries) -> bool:
        if failure.kind is Kind.REJECTED:
            return False
        if failure.kind is Kind.THROTTLED:
            tries.throttled += 1
            within = (failure.after_s or 0.0) <= self.endpoint.max_wait_s
            return tries.throttled <= self.endpoint.max_throttled and within
        if failure.kind is Kind.TIMEOUT:
            tries.timeouts += 1
            if tries.timeouts >= self.endpoint.max_timeouts:
                return False
        else:
            tries.failed += 1
        return tries.failed + tries.timeouts < self.endpoint.max_attempts

    def _backoff_s(self, failures: int) -> float:
        longest = min(_MAX_BACKOFF_S, self.endpoint.backoff_s * 2.0 ** min(failures - 1, 16))
        return longest * self._rng.uniform(0.5, 1.0)

    async def _reserve(self, call: Call) -> Reservation | None:
        """Hold the price back. Where it does not fit while others are under way, wait: some may cost nothing."""
        if self._budget is None or not call.charged:
            return None
        while True:
            try:
                return self._budget.reserve(self.endpoint.usd_per_image or 0.0)
            except BudgetSpent:
                if self._budget.reserved_usd <= 1e-12:
                    raise
                await asyncio.sleep(0.02)

    def _settle(self, reservation: Reservation | None, result: Pictures | Failure | None, *, sent: bool) -> None:
        if self._budget is None or reservation is None:
            return
        if isinstance(result, Pictures):
            cost = self._priced(result).cost_usd or 0.0
        else:
            unknown = sent and (result is None or result.maybe_charged)
            cost = reservation.amount_usd if unknown else 0.0
        self._budget.settle(reservation, cost)

    def _priced(self, result: Pictures) -> Usage:
        """What the reply says; else its tokens times their price; else the price of a picture, if one came."""
        usage = result.usage
        if usage.cost_usd is not None:
            return usage
        if result.status is not Status.OK:
            return usage.model_copy(update={"cost_usd": 0.0})
        cost = self.endpoint.cost_usd(usage)
        return usage.model_copy(update={"cost_usd": cost if cost is not None else self.endpoint.usd_per_image})


async def _read(response: aiohttp.ClientResponse) -> bytes:
    data = bytearray()
    async for chunk in response.content.iter_any():
        data += chunk
        if len(data) > MAX_REPLY_BYTES:
            raise ValueError(f"the reply is larger than {MAX_REPLY_BYTES:,} bytes")
    return bytes(data)
