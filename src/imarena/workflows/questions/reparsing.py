"""reparse: parse stored replies again with the current parser, at no cost; a new judgment names the one it replaces."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from imarena.core import Progress, Verdict
from imarena.core.records import JsonDict, Judgment, Record, Reply, Status
from imarena.judges import ReplyReaders, to_recorded_sides
from imarena.storage import Workspace
from imarena.workflows.questions.judging_records import with_new_reading
from imarena.workflows.views import stored_answers, unanswered
from imarena.workflows.wiring import record_run

READABLE = (Status.OK.value, Status.UNPARSABLE.value)
"""Other statuses mean that the endpoint gave no answer or the model declined: the next run asks again."""
PAGE = 500


@dataclass(frozen=True)
class ReparseReport:
    """The result of parsing again."""

    read: int
    current: int
    """Number of replies that the current parser has read already."""
    changed: Counter[str]
    """Number of new judgments by change: ``unparsable to ok``, ``same verdict``, ``other verdict``."""
    skipped: Counter[str]
    """Number of replies that could not be parsed again, by reason."""
    without_answer: dict[str, int]
    """Questions without a reply to parse, by the status of the last attempt: the next run asks them again."""

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**vars(self), "changed": dict(self.changed), "skipped": dict(self.skipped)}


@dataclass
class _Tally:
    """Running counts; the fields of the report."""

    read: int = 0
    current: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)


def reparse_replies(
    workspace: Workspace,
    judges: Sequence[str] | None = None,
    *,
    options: Mapping[str, JsonValue] | None = None,
    progress: Progress | None = None,
) -> ReparseReport:
    """Parse every stored reply of the judges again (names as `status` shows them; default: all).

    `options` are for judges that need more than their judgments record, such as a checklist's file of questions.
    """
    tally = _Tally()
    where: dict[str, Any] = {"judge": list(judges)} if judges else {}
    noting: JsonDict = {"judges": list(judges or [])}
    with record_run(workspace, "reparse", noting) as ongoing:
        done = _StoredAnswers(workspace, where)
        batch: list[Record] = []
        readers = ReplyReaders(workspace.settings, dict(options or {}))
        for number, judgment in enumerate(_readable(workspace, where, done)):
            again = _read_again(workspace, judgment, readers, tally)
            if again is not None:
                batch.append(again.model_copy(update={"run_id": ongoing.run_id}))
            if len(batch) >= PAGE:
                workspace.store.add(batch)
                batch = []
            if progress and number % PAGE == 0:
                progress("replies", number, done.rows)
        workspace.store.add(batch)
        left = Counter(unanswered(workspace, **where).values())
        without_answer = {status: n for status, n in sorted(left.items()) if status not in READABLE}
        ongoing.counts = dict(tally.changed)
    return ReparseReport(**vars(tally), without_answer=without_answer)


class _StoredAnswers:
    """What needs no parsing: replaced judgments, and failures of questions that another attempt answered."""

    def __init__(self, workspace: Workspace, where: dict[str, Any]) -> None:
        answers = list(stored_answers(workspace, **where))
        self.rows = len(answers)
        self.replaced = {answer.judgment_id for answer in answers if answer.superseded}
        self.answered = {answer.key for answer in answers if answer.answers}

    def holds(self, judgment: Judgment) -> bool:
        if judgment.judgment_id in self.replaced:
            return True
        key = (judgment.work_id, judgment.left_id, judgment.right_id, judgment.order)
        return judgment.status is not Status.OK and key in self.answered


def _readable(workspace: Workspace, where: dict[str, Any], done: _StoredAnswers) -> Iterator[Judgment]:
    for judgment in workspace.store.records(Judgment, status=READABLE, **where):
        if judgment.reply_id is not None and not done.holds(judgment):
            yield judgment


def _read_again(workspace: Workspace, old: Judgment, readers: ReplyReaders, tally: _Tally) -> Judgment | None:
    reader, why = readers.of(old)
    if reader is None:
        tally.skipped[f"{old.judge}: {why}"] += 1
        return None
    if reader.parser_version == old.parser_version:
        tally.current += 1
        return None
    reply = workspace.store.get(Reply, old.reply_id or "")
    if reply is None:
        tally.skipped["the reply is gone"] += 1
        return None
    reading: Verdict = reader.reread(reply.raw)
    verdict = to_recorded_sides(reading, old.order) if old.order is not None else reading
    tally.read += 1
    unchanged = (verdict.status, verdict.preference, verdict.score) == (old.status, old.preference, old.score)
    change = f"{old.status.value} to {verdict.status.value}" if old.status is not verdict.status else "other verdict"
    tally.changed["same verdict" if unchanged else change] += 1
    return with_new_reading(old, verdict, reader.parser_version)
