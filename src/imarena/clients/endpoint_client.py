"""The base of all endpoint clients: keys, routes, rate limits, retries and cost."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import aiohttp

from imarena.clients.budget import Budget, CostLimitReached, Reservation
from imarena.clients.endpoint import Endpoint
from imarena.clients.replies import Failure, FailureKind
from imarena.clients.routes import Dispatcher, EndpointDown, Route
from imarena.clients.secret import Secret, scrub
from imarena.clients.transport import new_session
from imarena.core import UserError

_LOG = logging.getLogger(__name__)
_MAX_BACKOFF_S = 30.0

R = TypeVar("R")
"""An endpoint's final answer, whatever its type."""
Once = Callable[[Route | None], Awaitable[tuple[Route | None, R | Failure]]]
"""Makes one attempt, preferably not on the given route; returns the route that was used and the result."""


@dataclass
class RequestAttempts:
    """The attempts of one request, with its failures by kind."""

    sent: int = 0
    failed: int = 0
    timeouts: int = 0
    throttled: int = 0
    shut: int = 0


@dataclass(frozen=True)
class CostBound:
    """The maximum cost of one attempt. `wait`: if it does not fit while other requests are in flight, wait for them."""

    at_most_usd: float
    wait: bool = False


class EndpointClient:
    """Open it from one event loop."""

    def __init__(
        self,
        endpoint: Endpoint,
        budget: Budget | None = None,
        environ: Mapping[str, str] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._budget = budget
        self._rng = rng or random.Random()
        keys = {name: Secret.from_env(name, environ) for name in endpoint.api_key_env}
        self.secrets = tuple(keys.values())
        self.routes = tuple(Route(url, keys[name] if name else None, endpoint) for url, name in endpoint.pairs)
        self._session: aiohttp.ClientSession | None = None
        self._dispatcher: Dispatcher | None = None

    def open(self) -> None:
        """Open a session, which belongs to the current event loop."""
        self._session = new_session(self.endpoint)
        self._dispatcher = Dispatcher(self.routes, asyncio.get_running_loop().time)

    async def close(self) -> None:
        """Close the session and the routes."""
        if self._dispatcher is not None:
            self._dispatcher.close()
        if self._session is not None:
            await self._session.close()
        self._session = None

    @property
    def session(self) -> aiohttp.ClientSession:
        """The open session."""
        if self._session is None:
            raise UserError("The client is not open.", hint="Use it inside `async with`.")
        return self._session

    async def exchange(
        self, once: Once[R], tries: RequestAttempts, adapt: Callable[[Failure], bool] | None = None
    ) -> R | Failure:
        """Retry within the endpoint's limits. If `adapt` changes the request after a failure, it is sent again at once.

        Raises only `BudgetSpent`: the next attempt might exceed the cost limit and was not sent.
        """
        route: Route | None = None
        while True:
            try:
                route, result = await once(route)
            except EndpointDown as error:
                return Failure(FailureKind.FAILED, f"the endpoint is down: {error}")
            tries.sent += 1
            if not isinstance(result, Failure):
                return result
            if adapt is not None and adapt(result):
                continue
            if not self._try_again(result, tries, route):
                return result
            _LOG.debug("trying again (%d sent): %s", tries.sent, result.error)
            await asyncio.sleep(self._delay_s(result, tries, route))

    async def attempt(
        self,
        send: Callable[[aiohttp.ClientSession, Route], Awaitable[R | Failure]],
        avoid: Route | None,
        price: CostBound | None,
        charged_usd: Callable[[R], float | None],
    ) -> tuple[Route, R | Failure]:
        """Make one attempt on the next free route; the route and the budget are updated with its outcome.

        `charged_usd` is the cost of a final answer, or None if unknown, which counts as the maximum.
        """
        session, dispatcher = self.session, self._dispatcher
        if dispatcher is None:
            raise UserError("The client is not open.", hint="Use it inside `async with`.")
        reservation = await self._reserve(price)
        result: R | Failure | None = None
        route: Route | None = None
        try:
            route = await dispatcher.acquire(avoid)
            started = asyncio.get_running_loop().time()
            result = await send(session, route)
            if isinstance(result, Failure):
                result = replace(result, error=scrub(result.error, self.secrets))
            self._teach(route, result, started)
        finally:
            if self._budget is not None and reservation is not None:
                cost_usd = _cost(result, charged_usd, sent=route is not None)
                self._budget.settle(reservation, reservation.amount_usd if cost_usd is None else cost_usd)
            if route is not None:
                dispatcher.release(route, abandoned=result is None)
        return route, result

    async def _reserve(self, price: CostBound | None) -> Reservation | None:
        if self._budget is None or price is None:
            return None
        while True:
            try:
                return self._budget.reserve(price.at_most_usd)
            except CostLimitReached:
                if not price.wait or self._budget.reserved_usd <= 1e-12:
                    raise
                await asyncio.sleep(0.02)  # some of the requests in flight may turn out to be free

    def _teach(self, route: Route, result: object, started: float) -> None:
        now = asyncio.get_running_loop().time()
        if not isinstance(result, Failure) or result.kind is FailureKind.REJECTED:
            route.succeeded(now, now - started)
        elif result.kind is FailureKind.THROTTLED:
            route.throttled(now, self._retry_after_s(result, 1))
        elif result.kind is FailureKind.SHUT:
            route.shut(now, result.error)
        else:
            route.failed(now, result.error)

    def _try_again(self, failure: Failure, tries: RequestAttempts, route: Route | None) -> bool:
        if failure.kind is FailureKind.REJECTED:
            return False
        if failure.kind is FailureKind.SHUT:
            tries.shut += 1  # enough for the route to count as down, so that another one is used
            return self._open_beside(route) and tries.shut <= self.endpoint.breaker_failures + len(self.routes)
        if failure.kind is FailureKind.THROTTLED:
            tries.throttled += 1
            wait_s = failure.after_s or 0.0
            return tries.throttled <= self.endpoint.max_throttled and wait_s <= self.endpoint.max_wait_s
        if failure.kind is FailureKind.TIMEOUT:
            tries.timeouts += 1
            if tries.timeouts >= self.endpoint.max_timeouts:
                return False
        else:
            tries.failed += 1
        return tries.failed + tries.timeouts < self.endpoint.max_attempts

    def _open_beside(self, route: Route | None) -> bool:
        """Is there another route that has not been shut?"""
        now = asyncio.get_running_loop().time()
        return any(other is not route and not other.shut_in_a_row and not other.down(now) for other in self.routes)

    def _delay_s(self, failure: Failure, tries: RequestAttempts, route: Route | None) -> float:
        """How long this request waits before its next attempt; other requests are not delayed."""
        if failure.kind is FailureKind.SHUT:
            return 0.0
        if failure.kind is not FailureKind.THROTTLED:
            return self._backoff_s(tries.failed + tries.timeouts)
        now = asyncio.get_running_loop().time()
        if any(other is not route and other.wait_s(now) <= 0 for other in self.routes):
            return 0.0
        return self._retry_after_s(failure, tries.throttled)

    def _retry_after_s(self, failure: Failure, refusals: int) -> float:
        """The delay that the endpoint asks for, or a growing pause; with jitter, so that retries do not coincide."""
        if failure.after_s is None:
            return self._backoff_s(refusals)
        return min(failure.after_s, self.endpoint.max_wait_s) * self._rng.uniform(1.0, 1.1)

    def _backoff_s(self, failures: int) -> float:
        """Exponential backoff with jitter, so that requests that failed together do not return together."""
        longest = min(_MAX_BACKOFF_S, self.endpoint.backoff_s * 2.0 ** min(failures - 1, 16))
        return longest * self._rng.uniform(0.5, 1.0)


def _cost(result: R | Failure | None, charged_usd: Callable[[R], float | None], *, sent: bool) -> float | None:
    """The actual cost of an attempt; None if the endpoint may have charged an unknown amount."""
    if result is None or isinstance(result, Failure):
        return None if sent and (result is None or result.maybe_charged) else 0.0
    return charged_usd(result)
