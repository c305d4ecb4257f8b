"""Chat client for any OpenAI-compatible endpoint: concurrent requests, each with a final status."""

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

from imarena.clients.budget import Budget
from imarena.clients.endpoint import Endpoint
from imarena.clients.endpoint_client import CostBound, EndpointClient, RequestAttempts
from imarena.clients.messages import ChatRequest, body_pieces
from imarena.clients.replies import EndpointAnswer, Failure, FailureKind
from imarena.clients.routes import Route
from imarena.clients.secret import scrub
from imarena.clients.transport import MAX_UPLOADS, get_models, post
from imarena.core import UserError
from imarena.core.records import Status, Usage

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChatReply:
    """The result of a request. `text` is the model's reply if `status` is ok; "" then means an empty reply.

    If an endpoint replies 200 with a choice whose content is "" or null, it has answered: status ok, text "". The
    parser decides what that means. `usage.latency_s` is the time of the last attempt, `latency_s` that of all attempts,
    including pauses.
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


class ChatBackend(Protocol):
    """Anything that answers a chat request: a remote endpoint or a local model."""

    async def complete(self, request: ChatRequest) -> ChatReply: ...


@dataclass
class Totals:
    """Statistics of a client's requests so far."""

    requests: int = 0
    attempts: int = 0
    statuses: Counter[Status] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Number of answers whose cost is unknown."""

    def add(self, reply: ChatReply) -> None:
        """Count a finished request."""
        self.requests += 1
        self.attempts += reply.attempts
        self.statuses[reply.status] += 1
        self.input_tokens += reply.usage.input_tokens or 0
        self.output_tokens += reply.usage.output_tokens or 0
        self.cost_usd += reply.usage.cost_usd or 0.0
        self.unpriced += reply.status is Status.OK and reply.usage.cost_usd is None


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
        self._line = EndpointClient(endpoint, budget, environ, rng)
        self._counts_cost = budget is not None
        self._structured = endpoint.structured_output == "auto"
        self._input_scale = 1.0  # ratio of actual to estimated input tokens
        self._gate = asyncio.Semaphore(MAX_UPLOADS)

    def __repr__(self) -> str:
        return f"ChatClient({self.endpoint.model!r} at {', '.join(self.endpoint.base_url)})"

    async def __aenter__(self) -> Self:
        self._line.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._line.close()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send the request, retrying within the endpoint's limits.

        Raises only `BudgetSpent`: the next attempt might exceed the cost limit and was not sent.
        """
        loop = asyncio.get_running_loop()
        started = loop.time()
        tries = RequestAttempts()
        reply = await self._attempt_all(request, tries)
        reply = replace(reply, attempts=tries.sent, latency_s=loop.time() - started)
        self.totals.add(reply)
        return reply

    async def _attempt_all(self, request: ChatRequest, tries: RequestAttempts) -> ChatReply:
        structured = self._structured and request.schema is not None
        pieces = body_pieces(request, self.endpoint, structured=structured)

        async def once(avoid: Route | None) -> tuple[Route, EndpointAnswer | Failure]:
            async def send(session: aiohttp.ClientSession, route: Route) -> EndpointAnswer | Failure:
                result = await post(session, route, pieces, self._gate)
                if structured and isinstance(result, Failure) and result.http_status == 404:
                    return replace(
                        result, kind=FailureKind.REJECTED
                    )  # the endpoint may not support the schema: try without it
                return result

            return await self._line.attempt(send, avoid, self._price(request), self._charged_usd)

        def without_schema(failure: Failure) -> bool:
            nonlocal structured, pieces
            rejected = failure.kind is FailureKind.REJECTED and failure.http_status in {400, 404, 422}
            if not (structured and rejected):
                return False
            structured = False
            pieces = body_pieces(request, self.endpoint, structured=False)
            return True

        result = await self._line.exchange(once, tries, without_schema)
        if isinstance(result, Failure):
            return ChatReply(result.status, error=result.error, http_status=result.http_status)
        return self._finished(result, request, structured=structured)

    def _finished(self, answer: EndpointAnswer, request: ChatRequest, *, structured: bool) -> ChatReply:
        if request.schema is not None and answer.status is Status.OK and self._structured and not structured:
            self._structured = False
            _LOG.warning("%s rejects response_format: answers are parsed without it from now on", self.endpoint.model)
        if answer.usage.input_tokens:
            self._input_scale = max(self._input_scale, answer.usage.input_tokens / request.estimated_input_tokens())
        return ChatReply(
            answer.status,
            text=scrub(answer.text, self._line.secrets),
            model=scrub(answer.model, self._line.secrets),
            finish_reason=scrub(answer.finish_reason, self._line.secrets),
            usage=self._priced(answer.usage),
            error=scrub(answer.error, self._line.secrets),
            http_status=answer.http_status,
        )

    def _price(self, request: ChatRequest) -> CostBound | None:
        if not self._counts_cost:
            return None
        guess = Usage(
            input_tokens=round(request.estimated_input_tokens() * self._input_scale),
            output_tokens=request.estimated_output_tokens(),
        )
        return CostBound(self.endpoint.cost_usd(guess) or 0.0)

    def _charged_usd(self, answer: EndpointAnswer) -> float | None:
        cost_usd = self._priced(answer.usage).cost_usd
        return cost_usd if cost_usd is not None or answer.http_status == 200 else 0.0

    def _priced(self, usage: Usage) -> Usage:
        if usage.cost_usd is not None:
            return usage
        return usage.model_copy(update={"cost_usd": self.endpoint.cost_usd(usage)})

    async def models(self) -> list[str]:
        """The model names that the endpoint lists. Raises `UserError` if the request fails."""
        route = self._line.routes[0]
        try:
            return await get_models(self._line.session, route)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            reason = scrub(str(error) or type(error).__name__, self._line.secrets)
        raise UserError(
            f"The endpoint {URL(route.url).origin()} does not list its models: {reason}",
            hint="Check its base_url (it usually ends in /v1) and the key.",
        )
