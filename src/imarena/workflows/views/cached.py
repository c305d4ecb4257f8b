"""The column cache of a view: what was read or computed before, and whether it is still true of the database.

Records are only ever added. Columns that were made from the first n judgments stay true as long as those judgments and
their outputs are the same ones: a workspace that was restored, replaced or rewritten has others, or none, at their
numbers. What came since is read from the database.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from imarena.core import VERSION
from imarena.storage import CachedColumns, Form, newest_version, reading
from imarena.storage.schema import judgments
from imarena.tables import row_slices
from imarena.workflows.views.codes import ORDERS, PREFERENCES, STATUSES
from imarena.workflows.views.judgments import JudgmentColumns, constant_form, missing_scores

if TYPE_CHECKING:
    from imarena.workflows.views.view import View

LEAST = 50_000
"""Fewer judgments are not worth a file."""
GROWN = 0.1
"""A file is written again when this share of it is new."""
MOST_NEW = 100_000
"""Or when this many rows are new."""
OVERLAP = 20_000
"""PostgreSQL commits rows out of order: this many numbers before the last are looked at again."""
_LAYOUT = 3
_SAMPLES = 64
_STORED = ("seq", "left", "right", "order", "repeat", "status", "preference", "created_us")


def uncommitted_window(view: "View") -> int:
    """How many numbers before the last one may still be committed."""
    return OVERLAP if view.workspace.store.engine.dialect.name == "postgresql" else 0


@dataclass(frozen=True, slots=True)
class ColumnOrigin:
    """What stored columns were made from: the first judgments and outputs of a workspace, and the code of the time."""

    workspace: str | None
    judgments: int
    """The number of the last one."""
    records: str
    """A digest of the last judgment and of some before it; empty where the last one is not there any more."""
    outputs: int
    output_ids: str
    layout: int = _LAYOUT
    software: str = VERSION
    schema: str = field(default_factory=newest_version)

    def to_json(self) -> dict[str, Any]:
        """The head of a file of columns."""
        return asdict(self) | {"words": [*PREFERENCES, "|", *ORDERS, "|", *STATUSES]}


def origin(view: "View", upto: int, outputs: int) -> ColumnOrigin:
    """What columns of the judgments up to a number, on the first `outputs` outputs, are made from."""
    key = ("origin", upto, outputs)
    if key not in view.computed:
        entries = view.entries
        named = sha256()
        for column, kind in ((entries.seq, np.int64), (entries.output_id, "S64")):
            for rows in row_slices(outputs):
                named.update(np.ascontiguousarray(column[rows], kind).data)
        workspace_id = view.workspace.store.fact("workspace_id")
        view.computed[key] = ColumnOrigin(workspace_id, upto, _sampled(view, upto), outputs, named.hexdigest())
    known: ColumnOrigin = view.computed[key]
    return known


def _sampled(view: "View", upto: int) -> str:
    """A digest of the last record and of some before it, as they are in the database now."""
    last = max(upto - uncommitted_window(view), 1)  # a number after it may be committed later
    wanted = sorted({*np.linspace(1, last, _SAMPLES).astype(int).tolist(), upto})
    names = ("seq", "id", "form_id", "left_seq", "right_seq", "order", "status", "preference")
    query = select(*(judgments.c[name] for name in names)).where(judgments.c.seq.in_(wanted))
    with reading(view.workspace.store.engine) as connection:
        rows = connection.execute(query.order_by(judgments.c.seq)).tuples().all()
    if not rows or rows[-1][0] != upto:
        return ""
    return sha256(repr([tuple(row) for row in rows]).encode()).hexdigest()


def read_cached(view: "View", name: str) -> CachedColumns | None:
    """The columns of this name, where they are true of the view's workspace and not newer than the view."""
    about = view.cache.about(name)
    if about is None or not _holds(view, about):
        return None
    columns = view.cache.read(name)
    return columns if columns is not None and _holds(view, columns.about) else None


def _holds(view: "View", about: Mapping[str, Any]) -> bool:
    upto, outputs = about.get("judgments"), about.get("outputs")
    if not isinstance(upto, int) or not isinstance(outputs, int) or not isinstance(about.get("recent"), int):
        return False
    if upto > view.marks.judgments or outputs > view.entries.seq.size:
        return False
    expected = origin(view, upto, outputs)
    return bool(expected.records) and all(about.get(name) == value for name, value in expected.to_json().items())


def write_cached(view: "View", name: str, more: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Store columns that were made from all that the view holds."""
    made_from = origin(view, view.marks.judgments, int(view.entries.seq.size))
    if made_from.records:
        view.cache.write(name, {**made_from.to_json(), "recent": view.recent, **more}, arrays)


def worth_storing(now: int, before: int, most_new: int | None = None) -> bool:
    """Is so much new that a file should be written, or written again?"""
    return now >= LEAST and now - before > min(GROWN * before, MOST_NEW if most_new is None else most_new)


def worth_caching(view: "View", name: str, rows: int) -> bool:
    """The same for a file that counts its rows."""
    return rows >= LEAST and worth_storing(rows, rows_cached(view, name))


def rows_cached(view: "View", name: str) -> int:
    """How many rows a file that is true of the view's workspace holds; 0 where there is none."""
    about = view.cache.about(name)
    return int(about.get("rows", 0)) if about is not None and _holds(view, about) else 0


def read_judgments_cached(view: "View", form: Form) -> tuple[JudgmentColumns, int, int] | None:
    """The judgments of a form that the cache holds, up to which number, and how many were taken just before it."""
    cached = read_cached(view, _name(form))
    if cached is None or cached.about.get("form") != form.row():
        return None
    seq = cached.arrays["seq"]
    score = cached.arrays["score"] if not form.pairwise else missing_scores(seq.size)
    stored: dict[str, Any] = {name: cached.arrays[name] for name in _STORED}
    columns = JudgmentColumns(forms=(form,), form=constant_form(seq.size), score=score, **stored)
    return columns, int(cached.about["judgments"]), int(cached.about["recent"])


def write_judgments_cached(view: "View", form: Form, columns: JudgmentColumns) -> None:
    """Store the judgments of a form."""
    names = _STORED if form.pairwise else (*_STORED, "score")
    write_cached(view, _name(form), {"form": form.row()}, {name: getattr(columns, name) for name in names})


def _name(form: Form) -> str:
    return f"judgments-{form.form_id}"
