"""The journal of an agent's steps in the workspace: every answer it paid for is stored before the next is asked for."""

import secrets
from collections import defaultdict

from imarena.core import Editor, JournalEntry, StoreError, canonical_json, sha256_hex
from imarena.core.records import Evidence, ImageRef, JsonDict
from imarena.images import check_image
from imarena.storage import Workspace
from imarena.workflows.editing.plan import EditWork

KIND = "agent_step"
PAID = "cost_usd"


class StepJournal:
    """Answers are evidence, found by the work that they belong to; the picture beside each is safe from `gc`.

    `attempt` is None where nothing of an earlier run is wanted.
    """

    def __init__(self, workspace: Workspace, work: str, attempt: int | None) -> None:
        self._workspace = workspace
        self._work = work
        self._attempt = attempt
        self._held: dict[str, Evidence] | None = None
        self.paid_usd = 0.0
        """What this run paid for new answers."""

    @classmethod
    def of(cls, workspace: Workspace, work: EditWork) -> "StepJournal":
        """The journal of one output."""
        return cls(workspace, steps_of(work), work.attempt)

    @classmethod
    def fresh(cls, workspace: Workspace, editor: Editor) -> "StepJournal":
        """A journal in which nothing stands yet: everything is asked."""
        return cls(workspace, _hash(editor, [secrets.token_hex(16)]), None)

    def find(self, call: str) -> JournalEntry | None:
        """A good answer of any attempt, or a failure of this one."""
        found = self._known().get(call)
        if found is None or not isinstance(found.value, dict):
            return None
        image = None
        if found.value.get("picture") and found.against_sha256:
            try:
                image = self._workspace.blobs.get(found.against_sha256)
            except StoreError:  # withdrawn or lost: it has to be made again
                return None
        return JournalEntry(found.value, image)

    def note(self, call: str, noted: JournalEntry) -> None:
        """Bytes first, then the row."""
        self.paid_usd += noted.cost_usd
        sha256 = None if noted.image is None else self._keep(noted.image)
        params: JsonDict = {"call": call, **({} if noted.ok else {"attempt": self._attempt})}
        value: JsonDict = {**noted.value, PAID: noted.cost_usd, **({"picture": True} if sha256 else {})}
        self._workspace.store.add(
            [
                Evidence(
                    image_sha256=self._work, against_sha256=sha256, tool="agent", tool_version="2", kind=KIND,
                    params=params, value=value,
                )
            ]
        )  # fmt: skip

    def _keep(self, data: bytes) -> str:
        info = check_image(data)
        sha256 = sha256_hex(data)
        self._workspace.keep(
            ImageRef(
                sha256=sha256, size_bytes=len(data), media_type=info.media_type, width=info.width, height=info.height
            ),
            data,
        )
        return sha256

    def _known(self) -> dict[str, Evidence]:
        if self._held is None:
            self._held = {}
            rows = self._workspace.store.records(Evidence, image_sha256=self._work, kind=KIND)
            for found in rows if self._attempt is not None else ():
                if found.params.get("attempt", self._attempt) == self._attempt:
                    self._held[str(found.params["call"])] = found
        return self._held


def steps_of(work: EditWork) -> str:
    """Under which name the steps of one output stand."""
    parent = work.parent.output_id if work.parent else None
    place: list[object] = [work.item.item_id, work.turn, work.mode.value, work.sample, work.seed, parent]
    return _hash(work.editor, place)


def paid_before(workspace: Workspace) -> dict[str, float]:
    """What the good answers that are held cost, by the work that they belong to: none of them is paid for again."""
    paid: dict[str, float] = defaultdict(float)
    for found in workspace.store.records(Evidence, kind=KIND):
        cost = found.value.get(PAID) if isinstance(found.value, dict) and "attempt" not in found.params else None
        paid[found.image_sha256] += cost if isinstance(cost, float | int) else 0.0
    return paid


def _hash(editor: Editor, place: list[object]) -> str:
    made = {"editor": editor.name, "version": editor.version, "params": editor.params, "place": place}
    return sha256_hex(canonical_json(made).encode())
