"""A journal of steps in the workspace: every answer that was paid for is stored before the next is asked for."""

from imarena.core import JournalEntry, StoreError
from imarena.core.records import Evidence, JsonDict
from imarena.images import describe_image
from imarena.storage import Workspace

PAID = "cost_usd"


class WorkJournal:
    """Answers are evidence, found by the work that they belong to; the picture beside each is safe from `gc`.

    `attempt` is None where nothing of an earlier run is wanted.
    """

    def __init__(
        self, workspace: Workspace, work: str, attempt: int | None, *, kind: str, tool: str, tool_version: str
    ) -> None:
        self._workspace = workspace
        self._work = work
        self._attempt = attempt
        self._kind = kind
        self._tool = tool
        self._tool_version = tool_version
        self._held: dict[str, Evidence] | None = None
        self.paid_usd = 0.0
        """What this run paid for new answers."""

    def find(self, call: str) -> JournalEntry | None:
        """A good answer of any attempt, or a failure of this one."""
        evidence = self._known().get(call)
        if evidence is None or not isinstance(evidence.value, dict):
            return None
        image = None
        if evidence.value.get("picture") and evidence.against_sha256:
            try:
                image = self._workspace.blobs.get(evidence.against_sha256)
            except StoreError:  # withdrawn or lost: it has to be made again
                return None
        return JournalEntry(evidence.value, image)

    def note(self, call: str, noted: JournalEntry) -> None:
        """Bytes first, then the row."""
        self.paid_usd += noted.cost_usd
        sha256 = None if noted.image is None else self._keep(noted.image)
        params: JsonDict = {"call": call, **({} if noted.ok else {"attempt": self._attempt})}
        value: JsonDict = {**noted.value, PAID: noted.cost_usd, **({"picture": True} if sha256 else {})}
        self._workspace.store.add(
            [
                Evidence(
                    image_sha256=self._work, against_sha256=sha256, tool=self._tool, tool_version=self._tool_version,
                    kind=self._kind,
                    params=params, value=value,
                )
            ]
        )  # fmt: skip

    def _keep(self, data: bytes) -> str:
        image = describe_image(data)
        self._workspace.keep(image, data)
        return image.sha256

    def _known(self) -> dict[str, Evidence]:
        if self._held is None:
            self._held = {}
            rows = self._workspace.store.records(Evidence, image_sha256=self._work, kind=self._kind)
            for evidence in rows if self._attempt is not None else ():
                if evidence.params.get("attempt", self._attempt) == self._attempt:
                    self._held[str(evidence.params["call"])] = evidence
        return self._held
