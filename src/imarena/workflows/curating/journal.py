"""The journal of an instruction or a repair: each paid answer is stored before the next question."""

import threading
from collections.abc import Sequence
from functools import partial

from imarena.core import JournalEntry
from imarena.core.records import Evidence
from imarena.engine import NotNow
from imarena.storage import Workspace
from imarena.workflows.curating.decisions import STEPS
from imarena.workflows.questions import retry_when_busy
from imarena.workflows.wiring import WorkJournal

TOOL = "cogretriever"


class CurationJournal(WorkJournal):
    """Stores steps. Before a step, it raises `NotNow` if `stop` is set, because the run is to stop."""

    def __init__(
        self,
        workspace: Workspace,
        work: str,
        attempt: int | None,
        stop: threading.Event | None = None,
        *,
        also: Sequence[str] = (),
    ) -> None:
        super().__init__(workspace, work, attempt, kind=STEPS, tool=TOOL, tool_version="1", also=also)
        self.stop = stop or threading.Event()

    def find(self, call: str) -> JournalEntry | None:
        """Return the stored answer to this call."""
        if self.stop.is_set():
            raise NotNow
        return super().find(call)

    def _add(self, evidence: Evidence) -> None:
        retry_when_busy(partial(super()._add, evidence))
