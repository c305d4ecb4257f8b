"""The chat client: any OpenAI-compatible endpoint, many requests at once, every end told by its true status."""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol, Self

import aiohttp
from yarl import URL

from imarena.clients.budget import Budget, Reservation
from imarena.clients.endpoint import Endpoint
from imarena.clients.messages import ChatRequest, body_pieces
from imarena.clients.replies import Answer, Failure, Kind
from imarena.clients.routes import Dispatcher, EndpointDown, Route
from imarena.clients.secret import Secret, scrub
from imarena.clients.transport import MAX_UPLOADS, get_models, new_session, post
from imarena.core.errors import UserError
from imarena.core.records import Status, Usage

_LOG = logging.getLogger(__name__)
_MAX_BACKOFF_S = 30.0


@dataclass(frozen=True)
class ChatReply:
    """How a request ended. `text` is the model's words where `status` is ok; "" then means that it said nothing.

    An endpoint that replies 200 with a choice whose content is "" or null has answered: status ok, text "". What to
    make of that is the parser's business. `usage.latency_s` is the last try's time, `latency_s` that of all of them,
    pauses included.
    """

    status: Status
    text: str = ""
    model: str = ""
    finish_reason: str = ""
    usage: Usage = Usage()
    error: str = ""
    attempts: int = 0
    latency_s: float = 0.0
    http_status: int | None = None


class Chat(Protocol):
    """Anything that answers a chat request: a remote endpoint or a model that runs here."""

    async def complete(self, request: ChatRequest) -> ChatReply: ...


@dataclass
class Totals:
    """What a client has done so far."""

    requests: int = 0
    attempts: int = 0
    statuses: Counter[Status] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Answers whose cost is unknown."""

    def add(self, reply: ChatReply) -> None:
        """Count a finished request."""
        self.requests += 1
        self.attempts += reply.attempts
        self.statuses[reply.status] += 1
        self.input_tokens += reply.usage.input_tokens or 0
        self.output_tokens += reply.usage.output_tokens or 0
        self.cost_usd += reply.usage.cost_usd or 0.0
        self.unpriced += reply.status is Status.OK and reply.usage.cost_usd is None


@dataclass
class _Tries:
    """The failures of one request, by kind."""

    sent: int = 0
    failed: int = 0
    timeouts: int = 0
    throttled: int = 0


class ChatClient:
    """Use it as `async with ChatClient(endpoint) as client`, from one event loop."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        budget: Budget | None = None,
        environ: Mapping[str, str] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        if budget is not None and not endpoint.priced:
            raise UserError(
                f"A cost limit needs prices, and the endpoint for '{endpoint.model}' has none.",
                hint="Set input_usd_per_million and output_usd_per_million (0 for a server of your own).",
            )
        self.endpoint = endpoint
        self.totals = Totals()
        self._budget = budget
        self._rng = rng or random.Random()
        keys = {name: Secret.from_env(name, environ) for name in endpoint.api_key_env}
        self._secrets = tuple(keys.values())
        self._routes = tuple(Route(url, keys[name] if name else None, endpoint) for url, name in endpoint.pairs)
        self._structured = endpoint.structured_output == "auto"
        self._input_scale = 1.0  # how far true input tokens have exceeded the guess
        self._gate = asyncio.Semaphore(MAX_UPLOADS)
        self._session: aiohttp.ClientSession | None = None
        self._dispatcher: Dispatcher | None = None

    def __repr__(self) -> str:
        return f"ChatClient({self.endpoint.model!r} at {', '.join(self.endpoint.base_url)})"

    async def __aenter__(self) -> Self:
        self._session = new_session(self.endpoint)
        self._dispatcher = Dispatcher(self._routes, asyncio.get_running_loop().time)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._dispatcher is not None:
            self._dispatcher.close()
        if self._session is not None:
            await self._session.close()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask, and try again within the endpoint's bounds.

        Raises only `BudgetSpent`: the next try might pass the cost limit and was not sent.
        """
        loop = asyncio.get_running_loop()
        started = loop.time()
        tries = _Tries()
        reply = await self._attempt_all(request, tries)
        reply = replace(reply, attempts=tries.sent, latency_s=loop.time() - started)
        self.totals.add(reply)
        return reply

    async def _attempt_all(self, request: ChatRequest, tries: _Tries) -> ChatReply:
        structured = self._structured and request.schema is not None
        pieces = body_pieces(request, self.endpoint, structured=structured)
        route: Route | None = None
        while True:
            try:
                route, result = await self._attempt(request, pieces, route)
            except EndpointDown as error:
                return ChatReply(Status.API_ERROR, error=f"the endpoint is down: {error}")
            tries.sent += 1
            if isinstance(result, Answer):
                return self._finished(result, request, structured=structured)
            if structured and result.kind is Kind.REJECTED and result.http_status in {400, 404, 422}:
                structured = False
                pieces = body_pieces(request, self.endpoint, structured=False)
                continue
            if not self._try_again(result, tries):
                status = Status.TIMEOUT if result.kind is Kind.TIMEOUT else Status.API_ERROR
                return ChatReply(status, error=result.error, http_status=result.http_status)
            _LOG.debug("trying again (%d sent): %s", tries.sent, result.error)
            if result.kind is not Kind.THROTTLED:
                await asyncio.sleep(self._backoff_s(tries.failed + tries.timeouts))

    async def _attempt(
        self, request: ChatRequest, pieces: tuple[bytes, ...], avoid: Route | None
    ) -> tuple[Route, Answer | Failure]:
        """One try on the next free route; the route and the budget learn from its outcome."""
        if self._session is None or self._dispatcher is None:
            raise UserError("The client is not open.", hint="Use: async with ChatClient(endpoint) as client")
        reservation = self._reserve(request)
        result: Answer | Failure | None = None
        route: Route | None = None
        try:
            route = await self._dispatcher.acquire(avoid)
            result = await post(self._session, route, pieces, self._gate)
            if isinstance(result, Failure):
                result = replace(result, error=scrub(result.error, self._secrets))
            self._teach(route, result)
        finally:
            self._settle(reservation, result, sent=route is not None)
            if route is not None:
                self._dispatcher.release(route, abandoned=result is None)
        return route, result

    def _teach(self, route: Route, result: Answer | Failure) -> None:
        now = asyncio.get_running_loop().time()
        if isinstance(result, Answer) or result.kind is Kind.REJECTED:
            route.succeeded()
        elif result.kind is Kind.THROTTLED:
            after_s = result.after_s
            if after_s is None:
                after_s = self._backoff_s(route.throttled_in_a_row + 1)
            route.throttled(now, min(after_s, self.endpoint.max_wait_s) * self._rng.uniform(1.0, 1.1))
        else:
            route.failed(now, result.error)

    def _try_again(self, failure: Failure, tries: _Tries) -> bool:
        if failure.kind is Kind.REJECTED:
            return False
        if failure.kind is Kind.THROTTLED:
            tries.throttled += 1
            wait_s = failure.after_s or 0.0
            return tries.throttled <= self.endpoint.max_throttled and wait_s <= self.endpoint.max_wait_s
        if failure.kind is Kind.TIMEOUT:
            tries.timeouts += 1
            if tries.timeouts >= self.endpoint.max_timeouts:
                return False
        else:
            tries.failed += 1
        return tries.failed + tries.timeouts < self.endpoint.max_attempts

    def _backoff_s(self, failures: int) -> float:
        """Exponential with jitter, so that requests that failed together do not come back together."""
        longest = min(_MAX_BACKOFF_S, self.endpoint.backoff_s * 2.0 ** min(failures - 1, 16))
        return longest * self._rng.uniform(0.5, 1.0)

    def _finished(self, answer: Answer, request: ChatRequest, *, structured: bool) -> ChatReply:
        if request.schema is not None and answer.status is Status.OK and self._structured and not structured:
            self._structured = False
            _LOG.warning("%s rejects response_format: answers are parsed without it from now on", self.endpoint.model)
        if answer.usage.input_tokens:
            self._input_scale = max(self._input_scale, answer.usage.input_tokens / request.estimated_input_tokens())
        return ChatReply(
            answer.status,
            text=scrub(answer.text, self._secrets),
            model=scrub(answer.model, self._secrets),
            finish_reason=scrub(answer.finish_reason, self._secrets),
            usage=self._priced(answer.usage),
            error=scrub(answer.error, self._secrets),
            http_status=answer.http_status,
        )

    def _reserve(self, request: ChatRequest) -> Reservation | None:
        if self._budget is None:
            return None
        guess = Usage(
            input_tokens=round(request.estimated_input_tokens() * self._input_scale),
            output_tokens=request.estimated_output_tokens(),
        )
        return self._budget.reserve(self.endpoint.cost_usd(guess) or 0.0)

    def _settle(self, reservation: Reservation | None, result: Answer | Failure | None, *, sent: bool) -> None:
        """What a try did cost; in full where the endpoint may have charged it and did not say how much."""
        if self._budget is None or reservation is None:
            return
        if isinstance(result, Answer):
            cost_usd = self._priced(result.usage).cost_usd
            unknown = cost_usd is None and result.http_status == 200
        else:
            cost_usd = None
            unknown = sent and (result is None or result.maybe_charged)
        self._budget.settle(reservation, reservation.amount_usd if unknown else cost_usd or 0.0)

    def _priced(self, usage: Usage) -> Usage:
        if usage.cost_usd is not None:
            return usage
        return usage.model_copy(update={"cost_usd": self.endpoint.cost_usd(usage)})

    async def models(self) -> list[str]:
        """The names that the endpoint lists. Raises `UserError` where it cannot be asked."""
        if self._session is None:
            raise UserError("The client is not open.", hint="Use: async with ChatClient(endpoint) as client")
        route = self._routes[0]
        try:
            return await get_models(self._session, route)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            reason = scrub(str(error) or type(error).__name__, self._secrets)
        raise UserError(
            f"The endpoint {URL(route.url).origin()} does not list its models: {reason}",
            hint="Check its base_url (it usually ends in /v1) and the key.",
        )
