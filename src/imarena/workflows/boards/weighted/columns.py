"""The parts of `VoteData` that seldom change (outputs, items, a judge's scores), kept encoded in the workspace's cache.

Votes come every hour, outputs and scores do not: ranking again after a batch of votes reads these columns from one file
instead of half a million rows. The file's name reflects the contents of the tables, so a stale file is never used.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, case, func, select

from imarena.core import UserError, command_line
from imarena.storage import JudgeVariant, Workspace, reading
from imarena.storage.schema import blobs, items, judgments, outputs
from imarena.workflows.views import count_live, encode_names, fetch_columns, read_variants

UNIT_LABELS = ("family", "task", "topic", "track")
FORM = 5
"""Version of the cached file: raised when its arrays change."""


@dataclass(frozen=True)
class WeightedColumns:
    """N units (an item and a turn) and m models. `ids` (k,) sorted ids of the outputs that are shown, at the flat
    indices `cells` (k,) of the (N, m) tables; `scores` (N, m), NaN for none; each of `labels` (N,).
    """

    models: tuple[str, ...]
    item: tuple[str, ...]
    turn: tuple[int, ...]
    ids: NDArray[np.bytes_]
    seqs: NDArray[np.int64]
    picture: NDArray[np.int32]
    """(k,) the image of each output; -1 if it is absent or was withdrawn."""
    cells: NDArray[np.int64]
    scores: NDArray[np.float64]
    labels: Mapping[str, NDArray[np.str_]]
    versions: Mapping[str, int]
    """Versions of the judge whose scores count, with the number of scores."""
    earlier: int = 0
    """Number of scores that do not count, because the judge has changed since."""
    compares: bool = False
    """The judge also compared pairs directly."""

    def where(self, output_ids: list[str | None]) -> NDArray[np.int64]:
        """(k,) flat index of every output id, -1 for None and for outputs not shown here."""
        if not output_ids:
            return np.zeros(0, np.int64)
        names = np.array([name or "" for name in output_ids]).astype("U").astype(f"S{self.ids.dtype.itemsize + 1}")
        at = np.minimum(np.searchsorted(self.ids, names), self.ids.size - 1)
        return np.asarray(np.where(self.ids[at] == names, self.cells[at], -1), np.int64)

    def at(self, seq: NDArray[np.int64]) -> NDArray[np.int32]:
        """(k,) flat index of every output by its number, -1 for 0 and for outputs not shown here."""
        table = self._cell_of_seq
        return table[np.where(seq < table.size, seq, 0)]

    @cached_property  # called for scores and for both sides of votes
    def _cell_of_seq(self) -> NDArray[np.int32]:
        table = np.full(int(self.seqs.max(initial=0)) + 1, -1, np.int32)
        table[self.seqs] = self.cells
        return table


def read_columns(workspace: Workspace, judge: str, mode: str, dimension: str) -> WeightedColumns:
    """Read the columns from the cache, or from the tables."""
    packed: list[bytes] = []

    def make() -> bytes:
        packed.append(_pack(_read_columns(workspace, judge, mode, dimension)))
        return packed[0]

    key = f"arena:{FORM}:{judge}:{mode}:{dimension}:{_state(workspace, judge, dimension)}"
    try:
        data = workspace.cache.get(key, make)
    except OSError:  # a read-only folder has no cache
        data = packed[0] if packed else make()
    try:
        return _unpack(data)
    except (ValueError, KeyError, EOFError, OSError):  # a file truncated by a full disk
        return _read_columns(workspace, judge, mode, dimension)


def _state(workspace: Workspace, judge: str, dimension: str) -> str:
    """Return as text the number of rows and the last row of each table: records are only ever added."""
    states = []
    with reading(workspace.store.engine) as connection:
        by_judge = (judgments.c.judge == judge, judgments.c.dimension == dimension)
        for table, conditions in ((items, ()), (outputs, ()), (judgments, by_judge)):
            number, last = connection.execute(select(func.count(), func.max(table.c.seq)).where(*conditions)).one()
            identity = connection.execute(select(table.c.id).where(table.c.seq == last)).scalar()
            states.append(f"{number}/{identity}")
    return ":".join(states)


def _read_columns(workspace: Workspace, judge: str, mode: str, dimension: str) -> WeightedColumns:
    with reading(workspace.store.engine) as connection:
        rows = fetch_rows(
            connection,
            select(
                outputs.c.id,
                outputs.c.item_id,
                outputs.c.turn,
                outputs.c.editor,
                outputs.c.seq,
                case((blobs.c.withdrawn_at.is_(None), outputs.c.image_sha256)),
            )
            .select_from(outputs.outerjoin(blobs, blobs.c.sha256 == outputs.c.image_sha256))
            .where(outputs.c.status == "ok", outputs.c.editor.is_not(None), outputs.c.mode == mode)
            .order_by(outputs.c.seq),
        )
        about = {
            row[0]: row[1:]
            for row in fetch_rows(connection, select(items.c.id, *(items.c[name] for name in UNIT_LABELS)))
        }
        variants = read_variants(connection)
        counting = variants.counting([judge], dimension, pairwise=False)
        scored = [(variant, _scores_of(connection, variant)) for variant in counting]
        old = [
            variant.form_id
            for variant in variants.chosen([judge], dimension, pairwise=False)
            if variant not in counting
        ]
        earlier = count_live(connection, old).total()
        compares = bool(variants.counting([judge], dimension, pairwise=True))
    if not rows:
        raise UserError(
            f"There are no outputs in mode '{mode}' here.", hint=f"Import or make some: {command_line('edit')}"
        )
    if judge and not any(scores[0].size for _, scores in scored):
        raise UserError(
            f"Judge '{judge}' gave no scores here.", hint=f"Run: {command_line('judge')}, or name another --judge."
        )
    return replace(_encode(rows, about, scored, earlier), compares=compares)


_ScoreRows = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Numbers of the outputs, repeats, numbers of the judgments, and the scores, higher being better."""


def _scores_of(connection: Connection, variant: JudgeVariant) -> _ScoreRows:
    """Read the live scores of one variant of a judge."""
    table = judgments
    columns = fetch_columns(
        connection,
        select(table.c.left_seq, table.c.repeat, table.c.seq, table.c.score).where(
            table.c.form_id == variant.form_id,
            table.c.superseded == 0,
            table.c.status == "ok",
            table.c.score.is_not(None),
        ),
    )
    output, repeat, seq = (np.array(column, np.int64) for column in columns[:3])
    score = np.array(columns[3], np.float64)
    return output, repeat, seq, score if variant.higher_is_better else -score


def _encode(
    rows: list[Any],
    about: dict[str, Any],
    scored: list[tuple[JudgeVariant, _ScoreRows]],
    earlier: int,
) -> WeightedColumns:
    units = sorted({(row[1], row[2]) for row in rows})
    models = sorted({row[3] for row in rows})
    at_unit, at_model = {unit: n for n, unit in enumerate(units)}, {model: n for n, model in enumerate(models)}
    cells: dict[int, tuple[str, int, str | None]] = {}
    for identity, item, turn, editor, seq, image in rows:
        # boards show the first sample of a slot
        cells.setdefault(at_unit[item, turn] * len(models) + at_model[editor], (identity, seq, image))
    ids = np.array([identity for identity, *_ in cells.values()]).astype("S")
    seqs = np.array([seq for _, seq, _ in cells.values()], np.int64)
    picture = encode_names(image for *_, image in cells.values()).of
    order = np.argsort(ids)
    labels = {
        name: np.array([about[item][n] or "" for item, _ in units], dtype=np.str_) for n, name in enumerate(UNIT_LABELS)
    }
    columns = WeightedColumns(
        tuple(models), tuple(item for item, _ in units), tuple(turn for _, turn in units), ids[order], seqs[order],
        picture[order], np.fromiter(cells, np.int64, len(cells))[order], np.zeros((len(units), len(models))), labels,
        {}, earlier,
    )  # fmt: skip
    return _with_scores(columns, scored)


def _with_scores(columns: WeightedColumns, scored: list[tuple[JudgeVariant, _ScoreRows]]) -> WeightedColumns:
    """Return the columns with the (N, m) mean of a judge's scores over repeats; per repeat, the first score counts."""
    if not scored:  # people alone: all scores are equal
        return columns
    size = columns.scores.size
    output, repeat, seq, score = (
        np.concatenate(parts) for parts in zip(*(scores for _, scores in scored), strict=True)
    )
    position = columns.at(output).astype(np.int64)
    rows = np.lexsort((seq, repeat, position))
    rows = rows[position[rows] >= 0]
    first = np.ones(rows.size, bool)
    first[1:] = (position[rows[1:]] != position[rows[:-1]]) | (repeat[rows[1:]] != repeat[rows[:-1]])
    rows = rows[first]
    count = np.bincount(position[rows], minlength=size)
    total = np.bincount(position[rows], score[rows], size)
    means = np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(columns.scores.shape)
    versions: Counter[str] = Counter()
    for variant, scores in scored:
        versions[variant.judge_version] += int((columns.at(scores[0]) >= 0).sum())
    return replace(columns, scores=means, versions=dict(versions))


def _pack(columns: WeightedColumns) -> bytes:
    file = BytesIO()
    texts = {"models": columns.models, "item": columns.item, "versions": tuple(columns.versions)}
    np.savez(
        file, allow_pickle=False, turn=np.array(columns.turn, np.int64), ids=columns.ids, seqs=columns.seqs,
        picture=columns.picture, places=columns.cells, earlier=np.array(columns.earlier),
        compares=np.array(columns.compares),
        scores=columns.scores, **{name: np.array(values, dtype=np.str_) for name, values in texts.items()},
        scored=np.array(list(columns.versions.values()), np.int64), **columns.labels,
    )  # fmt: skip
    return file.getvalue()


def _unpack(data: bytes) -> WeightedColumns:
    with np.load(BytesIO(data), allow_pickle=False) as arrays:
        return WeightedColumns(
            tuple(arrays["models"].tolist()), tuple(arrays["item"].tolist()), tuple(arrays["turn"].tolist()),
            arrays["ids"], arrays["seqs"], arrays["picture"], arrays["places"], arrays["scores"],
            {name: arrays[name] for name in UNIT_LABELS},
            dict(zip(arrays["versions"].tolist(), arrays["scored"].tolist(), strict=True)), int(arrays["earlier"]),
            bool(arrays["compares"]),
        )  # fmt: skip


def fetch_rows(connection: Any, query: Any) -> list[Any]:
    """Return all rows as plain tuples. With half a million rows, row objects would take most of the time."""
    cursor = connection.execute(query).cursor
    rows: list[Any] = cursor.fetchall()
    return rows
