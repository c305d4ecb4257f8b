"""Which pictures of a task were sent to its holder, by the task's address: a vote from a browser requires it."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite

from imarena.storage.prepared import PreparedStatement
from imarena.storage.schema import pictures_served

_SERVED = PreparedStatement(
    select(pictures_served.c.slot, pictures_served.c.at).where(pictures_served.c.address == bindparam("address"))
)


def add_served_pictures(connection: Connection, served: Iterable[tuple[str, str, str]]) -> None:
    """Record (address, slot, moment) of sent pictures; the first moment of each is kept."""
    rows = [{"address": address, "slot": slot, "at": at} for address, slot, at in served]
    if rows:
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        connection.execute(dialect.insert(pictures_served).on_conflict_do_nothing(), rows)


def read_served_pictures(connection: Connection, address: str) -> dict[str, str]:
    """The slots of a task that were sent, each with the time at which it was first sent."""
    rows: Any = _SERVED(connection, address=address).all()
    return {str(slot): str(at) for slot, at in rows}
