"""Pictures of the tasks that come next, made before anybody asks for them.

A picture that was shown before comes at once, one that was not takes some ten times as long; gold and repeated tasks
show what was shown before. Who measures how long pictures take could tell them from the rest. Made ahead, all come at
once. It is done by one thread that rests four times as long as it works.
"""

import logging
import threading
import time
from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from imarena.core.errors import ImarenaError
from imarena.core.records import Assignment, Campaign, ImageRef
from imarena.storage.database import reading
from imarena.storage.schema import leases
from imarena.workflows.picturing import Pictures
from imarena.workflows.shelves import Shelves

log = logging.getLogger("imarena.web")
AHEAD = 64
"""Tasks of each open campaign that are made ready."""
_FIRST_S = 10.0
"""After a start everybody comes back at once: their tasks come first."""
_EVERY_S = 2.0
_REST = 4.0
_REMEMBERED = 100_000
_SLOTS = ("left", "right")


class Warmer:
    """Makes pictures ahead in a thread of its own, from `start` to `stop`."""

    def __init__(self, shelves: Shelves, pictures: Pictures) -> None:
        self._shelves = shelves
        self._pictures = pictures
        self._done: set[str] = set()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="imarena-warmer", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the picture in hand."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        pause = _FIRST_S
        while not self._stopped.wait(pause):
            pause, begun = _EVERY_S, time.monotonic()
            try:
                for image in self.missing():
                    self.warm(image)
                    if self._stopped.wait(_REST * (time.monotonic() - begun)):
                        return
                    begun = time.monotonic()
            except (ImarenaError, SQLAlchemyError) as error:  # the database is away, or a record is: next time, perhaps
                log.warning("pictures are not made ahead: %s", error)
                pause = _FIRST_S

    def warm(self, image: ImageRef) -> None:
        """Make one picture; what cannot be made is not tried again."""
        self._done.add(image.sha256)
        try:
            self._pictures.warm(image)
        except (ImarenaError, OSError) as error:  # who asks for it is told
            log.warning("a picture cannot be made: %s", error)

    def missing(self) -> Iterator[ImageRef]:
        """Pictures of what comes next that this server has not made yet."""
        if len(self._done) > _REMEMBERED:
            self._done.clear()
        workspace = self._pictures.workspace
        for campaign in workspace.store.records(Campaign, open=1):
            for assignment in self._next(campaign.campaign_id):
                for image in self._shown(assignment):
                    if image.sha256 not in self._done:
                        yield image

    def _next(self, campaign_id: str) -> list[Assignment]:
        free = (leases.c.campaign_id == campaign_id, leases.c.state == "free")
        query = select(leases.c.assignment_id).where(*free).order_by(leases.c.position).limit(AHEAD)
        with reading(self._pictures.workspace.store.engine) as connection:
            found = list(connection.execute(query).scalars())
        return [self._shelves.assignment(identity) for identity in found]

    def _shown(self, assignment: Assignment) -> Iterator[ImageRef]:
        sides = (self._shelves.picture(assignment, slot) for slot in _SLOTS)
        yield from (image for image in sides if image is not None)
        yield from self._shelves.sources(assignment)
        yield from self._shelves.references(assignment)
