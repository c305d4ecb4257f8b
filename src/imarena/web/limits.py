"""Rate limits: a token bucket for each visitor that fills at a steady rate."""

import time
from dataclasses import dataclass

from cachetools import LRUCache

_MOST_KEYS = 50_000


@dataclass(frozen=True)
class Rate:
    """Requests per second, and the maximum burst."""

    per_s: float
    burst: float


SIGN_IN = Rate(per_s=10 / 60, burst=10)
INVITED = Rate(per_s=2, burst=120)
"""A room full of raters arrives at once from one address; at this rate a link's 256 random bits cannot be guessed."""
SIGNED_IN = Rate(per_s=60, burst=600)
ANYBODY = Rate(per_s=20, burst=200)
COSTLY = Rate(per_s=2, burst=40)
"""For anonymous requests that may compute a board: every new filter causes new work."""


class Buckets:
    """Buckets by key; the least recently used are dropped. Used only on the event loop's thread."""

    def __init__(self) -> None:
        self._level: LRUCache[str, tuple[float, float]] = LRUCache(_MOST_KEYS)  # 0.3 µs per request slower than by hand

    def wait_s(self, key: str, rate: Rate) -> float:
        """0 if the request may pass, else the seconds to wait."""
        now = time.monotonic()
        level, before = self._level.get(key, (rate.burst, now))
        level = min(rate.burst, level + (now - before) * rate.per_s)
        passes = level >= 1
        self._level[key] = (level - 1 if passes else level, now)
        return 0.0 if passes else (1 - level) / rate.per_s
