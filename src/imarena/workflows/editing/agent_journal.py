"""The journal of an agent's steps: every paid answer is stored in the workspace before the next question."""

import secrets
from collections import defaultdict

from imarena.core import Editor, canonical_json, sha256_hex
from imarena.core.records import Evidence
from imarena.storage import Workspace
from imarena.workflows.editing.plan import EditWork
from imarena.workflows.wiring import PAID, WorkJournal

KIND = "agent_step"


class StepJournal(WorkJournal):
    """The journal of an agent's steps on the way to one output."""

    def __init__(self, workspace: Workspace, work: str, attempt: int | None) -> None:
        super().__init__(workspace, work, attempt, kind=KIND, tool="agent", tool_version="2")

    @classmethod
    def of(cls, workspace: Workspace, work: EditWork) -> "StepJournal":
        """The journal of one output."""
        return cls(workspace, steps_of(work), work.attempt)

    @classmethod
    def fresh(cls, workspace: Workspace, editor: Editor) -> "StepJournal":
        """Return an empty journal: everything is asked."""
        return cls(workspace, _hash(editor, [secrets.token_hex(16)]), None)


def steps_of(work: EditWork) -> str:
    """Return the name under which the steps of one output are stored."""
    parent = work.parent.output_id if work.parent else None
    slot: list[object] = [work.item.item_id, work.turn, work.mode.value, work.sample, work.seed, parent]
    return _hash(work.editor, slot)


def paid_before(workspace: Workspace) -> dict[str, float]:
    """Return the cost of the stored good answers, by the work that they belong to: none of them is paid for again."""
    paid: dict[str, float] = defaultdict(float)
    for evidence in workspace.store.records(Evidence, kind=KIND):
        cost = (
            evidence.value.get(PAID) if isinstance(evidence.value, dict) and "attempt" not in evidence.params else None
        )
        paid[evidence.image_sha256] += cost if isinstance(cost, float | int) else 0.0
    return paid


def _hash(editor: Editor, slot: list[object]) -> str:
    identity = {"editor": editor.name, "version": editor.version, "params": editor.params, "place": slot}
    return sha256_hex(canonical_json(identity).encode())
