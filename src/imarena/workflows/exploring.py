"""Exploring a workspace: battles with every vote and raw reply, items with all that was made for them."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import and_, or_, select

from imarena.core.errors import UserError
from imarena.core.ids import content_id
from imarena.core.records import ImageRef, Item, Judgment, Outcome, Output, Reply, Trace, Vote
from imarena.storage.codec import from_row
from imarena.storage.database import reading
from imarena.storage.schema import blobs, judgments, votes
from imarena.workflows.battles import dimension_of, live_votes
from imarena.workflows.campaigns import items_in_hand, items_in_open_campaigns
from imarena.workflows.looking import Filters, Looking, wanted_of

EVERYTHING = Filters()


class Hidden(UserError):
    """Something that raters are looking at now."""


class NotThere(UserError):
    """There is no such record."""


@dataclass
class Pair:
    """Two outputs for one item, and what was said about them, as seen from the first."""

    battle_id: str
    item_id: str
    left_id: str
    right_id: str
    votes: Counter[str] = field(default_factory=Counter)
    judgments: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Said:
    """A judgment with the raw reply it was read from."""

    judgment: Judgment
    reply: str | None


def hidden_items(looking: Looking) -> set[str]:
    """Items that only leads may look up: raters are looking at them now."""
    always = looking.kept("hidden", lambda: items_in_open_campaigns(looking.workspace), light=True)
    return always | items_in_hand(looking.workspace)


def may_see(looking: Looking, item_id: str, *, leads: bool) -> None:
    """Raise where an item is in an open campaign and the person does not lead one."""
    if not leads and item_id in hidden_items(looking):
        raise Hidden("Raters are looking at this item now.", hint="It opens again when its campaign is closed.")


def pairs(looking: Looking, filters: Filters = EVERYTHING) -> dict[str, Pair]:
    """Battles by id, in the order in which they were first named, with what the filters leave of the verdicts."""
    filters = looking.settled(filters)
    return looking.kept(("pairs", filters), lambda: _pairs(looking, filters))


def _pairs(looking: Looking, filters: Filters) -> dict[str, Pair]:
    found: dict[str, Pair] = {}
    workspace, fits = looking.seen(filters), fitting(looking, filters)

    def at(row: Any) -> tuple[Pair, bool]:
        left, right = sorted((row["left_id"], row["right_id"]))
        identity = content_id("battle", row["item_id"], left, right)
        pair = found.setdefault(identity, Pair(identity, row["item_id"], left, right))
        return pair, row["left_id"] != left

    if filters.source != "judge" and filters.judge is None:
        for row in live_votes(workspace):
            if row["preference"] is None or row["right_id"] is None or not fits(row):
                continue
            if filters.dimension in (None, dimension_of(row)):
                pair, mirrored = at(row)
                pair.votes[_seen(row["preference"], mirrored=mirrored)] += 1
    if filters.source != "human":
        asked: dict[str, Any] = {"judge": filters.judge, "dimension": filters.dimension}
        for row in workspace.store.rows(Judgment, **{name: value for name, value in asked.items() if value}):
            if row["right_id"] is not None and row["preference"] is not None and fits(row):
                pair, mirrored = at(row)
                pair.judgments[_seen(row["preference"], mirrored=mirrored)] += 1
    return found


def fitting(looking: Looking, filters: Filters) -> Callable[[Any], bool]:
    """Is a vote or a judgment about an item, and about outputs, that the filters leave?"""
    wanted = wanted_of(filters)
    mode = wanted.pop("mode", None)
    store = looking.workspace.store
    kept = {row["id"] for row in store.rows(Item, **wanted)} if wanted else None
    made = {row["id"] for row in store.rows(Output, mode=mode)} if mode is not None else None
    return lambda row: (kept is None or row["item_id"] in kept) and (made is None or row["left_id"] in made)


def _seen(preference: str, *, mirrored: bool) -> str:
    outcome = Outcome(preference)
    return (outcome.mirrored() if mirrored else outcome).value


def battle(
    looking: Looking, battle_id: str, *, leads: bool, filters: Filters = EVERYTHING
) -> tuple[Pair, list[Vote], list[Said]]:
    """One battle with all that was said."""
    pair = pairs(looking, filters).get(battle_id)
    if pair is None:
        raise NotThere("There is no such battle.")
    may_see(looking, pair.item_id, leads=leads)
    store = looking.workspace.store
    with reading(store.engine) as connection:
        votes_found = connection.execute(select(votes).where(_about(votes, pair)).order_by(votes.c.seq))
        cast = [from_row(Vote, row) for row in votes_found.mappings()]
        said = connection.execute(select(judgments).where(_about(judgments, pair)).order_by(judgments.c.seq))
        judged = [from_row(Judgment, row) for row in said.mappings()]
    told = []
    for judgment in judged:
        if isinstance(judgment, Judgment):
            reply = store.get(Reply, judgment.reply_id) if judgment.reply_id else None
            told.append(Said(judgment, reply.raw if reply is not None else None))
    return pair, [vote for vote in cast if isinstance(vote, Vote)], told


def _about(table: Any, pair: Pair) -> Any:
    one = and_(table.c.left_id == pair.left_id, table.c.right_id == pair.right_id)
    other = and_(table.c.left_id == pair.right_id, table.c.right_id == pair.left_id)
    return and_(table.c.item_id == pair.item_id, or_(one, other))


def live(found: list[Vote]) -> set[str]:
    """Ids of the votes that count: not replaced, not taken back."""
    replaced = {vote.supersedes for vote in found if vote.supersedes}
    return {vote.vote_id for vote in found if not vote.retracted and vote.vote_id not in replaced}


@dataclass(frozen=True)
class Shown:
    """An item with its outputs, their scores, ratings and issues, and the steps of an agent on the way to them."""

    item: Item
    outputs: list[Output]
    scores: dict[str, dict[str, float]]
    votes: dict[str, list[Vote]]
    traces: dict[str, Trace]


def item(looking: Looking, item_id: str, *, leads: bool) -> Shown:
    """An item with all that was made for it."""
    store = looking.workspace.store
    found = store.get(Item, item_id)
    if found is None:
        raise NotThere("There is no such item.")
    may_see(looking, item_id, leads=leads)
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for judgment in store.records(Judgment, item_id=item_id, right_id=None):
        if judgment.score is not None:
            name = judgment.judge if judgment.dimension == "overall" else f"{judgment.judge}, {judgment.dimension}"
            scores[judgment.left_id][name].append(judgment.score)
    cast = list(store.records(Vote, item_id=item_id))
    counted = live(cast)
    rated: dict[str, list[Vote]] = defaultdict(list)
    for vote in cast:
        if vote.vote_id in counted and vote.right_id is None:
            rated[vote.left_id].append(vote)
    means = {
        output: {name: statistics.fmean(values) for name, values in sorted(by.items())} for output, by in scores.items()
    }
    made = list(store.records(Output, item_id=item_id))
    traces = {trace.output_id: trace for trace in store.records(Trace, output_id=[one.output_id for one in made])}
    return Shown(found, made, means, dict(rated), traces)


def step_image(looking: Looking, output_id: str, number: int) -> ImageRef | None:
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
