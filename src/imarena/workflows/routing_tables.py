"""A workspace as routing needs it: scores by item and model, what was asked, and the votes. Read by narrow queries."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from imarena.core.errors import UserError
from imarena.core.records import Campaign
from imarena.routing import Pool
from imarena.storage import Workspace
from imarena.storage.database import reading
from imarena.storage.schema import assignments, items, judgments, outputs, votes

POINTS = {"left": 1.0, "right": 0.0, "tie": 0.5, "both_bad": 0.5}
GOLD = "gold"


@dataclass(frozen=True)
class VoteTable:
    """n live votes on pairs that are in the pool: place of the item, the pair, points of the pair's left model, rater.

    `both_bad` and ties are half a point each; `probability` of having been routed, NaN where it is not known.
    """

    item: NDArray[np.int64]
    pair: NDArray[np.int64]
    points: NDArray[np.float64]
    rater: tuple[str, ...]
    purpose: tuple[str, ...]
    probability: NDArray[np.float64]

    def __len__(self) -> int:
        return int(self.item.size)

    def where(self, kept: NDArray[np.bool_]) -> "VoteTable":
        """Only these rows."""
        rows = np.flatnonzero(kept)
        return VoteTable(
            self.item[rows], self.pair[rows], self.points[rows], tuple(self.rater[row] for row in rows),
            tuple(self.purpose[row] for row in rows), self.probability[rows],
        )  # fmt: skip


@dataclass(frozen=True)
class Arena:
    """The pool and the names behind its numbers. `unit[k]` is (item id, turn); `output` (N, m) ids, "" for none."""

    pool: Pool
    judge: str
    unit: tuple[tuple[str, int], ...]
    output: NDArray[np.object_]
    families: tuple[str, ...]
    """Family (or task) of each item, (N,)."""
    votes: VoteTable
    gold: NDArray[np.bool_]
    """(N,) items of the frozen gold set."""
    seen: frozenset[tuple[str, int, int]]
    """(rater, item, pair) of every battle that a rater was given or voted on."""


def read_arena(workspace: Workspace, judge: str | None, *, mode: str = "single", dimension: str = "overall") -> Arena:
    """Read it. `judge` None: the only judge with scores, or a clear message."""
    chosen = judge or _only_judge(workspace, dimension)
    with reading(workspace.store.engine) as connection:
        made = _fetch(
            connection,
            select(outputs.c.id, outputs.c.item_id, outputs.c.turn, outputs.c.editor)
            .where(outputs.c.status == "ok", outputs.c.editor.is_not(None), outputs.c.mode == mode)
            .order_by(outputs.c.seq),
        )
        about = {
            row[0]: row[1] or row[2] or ""
            for row in _fetch(connection, select(items.c.id, items.c.family, items.c.task))
        }
        scored = _fetch(
            connection,
            select(judgments.c.left_id, judgments.c.score, judgments.c.id, judgments.c.supersedes).where(
                judgments.c.judge == chosen, judgments.c.dimension == dimension, judgments.c.status == "ok",
                judgments.c.right_id.is_(None), judgments.c.score.is_not(None),
            ),
        )  # fmt: skip
        given = _fetch(
            connection,
            select(
                assignments.c.id, assignments.c.left_id, assignments.c.right_id, assignments.c.rater_id,
                assignments.c.purpose, assignments.c.body,
            ),
        )  # fmt: skip
        cast = _fetch(
            connection,
            select(
                votes.c.id, votes.c.rater_id, votes.c.left_id, votes.c.right_id, votes.c.assignment_id,
                votes.c.preference, votes.c.supersedes, votes.c.retracted,
            ).where(votes.c.right_id.is_not(None)),
        )  # fmt: skip
    if not made:
        raise UserError(f"There are no outputs in mode '{mode}' here.", hint="Import or make some: imarena edit.")
    if not scored:
        raise UserError(f"Judge '{chosen}' gave no scores here.", hint="Run: imarena judge, or name another --judge.")
    return _assemble(workspace, chosen, made, about, scored, given, cast)


def _fetch(connection: Any, query: Any) -> list[Any]:
    """All rows as plain tuples. At half a million rows, building row objects would take most of the time."""
    cursor = connection.execute(query).cursor
    rows: list[Any] = cursor.fetchall()
    return rows


def _only_judge(workspace: Workspace, dimension: str) -> str:
    from imarena.core.records import Judgment

    found = workspace.store.count(Judgment, "judge", dimension=dimension, status="ok", right_id=None)
    names = sorted(name for (name,) in found)
    if len(names) != 1:
        raise UserError(
            f"{len(names)} judges gave scores here." if names else "No judge gave scores here.",
            hint=f"Choose one with --judge: {', '.join(names)}." if names else "Run: imarena judge.",
        )
    return str(names[0])


def _assemble(
    workspace: Workspace, judge: str, made: list[Any], about: dict[str, str], scored: list[Any], given: Any, cast: Any
) -> Arena:
    import pyarrow as pa

    ids, item_ids, turns, editors = zip(*made, strict=True)
    item, item_names = _coded(item_ids)
    model, models = _coded(editors)
    turn = np.array(turns, np.int64)
    width = int(turn.max()) + 1
    unit_keys, unit = np.unique(item * width + turn, return_inverse=True)
    shape = (unit_keys.size, len(models))
    # the first sample of a slot is the one that is shown
    places, first = np.unique(unit * shape[1] + model, return_index=True)
    output = np.full(shape[0] * shape[1], "", dtype=object)
    shown = np.array(ids, dtype=object)[first]
    output[places] = shown
    names = pa.array(shown.tolist())
    scores = _scores(scored, names, places, shape)
    units = tuple((item_names[key // width], int(key % width)) for key in unit_keys.tolist())
    families = tuple(about[name] for name, _ in units)
    _, task = np.unique(np.array(families), return_inverse=True)
    pairs = shape[1] * (shape[1] - 1) // 2
    table = output.reshape(shape)
    pool = Pool(scores, table != "", task.astype(np.int64), np.zeros((shape[0], pairs), np.int16), models)
    named = _places({side for row in given for side in row[1:3]} | {side for row in cast for side in row[2:4]}, names)
    where = {name: divmod(int(places[at]), shape[1]) for name, at in named.items()}
    found, seen = _votes(pool, where, given, cast)
    gold_items = gold_set(workspace)
    gold = np.array([name in gold_items for name, _ in units], bool)
    return Arena(pool, judge, units, table, families, found, gold, seen)


def _coded(values: Any) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Codes and names, names sorted."""
    import pyarrow as pa

    encoded = pa.array(values).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    return rank[encoded.indices.to_numpy()], tuple(names[place] for place in order)


def _places(wanted: set[Any], names: Any) -> dict[str, int]:
    """Where each of the wanted ids stands in `names`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    listed = sorted(name for name in wanted if name)
    found = pc.index_in(pa.array(listed, pa.string()), value_set=names).to_pylist()
    return {name: place for name, place in zip(listed, found, strict=True) if place is not None}


def _scores(scored: list[Any], names: Any, places: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    """(N, m) mean of a judge's live scores of an output (repeats are averaged)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    replaced = {row[3] for row in scored if row[3]}
    live = [row for row in scored if row[2] not in replaced] if replaced else scored
    at = pc.index_in(pa.array([row[0] for row in live]), value_set=names).to_numpy(zero_copy_only=False)
    values = np.array([row[1] for row in live], np.float64)
    known = np.isfinite(at.astype(np.float64))
    flat = places[at[known].astype(np.int64)]
    size = shape[0] * shape[1]
    count = np.bincount(flat, minlength=size)
    total = np.bincount(flat, values[known], size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(shape)


def _votes(
    pool: Pool, where: dict[str, tuple[int, int]], given: Any, cast: Any
) -> tuple[VoteTable, frozenset[tuple[str, int, int]]]:
    import json

    pair_of = np.full((pool.n_models, pool.n_models), -1, np.int64)
    pair_of[pool.left, pool.right] = np.arange(pool.left.size)
    pair_of[pool.right, pool.left] = np.arange(pool.left.size)
    seen: set[tuple[str, int, int]] = set()
    routed: dict[str, tuple[str, float]] = {}
    for identity, left_id, right_id, rater, purpose, body in given:
        one, other = where.get(left_id), where.get(right_id)
        chance = json.loads(body).get("probability")
        routed[identity] = (purpose, float("nan") if chance is None else float(chance))
        if one is None or other is None:
            continue
        pair = int(pair_of[one[1], other[1]])
        if purpose == "vote":
            pool.asked[one[0], pair] += 1
        if rater:
            seen.add((rater, one[0], pair))
    replaced = {row[6] for row in cast if row[6]}
    rows: list[tuple[int, int, float, str, str, float]] = []
    for identity, rater, left_id, right_id, assignment, preference, _, retracted in cast:
        one, other = where.get(left_id), where.get(right_id)
        if (
            identity in replaced
            or retracted
            or preference is None
            or one is None
            or other is None
            or one[0] != other[0]
        ):
            continue
        pair = int(pair_of[one[1], other[1]])
        if pair < 0:
            continue
        points = POINTS[preference]
        purpose, chance = routed.get(assignment, ("vote", float("nan")))
        rows.append((one[0], pair, points if one[1] < other[1] else 1 - points, rater, purpose, chance))
        if assignment is None:
            pool.asked[one[0], pair] += 1
        seen.add((rater, one[0], pair))
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [(), (), (), (), (), ()]
    table = VoteTable(
        np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], np.float64),
        tuple(columns[3]), tuple(columns[4]), np.array(columns[5], np.float64),
    )  # fmt: skip
    return table, frozenset(seen)


def gold_set(workspace: Workspace) -> frozenset[str]:
    """Ids of the items of the frozen gold set; empty where none was frozen."""
    found: set[str] = set()
    for campaign in workspace.store.records(Campaign, kind=GOLD):
        listed = campaign.settings.get("items")
        if isinstance(listed, list):
            found.update(str(item) for item in listed)
    return frozenset(found)
