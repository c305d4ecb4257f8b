"""Faults of the fake server, by rate and seed: the same request always fails in the same way."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from imarena.core import UserError


class Fault(StrEnum):
    """One way in which an endpoint fails."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    HANG = "hang"
    CUT_OFF = "cut_off"
    DISCONNECT = "disconnect"
    WRONG_JSON = "wrong_json"
    REFUSAL = "refusal"
    FILTERED = "filtered"
    EMPTY = "empty"
    SLOW = "slow"


F = TypeVar("F", bound=StrEnum)


@dataclass(frozen=True)
class Rates(Generic[F]):
    """Rates by fault (their sum is at most 1) and the behaviour of each.

    The draw depends on the seed, the request's bytes and how often they were seen, not on the order of arrival: the
    same requests get the same faults in any schedule, and a repeated request is drawn anew.
    """

    rates: Mapping[F, float] = field(default_factory=dict)
    seed: int = 0
    retry_after: str = "0.05"
    """The Retry-After header sent with 429: seconds, an HTTP date, or "" for none."""
    hang_s: float = 3600.0

    def __post_init__(self) -> None:
        total = sum(self.rates.values())
        if any(rate < 0 for rate in self.rates.values()) or total > 1 + 1e-9:
            raise UserError(f"Fault rates are zero or more and add up to at most 1, not {total:g}.")

    def by_rate(self, digest: str, seen: int) -> F | None:
        """The fault for the request with this digest that was seen this often before; None for a good reply."""
        if not self.rates:
            return None
        value = hashlib.sha256(f"{self.seed}:{seen}:{digest}".encode()).digest()
        point = int.from_bytes(value[:8], "big") / 2**64
        for fault in sorted(self.rates):
            point -= self.rates[fault]
            if point < 0:
                return fault
        return None


@dataclass(frozen=True)
class Faults(Rates[Fault]):
    """The chat server's faults."""

    slow_s: float = 0.2


@dataclass
class TokenBucket:
    """A rate limit: `burst` requests at once, plus `per_s` per second. Times are seconds on one clock."""

    per_s: float
    burst: float = 20.0
    _tokens: float = field(init=False)
    _filled_at: float | None = None

    def __post_init__(self) -> None:
        if self.per_s <= 0 or self.burst < 1:
            raise UserError(f"A rate limit accepts requests, not {self.per_s:g} per second and {self.burst:g} at once.")
        self._tokens = self.burst

    def accept(self, now: float) -> bool:
        """Whether a request that arrives now is within the limit."""
        passed_s = 0.0 if self._filled_at is None else now - self._filled_at
        self._filled_at = now
        self._tokens = min(self.burst, self._tokens + passed_s * self.per_s)
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


def parse_rates(texts: list[str], kind: type[F]) -> dict[F, float]:
    """Parse rates such as `rate_limited=0.2`."""
    rates = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            rates[kind(name)] = float(value)
        except ValueError as error:
            names = ", ".join(kind)
            raise UserError(f"'{text}' is not a fault with a rate.", hint=f"Write name=0.1; names: {names}.") from error
    return rates
