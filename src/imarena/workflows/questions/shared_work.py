"""Several processes can ask on one database: each claims a piece of work before it asks, so that it is paid for once.

After a claim, the store is read again: it then holds whatever another process answered before it released its claim.
Claims are taken for some work ahead, in one transaction.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from imarena.core import DatabaseAway, counted, first_line
from imarena.engine import DoneElsewhere, NotNow
from imarena.storage import Claims

W = TypeVar("W")
R = TypeVar("R")

MOST_AHEAD = 512
SOON_S = 1.0
LATE_S = 4.0
"""Claims ahead should last between these times: many at once cost less, few leave more for other processes."""
RECHECK_S = 0.4
AWAY_S = (1.0, 3.0, 9.0)
"""Pauses before a failed database operation is retried, after a lost connection or a server restart."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class SharedWork(Generic[W]):
    """How a run describes its work, so that other processes can share it."""

    claims: Claims
    key: Callable[[W], str]
    """Returns the identity of a piece of work, the same in every process."""
    answered: Callable[[Sequence[W]], set[str]] = lambda _: set()
    """Returns the keys of the given work that was asked since this run was planned. Work of several steps has none: it
    finds the steps of other processes in its journal."""
    elsewhere: Callable[[W], None] = lambda _: None
    """Receives work that another process asked meanwhile."""


def retry_when_busy(do: Callable[[], R]) -> R:
    """Run `do`, with retries if the database is briefly unavailable, so that paid answers are not lost.

    Only for operations that can be repeated, because a connection may break after the commit.
    """
    for pause in AWAY_S:
        try:
            return do()
        except DatabaseAway as error:
            _LOG.warning("%s trying again in %.0f s", first_line(error), pause)
            time.sleep(pause)
    return do()


class ClaimedWork(Generic[W]):
    """The work of one run, claimed in pieces."""

    def __init__(self, shared: SharedWork[W], claims: Claims, work: Sequence[W], slots: int) -> None:
        self._shared = shared
        self._claims = claims
        self._work = work
        self._keys = [shared.key(piece) for piece in work]
        self._index_of = {key: index for index, key in enumerate(self._keys)}
        self._ahead = slots
        self._held: set[str] = set()
        self._lapses = claims.lapses
        self._finished: set[str] = set()
        """Keys of work begun here or asked elsewhere."""
        self._foreign: dict[str, float] = {}
        """Keys that other processes hold, and when that was checked."""
        self._answered_elsewhere: set[str] = set()
        self._last = time.monotonic()
        self._lock = asyncio.Lock()

    async def hold(self, work: W) -> None:
        """Claim a piece of work. Raises `NotNow` if another process holds it, `DoneElsewhere` if it has asked it."""
        key = self._shared.key(work)
        self._drop_lapsed()
        if key in self._held:
            return self._begin(key)
        async with self._lock:
            if key not in self._held and key not in self._answered_elsewhere:
                if time.monotonic() - self._foreign.get(key, -RECHECK_S) < RECHECK_S:
                    raise NotNow
                await asyncio.to_thread(retry_when_busy, partial(self._take, key))
                self._drop_lapsed()
        if key in self._answered_elsewhere:
            self._finished.add(key)
            self._shared.elsewhere(work)
            raise DoneElsewhere
        if key not in self._held:
            raise NotNow
        return self._begin(key)

    def written(self, works: Sequence[W]) -> None:
        """Release the claims of work whose answers are stored."""
        self._claims.release([self._shared.key(work) for work in works])

    def _drop_lapsed(self) -> None:
        """Forget claims that have lapsed: this process may have been suspended for a while."""
        if self._claims.lapses != self._lapses:
            self._lapses = self._claims.lapses
            self._held.clear()

    def _begin(self, key: str) -> None:
        self._held.discard(key)
        self._finished.add(key)

    def _take(self, key: str) -> None:
        """Claim this work and some that follows, and check again what other processes hold."""
        moment = time.monotonic()
        took, self._last = moment - self._last, moment
        if took < SOON_S:
            self._ahead = min(2 * self._ahead, MOST_AHEAD)
        elif took > LATE_S:
            self._ahead = max(1, self._ahead // 2)
        keys = {key, *self._foreign}
        for later in self._keys[self._index_of[key] : self._index_of[key] + 4 * self._ahead]:
            if len(keys) - len(self._foreign) >= self._ahead:
                break
            if later not in self._finished and later not in self._held:
                keys.add(later)
        foreign = self._claims.take(keys)
        if foreign and not self._foreign:
            _LOG.warning("%s left to another process that asks the same", counted(len(foreign), "question"))
        claimed = keys - foreign.keys()
        answered = self._shared.answered([self._work[self._index_of[claimed_key]] for claimed_key in claimed])
        self._answered_elsewhere |= answered
        self._claims.release(list(answered))
        self._held |= claimed - answered
        self._foreign = dict.fromkeys(foreign, time.monotonic())
