"""The column cache of a view: data read or computed before, and checks that it still matches the database.

Records are only ever added. Columns made from the first n judgments stay valid as long as those judgments and their
outputs are the same: a workspace that was restored, replaced or rewritten has others, or none, at their numbers.
Newer records are read from the database.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from imarena.core import VERSION
from imarena.storage import CachedColumns, ColumnCache, JudgeVariant, Workspace, newest_version, reading
from imarena.storage.schema import judgments
from imarena.tables import row_slices
from imarena.workflows.views.codes import ORDERS, PREFERENCES, STATUSES
from imarena.workflows.views.entries import Entries
from imarena.workflows.views.judgments import JudgmentColumns, constant_variant, missing_scores
from imarena.workflows.views.watermarks import Watermarks

LEAST = 50_000
"""Minimum number of judgments for a cache file."""
GROWN = 0.1
"""A file is rewritten when it has grown by this share."""
MOST_NEW = 100_000
"""A file is also rewritten when this many rows are new."""
OVERLAP = 20_000
"""PostgreSQL commits rows out of order: this many numbers before the last are checked again."""
_LAYOUT = 3
_SAMPLES = 64
_STORED = ("seq", "left", "right", "order", "repeat", "status", "preference", "created_us")


class CacheUser(Protocol):
    """What the cache reads of a view."""

    recent: int
    computed: dict[object, Any]

    @property
    def workspace(self) -> Workspace: ...

    @property
    def cache(self) -> ColumnCache: ...

    @property
    def marks(self) -> Watermarks: ...

    @property
    def entries(self) -> Entries: ...


def uncommitted_window(view: CacheUser) -> int:
    """How many of the numbers before the last one may still be committed."""
    return OVERLAP if view.workspace.store.engine.dialect.name == "postgresql" else 0


@dataclass(frozen=True, slots=True)
class ColumnOrigin:
    """The origin of stored columns: the first judgments and outputs of a workspace, and the version of the code."""

    workspace: str | None
    judgments: int
    """The number of the last judgment."""
    records: str
    """A digest of the last judgment and a sample of earlier ones; empty if the last one is gone."""
    outputs: int
    output_ids: str
    layout: int = _LAYOUT
    software: str = VERSION
    schema: str = field(default_factory=newest_version)

    def to_json(self) -> dict[str, Any]:
        """The header of a file of columns."""
        return asdict(self) | {"words": [*PREFERENCES, "|", *ORDERS, "|", *STATUSES]}


def origin(view: CacheUser, until_seq: int, outputs: int) -> ColumnOrigin:
    """The origin of columns of the judgments up to a number, on the first `outputs` outputs."""
    key = ("origin", until_seq, outputs)
    if key not in view.computed:
        entries = view.entries
        digest = sha256()
        for column, kind in ((entries.seq, np.int64), (entries.output_id, "S64")):
            for rows in row_slices(outputs):
                digest.update(np.ascontiguousarray(column[rows], kind).data)
        workspace_id = view.workspace.store.fact("workspace_id")
        view.computed[key] = ColumnOrigin(
            workspace_id, until_seq, _sample_digest(view, until_seq), outputs, digest.hexdigest()
        )
    result: ColumnOrigin = view.computed[key]
    return result


def _sample_digest(view: CacheUser, until_seq: int) -> str:
    """A digest of the last record and a sample of earlier ones, as they are in the database now."""
    last = max(until_seq - uncommitted_window(view), 1)  # a number after it may be committed later
    seqs = sorted({*np.linspace(1, last, _SAMPLES).astype(int).tolist(), until_seq})
    names = ("seq", "id", "form_id", "left_seq", "right_seq", "order", "status", "preference")
    query = select(*(judgments.c[name] for name in names)).where(judgments.c.seq.in_(seqs))
    with reading(view.workspace.store.engine) as connection:
        rows = connection.execute(query.order_by(judgments.c.seq)).tuples().all()
    if not rows or rows[-1][0] != until_seq:
        return ""
    return sha256(repr([tuple(row) for row in rows]).encode()).hexdigest()


def read_cached(view: CacheUser, name: str) -> CachedColumns | None:
    """The columns of this name, if they match the view's workspace and are not newer than the view."""
    metadata = view.cache.metadata(name)
    if metadata is None or not _holds(view, metadata):
        return None
    columns = view.cache.read(name)
    return columns if columns is not None and _holds(view, columns.metadata) else None


def _holds(view: CacheUser, metadata: Mapping[str, Any]) -> bool:
    until_seq, outputs = metadata.get("judgments"), metadata.get("outputs")
    if not isinstance(until_seq, int) or not isinstance(outputs, int) or not isinstance(metadata.get("recent"), int):
        return False
    if until_seq > view.marks.judgments or outputs > view.entries.seq.size:
        return False
    expected = origin(view, until_seq, outputs)
    return bool(expected.records) and all(metadata.get(name) == value for name, value in expected.to_json().items())


def write_cached(view: CacheUser, name: str, more: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Store columns that were made from everything in the view."""
    made_from = origin(view, view.marks.judgments, int(view.entries.seq.size))
    if made_from.records:
        view.cache.write(name, {**made_from.to_json(), "recent": view.recent, **more}, arrays)


def worth_storing(now: int, before: int, most_new: int | None = None) -> bool:
    """Whether there is enough new data to write a file, or write it again."""
    return now >= LEAST and now - before > min(GROWN * before, MOST_NEW if most_new is None else most_new)


def worth_caching(view: CacheUser, name: str, rows: int) -> bool:
    """Whether `rows` rows are worth writing to a file that counts its rows."""
    return rows >= LEAST and worth_storing(rows, rows_cached(view, name))


def rows_cached(view: CacheUser, name: str) -> int:
    """Number of rows in a cached file that matches the view's workspace; 0 if there is none."""
    metadata = view.cache.metadata(name)
    return int(metadata.get("rows", 0)) if metadata is not None and _holds(view, metadata) else 0


def read_judgments_cached(view: CacheUser, variant: JudgeVariant) -> tuple[JudgmentColumns, int, int] | None:
    """A variant's cached judgments, the number up to which they go, and how many numbers just before it were taken."""
    cached = read_cached(view, _name(variant))
    if cached is None or cached.metadata.get("form") != variant.row():
        return None
    seq = cached.arrays["seq"]
    score = cached.arrays["score"] if not variant.pairwise else missing_scores(seq.size)
    stored: dict[str, Any] = {name: cached.arrays[name] for name in _STORED}
    columns = JudgmentColumns(variants=(variant,), variant=constant_variant(seq.size), score=score, **stored)
    return columns, int(cached.metadata["judgments"]), int(cached.metadata["recent"])


def write_judgments_cached(view: CacheUser, variant: JudgeVariant, columns: JudgmentColumns) -> None:
    """Store the judgments of a variant."""
    names = _STORED if variant.pairwise else (*_STORED, "score")
    write_cached(view, _name(variant), {"form": variant.row()}, {name: getattr(columns, name) for name in names})


def _name(variant: JudgeVariant) -> str:
    return f"judgments-{variant.form_id}"
