"""Client for image endpoints: each call is retried within limits and ends with a definite status.

Adapters in `editors` handle what differs between providers (path, body, reply); this module handles what they share
(keys, rate limits, pauses, cost, downloads).
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import aiohttp
from pydantic import Field
from yarl import URL

from imarena.clients.budget import Budget
from imarena.clients.endpoint import Endpoint
from imarena.clients.endpoint_client import CostBound, EndpointClient, RequestAttempts
from imarena.clients.fetch import DownloadRefused, download_file
from imarena.clients.replies import EndpointAnswer, Failure, FailureKind, read_reply
from imarena.clients.routes import Route
from imarena.clients.secret import scrub
from imarena.clients.transport import endpoint_url, request
from imarena.core import UserError
from imarena.core.records import JsonDict, Status, Usage

MAX_REPLY_BYTES = 128 * 1024 * 1024
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class ImageEndpoint(Endpoint):
    """An endpoint that generates images."""

    usd_per_image: float | None = Field(default=None, ge=0)
    """Maximum price of one image: reserved before a request, and charged if the reply does not state the cost."""
    max_source_bytes: int | None = Field(default=None, ge=1)
    max_pictures: int | None = Field(default=None, ge=1)
    """Maximum number of images per request."""


@dataclass(frozen=True)
class ImageCall:
    """One request. A form is built again for every attempt, because it can be sent only once."""

    path: str
    """A path below the base URL, or a full URL on the same server."""
    method: str = "POST"
    json: JsonDict | None = None
    form: Callable[[], aiohttp.FormData] | None = None
    charged: bool = True
    """Can this request cost money?"""


@dataclass(frozen=True)
class ImageAnswer:
    """The endpoint's final answer: encoded images or their URLs, a refusal, or the reason why there is none."""

    status: Status
    images: tuple[bytes, ...] = ()
    urls: tuple[str, ...] = ()
    error: str = ""
    text: str = ""
    """The model's text besides the images, or instead of them."""
    usage: Usage = Usage()
    document: JsonDict = field(default_factory=dict)
    """The reply itself, for callers that need more from it."""


ReadPictures = Callable[[int, Mapping[str, str], bytes], ImageAnswer | Failure]


def read_failure(status: int, headers: Mapping[str, str], body: bytes) -> ImageAnswer | Failure:
    """Classify a reply that is not 2xx as refusal or failure, by fields that OpenAI, Gemini and OpenRouter share."""
    result = read_reply(status, headers, body)
    if isinstance(result, EndpointAnswer):
        return ImageAnswer(Status.REFUSED, error=result.error or "the request was refused")
    return result


class ImageClient:
    """Use it inside `opened()`, from one event loop."""

    def __init__(
        self, endpoint: ImageEndpoint, *, budget: Budget | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self.endpoint = endpoint
        self._budget = budget
        self._environ = environ
        self._line: EndpointClient | None = None
        self._locked_out = ""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the session. A missing key raises `UserError` before anything is sent."""
        self._line = EndpointClient(self.endpoint, self._budget, self._environ)
        self._line.open()
        self._locked_out = ""
        try:
            yield
        finally:
            await self._line.close()
            self._line = None

    async def ask(self, call: ImageCall, read: ReadPictures) -> ImageAnswer:
        """Send a call, retrying within the endpoint's limits. Raises only `BudgetSpent`."""
        line = self._line
        if line is None:
            raise UserError("The client is not open.", hint="Use: async with client.opened()")
        price = CostBound(self.endpoint.usd_per_image or 0.0, wait=True) if call.charged else None

        async def once(avoid: Route | None) -> tuple[Route | None, ImageAnswer | Failure]:
            if self._locked_out:
                return avoid, ImageAnswer(Status.API_ERROR, error=self._locked_out)

            def send(session: aiohttp.ClientSession, route: Route) -> Awaitable[ImageAnswer | Failure]:
                return self._send(session, route, call, read)

            return await line.attempt(send, avoid, price, lambda result: self._priced(result).cost_usd or 0.0)

        result = await line.exchange(once, RequestAttempts(), self._lock_out)
        if isinstance(result, Failure):
            return ImageAnswer(result.status, error=self._locked_out or result.error)
        return replace(result, error=scrub(result.error, line.secrets), usage=self._priced(result))

    def _lock_out(self, failure: Failure) -> bool:
        """Remember a refused key, so that it is not sent again; never changes the request."""
        if failure.http_status in {401, 403}:
            names = ", ".join(self.endpoint.api_key_env) or "no variable"
            reason = failure.error.rstrip(".")
            self._locked_out = f"the key ({names}) was refused: {reason}. Set a valid one and run again"
        return False

    async def download(self, url: str) -> ImageAnswer:
        """Download an image by URL with the safe downloader; local addresses only if the endpoint is local too."""
        near = all((URL(base).host or "") in _LOOPBACK for base in self.endpoint.base_url)
        try:
            download = await download_file(
                url, timeout_s=self.endpoint.timeout_s, allow_loopback=near, type_of=lambda _: "unchecked"
            )
        except DownloadRefused as error:
            return ImageAnswer(Status.API_ERROR, error=f"the image could not be fetched: {error}")
        return ImageAnswer(Status.OK, images=(download.data,))

    async def _send(
        self, session: aiohttp.ClientSession, route: Route, call: ImageCall, parse: ReadPictures
    ) -> ImageAnswer | Failure:
        url = self._address(route, call.path)
        if url is None:
            return Failure(
                FailureKind.REJECTED, "the reply names an address of another server: the key is not sent there"
            )
        data = call.form() if call.form else None
        return await request(
            session, route, url, parse, method=call.method, data=data, json=call.json, max_bytes=MAX_REPLY_BYTES
        )

    def _address(self, route: Route, path: str) -> URL | None:
        base = URL(route.url)
        if path.startswith(("http://", "https://")):
            url = URL(path)
            return url if url.origin() == base.origin() else None
        return endpoint_url(route.url, path.lstrip("/"))

    def _priced(self, result: ImageAnswer) -> Usage:
        """Cost from the reply; else tokens times price; else the price of an image, if there is one."""
        usage = result.usage
        if usage.cost_usd is not None:
            return usage
        if result.status is not Status.OK:
            return usage.model_copy(update={"cost_usd": 0.0})
        cost = self.endpoint.cost_usd(usage)
        return usage.model_copy(update={"cost_usd": cost if cost is not None else self.endpoint.usd_per_image})
