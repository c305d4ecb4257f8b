"""Several processes ask on one database: each piece of work is claimed before it is asked, so that it is paid for once.

A claim is taken, then the store is read again: what another process answered before it released its claim is there by
then. Claims are taken for some work ahead, in one transaction.
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
"""Claims are taken ahead for a time between these: many at once cost less, and few leave more for the others."""
RECHECK_S = 0.4
AWAY_S = (1.0, 3.0, 9.0)
"""Pauses before what the database could not do is tried again: a connection breaks, a server starts anew."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class SharedWork(Generic[W]):
    """What a run tells of its work, so that others can do a part of it."""

    claims: Claims
    key: Callable[[W], str]
    """The identity of a piece of work, the same in every process."""
    answered: Callable[[Sequence[W]], set[str]]
    """Of these, the keys of those that were asked since this run was planned."""
    elsewhere: Callable[[W], None] = lambda _: None
    """Gets what was asked by another process meanwhile."""


def patiently(do: Callable[[], R]) -> R:
    """Do it, again where the database was away for a moment: what was paid for is not lost for that.

    Only for what can be done twice, because a connection may break after the commit.
    """
    for pause in AWAY_S:
        try:
            return do()
        except DatabaseAway as error:
            _LOG.warning("%s trying again in %.0f s", first_line(error), pause)
            time.sleep(pause)
    return do()


class ClaimedWork(Generic[W]):
    """The work of one run, claimed piece by piece."""

    def __init__(self, shared: SharedWork[W], claims: Claims, work: Sequence[W], slots: int) -> None:
        self._shared = shared
        self._claims = claims
        self._work = work
        self._keys = [shared.key(piece) for piece in work]
        self._place = {key: place for place, key in enumerate(self._keys)}
        self._ahead = slots
        self._held: set[str] = set()
        self._lapses = claims.lapses
        self._over: set[str] = set()
        """Begun here, or asked elsewhere."""
        self._foreign: dict[str, float] = {}
        """What others hold, and when that was looked up."""
        self._elsewhere: set[str] = set()
        self._last = time.monotonic()
        self._lock = asyncio.Lock()

    async def hold(self, work: W) -> None:
        """Claim a piece of work. Raises `NotNow` where another process holds it, `DoneElsewhere` where it asked it."""
        key = self._shared.key(work)
        self._drop_lapsed()
        if key in self._held:
            return self._begin(key)
        async with self._lock:
            if key not in self._held and key not in self._elsewhere:
                if time.monotonic() - self._foreign.get(key, -RECHECK_S) < RECHECK_S:
                    raise NotNow
                await asyncio.to_thread(patiently, partial(self._take, key))
                self._drop_lapsed()
        if key in self._elsewhere:
            self._over.add(key)
            self._shared.elsewhere(work)
            raise DoneElsewhere
        if key not in self._held:
            raise NotNow
        return self._begin(key)

    def written(self, works: Sequence[W]) -> None:
        """Give back the claims of work whose answers are stored."""
        self._claims.release([self._shared.key(work) for work in works])

    def _drop_lapsed(self) -> None:
        """Forget what was claimed before the claims lapsed: this process may have been stopped for a while."""
        if self._claims.lapses != self._lapses:
            self._lapses = self._claims.lapses
            self._held.clear()

    def _begin(self, key: str) -> None:
        self._held.discard(key)
        self._over.add(key)

    def _take(self, key: str) -> None:
        """Claim this one, some that follow, and look again at what others hold."""
        moment = time.monotonic()
        took, self._last = moment - self._last, moment
        if took < SOON_S:
            self._ahead = min(2 * self._ahead, MOST_AHEAD)
        elif took > LATE_S:
            self._ahead = max(1, self._ahead // 2)
        wanted = {key, *self._foreign}
        for later in self._keys[self._place[key] : self._place[key] + 4 * self._ahead]:
            if len(wanted) - len(self._foreign) >= self._ahead:
                break
            if later not in self._over and later not in self._held:
                wanted.add(later)
        others = self._claims.take(wanted)
        if others and not self._foreign:
            _LOG.warning("%s left to another process that asks the same", counted(len(others), "question"))
        taken = wanted - others.keys()
        asked = self._shared.answered([self._work[self._place[mine]] for mine in taken])
        self._elsewhere |= asked
        self._claims.release(list(asked))
        self._held |= taken - asked
        self._foreign = dict.fromkeys(others, time.monotonic())
