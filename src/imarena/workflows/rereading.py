"""reparse: read stored replies again with the present parser, for nothing; a new judgment names the old one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from imarena.core.errors import ImarenaError
from imarena.core.protocols import ChatAnswer, ChatPrompt, Judge, Progress, Verdict
from imarena.core.records import JsonDict, Judgment, Record, Reply, Status, now
from imarena.judges.catalog import CARDS, JUDGES
from imarena.judges.orders import recorded
from imarena.storage import Workspace
from imarena.workflows.judging_records import ORDERS, verdict_fields
from imarena.workflows.runs import noted

READABLE = (Status.OK.value, Status.UNPARSABLE.value)
"""Other statuses say that the endpoint gave no answer, or that the model declined: the next run asks again."""
PAGE = 500


@dataclass
class RereadReport:
    """What a second reading found."""

    read: int = 0
    current: int = 0
    """Read by the present parser already."""
    changed: Counter[str] = field(default_factory=Counter)
    """New judgments, by the change: ``unparsable to ok``, ``same verdict``, ``other verdict``."""
    skipped: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**self.__dict__, "changed": dict(self.changed), "skipped": dict(self.skipped)}


def reread(
    workspace: Workspace, judges: Sequence[str] | None = None, *, progress: Progress | None = None
) -> RereadReport:
    """Read every stored reply of the judges (by the names that `status` shows; all without names) again."""
    report = RereadReport()
    where: dict[str, Any] = {"judge": list(judges)} if judges else {}
    total = sum(workspace.store.count(Judgment, **where).values())
    noting: JsonDict = {"judges": list(judges or [])}
    with noted(workspace, "reparse", noting) as ongoing:
        replaced = {row["supersedes"] for row in workspace.store.rows(Judgment, **where) if row["supersedes"]}
        batch: list[Record] = []
        known: dict[str, Judge | None] = {}
        for done, judgment in enumerate(_readable(workspace, where, replaced)):
            again = _again(workspace, judgment, known, report)
            if again is not None:
                batch.append(again.model_copy(update={"run_id": ongoing.run_id}))
            if len(batch) >= PAGE:
                workspace.store.add(batch)
                batch = []
            if progress and done % PAGE == 0:
                progress("replies", done, total)
        workspace.store.add(batch)
        ongoing.counts = dict(report.changed)
    return report


def _readable(workspace: Workspace, where: dict[str, Any], replaced: set[str]) -> Iterator[Judgment]:
    for judgment in workspace.store.records(Judgment, status=READABLE, **where):
        if judgment.reply_id is not None and judgment.judgment_id not in replaced:
            yield judgment


def _again(
    workspace: Workspace, old: Judgment, known: dict[str, Judge | None], report: RereadReport
) -> Judgment | None:
    reader: Any = _reader(old, known)
    if reader is None:
        report.skipped[f"{old.judge}: no reader with this prompt and these settings"] += 1
        return None
    if reader.parser_version == old.parser_version:
        report.current += 1
        return None
    reply = workspace.store.get(Reply, old.reply_id or "")
    if reply is None:
        report.skipped["the reply is gone"] += 1
        return None
    said: Verdict = reader.reread(reply.raw)
    verdict = recorded(said, old.order) if old.order is not None else said
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


def _reader(judgment: Judgment, known: dict[str, Judge | None]) -> Judge | None:
    """The judge as it was asked: of the same kind, prompts and settings; None where none can be made."""
    from imarena.core.ids import canonical_json

    params = {name: value for name, value in judgment.params.items() if name != ORDERS}
    key = canonical_json([judgment.judge, judgment.prompt_id, judgment.prompt_version, params])
    if key not in known:
        known[key] = next((judge for judge in _candidates(judgment.judge, params) if judge.params == params), None)
    return known[key]


def _candidates(name: str, params: JsonDict) -> Iterator[Judge]:
    kind = name.partition("/")[0]
    options = {key: value for key, value in params.items() if key != "prompt_sha256"}
    for candidate in (kind, kind.removesuffix("-tie")):
        card = CARDS.get(candidate)
        if card is None or card.needs != "chat":
            continue
        try:
            judge = JUDGES.get(candidate)(options, _silent)
        except ImarenaError:
            continue
        if hasattr(judge, "reread"):
            yield judge


async def _silent(prompt: ChatPrompt) -> ChatAnswer:  # noqa: ARG001
    return ChatAnswer(Status.API_ERROR, error="a reader asks nobody")
