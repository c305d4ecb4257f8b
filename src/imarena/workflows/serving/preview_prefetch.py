"""Prefetch the images of upcoming tasks before a rater asks for them.

A picture that was shown before loads at once; a new one takes about ten times as long. Gold and repeated tasks show
pictures that were shown before, so loading times could reveal them. Prefetched pictures all load at once. Waiting
raters come first: a picture is started in a quiet moment, when no request is pending; a process of the lowest
priority makes one at a time, and rests four times as long as it works. On a server that is never quiet, pictures are
made anyway, a few seconds apart, because there somebody could measure loading times.
"""

import logging
import threading
import time
from collections.abc import Iterator

from cachetools import LRUCache
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from imarena.core import ImarenaError
from imarena.core.records import Assignment, Campaign, ImageRef
from imarena.storage.schema import leases
from imarena.workflows.rating import RecordCache
from imarena.workflows.serving.preview_process import PreviewProcess
from imarena.workflows.serving.previews import Previews

log = logging.getLogger("imarena.web")
AHEAD = 64
"""Number of tasks of each open campaign whose pictures are prefetched."""
_QUIET_S = 1.0
_QUIET_SHARE = 0.2
"""A second is quiet if requests were pending for less than this share of it."""
_LOOK_S = 0.02
_LONGEST_QUIET_S = 10.0
"""After this many seconds without a quiet one, pictures are made in a busy one."""
_LONGEST_WAIT_S = 1.0
"""After this many seconds with a pending request, the next picture is started anyway."""
_LONGEST_REST_S = 2.0
"""Maximum rest, in seconds: on a busy machine a picture takes long because other processes use the cores."""
_EVERY_S = 2.0
_AFTER_FAILURE_S = 10.0
_REST = 4.0
_REMEMBERED = 100_000
_SLOTS = ("left", "right")


class Traffic:
    """How busy the server is. Only the event loop's thread counts requests; any thread may read."""

    def __init__(self) -> None:
        self.waiting = 0
        """Number of requests that were not answered yet."""
        self._busy_s = 0.0
        self._since = 0.0

    def request_started(self) -> None:
        """Count a new request."""
        if self.waiting == 0:
            self._since = time.monotonic()
        self.waiting += 1

    def request_finished(self) -> None:
        """Count a request whose answer began."""
        self.waiting -= 1
        if self.waiting == 0:
            self._busy_s += time.monotonic() - self._since

    def busy_s(self) -> float:
        """Seconds with a pending request, since the start."""
        return self._busy_s + (time.monotonic() - self._since if self.waiting else 0.0)

    def wait_until_idle(self, stopped: threading.Event, longest_s: float) -> bool:
        """Wait until no request is pending, at most `longest_s`; False if `stopped` is set first."""
        given_up = time.monotonic() + longest_s
        while self.waiting and time.monotonic() < given_up:
            if stopped.wait(_LOOK_S):
                return False
        return not stopped.is_set()


class PreviewWarmer:
    """Makes pictures in advance, from `start` to `stop`."""

    def __init__(self, records: RecordCache, pictures: Previews, traffic: Traffic) -> None:
        self._records = records
        self._pictures = pictures
        self._traffic = traffic
        self._maker = PreviewProcess(pictures.workspace.root)
        self._done: LRUCache[str, bool] = LRUCache(_REMEMBERED)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="imarena-warmer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop; the current picture is abandoned."""
        self._stopped.set()
        self._maker.close()
        if self._thread.is_alive():
            self._thread.join()
        self._maker.close()

    def _work(self) -> None:
        pause = 0.0
        while not self._stopped.wait(pause) and self._quiet_second():
            pause = _EVERY_S
            try:
                self._round()
            except (ImarenaError, SQLAlchemyError, OSError) as error:  # the database or a record is missing
                log.warning("images are not made ahead: %s", error)
                pause = _AFTER_FAILURE_S

    def _round(self) -> None:
        """Make everything that is missing now, then end the other process."""
        for image in self.missing():
            if not self._traffic.wait_until_idle(self._stopped, _LONGEST_WAIT_S):
                return
            begun = time.monotonic()
            self.warm(image)
            if self._stopped.wait(min(_REST * (time.monotonic() - begun), _LONGEST_REST_S)):
                return
        self._maker.close()

    def _quiet_second(self) -> bool:
        """Wait for a second in which the server had little to do, up to a limit; False if stopped first."""
        given_up = time.monotonic() + _LONGEST_QUIET_S
        while True:
            before = self._traffic.busy_s()
            if self._stopped.wait(_QUIET_S):
                return False
            if self._traffic.busy_s() - before < _QUIET_SHARE * _QUIET_S or time.monotonic() > given_up:
                return True

    def warm(self, image: ImageRef) -> None:
        """Make one picture; a picture that fails is not tried again."""
        self._done[image.sha256] = True
        problem = self._maker.make(image)
        if problem and not self._stopped.is_set():  # a request for it will report it
            log.warning("an image cannot be made: %s", problem)

    def missing(self) -> Iterator[ImageRef]:
        """Pictures of upcoming tasks that this server has not made yet."""
        workspace = self._pictures.workspace
        for campaign in workspace.store.records(Campaign, open=1):
            for assignment in self._next(campaign.campaign_id):
                for image in self._pictures_of(assignment):
                    if image.sha256 not in self._done:
                        yield image

    def _next(self, campaign_id: str) -> Iterator[Assignment]:
        free = (leases.c.campaign_id == campaign_id, leases.c.state == "free")
        query = select(leases.c.assignment_id).where(*free).order_by(leases.c.position).limit(AHEAD)
        yield from map(self._records.assignment, self._pictures.workspace.store.values(query))

    def _pictures_of(self, assignment: Assignment) -> Iterator[ImageRef]:
        sides = (self._records.picture(assignment, slot) for slot in _SLOTS)
        yield from (image for image in sides if image is not None)
        yield from self._records.sources(assignment)
        yield from self._records.references(assignment)
