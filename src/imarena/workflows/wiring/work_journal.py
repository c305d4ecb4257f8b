"""A journal of steps in the workspace: every paid answer is stored before the next question is asked."""

from collections.abc import Sequence

from imarena.core import JournalEntry, StoreError
from imarena.core.records import Evidence, JsonDict
from imarena.images import describe_image
from imarena.storage import Workspace

PAID = "cost_usd"


class WorkJournal:
    """Stores answers as evidence, found by their work; an image stored with an answer is safe from `gc`.

    `attempt` is None if no entries of earlier runs should be used. `also`: other work whose answers are found, too.
    """

    def __init__(
        self, workspace: Workspace, work: str, attempt: int | None, *, kind: str, tool: str, tool_version: str,
        also: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._workspace = workspace
        self._work = work
        self._attempt = attempt
        self._kind = kind
        self._tool = tool
        self._tool_version = tool_version
        self._also = also
        self._held: dict[str, Evidence] | None = None
        self.paid_usd = 0.0
        """Cost of this run's new answers, in US dollars."""

    def find(self, call: str) -> JournalEntry | None:
        """Return a good answer of any attempt, or a failure of this attempt."""
        evidence = self._stored_steps().get(call)
        if evidence is None or not isinstance(evidence.value, dict):
            return None
        image = None
        if evidence.value.get("picture") and evidence.against_sha256:
            try:
                image = self._workspace.blobs.get(evidence.against_sha256)
            except StoreError:  # withdrawn or lost: make it again
                return None
        return JournalEntry(evidence.value, image)

    def note(self, call: str, noted: JournalEntry) -> None:
        """Store the image first, then the evidence row."""
        self.paid_usd += noted.cost_usd
        sha256 = None if noted.image is None else self._keep(noted.image)
        params: JsonDict = {"call": call, **({} if noted.ok else {"attempt": self._attempt})}
        value: JsonDict = {**noted.value, PAID: noted.cost_usd, **({"picture": True} if sha256 else {})}
        evidence = Evidence(
            image_sha256=self._work, against_sha256=sha256, tool=self._tool, tool_version=self._tool_version,
            kind=self._kind, params=params, value=value,
        )  # fmt: skip
        self._add(evidence)

    def refresh(self) -> None:
        """Read the stored answers again, before they are next needed."""
        self._held = None

    def _add(self, evidence: Evidence) -> None:
        self._workspace.store.add([evidence])

    def _keep(self, data: bytes) -> str:
        image = describe_image(data)
        self._workspace.keep(image, data)
        return image.sha256

    def _stored_steps(self) -> dict[str, Evidence]:
        if self._held is None:
            self._held = {}
            rows = self._workspace.store.records(Evidence, image_sha256=[*self._also, self._work], kind=self._kind)
            for evidence in rows if self._attempt is not None else ():
                if evidence.params.get("attempt", self._attempt) == self._attempt:
                    self._held[str(evidence.params["call"])] = evidence
        return self._held
