"""Compute page data in the background: on a fresh server, and after a change while somebody is using the pages.

A request goes first: before a step, and between the parts of a long one, the warmer waits until no request is in hand.
It rests four times as long as it worked. Nothing is computed twice: who asks for a column that is being read waits for
it.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator

from sqlalchemy.exc import SQLAlchemyError

from imarena.core import ImarenaError
from imarena.workflows.serving.explorer import hash_ids, index_of
from imarena.workflows.serving.judge_monitor import behaviour_of
from imarena.workflows.serving.leaderboards import Leaderboards
from imarena.workflows.serving.page_cache import has_index_cached
from imarena.workflows.serving.preview_prefetch import Traffic
from imarena.workflows.serving.snapshot import ViewSnapshot

log = logging.getLogger("imarena.web")
_EVERY_S = 5.0
_AFTER_FAILURE_S = 10.0
_LOOK_S = 0.02
_REST = 4.0
_LONGEST_WAIT_S = 2.0
"""After this long with requests in hand, the next step is taken all the same."""


class ViewWarmer:
    """Keeps the columns and lists of a workspace at hand, from `start` to `stop`."""

    def __init__(self, looking: Leaderboards, traffic: Traffic) -> None:
        self._looking = looking
        self._traffic = traffic
        self._stopped = threading.Event()
        self._warmed: ViewSnapshot | None = None
        self._thread = threading.Thread(target=self._work, name="imarena-view-warmer", daemon=True)

    def start(self) -> None:
        """Read items and outputs, which every page needs, and the list of battles if it is cached; then begin."""
        try:
            sight = self._looking.sight()
            if sight.view.entries.seq.size and has_index_cached(sight.view):
                index_of(sight)
        except (ImarenaError, SQLAlchemyError, OSError) as error:  # whoever asks for a page is told
            log.warning("pages are not computed ahead: %s", error)
        self._thread.start()

    def stop(self) -> None:
        """End after the step in hand."""
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
            except (ImarenaError, SQLAlchemyError, OSError) as error:  # the database is away
                log.warning("pages are not computed ahead: %s", error)
                pause = _AFTER_FAILURE_S

    def warm(self) -> None:
        """Take every step for the workspace as pages last showed it, or as it is now where none did yet."""
        sight = self._looking.latest or self._looking.sight()
        if sight is self._warmed:
            return
        for step in self._steps(sight):
            if not self._nobody_waits():
                return
            step()
        self._warmed = sight

    def _steps(self, sight: ViewSnapshot) -> Iterator[Callable[[], object]]:
        view, looking = sight.view, self._looking
        yield lambda: view.votes
        for form in view.forms.counting():
            yield lambda form=form: view.judgments([form])  # type: ignore[misc]
        yield lambda: index_of(sight)
        yield lambda: sight.boards.delivery
        yield lambda: behaviour_of(sight)
        yield lambda: hash_ids(looking, sight, self._nobody_waits)
        yield lambda: looking.costs.upto(view)

    def _nobody_waits(self) -> bool:
        """Wait until no request is in hand, but not for ever; False where it is stopped first."""
        given_up = time.monotonic() + _LONGEST_WAIT_S
        while self._traffic.waiting and time.monotonic() < given_up:
            if self._stopped.wait(_LOOK_S):
                return False
        return not self._stopped.is_set()
