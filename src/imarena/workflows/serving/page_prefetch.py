"""Compute page data in advance: before a new server listens, and after a change while somebody is using the pages.

A large workspace without its column cache (the first start, or a new version) takes seconds to read: a server does so
before it listens, so that no page waits for it, and later starts find the cache.

Everything else is done in the background, where requests come first: before a step, and between the parts of a long
one, the warmer waits until no request is pending. It rests four times as long as it worked. Nothing is computed twice:
a request for a column that is being read waits for it.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator

from sqlalchemy.exc import SQLAlchemyError

from imarena.core import ImarenaError
from imarena.workflows.serving.explorer import hash_ids, index_of
from imarena.workflows.serving.judge_monitor import health_without_costs
from imarena.workflows.serving.leaderboards import Leaderboards
from imarena.workflows.serving.page_cache import has_index_cached
from imarena.workflows.serving.preview_prefetch import Traffic
from imarena.workflows.serving.snapshot import ViewSnapshot
from imarena.workflows.views import worth_storing

log = logging.getLogger("imarena.web")
_EVERY_S = 5.0
_AFTER_FAILURE_S = 10.0
_REST = 4.0
_LONGEST_WAIT_S = 2.0
"""After this many seconds with pending requests, the next step is taken anyway."""
_LONGEST_START_S = 60.0
"""A server listens after this many seconds at the latest; the rest is computed in the background."""


class ViewWarmer:
    """Keeps the columns and lists of a workspace in memory, from `start` to `stop`."""

    def __init__(self, leaderboards: Leaderboards, traffic: Traffic) -> None:
        self._leaderboards = leaderboards
        self._traffic = traffic
        self._stopped = threading.Event()
        self._warmed: ViewSnapshot | None = None
        self._thread = threading.Thread(target=self._work, name="imarena-view-warmer", daemon=True)

    def start(self) -> None:
        """Read items and outputs, which every page needs, and page data of a large workspace; then start the thread."""
        try:
            snapshot = self._leaderboards.snapshot()
            if snapshot.view.entries.seq.size and worth_storing(snapshot.view.marks.judgments, 0):
                self._prepare(snapshot)
        except (ImarenaError, SQLAlchemyError, OSError) as error:  # page requests will report it
            log.warning("pages are not computed ahead: %s", error)
        self._thread.start()

    def _prepare(self, snapshot: ViewSnapshot) -> None:
        """Read data that is too slow to compute for a page from the cache, or compute and cache it."""
        leaderboards, view = self._leaderboards, snapshot.view
        if not has_index_cached(view):
            log.warning("pages of a large workspace are prepared before the server listens: later starts are faster")
        until = time.monotonic() + _LONGEST_START_S

        def goes_on() -> bool:
            return time.monotonic() < until and not self._stopped.is_set()

        def add_costs() -> None:
            with contextlib.suppress(ImarenaError, SQLAlchemyError, OSError):  # the page of judges reports it
                leaderboards.costs.of_view(view)

        # the database adds them up while this process reads its columns
        aside = threading.Thread(target=add_costs, name="imarena-costs", daemon=True)
        aside.start()
        steps: tuple[Callable[[], object], ...] = (
            lambda: view.votes,
            lambda: index_of(snapshot),
            lambda: health_without_costs(snapshot, released=False),
            lambda: health_without_costs(snapshot, released=True),
            lambda: hash_ids(leaderboards, snapshot, goes_on),
        )
        for step in steps:
            if goes_on():
                step()
        aside.join(max(0.0, until - time.monotonic()))

    def stop(self) -> None:
        """Stop after the current step."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        pause = 0.0
        while not self._stopped.wait(pause):
            begun = time.monotonic()
            try:
                self.warm()
                pause = max(_EVERY_S, _REST * (time.monotonic() - begun))
            except (ImarenaError, SQLAlchemyError, OSError) as error:  # the database is unreachable
                log.warning("pages are not computed ahead: %s", error)
                pause = _AFTER_FAILURE_S

    def warm(self) -> None:
        """Take every step for the workspace as pages last showed it, or as it is now if no page did yet."""
        snapshot = self._leaderboards.latest or self._leaderboards.snapshot()
        if snapshot is self._warmed:
            return
        for step in self._steps(snapshot):
            if not self._idle():
                return
            step()
        self._warmed = snapshot

    def _steps(self, snapshot: ViewSnapshot) -> Iterator[Callable[[], object]]:
        view, leaderboards = snapshot.view, self._leaderboards
        yield lambda: view.votes
        for variant in view.variants.counting():
            yield lambda variant=variant: view.judgments([variant])  # type: ignore[misc]
        yield lambda: index_of(snapshot)
        yield lambda: snapshot.boards.output_coverage
        yield lambda: health_without_costs(snapshot, released=False)
        yield lambda: health_without_costs(snapshot, released=True)
        yield lambda: hash_ids(leaderboards, snapshot, self._idle)
        yield lambda: leaderboards.costs.of_view(view)

    def _idle(self) -> bool:
        return self._traffic.wait_until_idle(self._stopped, _LONGEST_WAIT_S)
