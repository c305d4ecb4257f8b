"""Adaptive request limit of a route: it follows the share of refused (429) requests, as DCTCP follows marked packets.

Pure arithmetic, without a clock or I/O. Times are seconds on any monotonic clock.
"""

import math
from dataclasses import dataclass, field

PAUSE_SHARE = 0.5
"""The route pauses when at least this share of a window was refused."""
_MIN_WINDOW = 16
"""Minimum number of replies in a window with refusals."""
_SHARE_REPLIES = 32
"""About how many past replies the estimate of the refused share covers."""
_GROWTH, _ACCELERATION, _MAX_GROWTH = 0.01, 1.15, 0.25
"""Growth per window: the initial value, its factor for each further window without refusals, and the maximum."""
_RESUME, _MIN_RESUME = 0.5, 0.25
"""After a pause: this share of the accepted requests, but at least this share of the limit."""
_MIN_LIMIT = 1.0
_MAX_INTERVAL_S = 30.0
_TRIAL_AT, _TRIAL_LEVEL, _TRIAL_REPLIES = 0.85, 0.85, 64
"""A trial begins if the limit is below this share of the last good one; its lower level; replies per level."""
_MAX_TRIAL_SHARE = 0.25
"""Above this share of refusals, a trial would waste too many requests."""
_LATENCY_GAIN = 1 / 32
_OPENING_PER_S = 128.0
"""Pace until the first answer: an endpoint with unknown limits does not get all requests at once."""


@dataclass(slots=True)
class _Window:
    """Requests of about one round: as many replies as the limit, over at least one reply time."""

    started: float | None = None
    sent: int = 0
    accepted: int = 0
    refused: int = 0

    @property
    def replies(self) -> int:
        return self.accepted + self.refused


@dataclass(slots=True)
class _Trial:
    """A few windows at the limit, then a few at a lower level: does the refused share fall with the load?"""

    refused: list[int] = field(default_factory=lambda: [0, 0])
    replies: list[int] = field(default_factory=lambda: [0, 0])
    lower: bool = False
    settling: bool = False
    """The next window still includes replies to requests sent before the level changed."""

    def add(self, window: _Window, enough: float) -> bool:
        """Count a window; returns True once both phases are complete."""
        if self.settling:
            self.settling = False
            return False
        self.refused[self.lower] += window.refused
        self.replies[self.lower] += window.replies
        if self.replies[self.lower] < enough:
            return False
        complete = self.lower
        self.settling = self.lower = True
        return complete

    def independent_share(self) -> float:
        """The refused share that does not depend on the load; 0 if the share fell as much as the load explains."""
        upper, lower = (refused / replies for refused, replies in zip(self.refused, self.replies, strict=True))
        by_load = max(0.0, 1.0 - (1.0 - upper) / _TRIAL_LEVEL)
        return sum(self.refused) / sum(self.replies) if lower > (upper + by_load) / 2 else 0.0


@dataclass(slots=True)
class AdaptiveLimit:
    """How many requests one route may have in flight (including fractions), and the pace at which it sends them.

    - Each window updates `share`, the estimate of the refused share. A window with refusals lowers the limit by half
      of that share; each window raises it by 1%, and windows in a row without refusals by more and more, up to 25%.
    - Refusals that do not depend on the load must not slow the route down. If the limit has fallen by 15%, a trial
      compares the refused share at the limit with that at 85% of it. If the share stays, the limit returns to where
      it was, and the share becomes the `background`: only the excess over it counts.
    - If half of a window was refused, the route pauses for as long as the endpoint asks, and resumes with half of what
      was accepted.
    - Below the maximum, requests are spaced evenly (limit / reply time). A token bucket refuses at once requests that
      come too early; limiting only the number in flight would send it as many requests as it can refuse.
    """

    maximum: int
    limit: float = field(init=False)
    share: float = 0.0
    background: float = 0.0
    latency_s: float | None = None
    paused_until: float = -math.inf
    _next_send: float = -math.inf
    _growth: float = _GROWTH
    _pausing: bool = False
    _first: bool = True
    _window: _Window = field(default_factory=_Window)
    _trial: _Trial | None = None
    _good: float = 0.0

    def __post_init__(self) -> None:
        self._good = self.limit = float(self.maximum)

    @property
    def level(self) -> float:
        """The limit in effect, which is lower during a trial."""
        return self.limit * _TRIAL_LEVEL if self._trial is not None and self._trial.lower else self.limit

    def wait_s(self, now: float, in_flight: int) -> float:
        """Seconds until another request may be sent; infinite if it must wait for another request to finish."""
        if in_flight >= math.ceil(self.level):
            return math.inf
        return max(0.0, self.paused_until - now, self._next_send - now)

    def sent(self, now: float) -> None:
        """Record that a request was sent."""
        if self._pausing and now >= self.paused_until:
            self._resume()
        if self._window.started is None:
            self._window.started = now
        self._window.sent += 1
        if self.level < self.maximum or self._first:
            round_s = self.maximum / _OPENING_PER_S if self.latency_s is None else self.latency_s
            self._next_send = max(self._next_send, now) + min(round_s / self.level, _MAX_INTERVAL_S)

    def accepted(self, now: float, latency_s: float) -> None:
        """Record that a request was answered after `latency_s`."""
        if self.latency_s is None:
            self.latency_s, self._next_send = latency_s, now
        self.latency_s += _LATENCY_GAIN * (latency_s - self.latency_s)
        self._window.accepted += 1
        self._close_when_full(now)

    def refused(self, now: float, after_s: float) -> None:
        """Record that a request was refused for now (429) and may be sent again after `after_s`."""
        window = self._window
        window.refused += 1
        if self._pausing:
            return  # in flight together with the requests that caused the pause
        if window.refused >= PAUSE_SHARE * max(window.sent, self.level, _MIN_WINDOW):
            self._pausing = True
            self.paused_until = now + after_s
        else:
            self._close_when_full(now)

    def _resume(self) -> None:
        """At the first request after a pause, resume with half of what was accepted."""
        window = self._window
        self.share = window.refused / max(window.sent, window.replies)  # requests still in flight count as accepted
        self._set_limit(self.limit * max(_MIN_RESUME, _RESUME * (1.0 - self.share)))
        self._growth = _GROWTH
        self._pausing = False
        self._window = _Window()
        self._trial = None
        self._good = self.limit

    def _close_when_full(self, now: float) -> None:
        window = self._window
        if self._pausing or window.started is None or self.latency_s is None:
            return
        enough = max(self.level, _MIN_WINDOW if window.refused else 1)
        if window.replies < enough or now - window.started < self.latency_s:
            return
        self._window = _Window(started=now)
        self._first = False
        if self._trial is None:
            self._adapt(window)
        elif self._trial.add(window, max(_TRIAL_REPLIES, self.level)):
            self._judge(self._trial)

    def _adapt(self, window: _Window) -> None:
        share = window.refused / window.replies
        weight = min(0.5, window.replies / _SHARE_REPLIES)
        self.share += weight * (share - self.share)
        if self.share < self.background / 2:
            self.background = self.share
        noise = math.sqrt(self.background * (1.0 - self.background) / window.replies)
        factor = 1.0 + self._growth
        if share > self.background + noise:
            factor *= 1.0 - max(0.0, self.share - self.background) / 2
            self._growth = _GROWTH
        else:
            self._growth = min(_MAX_GROWTH, self._growth * _ACCELERATION)
        self._set_limit(self.limit * factor)
        self._good = max(self._good, self.limit)
        if self.limit < _TRIAL_AT * self._good and share and self.share < _MAX_TRIAL_SHARE:
            self._trial = _Trial()

    def _judge(self, trial: _Trial) -> None:
        self._trial = None
        self.background = trial.independent_share()
        if self.background:
            self.limit = self._good
        else:  # the load was the cause: as much as was accepted fits
            self._set_limit(self.limit * (1.0 - trial.refused[0] / trial.replies[0]))
            self._good = self.limit
            self.share = 0.0

    def _set_limit(self, limit: float) -> None:
        self.limit = min(float(self.maximum), max(_MIN_LIMIT, limit))
