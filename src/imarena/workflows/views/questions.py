"""Questions to judges: which have a live answer, and the final status of the newest attempt for the others."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, select, text

from imarena.core.records import Status
from imarena.storage import Workspace, reading
from imarena.storage.schema import judge_forms, judgments
from imarena.workflows.views.chains import asked_of_one_turn, pairs_of_different_images
from imarena.workflows.views.fetch import column_pages, fetch_columns

PAGE = 500
FAILED = [state.value for state in Status if state is not Status.OK]

QuestionKey = tuple[str, str, str | None, str | None]
"""Work, left, right and order: copies of an image share a work, but each has its own key."""


@dataclass(frozen=True)
class Unanswered:
    """A question without a live ok answer: the judge, the dimension, and the status of the newest attempt."""

    judge: str
    dimension: str
    status: str
    imported: bool = False
    """No run asked it, so that none can ask it again."""


def unanswered(workspace: Workspace, **where: Any) -> dict[str, str]:
    """Questions without a live ok answer: maps their work to the status of the newest attempt."""
    return {key[0]: question.status for key, question in unanswered_questions(workspace, **where).items()}


def unanswered_questions(workspace: Workspace, **where: Any) -> dict[QuestionKey, Unanswered]:
    """Questions without a live ok answer, by key."""
    table = judgments
    names = ("seq", "work_id", "left_id", "right_id", "order", "judge", "dimension", "status")
    imported = case((table.c.run_id.is_(None), 1), else_=0)
    query = select(*(table.c[name] for name in names), imported, case((asked_of_one_turn(table), 1), else_=0)).where(
        text("status <> 'ok'"),  # matches the index of failed judgments literally: a parameter would not use it
        table.c.superseded == 0,
        *_where(where),
    )
    by_key: dict[QuestionKey, tuple[int, int, Unanswered]] = {}
    shared: dict[Unanswered, Unanswered] = {}
    with reading(workspace.store.engine) as connection:
        for page in column_pages(connection, query):  # most failures were retried with success and are dropped here
            rows = [*zip(*page, strict=True)]
            answered = _answered_works(connection, sorted({row[1] for row in rows}))
            apart = pairs_of_different_images(
                connection, {(row[2], row[3]) for row in rows if row[9]}
            )  # these are not asked again
            for seq, *key, judge, dimension, status, no_run, one_turn in rows:
                if key[0] not in answered and not (one_turn and (key[1], key[2]) in apart):
                    question = Unanswered(judge, dimension, status, bool(no_run))
                    new = seq, seq, shared.setdefault(question, question)
                    first, last, newest = by_key.setdefault(tuple(key), new)  # sorting in SQL would read every judgment
                    by_key[tuple(key)] = min(first, seq), *((seq, new[2]) if seq > last else (last, newest))
    return {key: by_key[key][2] for key in sorted(by_key, key=lambda key: by_key[key][0])}


def _answered_works(connection: Connection, works: list[str]) -> set[str]:
    """The works that have a live ok answer."""
    answered: set[str] = set()
    for start in range(0, len(works), PAGE):
        ok = select(judgments.c.work_id).where(
            judgments.c.work_id.in_(works[start : start + PAGE]),
            judgments.c.status == Status.OK.value,
            judgments.c.superseded == 0,
        )
        answered.update(connection.execute(ok).scalars())
    return answered


@dataclass(frozen=True)
class StoredAnswer:
    """One stored judgment of a judge: the question, and whether the judgment counts as its answer."""

    judgment_id: str
    key: QuestionKey
    attempt: int
    answers: bool
    """Whether the judgment is ok and not superseded."""
    superseded: bool


def stored_answers(workspace: Workspace, **where: Any) -> Iterator[StoredAnswer]:
    """Every judgment with these column values, oldest first, including superseded ones."""
    table = judgments
    names = ("id", "work_id", "left_id", "right_id", "order", "attempt", "status", "superseded")
    query = select(*(table.c[name] for name in names)).where(*_where(where)).order_by(table.c.seq)
    with reading(workspace.store.engine) as connection:
        columns = fetch_columns(connection, query)
    for identity, work, left, right, order, attempt, status, superseded in zip(*columns, strict=True):
        answers = status == Status.OK.value and not superseded
        yield StoredAnswer(identity, (work, left, right, order), attempt, answers, bool(superseded))


def count_answered(workspace: Workspace) -> Counter[str]:
    """Number of ok judgments of each judge; one that `reparse` read again counts by its new reading."""
    table = judgments  # counting by form needs only the covering index, and reads no row
    query = select(table.c.form_id, func.count()).where(table.c.status == Status.OK.value, table.c.superseded == 0)
    counts: Counter[str] = Counter()
    with reading(workspace.store.engine) as connection:
        judges = dict(connection.execute(select(judge_forms.c.id, judge_forms.c.judge)).tuples().all())
        for variant, number in connection.execute(query.group_by(table.c.form_id)):
            counts[judges[variant]] += number
    return counts


def _where(where: dict[str, Any]) -> list[ColumnElement[bool]]:
    return [
        judgments.c[name].in_(list(value)) if isinstance(value, list | tuple | set) else judgments.c[name] == value
        for name, value in where.items()
    ]
