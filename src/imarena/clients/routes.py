"""Routes to an endpoint: each has a limit that adapts to 429 replies and a circuit breaker that pauses requests."""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from imarena.clients.adaptive_limit import AdaptiveLimit
from imarena.clients.endpoint import Endpoint
from imarena.clients.secret import Secret

_MAX_PAUSE_S = 120.0


class EndpointDown(Exception):
    """All routes failed repeatedly; the message is the last error. It becomes a status and is never shown as is."""


@dataclass(eq=False)
class Route:
    """One base URL with one key, and its current capacity. Times are the event loop's."""

    url: str
    secret: Secret | None
    endpoint: Endpoint
    rate: AdaptiveLimit = field(init=False)
    """How many requests at once and how fast, according to what the endpoint accepts."""
    in_flight: int = 0
    next_send: float = 0.0
    paused_until: float = 0.0
    failures: int = 0
    """Number of consecutive failures."""
    broken: bool = False
    """The breaker is open, or waits for the outcome of one trial."""
    trials: int = 0
    trial_running: bool = False
    last_error: str = ""
    shut_in_a_row: int = 0

    def __post_init__(self) -> None:
        self.rate = AdaptiveLimit(self.endpoint.max_concurrency)

    def down(self, now: float) -> bool:
        """Have repeated trials failed, with the next one not due yet?"""
        return self.broken and self.trials > self.endpoint.breaker_trials and now < self.paused_until

    def wait_s(self, now: float) -> float:
        """Seconds until it may send; infinite if it must wait for another request to finish."""
        if self.broken and self.trial_running:
            return math.inf
        return max(self.rate.wait_s(now, self.in_flight), self.next_send - now, self.paused_until - now)

    def take(self, now: float) -> None:
        """Record that a request is sent on this route."""
        self.in_flight += 1
        self.rate.sent(now)
        if self.endpoint.requests_per_minute is not None:
            self.next_send = max(now, self.next_send) + 60.0 / self.endpoint.requests_per_minute
        if self.broken:
            self.trial_running = True

    def succeeded(self, now: float, latency_s: float) -> None:
        """The server answered properly: close the breaker."""
        self._answered()
        self.rate.accepted(now, latency_s)

    def throttled(self, now: float, after_s: float) -> None:
        """429: the refused request waits for `after_s`; the whole route only if much of a window was refused."""
        self._answered()
        self.rate.refused(now, after_s)

    def failed(self, now: float, error: str) -> None:
        """Record an error of the server or the connection."""
        self.last_error = error
        if self.broken and not self.trial_running:
            return  # in flight before the breaker opened
        self.failures += 1
        # Errors return faster than answers: of requests sent together, the failed ones return first, in a row.
        # So the breaker opens only after as many failures as there are requests in flight.
        if self.broken or self.failures >= max(self.endpoint.breaker_failures, self.in_flight):
            self.broken = True
            self.trial_running = False
            pause = min(_MAX_PAUSE_S, self.endpoint.breaker_pause_s * 2.0**self.trials)
            self.trials += 1
            self.paused_until = max(self.paused_until, now + pause)

    def shut(self, now: float, error: str) -> None:
        """The key, the account or the model was rejected. Repeated rejections take the route down: waiting cannot help.

        Such a route answers faster than any other; left open it would get nearly all requests and fail them.
        """
        self.last_error = error
        self.shut_in_a_row += 1
        self.trial_running = False
        if self.broken or self.shut_in_a_row >= self.endpoint.breaker_failures:
            self.broken = True
            self.trials = self.endpoint.breaker_trials + 1
            self.paused_until = max(self.paused_until, now + _MAX_PAUSE_S)

    def abandoned(self) -> None:
        """The caller cancelled the request, which says nothing about the server."""
        self.trial_running = False

    def _answered(self) -> None:
        self.failures = self.trials = self.shut_in_a_row = 0
        self.broken = self.trial_running = False


@dataclass
class _Waiter:
    future: "asyncio.Future[Route]"
    avoid: Route | None


@dataclass
class Dispatcher:
    """Assigns routes to requests in order of arrival. Use it from one event loop."""

    routes: tuple[Route, ...]
    clock: Callable[[], float]
    _waiters: deque[_Waiter] = field(default_factory=deque)
    _timer: asyncio.TimerHandle | None = None

    async def acquire(self, avoid: Route | None = None) -> Route:
        """A route that may send now, preferably not `avoid`. Raises `EndpointDown` if all have failed for long."""
        waiter = _Waiter(asyncio.get_running_loop().create_future(), avoid)
        self._waiters.append(waiter)
        self._dispatch()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            if waiter.future.done() and not waiter.future.cancelled() and waiter.future.exception() is None:
                self.release(waiter.future.result(), abandoned=True)
            raise

    def release(self, route: Route, *, abandoned: bool = False) -> None:
        """Record that the request on this route has ended."""
        route.in_flight -= 1
        if abandoned:
            route.abandoned()
        self._dispatch()

    def close(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _dispatch(self) -> None:
        self.close()
        while self._waiters:
            waiter = self._waiters[0]
            if waiter.future.done():
                self._waiters.popleft()
                continue
            now = self.clock()
            if all(route.down(now) for route in self.routes):
                self._waiters.popleft()
                waiter.future.set_exception(EndpointDown(self.routes[0].last_error))
                continue
            route = self._pick(now, waiter.avoid)
            if route is None:
                self._wake_later(now)
                return
            self._waiters.popleft()
            route.take(now)
            waiter.future.set_result(route)

    def _pick(self, now: float, avoid: Route | None) -> Route | None:
        ready = [route for route in self.routes if route.wait_s(now) <= 0]
        return min(ready, key=lambda route: (route is avoid, route.in_flight / route.rate.limit), default=None)

    def _wake_later(self, now: float) -> None:
        wait_s = min(route.wait_s(now) for route in self.routes)
        if math.isfinite(wait_s):
            self._timer = asyncio.get_running_loop().call_later(wait_s + 0.001, self._dispatch)
