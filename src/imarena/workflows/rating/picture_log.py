"""Record which pictures of a task its rater was sent. A vote from a browser counts only if all of them were.

A picture request writes nothing itself: marks are collected in memory and written together a moment later, through
the shared write queue. Votes are checked against memory first, and against the database if that is not enough (after
a restart, or if another server sent the pictures: `Voting.vote_of_browser` waits for its marks).
"""

import logging
import threading
from concurrent.futures import Future

from cachetools import LRUCache
from sqlalchemy import Connection

from imarena.core import moment_text
from imarena.core.records import now
from imarena.storage import WriteQueue, add_served_pictures, read_served_pictures

log = logging.getLogger("imarena.rating")
_MOST_TASKS = 20_000
FLUSH_S = 0.3
"""Seconds to collect marks before writing them: at 100 votes per second, about 90 rows share one commit."""


class PictureLog:
    """Log of the pictures that were sent. One instance serves all threads."""

    def __init__(self, turns: WriteQueue) -> None:
        self._turns = turns
        self._times: LRUCache[str, dict[str, str]] = LRUCache(_MOST_TASKS)
        self._pending: dict[tuple[str, str], str] = {}
        self._timer: threading.Timer | None = None
        self._guard = threading.Lock()

    def add(self, address: str, slot: str) -> None:
        """Record that a picture of a task was sent; only the first time counts."""
        with self._guard:
            times = self._times.setdefault(address, {})
            if slot in times:
                return
            times[slot] = self._pending[address, slot] = moment_text(now())
            if self._timer is None:
                self._timer = threading.Timer(FLUSH_S, self._submit)
                self._timer.daemon = True
                self._timer.start()

    def served(self, connection: Connection, address: str, slots: frozenset[str]) -> dict[str, str]:
        """The pictures of a task that were sent, each with the time; the database is queried only if some of `slots`
        are not in memory.
        """
        with self._guard:
            times = dict(self._times.get(address, {}))
        return times if slots <= times.keys() else {**times, **read_served_pictures(connection, address)}

    def flush(self) -> None:
        """Write pending marks, and wait until they are written."""
        written = self._submit()
        if written is not None:
            written.result()

    def _submit(self) -> "Future[None] | None":
        with self._guard:
            self._timer = None
            rows = [(address, slot, at) for (address, slot), at in self._pending.items()]
            self._pending.clear()
        if not rows:
            return None
        written = self._turns.submit("pictures", lambda connection: add_served_pictures(connection, rows))
        written.add_done_callback(lambda done: self._keep_unwritten(done, rows))
        return written

    def _keep_unwritten(self, done: "Future[None]", rows: list[tuple[str, str, str]]) -> None:
        """Keep marks that could not be written (full disk, database unreachable): the next write includes them."""
        if done.cancelled() or done.exception() is None:
            return
        log.warning("%d marks of pictures could not be written; they are kept", len(rows))
        with self._guard:
            self._pending = {**{(address, slot): at for address, slot, at in rows}, **self._pending}
