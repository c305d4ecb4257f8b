"""Who takes part in which campaign."""

from typing import Any

from sqlalchemy import Connection, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from imarena.storage.schema import participants


def join_campaign(connection: Connection, campaign_id: str, rater_id: str, now: str) -> None:
    """Give a rater a place in a campaign."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    row = {"campaign_id": campaign_id, "rater_id": rater_id, "joined_at": now, "active": 1}
    connection.execute(dialect.insert(participants).on_conflict_do_nothing(), row)


def memberships(connection: Connection, rater_id: str, after: int, limit: int) -> tuple[list[tuple[int, str]], int]:
    """The campaigns that a rater joined after a place, each with its place, and how many the rater joined in all."""
    mine = participants.c.rater_id == rater_id
    query = select(participants.c.seq, participants.c.campaign_id).where(mine, participants.c.seq > after)
    rows = connection.execute(query.order_by(participants.c.seq).limit(limit))
    total = connection.execute(select(func.count()).select_from(participants).where(mine)).scalar_one()
    return [(row[0], row[1]) for row in rows], total


def change_membership(connection: Connection, campaign_id: str, rater_id: str, **values: Any) -> bool:
    """Note consent, or pause a rater."""
    mine = (participants.c.campaign_id == campaign_id, participants.c.rater_id == rater_id)
    return connection.execute(update(participants).where(*mine).values(**values)).rowcount == 1
