"""Exploring a workspace: battles with every vote and raw reply, items with all that was made for them."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from imarena.core import UserError
from imarena.core.records import ImageRef, Item, Judgment, Output, Reply, Trace, Vote
from imarena.storage import from_row, reading
from imarena.storage.schema import blobs, items, judgments, votes
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
from imarena.workflows.views import (
    CHECKS,
    EQUAL,
    PREFERENCES,
    REPLACED,
    TIE,
    IntArray,
    Reason,
    View,
    judgment_reason,
    read_ratings,
    vote_reasons,
)

EVERYTHING = BattleFilters()
_OUTCOMES = tuple(PREFERENCES[TIE] if code == EQUAL else name for code, name in enumerate(PREFERENCES))
_AT_ONCE = 500
_PAST = "index"


class HiddenRecord(UserError):
    """Something that raters are looking at now."""


class RecordNotFound(UserError):
    """There is no such record."""


@dataclass(frozen=True)
class BattleView:
    """Two outputs for one item, and what was said about them, as seen from the first."""

    battle_id: str
    item_id: str
    left_id: str
    right_id: str
    votes: Counter[str] = field(default_factory=Counter)
    judgments: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class ShownVote:
    """A vote, and why it does not count (empty where it does)."""

    vote: Vote
    reason: Reason

    @property
    def live(self) -> bool:
        """Neither replaced nor taken back."""
        return self.reason not in REPLACED


@dataclass(frozen=True)
class ShownJudgment:
    """A judgment with the raw reply it was read from, and why it does not count (empty where it does)."""

    judgment: Judgment
    reply: str | None
    reason: str


def hidden_items(looking: Leaderboards, *, leads: bool = False) -> set[str]:
    """Items that only leads may look up: raters are looking at them now."""
    if leads:
        return set()
    always = looking.kept("hidden", lambda: items_in_open_campaigns(looking.workspace))
    return always | items_in_hand(looking.workspace)


def may_see(looking: Leaderboards, item_id: str, *, leads: bool) -> None:
    """Raise where an item is in an open campaign and the person does not lead one."""
    if item_id in hidden_items(looking, leads=leads):
        raise HiddenRecord("Raters are looking at this item now.", hint="It opens again when its campaign is closed.")


# ---------------------------------------------------------------------- battles


def index_of(sight: ViewSnapshot) -> BattleIndex:
    """The pairs of a sight."""
    return sight.kept("index", lambda: _index(sight), "lists")


def _index(sight: ViewSnapshot) -> BattleIndex:
    before = sight.past.get(_PAST) or read_index_cached(sight.view)
    made = read_battle_index(sight.view, before)
    write_index_cached(sight.view, made)
    sight.past[_PAST] = made
    return made


def ids_of(looking: Leaderboards, sight: ViewSnapshot) -> BattleIds:
    """The ids of battles that were hashed so far."""
    if not looking.battle_ids.known[0].size:
        read_ids_cached(sight.view, looking.battle_ids)
    return looking.battle_ids


def hash_ids(looking: Leaderboards, sight: ViewSnapshot, pause: Callable[[], bool] = lambda: True) -> None:
    """Hash the ids of battles that are new. `pause` is called between parts; False ends it early."""
    ids_of(looking, sight).read(sight.view, index_of(sight), pause)
    write_ids_cached(sight.view, looking.battle_ids)


class BattleList(Sequence[BattleView]):
    """The battles that filters leave, in the order in which they were first named. Only what is asked for is built."""

    def __init__(self, sight: ViewSnapshot, filters: BattleFilters, pairs: IntArray) -> None:
        self._view = sight.view
        self._index = index_of(sight)
        self._filters = filters
        self._pairs = pairs

    def __len__(self) -> int:
        return int(self._pairs.size)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return self._built(self._pairs[place])
        return self._built(self._pairs[[place]])[0]

    def __iter__(self) -> Iterator[BattleView]:
        for begin in range(0, len(self), _AT_ONCE):
            yield from self[begin : begin + _AT_ONCE]

    def _built(self, pairs: IntArray) -> list[BattleView]:
        index, entries = self._index, self._view.entries
        rows = index.verdicts_of(pairs)
        rows = rows[_left_verdicts(self._view, index, self._filters, rows)]
        owner = np.searchsorted(index.start, rows, side="right") - 1
        counts: dict[tuple[int, bool], Counter[str]] = defaultdict(Counter)
        for pair, outcome, judge in zip(
            owner.tolist(), index.outcome[rows].tolist(), index.judge.of[rows].tolist(), strict=True
        ):
            counts[pair, judge < 0][_OUTCOMES[outcome]] += 1
        found = []
        for pair in pairs.tolist():
            left, right = int(index.left[pair]), int(index.right[pair])
            named = (entries.item_id[entries.item[left]], entries.id_of(left), entries.id_of(right))
            found.append(BattleView(battle_id(entries, left, right), *named, counts[pair, True], counts[pair, False]))
        return found


def list_battles(
    looking: Leaderboards, filters: BattleFilters = EVERYTHING, models: Sequence[str] = (), hidden: Collection[str] = ()
) -> BattleList:
    """The battles that filters leave, of one model or between two, without those on items that are hidden."""
    sight = looking.sight()
    filters = looking.settled(filters, sight)
    key = ("battles", filters, tuple(models))
    pairs = sight.kept(key, lambda: _pairs(sight, filters, models), "lists")
    if hidden:
        entries = sight.view.entries
        shut = np.array([one in hidden for one in entries.item_id] or [False])
        pairs = pairs[~shut[entries.item[index_of(sight).left[pairs]]]]
    return BattleList(sight, filters, pairs)


def _pairs(sight: ViewSnapshot, filters: BattleFilters, models: Sequence[str]) -> IntArray:
    view, index = sight.view, index_of(sight)
    pairs = np.arange(len(index))
    if _looks_at_verdicts(filters):
        pairs = index.with_any(_left_verdicts(view, index, filters, slice(None)))
    if filters.of_items:
        pairs = pairs[sight.boards.outputs_with(filters.of_items)[index.left[pairs]]]
    editor = view.entries.editor
    for name in models:
        code = editor.names.index(name) if name in editor.names else -2
        pairs = pairs[(editor.of[index.left[pairs]] == code) | (editor.of[index.right[pairs]] == code)]
    return pairs


def _looks_at_verdicts(filters: BattleFilters) -> bool:
    chosen = (filters.judge, filters.dimension, filters.since, filters.until)
    return filters.source != "all" or filters.released or any(one is not None for one in chosen)


def _left_verdicts(view: View, index: BattleIndex, filters: BattleFilters, rows: IntArray | slice) -> NDArray[np.bool_]:
    """(n,) which of these verdicts the filters leave."""
    judge = index.judge.of[rows]
    left = np.ones(judge.size, bool)
    names = judge_names(view, filters.judge)
    if filters.source == "human" and filters.judge is None:
        left &= judge < 0
    elif filters.source == "judge" or filters.judge is not None:
        left &= judge >= 0
    if names is not None:
        left &= np.isin(judge, [code for code, name in enumerate(index.judge.names) if name in names])
    if filters.dimension is not None:
        known = index.dimension.names
        left &= index.dimension.of[rows] == (known.index(filters.dimension) if filters.dimension in known else -2)
    if filters.since or filters.until:
        left &= filters.window.sees(index.created_us[rows])
    if filters.released:
        left &= ~index.asking[rows]
    return left


def load_battle(
    looking: Leaderboards, identity: str, *, leads: bool, filters: BattleFilters = EVERYTHING
) -> tuple[BattleView, list[ShownVote], list[ShownJudgment]]:
    """One battle with all that was said, and what of it counts.

    Taking a vote back says nothing itself: it marks what it took. How raters are checked leads alone know.
    """
    sight = looking.sight()
    index = index_of(sight)
    found = ids_of(looking, sight).find(sight.view, index, identity)
    if found is None or not _left_verdicts(sight.view, index, filters, index.verdicts_of(np.array([found]))).any():
        raise RecordNotFound("There is no such battle.")
    pair: BattleView = BattleList(sight, filters, np.array([found]))[0]
    may_see(looking, pair.item_id, leads=leads)
    seqs = [int(sight.view.entries.seq[side[found]]) for side in (index.left, index.right)]
    cast = [one for one in _votes(sight.view, seqs) if not one.vote.retracted and (leads or one.reason not in CHECKS)]
    return pair, cast, _judgments(looking, sight.view, pair)


def _votes(view: View, seqs: list[int]) -> list[ShownVote]:
    query = select(votes).where(
        votes.c.left_seq.in_(seqs), votes.c.right_seq.in_(seqs), votes.c.seq <= view.marks.votes
    )
    with reading(view.workspace.store.engine) as connection:
        rows = connection.execute(query.order_by(votes.c.seq)).mappings().all()
    cast = zip((from_row(Vote, row) for row in rows), vote_reasons(view, [row["seq"] for row in rows]), strict=True)
    return [ShownVote(vote, reason) for vote, reason in cast if isinstance(vote, Vote)]


def _judgments(looking: Leaderboards, view: View, pair: BattleView) -> list[ShownJudgment]:
    sides = [pair.left_id, pair.right_id]
    query = select(judgments).where(judgments.c.left_id.in_(sides), judgments.c.right_id.in_(sides))
    with reading(view.workspace.store.engine) as connection:
        rows = connection.execute(query.order_by(judgments.c.seq)).mappings().all()
    told = []
    store = looking.workspace.store
    for row in rows:
        judgment = from_row(Judgment, row)
        if isinstance(judgment, Judgment):
            reply = store.get(Reply, judgment.reply_id) if judgment.reply_id else None
            told.append(ShownJudgment(judgment, reply.raw if reply is not None else None, judgment_reason(view, row)))
    return told


# ---------------------------------------------------------------------- items


def item_rows(
    looking: Leaderboards, where: Mapping[str, str], hidden: Collection[str], *, after: int = 0
) -> Iterator[tuple[int, str]]:
    """`seq` and id of items in the order in which they came, with these values and not hidden."""
    base = select(items.c.seq, items.c.id).where(*(items.c[name] == value for name, value in where.items()))
    while True:
        query = base.where(items.c.seq > after).order_by(items.c.seq).limit(_AT_ONCE)
        with reading(looking.workspace.store.engine) as connection:
            rows = connection.execute(query).tuples().all()
        yield from ((seq, identity) for seq, identity in rows if identity not in hidden)
        if len(rows) < _AT_ONCE:
            return
        after = rows[-1][0]


@dataclass(frozen=True)
class ItemView:
    """An item with its outputs, their scores, ratings and issues, and the steps of an agent on the way to them."""

    item: Item
    outputs: list[Output]
    scores: dict[str, dict[str, float]]
    ratings: dict[str, dict[str, float]]
    votes: dict[str, list[Vote]]
    traces: dict[str, Trace]


def load_item(looking: Leaderboards, item_id: str, *, leads: bool) -> ItemView:
    """An item with all that was made for it. Only scores and ratings that count are shown."""
    store = looking.workspace.store
    found = store.get(Item, item_id)
    if found is None:
        raise RecordNotFound("There is no such item.")
    may_see(looking, item_id, leads=leads)
    view = looking.sight().view
    made = list(store.records(Output, item_id=item_id))
    traces = {trace.output_id: trace for trace in store.records(Trace, output_id=[one.output_id for one in made])}
    rated = _rated(view, item_id)
    return ItemView(found, made, _scores(view, item_id), _mean_marks(view, rated), rated, traces)


def _scores(view: View, item_id: str) -> dict[str, dict[str, float]]:
    """Mean score of each output by judge, and by dimension where that is not the whole: the first of each repeat."""
    names = ("left_id", "judge", "dimension", "repeat", "score", "superseded", "form_id", "status")
    query = select(*(judgments.c[name] for name in names)).where(
        judgments.c.item_id == item_id, judgments.c.right_id.is_(None), judgments.c.score.is_not(None)
    )
    scores: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    with reading(view.workspace.store.engine) as connection:
        rows = connection.execute(query.order_by(judgments.c.seq)).mappings().all()
    for row in rows:
        if not judgment_reason(view, row):
            name = row["judge"] if row["dimension"] == "overall" else f"{row['judge']}, {row['dimension']}"
            scores[row["left_id"]][name].setdefault(row["repeat"], row["score"])
    return {
        output: {name: statistics.fmean(given.values()) for name, given in sorted(by.items())}
        for output, by in scores.items()
    }


def _mean_marks(view: View, rated: Mapping[str, Sequence[Vote]]) -> dict[str, dict[str, float]]:
    """Mean rating of each rated output by criterion, on the criterion's scale; of each rater the last mark counts."""
    if not rated:
        return {}
    found = read_ratings(view)
    means: dict[str, dict[str, float]] = {}
    for output, cast in rated.items():
        given = sorted({name for vote in cast for name in vote.ratings})
        marks: dict[str, list[float]] = {name: [] for name in given}
        for row in np.flatnonzero(found.output == view.entries.place_of[output]).tolist():
            name = found.criterion.names[found.criterion.of[row]]
            if name in marks:  # what raters gave, not what was computed from it
                marks[name].append(float(found.value[row]))
        means[output] = {name: statistics.fmean(values) for name, values in marks.items() if values}
    return means


def _rated(view: View, item_id: str) -> dict[str, list[Vote]]:
    query = select(votes).where(votes.c.item_id == item_id, votes.c.right_id.is_(None), votes.c.seq <= view.marks.votes)
    with reading(view.workspace.store.engine) as connection:
        rows = connection.execute(query.order_by(votes.c.seq)).mappings().all()
    rated: dict[str, list[Vote]] = defaultdict(list)
    for row, reason in zip(rows, vote_reasons(view, [row["seq"] for row in rows]), strict=True):
        vote = from_row(Vote, row)
        if not reason and isinstance(vote, Vote):
            rated[vote.left_id].append(vote)
    return dict(rated)


def step_image(looking: Leaderboards, output_id: str, number: int) -> ImageRef | None:
    """The picture that an agent had after a step of its trace; None where the step made none, or it is gone."""
    traces = list(looking.workspace.store.records(Trace, output_id=output_id))
    steps = traces[0].steps if traces else ()
    told = steps[number].get("image_sha256") if number < len(steps) else None
    if not isinstance(told, str):
        return None
    with reading(looking.workspace.store.engine) as connection:
        row = connection.execute(select(blobs).where(blobs.c.sha256 == told)).mappings().first()
    if row is None or row["withdrawn_at"]:
        return None
    names = ("sha256", "size_bytes", "media_type", "width", "height")
    return ImageRef(**{name: row[name] for name in names})
