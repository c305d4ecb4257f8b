"""The items that a page lists, in order of arrival, and where the next page begins."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import select

from imarena.storage import reading
from imarena.storage.schema import items
from imarena.workflows.serving.leaderboards import Leaderboards

_AT_ONCE = 500


def item_rows(
    leaderboards: Leaderboards, where: Mapping[str, str], hidden: Collection[str], *, after: int = 0
) -> Iterator[tuple[int, str]]:
    """`seq` and id of items with these values that are not hidden, in order of arrival."""
    base = select(items.c.seq, items.c.id).where(*(items.c[name] == value for name, value in where.items()))
    while True:
        query = base.where(items.c.seq > after).order_by(items.c.seq).limit(_AT_ONCE)
        with reading(leaderboards.workspace.store.engine) as connection:
            rows = connection.execute(query).tuples().all()
        yield from ((seq, identity) for seq, identity in rows if identity not in hidden)
        if len(rows) < _AT_ONCE:
            return
        after = rows[-1][0]


@dataclass(frozen=True)
class ItemIds:
    """One page of items: their ids, and the `seq` after which the next page begins (None: this is the last)."""

    ids: tuple[str, ...]
    after: int | None


def item_page(
    leaderboards: Leaderboards, where: Mapping[str, str], hidden: Collection[str], limit: int, *, after: int = 0
) -> ItemIds:
    """The first `limit` items after `seq` that `item_rows` yields."""
    rows = list(islice(item_rows(leaderboards, where, hidden, after=after), limit + 1))
    page = rows[:limit]
    return ItemIds(tuple(identity for _, identity in page), page[-1][0] if len(rows) > limit else None)
