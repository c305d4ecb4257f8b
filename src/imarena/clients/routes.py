"""Routes to an endpoint: rate limits that adapt to 429 replies, and a circuit breaker that pauses requests."""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from imarena.clients.endpoint import Endpoint
from imarena.clients.secret import Secret

_MAX_PAUSE_S = 120.0


class EndpointDown(Exception):
    """All routes failed again and again; the message is the last error. Turned into a status, never shown as is."""


@dataclass(eq=False)
class Route:
    """One address with one key, and what it bears at the moment. Times are the event loop's."""

    url: str
    secret: Secret | None
    endpoint: Endpoint
    limit: float = 0.0
    """How many requests at once: halved by a 429, raised again by successes."""
    in_flight: int = 0
    next_send: float = 0.0
    paused_until: float = 0.0
    shrink_again: float = 0.0
    failures: int = 0
    trials: int = 0
    trial_running: bool = False
    last_error: str = ""
    throttled_in_a_row: int = 0
    shut_in_a_row: int = 0

    def __post_init__(self) -> None:
        self.limit = float(self.endpoint.max_concurrency)

    @property
    def broken(self) -> bool:
        """The breaker is open, or waits for the outcome of one trial."""
        return self.failures >= self.endpoint.breaker_failures

    def down(self, now: float) -> bool:
        """Trial after trial failed, and the next one is not due yet."""
        return self.broken and self.trials > self.endpoint.breaker_trials and now < self.paused_until

    def wait_s(self, now: float) -> float:
        """Seconds until it may send; infinite where only another request's end can free it."""
        if self.in_flight >= max(1, int(self.limit)) or (self.broken and self.trial_running):
            return math.inf
        return max(0.0, self.next_send - now, self.paused_until - now)

    def take(self, now: float) -> None:
        """A request goes out on this route."""
        self.in_flight += 1
        if self.endpoint.requests_per_minute is not None:
            self.next_send = max(now, self.next_send) + 60.0 / self.endpoint.requests_per_minute
        if self.broken:
            self.trial_running = True

    def succeeded(self) -> None:
        """The server answered as it should: the breaker closes, and a slowed route speeds up."""
        self._answered()
        self.throttled_in_a_row = 0
        self.limit = min(float(self.endpoint.max_concurrency), self.limit + 1.0 / self.limit)

    def throttled(self, now: float, after_s: float) -> None:
        """429: nobody uses this route for a while, and then half as many at once."""
        self._answered()
        self.throttled_in_a_row += 1
        self.paused_until = max(self.paused_until, now + after_s)
        if now >= self.shrink_again:  # replies to requests that were out together count once
            self.limit = max(1.0, self.limit / 2)
            self.shrink_again = now + after_s

    def failed(self, now: float, error: str) -> None:
        """An error on the server's side or on the way."""
        self.last_error = error
        if self.broken and not self.trial_running:
            return  # it was out already when the breaker opened
        self.failures += 1
        if self.broken:
            self.trial_running = False
            pause = min(_MAX_PAUSE_S, self.endpoint.breaker_pause_s * 2.0**self.trials)
            self.trials += 1
            self.paused_until = max(self.paused_until, now + pause)

    def shut(self, now: float, error: str) -> None:
        """The key, the account or the model was turned away. Again and again: down at once, since waiting cannot help.

        Such a route answers faster than any other; left open it would get nearly all requests and fail them.
        """
        self.last_error = error
        self.shut_in_a_row += 1
        self.trial_running = False
        if self.broken or self.shut_in_a_row >= self.endpoint.breaker_failures:
            self.failures = self.endpoint.breaker_failures
            self.trials = self.endpoint.breaker_trials + 1
            self.paused_until = max(self.paused_until, now + _MAX_PAUSE_S)

    def abandoned(self) -> None:
        """The caller gave up (cancelled): says nothing about the server."""
        self.trial_running = False

    def _answered(self) -> None:
        self.failures = self.trials = self.shut_in_a_row = 0
        self.trial_running = False


@dataclass
class _Waiter:
    future: "asyncio.Future[Route]"
    avoid: Route | None


@dataclass
class Dispatcher:
    """Hands routes to requests, first come first served. Use it from one event loop."""

    routes: tuple[Route, ...]
    clock: Callable[[], float]
    _waiters: deque[_Waiter] = field(default_factory=deque)
    _timer: asyncio.TimerHandle | None = None

    async def acquire(self, avoid: Route | None = None) -> Route:
        """A route that may send now, rather not `avoid`. Raises `EndpointDown` where all have failed for long."""
        loop = asyncio.get_running_loop()
        waiter = _Waiter(loop.create_future(), avoid)
        self._waiters.append(waiter)
        self._dispatch()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            if waiter.future.done() and not waiter.future.cancelled() and waiter.future.exception() is None:
                self.release(waiter.future.result(), abandoned=True)
            raise

    def release(self, route: Route, *, abandoned: bool = False) -> None:
        """The request on this route has ended."""
        route.in_flight -= 1
        if abandoned:
            route.abandoned()
        self._dispatch()

    def close(self) -> None:
        """No timer is left behind."""
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
        return min(ready, key=lambda route: (route is avoid, route.in_flight / route.limit), default=None)

    def _wake_later(self, now: float) -> None:
        wait_s = min(route.wait_s(now) for route in self.routes)
        if math.isfinite(wait_s):
            self._timer = asyncio.get_running_loop().call_later(wait_s + 0.001, self._dispatch)
