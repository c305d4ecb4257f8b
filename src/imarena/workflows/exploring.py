"""Exploring a workspace: battles with every vote and raw reply, items with all that was made for them."""

import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import and_, or_, select

from imarena.core.errors import UserError
from imarena.core.ids import content_id
from imarena.core.records import Item, Judgment, Outcome, Output, Reply, Vote
from imarena.storage.codec import from_row
from imarena.storage.database import reading
from imarena.storage.schema import judgments, votes
from imarena.workflows.battles import live_votes
from imarena.workflows.campaigns import items_in_open_campaigns
from imarena.workflows.looking import Looking


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
    return looking.kept("hidden", lambda: items_in_open_campaigns(looking.workspace))


def may_see(looking: Looking, item_id: str, *, leads: bool) -> None:
    """Raise where an item is in an open campaign and the person does not lead one."""
    if not leads and item_id in hidden_items(looking):
        raise Hidden("Raters are looking at this item now.", hint="It opens again when its campaign is closed.")


def pairs(looking: Looking) -> dict[str, Pair]:
    """All battles by id, in the order in which they were first named."""
    return looking.kept("pairs", lambda: _pairs(looking))


def _pairs(looking: Looking) -> dict[str, Pair]:
    found: dict[str, Pair] = {}

    def at(row: Any) -> tuple[Pair, bool]:
        left, right = sorted((row["left_id"], row["right_id"]))
        identity = content_id("battle", row["item_id"], left, right)
        pair = found.setdefault(identity, Pair(identity, row["item_id"], left, right))
        return pair, row["left_id"] != left

    store = looking.workspace.store
    for row in live_votes(looking.workspace):
        if row["preference"] is not None and row["right_id"] is not None:
            pair, mirrored = at(row)
            pair.votes[_seen(row["preference"], mirrored=mirrored)] += 1
    for row in store.rows(Judgment):
        if row["right_id"] is not None and row["preference"] is not None:
            pair, mirrored = at(row)
            pair.judgments[_seen(row["preference"], mirrored=mirrored)] += 1
    return found


def _seen(preference: str, *, mirrored: bool) -> str:
    outcome = Outcome(preference)
    return (outcome.mirrored() if mirrored else outcome).value


def battle(looking: Looking, battle_id: str, *, leads: bool) -> tuple[Pair, list[Vote], list[Said]]:
    """One battle with all that was said."""
    pair = pairs(looking).get(battle_id)
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
    """An item with its outputs, their scores, ratings and issues."""

    item: Item
    outputs: list[Output]
    scores: dict[str, dict[str, float]]
    votes: dict[str, list[Vote]]


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
    return Shown(found, list(store.records(Output, item_id=item_id)), means, dict(rated))
