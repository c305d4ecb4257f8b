"""Explore a workspace: battles with every vote and raw reply, items with all their outputs."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from imarena.core import IntArray, UserError
from imarena.core.records import ImageRef, Item, Judgment, Output, Reply, Trace, Vote
from imarena.storage import from_row
from imarena.storage.schema import blobs
from imarena.tables import KeptRows, release_pages
from imarena.workflows import views
from imarena.workflows.rating import items_in_hand, items_in_open_campaigns
from imarena.workflows.serving.battle_index import BattleIds, BattleIndex, battle_id, read_battle_index
from imarena.workflows.serving.leaderboards import BattleFilters, Leaderboards, judge_names
from imarena.workflows.serving.page_cache import (
    read_ids_cached,
    read_index_cached,
    write_ids_cached,
    write_index_cached,
)
from imarena.workflows.serving.snapshot import ViewSnapshot

EVERYTHING = BattleFilters()
_OUTCOMES = tuple(
    views.PREFERENCES[views.TIE] if code == views.EQUAL else name for code, name in enumerate(views.PREFERENCES)
)
_AT_ONCE = 500


class HiddenRecord(UserError):
    """Raters are looking at this record now, so only leads may see it."""


class RecordNotFound(UserError):
    """There is no such record."""


@dataclass(frozen=True)
class BattleView:
    """Two outputs for one item, with the votes and judgments on them as seen from the first."""

    battle_id: str
    item_id: str
    left_id: str
    right_id: str
    votes: Counter[str] = field(default_factory=Counter)
    judgments: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class ShownVote:
    """A vote, and why it does not count (empty if it does)."""

    vote: Vote
    reason: views.Reason

    @property
    def live(self) -> bool:
        """Whether the vote was neither replaced nor undone."""
        return self.reason not in views.REPLACED


@dataclass(frozen=True)
class ShownJudgment:
    """A judgment with the raw reply it was read from, and why it does not count (empty if it does)."""

    judgment: Judgment
    reply: str | None
    reason: str


def hidden_items(leaderboards: Leaderboards, *, leads: bool = False) -> set[str]:
    """Items that only leads may look up: raters are looking at them now."""
    if leads:
        return set()
    always = leaderboards.get_or_compute("hidden", lambda: items_in_open_campaigns(leaderboards.workspace))
    return always | items_in_hand(leaderboards.workspace)


def require_visible(leaderboards: Leaderboards, item_id: str, *, leads: bool) -> None:
    """Raise `HiddenRecord` if raters are looking at an item and the caller is not a lead."""
    if item_id in hidden_items(leaderboards, leads=leads):
        raise HiddenRecord("Raters are looking at this item now.", hint="It opens again when its campaign is closed.")


# ---------------------------------------------------------------------- battles


def index_of(snapshot: ViewSnapshot) -> BattleIndex:
    """The battle index of a snapshot."""
    return snapshot.updated("index", read_battle_index, read_index_cached, write_index_cached, "lists")


def ids_of(leaderboards: Leaderboards, snapshot: ViewSnapshot) -> BattleIds:
    """The battle ids hashed so far."""
    if not leaderboards.battle_ids.known[0].size:
        read_ids_cached(snapshot.view, leaderboards.battle_ids)
    return leaderboards.battle_ids


def hash_ids(leaderboards: Leaderboards, snapshot: ViewSnapshot, pause: Callable[[], bool] = lambda: True) -> None:
    """Hash the ids of new battles. `pause` is called between parts; if it returns False, hashing ends early."""
    ids_of(leaderboards, snapshot).read(snapshot.view, index_of(snapshot), pause)
    write_ids_cached(snapshot.view, leaderboards.battle_ids)


class BattleList(Sequence[BattleView]):
    """The battles that match filters, in the order of their first verdict. Only requested entries are built."""

    def __init__(self, snapshot: ViewSnapshot, filters: BattleFilters, pairs: KeptRows | range) -> None:
        self._view = snapshot.view
        self._index = index_of(snapshot)
        self._filters = filters
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._views(np.asarray(self._pairs[index], np.int64))
        return self[index : index + 1 or None][0]

    def __iter__(self) -> Iterator[BattleView]:
        for begin in range(0, len(self), _AT_ONCE):
            yield from self[begin : begin + _AT_ONCE]

    def _views(self, pairs: IntArray) -> list[BattleView]:
        index, entries = self._index, self._view.entries
        rows, owner = index.verdicts_of(pairs)
        matches = _left_verdicts(self._view, index, self._filters)(rows)
        rows, owner = rows[matches], owner[matches]
        counts: dict[tuple[int, bool], Counter[str]] = defaultdict(Counter)
        for pair, outcome, judge in zip(
            owner.tolist(), index.outcome[rows].tolist(), index.judge.of[rows].tolist(), strict=True
        ):
            counts[pair, judge < 0][_OUTCOMES[outcome]] += 1
        battles = []
        for pair in pairs.tolist():
            left, right = int(index.left[pair]), int(index.right[pair])
            ids = (entries.item_id[entries.item[left]], entries.id_of(left), entries.id_of(right))
            battles.append(BattleView(battle_id(entries, left, right), *ids, counts[pair, True], counts[pair, False]))
        release_pages()
        return battles


def list_battles(
    leaderboards: Leaderboards,
    filters: BattleFilters = EVERYTHING,
    models: Sequence[str] = (),
    hidden: Collection[str] = (),
) -> BattleList:
    """The battles that match filters, of one model or between two, without those on hidden items."""
    snapshot = leaderboards.snapshot()
    filters = leaderboards.settled(filters, snapshot)
    key = ("battles", filters, tuple(models))
    pairs = snapshot.get_or_compute(key, lambda: _pairs(snapshot, filters, models), "lists")
    if hidden:
        entries = snapshot.view.entries
        open_items = np.array([item_id not in hidden for item_id in entries.item_id] or [True])
        pairs = _pairs_on(index_of(snapshot), pairs, open_items[entries.item])
    return BattleList(snapshot, filters, pairs)


def _pairs_on(index: BattleIndex, pairs: KeptRows | range, outputs: NDArray[np.bool_]) -> KeptRows:
    """The pairs on these outputs."""
    if isinstance(pairs, range):  # all pairs
        return KeptRows(len(index), lambda part: outputs[index.left[part]])
    return pairs.filter(lambda numbers: outputs[index.left[numbers]])


def _pairs(snapshot: ViewSnapshot, filters: BattleFilters, models: Sequence[str]) -> KeptRows | range:
    """The numbers of the pairs that match filters."""
    view, index = snapshot.view, index_of(snapshot)
    masks: list[Callable[[slice], NDArray[np.bool_]]] = []
    if _looks_at_verdicts(filters):
        left_verdicts = _left_verdicts(view, index, filters)
        masks.append(lambda pairs: index.has_any(pairs, left_verdicts))
    if filters.of_items:
        outputs = snapshot.boards.outputs_with(filters.of_items)
        if not outputs.all():
            masks.append(lambda pairs: outputs[index.left[pairs]])
    editor = view.entries.editor
    for name in models:
        code = editor.names.index(name) if name in editor.names else -2
        made_it = editor.of == code
        masks.append(lambda pairs, made_it=made_it: made_it[index.left[pairs]] | made_it[index.right[pairs]])  # type: ignore[misc]
    if not masks:
        return range(len(index))
    return KeptRows(len(index), lambda pairs: reduce(np.logical_and, (mask(pairs) for mask in masks)))


def _looks_at_verdicts(filters: BattleFilters) -> bool:
    limits = (filters.judge, filters.dimension, filters.since, filters.until)
    return filters.source != "all" or filters.released or any(value is not None for value in limits)


def _left_verdicts(
    view: views.View, index: BattleIndex, filters: BattleFilters
) -> Callable[[slice | IntArray], NDArray[np.bool_]]:
    """A function that gives a mask of the verdicts that match filters."""
    names = judge_names(view, filters.judge)
    by_judges = filters.source == "judge" or filters.judge is not None
    people = not by_judges
    machines = by_judges or filters.source != "human"
    # indexed by the judge's code; the last entry is for -1, people
    source = np.array([*(machines and (names is None or name in names) for name in index.judge.names), people])
    masks: list[Callable[[slice | IntArray], NDArray[np.bool_]]] = []
    if not source.all():
        every = source[:-1].all()  # looking up the code of each verdict takes much longer
        masks.append(lambda rows: index.judge.of[rows] >= 0 if every else source[index.judge.of[rows]])
    if filters.dimension is not None:
        dimensions = index.dimension.names
        code = dimensions.index(filters.dimension) if filters.dimension in dimensions else -2
        masks.append(lambda rows: index.dimension.of[rows] == code)
    if filters.since or filters.until:
        masks.append(lambda rows: filters.window.sees(index.created_us[rows]))
    if filters.released:
        masks.append(lambda rows: ~index.asking[rows])
    if not masks:
        return lambda rows: np.ones(index.outcome[rows].size, bool)
    return lambda rows: reduce(np.logical_and, (mask(rows) for mask in masks))


def load_battle(
    leaderboards: Leaderboards, identity: str, *, leads: bool, filters: BattleFilters = EVERYTHING
) -> tuple[BattleView, list[ShownVote], list[ShownJudgment]]:
    """One battle with all its votes and judgments, and which of them count.

    Retractions are not listed; they mark the votes that they retract. Only leads see votes on check tasks.
    """
    snapshot = leaderboards.snapshot()
    index = index_of(snapshot)
    number = ids_of(leaderboards, snapshot).find(snapshot.view, index, identity)
    rows = index.verdicts_of(np.array([] if number is None else [number], np.int64))[0]
    if number is None or not _left_verdicts(snapshot.view, index, filters)(rows).any():
        raise RecordNotFound("There is no such battle.")
    pair: BattleView = BattleList(snapshot, filters, range(number, number + 1))[0]
    require_visible(leaderboards, pair.item_id, leads=leads)
    seqs = [int(snapshot.view.entries.seq[side[number]]) for side in (index.left, index.right)]
    cast = [
        row
        for row in _votes(snapshot.view, seqs)
        if not row.vote.retracted and (leads or row.reason not in views.CHECKS)
    ]
    return pair, cast, _judgments(leaderboards, snapshot.view, pair)


def _votes(view: views.View, seqs: list[int]) -> list[ShownVote]:
    return [ShownVote(vote, reason) for vote, reason, _ in _votes_where(view, left_seq=seqs, right_seq=seqs)]


def _votes_where(view: views.View, **where: Any) -> Iterator[tuple[Vote, views.Reason, int]]:
    """The votes of a view with these column values, each with its reason and the number of its left output."""
    rows = [row for row in view.workspace.store.rows(Vote, **where) if row["seq"] <= view.marks.votes]
    for row, reason in zip(rows, views.vote_reasons(view, [row["seq"] for row in rows]), strict=True):
        yield from_row(Vote, row), reason, row["left_seq"]


def _judgments(leaderboards: Leaderboards, view: views.View, pair: BattleView) -> list[ShownJudgment]:
    sides = [pair.left_id, pair.right_id]
    result = []
    store = leaderboards.workspace.store
    for row in store.rows(Judgment, left_id=sides, right_id=sides):
        judgment = from_row(Judgment, row)
        reply = store.get(Reply, judgment.reply_id) if judgment.reply_id else None
        result.append(
            ShownJudgment(judgment, reply.raw if reply is not None else None, views.judgment_reason(view, row))
        )
    return result


# ---------------------------------------------------------------------- items


@dataclass(frozen=True)
class ItemView:
    """An item with its outputs, their scores, ratings and issues, and the steps of agents that made them."""

    item: Item
    outputs: list[Output]
    scores: dict[str, dict[str, float]]
    ratings: dict[str, dict[str, float]]
    votes: dict[str, list[Vote]]
    traces: dict[str, Trace]


def load_item(leaderboards: Leaderboards, item_id: str, *, leads: bool) -> ItemView:
    """An item with all its outputs. Only scores and ratings that count are shown."""
    store = leaderboards.workspace.store
    item = store.get(Item, item_id)
    if item is None:
        raise RecordNotFound("There is no such item.")
    require_visible(leaderboards, item_id, leads=leads)
    view = leaderboards.snapshot().view
    item_outputs = list(store.records(Output, item_id=item_id))
    traces = {
        trace.output_id: trace
        for trace in store.records(Trace, output_id=[output.output_id for output in item_outputs])
    }
    rated, places = _ratings_of(view, item_id)
    return ItemView(item, item_outputs, _scores(view, item_id), _mean_marks(view, rated, places), rated, traces)


def _scores(view: views.View, item_id: str) -> dict[str, dict[str, float]]:
    """Mean score of each output by judge (and dimension, unless overall), over the first score of each repeat."""
    scores: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in view.workspace.store.rows(Judgment, item_id=item_id, right_id=None):
        if row["score"] is not None and not views.judgment_reason(view, row):
            name = row["judge"] if row["dimension"] == "overall" else f"{row['judge']}, {row['dimension']}"
            scores[row["left_id"]][name].setdefault(row["repeat"], row["score"])
    return {
        output: {name: statistics.fmean(repeats.values()) for name, repeats in sorted(by.items())}
        for output, by in scores.items()
    }


def _mean_marks(
    view: views.View, rated: Mapping[str, Sequence[Vote]], places: Mapping[str, int]
) -> dict[str, dict[str, float]]:
    """Mean rating of each rated output by criterion, on the criterion's scale; each rater's last mark counts."""
    if not rated:
        return {}
    ratings = views.read_ratings(view)
    means: dict[str, dict[str, float]] = {}
    for output, cast in rated.items():
        criteria = sorted({name for vote in cast for name in vote.ratings})
        marks: dict[str, list[float]] = {name: [] for name in criteria}
        for row in np.flatnonzero(ratings.output == places[output]).tolist():
            name = ratings.criterion.names[ratings.criterion.of[row]]
            if name in marks:  # marks that raters gave, not those computed from them
                marks[name].append(float(ratings.value[row]))
        means[output] = {name: statistics.fmean(values) for name, values in marks.items() if values}
    return means


def _ratings_of(view: views.View, item_id: str) -> tuple[dict[str, list[Vote]], dict[str, int]]:
    """The ratings of each output of an item that count, and the output's position in the view."""
    rated: dict[str, list[Vote]] = defaultdict(list)
    places: dict[str, int] = {}
    for vote, reason, left_seq in _votes_where(view, item_id=item_id, right_id=None):
        if not reason:
            rated[vote.left_id].append(vote)
            places[vote.left_id] = int(view.entries.at(np.array(left_seq)))
    return dict(rated), places


def step_image(leaderboards: Leaderboards, output_id: str, number: int) -> ImageRef | None:
    """The image that an agent had after a step of its trace; None if the step made none, or it is gone."""
    traces = list(leaderboards.workspace.store.records(Trace, output_id=output_id))
    steps = traces[0].steps if traces else ()
    sha256 = steps[number].get("image_sha256") if number < len(steps) else None
    if not isinstance(sha256, str):
        return None
    for row in leaderboards.workspace.store.fetch(select(blobs).where(blobs.c.sha256 == sha256)):
        if not row["withdrawn_at"]:
            return ImageRef(**{name: row[name] for name in ImageRef.model_fields})
    return None
