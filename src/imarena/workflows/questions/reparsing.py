"""reparse: read stored replies again with the present parser, for nothing; a new judgment names the old one."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from imarena.core import Progress, Verdict
from imarena.core.records import JsonDict, Judgment, Record, Reply, Status, now
from imarena.judges import to_recorded_sides
from imarena.storage import Workspace
from imarena.workflows.questions.judging_records import verdict_fields
from imarena.workflows.questions.reply_readers import Readers
from imarena.workflows.views import stored_answers, unanswered
from imarena.workflows.wiring import noted

READABLE = (Status.OK.value, Status.UNPARSABLE.value)
"""Other statuses say that the endpoint gave no answer, or that the model declined: the next run asks again."""
PAGE = 500


@dataclass
class ReparseReport:
    """What a second reading found."""

    read: int = 0
    current: int = 0
    """Read by the present parser already."""
    changed: Counter[str] = field(default_factory=Counter)
    """New judgments, by the change: ``unparsable to ok``, ``same verdict``, ``other verdict``."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Replies that could not be read again, by the reason."""
    without_answer: dict[str, int] = field(default_factory=dict)
    """Questions that have no answer to read, by the status of the last attempt: the next run asks for them again."""

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**self.__dict__, "changed": dict(self.changed), "skipped": dict(self.skipped)}


def reparse_replies(
    workspace: Workspace,
    judges: Sequence[str] | None = None,
    *,
    options: Mapping[str, JsonValue] | None = None,
    progress: Progress | None = None,
) -> ReparseReport:
    """Read every stored reply of the judges (by the names that `status` shows; all without names) again.

    `options` are for judges that need more than their judgments say, such as a checklist's file of questions.
    """
    report = ReparseReport()
    where: dict[str, Any] = {"judge": list(judges)} if judges else {}
    noting: JsonDict = {"judges": list(judges or [])}
    with noted(workspace, "reparse", noting) as ongoing:
        done = _Done(workspace, where)
        batch: list[Record] = []
        readers = Readers(workspace.settings, dict(options or {}))
        for number, judgment in enumerate(_readable(workspace, where, done)):
            again = _again(workspace, judgment, readers, report)
            if again is not None:
                batch.append(again.model_copy(update={"run_id": ongoing.run_id}))
            if len(batch) >= PAGE:
                workspace.store.add(batch)
                batch = []
            if progress and number % PAGE == 0:
                progress("replies", number, done.rows)
        workspace.store.add(batch)
        left = Counter(unanswered(workspace, **where).values())
        report.without_answer = {status: n for status, n in sorted(left.items()) if status not in READABLE}
        ongoing.counts = dict(report.changed)
    return report


class _Done:
    """What needs no reading: replaced judgments, and failures of questions that were answered at another attempt."""

    def __init__(self, workspace: Workspace, where: dict[str, Any]) -> None:
        known = list(stored_answers(workspace, **where))
        self.rows = len(known)
        self.replaced = {one.judgment_id for one in known if one.superseded}
        self.answered = {one.place for one in known if one.answers}

    def holds(self, judgment: Judgment) -> bool:
        if judgment.judgment_id in self.replaced:
            return True
        place = (judgment.work_id, judgment.left_id, judgment.right_id, judgment.order)
        return judgment.status is not Status.OK and place in self.answered


def _readable(workspace: Workspace, where: dict[str, Any], done: _Done) -> Iterator[Judgment]:
    for judgment in workspace.store.records(Judgment, status=READABLE, **where):
        if judgment.reply_id is not None and not done.holds(judgment):
            yield judgment


def _again(workspace: Workspace, old: Judgment, readers: Readers, report: ReparseReport) -> Judgment | None:
    reader, why = readers.of(old)
    if reader is None:
        report.skipped[f"{old.judge}: {why}"] += 1
        return None
    if reader.parser_version == old.parser_version:
        report.current += 1
        return None
    reply = workspace.store.get(Reply, old.reply_id or "")
    if reply is None:
        report.skipped["the reply is gone"] += 1
        return None
    said: Verdict = reader.reread(reply.raw)
    verdict = to_recorded_sides(said, old.order) if old.order is not None else said
    report.read += 1
    same = (verdict.status, verdict.preference, verdict.score) == (old.status, old.preference, old.score)
    change = f"{old.status.value} to {verdict.status.value}" if old.status is not verdict.status else "other verdict"
    report.changed["same verdict" if same else change] += 1
    update = {
        **verdict_fields(verdict),
        "parser_version": reader.parser_version,
        "supersedes": old.judgment_id,
        "created_at": now(),
    }
    return old.model_copy(update=update)
