"""What seldom changes of an arena (outputs, items, a judge's scores), encoded once and kept in the workspace's cache.

Votes come every hour, outputs and scores do not: ranking again after a batch of votes reads these columns from one file
instead of half a million rows. The file's name tells what was in the tables, so that an old one is never used.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import JSON, ColumnElement, cast, func, select, type_coerce

from imarena.core.errors import UserError
from imarena.storage import Workspace
from imarena.storage.database import reading
from imarena.storage.schema import items, judgments, outputs

LABELS = ("family", "task", "topic", "track")
FORM = 2
"""Of the cached file: raised when its arrays change."""


@dataclass(frozen=True)
class Columns:
    """N units (an item and a turn) and m models. `ids` (k,) sorted ids of the outputs that are shown, at the flat
    places `places` (k,) of the (N, m) tables; `scores` (N, m), NaN where there is none; each of `labels` (N,).
    """

    models: tuple[str, ...]
    item: tuple[str, ...]
    turn: tuple[int, ...]
    ids: NDArray[np.bytes_]
    places: NDArray[np.int64]
    scores: NDArray[np.float64]
    labels: Mapping[str, NDArray[np.str_]]
    versions: Mapping[str, int]
    """Versions of the judge whose scores count, with how many outputs each scored. One is as it should be."""

    def where(self, wanted: list[str | None]) -> NDArray[np.int64]:
        """(k,) flat place of every output id, -1 for one that is not shown here (or None)."""
        if not wanted:
            return np.zeros(0, np.int64)
        names = np.array([name or "" for name in wanted]).astype("U").astype(f"S{self.ids.dtype.itemsize + 1}")
        at = np.minimum(np.searchsorted(self.ids, names), self.ids.size - 1)
        return np.asarray(np.where(self.ids[at] == names, self.places[at], -1), np.int64)


def read_columns(workspace: Workspace, judge: str, mode: str, dimension: str) -> Columns:
    """From the cache, or from the tables."""
    made: list[bytes] = []

    def make() -> bytes:
        made.append(_packed(_read(workspace, judge, mode, dimension)))
        return made[0]

    key = f"arena:{FORM}:{judge}:{mode}:{dimension}:{_state(workspace, judge, dimension)}"
    try:
        data = workspace.cache.get(key, make)
    except OSError:  # a folder that cannot be written to has no cache
        data = made[0] if made else make()
    try:
        return _unpacked(data)
    except (ValueError, KeyError, EOFError, OSError):  # a file cut short by a full disk
        return _read(workspace, judge, mode, dimension)


def _state(workspace: Workspace, judge: str, dimension: str) -> str:
    """How many rows there are, and the last of each table: records are only ever added."""
    told = []
    with reading(workspace.store.engine) as connection:
        for table, conditions in ((items, ()), (outputs, ()), (judgments, _by(judge, dimension))):
            number, last = connection.execute(select(func.count(), func.max(table.c.seq)).where(*conditions)).one()
            identity = connection.execute(select(table.c.id).where(table.c.seq == last)).scalar()
            told.append(f"{number}/{identity}")
    return ":".join(told)


def _by(judge: str, dimension: str) -> tuple[ColumnElement[bool], ...]:
    return judgments.c.judge == judge, judgments.c.dimension == dimension


def _read(workspace: Workspace, judge: str, mode: str, dimension: str) -> Columns:
    with reading(workspace.store.engine) as connection:
        made = fetch(
            connection,
            select(outputs.c.id, outputs.c.item_id, outputs.c.turn, outputs.c.editor)
            .where(outputs.c.status == "ok", outputs.c.editor.is_not(None), outputs.c.mode == mode)
            .order_by(outputs.c.seq),
        )
        about = {row[0]: row[1:] for row in fetch(connection, select(items.c.id, *(items.c[name] for name in LABELS)))}
        body: Any = judgments.c.body
        parsed = type_coerce(body, JSON) if connection.dialect.name == "sqlite" else cast(body, JSON)
        scored = fetch(
            connection,
            select(
                judgments.c.left_id, judgments.c.score, judgments.c.id, judgments.c.supersedes,
                parsed["judge_version"].as_string(),
            ).where(
                *_by(judge, dimension), judgments.c.status == "ok",
                judgments.c.right_id.is_(None), judgments.c.score.is_not(None),
            ).order_by(judgments.c.seq),
        )  # fmt: skip
    if not made:
        raise UserError(f"There are no outputs in mode '{mode}' here.", hint="Import or make some: imarena edit.")
    if not scored:
        raise UserError(f"Judge '{judge}' gave no scores here.", hint="Run: imarena judge, or name another --judge.")
    return _encoded(made, about, scored)


def _encoded(made: list[Any], about: dict[str, Any], scored: list[Any]) -> Columns:
    units = sorted({(row[1], row[2]) for row in made})
    models = sorted({row[3] for row in made})
    at_unit, at_model = {unit: n for n, unit in enumerate(units)}, {model: n for n, model in enumerate(models)}
    shown: dict[int, str] = {}
    for identity, item, turn, editor in made:
        # the first sample of a slot is the one that is shown
        shown.setdefault(at_unit[item, turn] * len(models) + at_model[editor], identity)
    ids = np.array(list(shown.values())).astype("S")
    order = np.argsort(ids)
    places = np.fromiter(shown, np.int64, len(shown))
    labels = {
        name: np.array([about[item][n] or "" for item, _ in units], dtype=np.str_) for n, name in enumerate(LABELS)
    }
    live, versions = _live(scored, {identity: place for place, identity in shown.items()})
    return Columns(
        tuple(models), tuple(item for item, _ in units), tuple(turn for _, turn in units),
        ids[order], places[order], _scores(live, (len(units), len(models))), labels, versions,
    )  # fmt: skip


def _live(scored: list[Any], where: dict[str, int]) -> tuple[list[tuple[int, float]], dict[str, int]]:
    """Flat place and score of every live judgment, by the newest version of the judge that scored an output."""
    replaced = {row[3] for row in scored if row[3]}
    live = [(where[row[0]], row[1], row[4] or "") for row in scored if row[2] not in replaced and row[0] in where]
    newest = {place: version for place, _, version in live}
    used = Counter(newest.values())
    if len(used) == 1:
        return [(place, score) for place, score, _ in live], dict(used)
    return [(place, score) for place, score, version in live if version == newest[place]], dict(used)


def _scores(live: list[tuple[int, float]], shape: tuple[int, int]) -> NDArray[np.float64]:
    """(N, m) mean of a judge's live scores of an output (repeats are averaged)."""
    places, values = (np.array(column) for column in zip(*live, strict=True)) if live else (np.zeros(0), np.zeros(0))
    size, flat = shape[0] * shape[1], places.astype(np.int64)
    count = np.bincount(flat, minlength=size)
    total = np.bincount(flat, values.astype(np.float64), size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(shape)


def _packed(columns: Columns) -> bytes:
    file = BytesIO()
    texts = {"models": columns.models, "item": columns.item, "versions": tuple(columns.versions)}
    np.savez(
        file, allow_pickle=False, turn=np.array(columns.turn, np.int64), ids=columns.ids, places=columns.places,
        scores=columns.scores, **{name: np.array(values, dtype=np.str_) for name, values in texts.items()},
        scored=np.array(list(columns.versions.values()), np.int64), **columns.labels,
    )  # fmt: skip
    return file.getvalue()


def _unpacked(data: bytes) -> Columns:
    with np.load(BytesIO(data), allow_pickle=False) as held:
        return Columns(
            tuple(held["models"].tolist()), tuple(held["item"].tolist()), tuple(held["turn"].tolist()),
            held["ids"], held["places"], held["scores"], {name: held[name] for name in LABELS},
            dict(zip(held["versions"].tolist(), held["scored"].tolist(), strict=True)),
        )  # fmt: skip


def fetch(connection: Any, query: Any) -> list[Any]:
    """All rows as plain tuples. At half a million rows, building row objects would take most of the time."""
    cursor = connection.execute(query).cursor
    rows: list[Any] = cursor.fetchall()
    return rows
