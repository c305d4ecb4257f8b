"""The items that a page lists, in order of arrival, and where the next page begins."""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from sqlalchemy import select

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
        rows = leaderboards.workspace.store.fetch(query)
        yield from ((row["seq"], row["id"]) for row in rows if row["id"] not in hidden)
        if len(rows) < _AT_ONCE:
            return
        after = rows[-1]["seq"]


def item_page(
    leaderboards: Leaderboards, where: Mapping[str, str], hidden: Collection[str], limit: int, *, after: int = 0
) -> tuple[list[str], int | None]:
    """The ids of the first `limit` items that `item_rows` yields, and the `seq` after which the next page begins."""
    rows = list(islice(item_rows(leaderboards, where, hidden, after=after), limit + 1))
    page = rows[:limit]
    return [identity for _, identity in page], page[-1][0] if len(rows) > limit else None
