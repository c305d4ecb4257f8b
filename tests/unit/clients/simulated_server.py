"""A simulated endpoint and its client on a clock of their own: an hour takes a second."""

import heapq
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from imarena.clients.adaptive_limit import AdaptiveLimit
from imarena.clients.fake_faults import TokenBucket

Accept = Callable[[float, int], bool]
"""Whether a request that arrives at this time, with so many being served, is accepted."""


def at_random(share: float, seed: int = 0) -> Accept:
    """Refuses this share, whatever the load."""
    rng = random.Random(seed)
    return lambda _now, _serving: rng.random() >= share


def token_bucket(per_s: float, burst: float = 20.0) -> Accept:
    """Refuses what exceeds a rate."""
    bucket = TokenBucket(per_s, burst)
    return lambda now, _serving: bucket.accept(now)


def at_most(count: int) -> Accept:
    """Refuses what exceeds a number of requests at once."""
    return lambda _now, serving: serving < count


@dataclass
class Simulation:
    """64 workers with one limit; times in seconds."""

    accept: Accept
    maximum: int = 64
    reply_s: float = 0.5
    after_s: float = 1.0
    workers: int = 64
    limit: AdaptiveLimit = field(init=False)
    now: float = 0.0
    answered: int = 0
    refused: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    _serving: int = 0
    _idle: int = field(init=False)
    _events: list[tuple[float, int, str, float]] = field(default_factory=list)
    _number: int = 0
    _next_look: float = 0.0
    _rng: random.Random = field(default_factory=lambda: random.Random(1))

    def __post_init__(self) -> None:
        self.limit = AdaptiveLimit(self.maximum)
        self._idle = self.workers

    def run(self, seconds: float) -> tuple[float, float]:
        """Go on for a time: answers per second in it, and the share of its requests that was refused."""
        end = self.now + seconds
        answered, refused = self.answered, self.refused
        while self.now < end:
            self._send_all()
            if not self._events:
                raise AssertionError("nothing is under way and nothing will be sent")
            self.now, _, what, sent = heapq.heappop(self._events)
            self._happen(what, sent)
        answered, refused = self.answered - answered, self.refused - refused
        return answered / seconds, refused / max(1, answered + refused)

    def _send_all(self) -> None:
        while self._idle:
            wait_s = self.limit.wait_s(self.now, self.in_flight)
            if wait_s > 0:
                self._look_after(wait_s)
                return
            self.limit.sent(self.now)
            self._idle -= 1
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            self._later(0.005, "arrive", self.now)

    def _look_after(self, wait_s: float) -> None:
        """One look at a time, as the client has one timer."""
        if self.now + wait_s < self._next_look or (wait_s < math.inf and self._next_look <= self.now):
            late_s = self._rng.uniform(0, 0.002)
            self._next_look = self.now + wait_s + late_s
            self._later(wait_s + late_s, "look")

    def _happen(self, what: str, sent: float) -> None:
        if what == "arrive" and self.accept(self.now, self._serving):
            self._serving += 1
            self._later(self.reply_s, "reply", sent)
        elif what == "arrive":
            self._later(0.005, "refuse", sent)
        elif what == "reply":
            self._serving -= 1
            self.in_flight -= 1
            self._idle += 1
            self.answered += 1
            self.limit.accepted(self.now, self.now - sent)
        elif what == "refuse":
            self.in_flight -= 1
            self.refused += 1
            self.limit.refused(self.now, self.after_s)
            self._later(self.after_s * self._rng.uniform(1, 1.1), "wake")
        elif what == "wake":
            self._idle += 1

    def _later(self, seconds: float, what: str, sent: float = 0.0) -> None:
        self._number += 1
        heapq.heappush(self._events, (self.now + seconds, self._number, what, sent))
