"""Campaign membership, and exclusions of raters whose votes do not count; exclusions are lifted, never deleted."""

from typing import Any

from sqlalchemy import Connection, bindparam, exists, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from imarena.core import moment_text
from imarena.core.records import Exclusion
from imarena.storage.schema import exclusions, participants


def join_campaign(connection: Connection, campaign_id: str, rater_id: str, now: str) -> None:
    """Add a rater to a campaign."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    row = {"campaign_id": campaign_id, "rater_id": rater_id, "joined_at": now, "active": 1}
    connection.execute(dialect.insert(participants).on_conflict_do_nothing(), row)


def memberships(connection: Connection, rater_id: str, after: int, limit: int) -> tuple[list[tuple[int, str]], int]:
    """The campaigns that a rater joined after a position, each with its position, and the total number joined."""
    own = participants.c.rater_id == rater_id
    query = select(participants.c.seq, participants.c.campaign_id).where(own, participants.c.seq > after)
    rows = connection.execute(query.order_by(participants.c.seq).limit(limit))
    total = connection.execute(select(func.count()).select_from(participants).where(own)).scalar_one()
    return [(row[0], row[1]) for row in rows], total


def change_membership(connection: Connection, campaign_id: str, rater_id: str, **values: Any) -> bool:
    """Record consent, or pause a rater."""
    own = (participants.c.campaign_id == campaign_id, participants.c.rater_id == rater_id)
    return connection.execute(update(participants).where(*own).values(**values)).rowcount == 1


RATER_IS_EXCLUDED = exists().where(exclusions.c.rater_id == bindparam("rater"), exclusions.c.lifted_at.is_(None))
"""A condition for statements that have the parameter `rater`."""


def read_exclusions(connection: Connection, rater_id: str | None = None, *, live: bool = False) -> list[Exclusion]:
    """Exclusions of one rater or of all, oldest first. `live`: only those that are not lifted."""
    query = select(exclusions).order_by(exclusions.c.seq)
    if rater_id is not None:
        query = query.where(exclusions.c.rater_id == rater_id)
    if live:
        query = query.where(exclusions.c.lifted_at.is_(None))
    return [_record(row) for row in connection.execute(query).mappings()]


def add_exclusion(connection: Connection, exclusion: Exclusion) -> bool:
    """Store an exclusion; False if it exists already. If it was lifted elsewhere meanwhile, it is lifted here too."""
    since = None if exclusion.since is None else moment_text(exclusion.since)
    matches = (
        exclusions.c.rater_id == exclusion.rater_id,
        exclusions.c.created_at == moment_text(exclusion.created_at),
        exclusions.c.since.is_(None) if since is None else exclusions.c.since == since,
    )
    existing = connection.execute(select(exclusions.c.seq).where(*matches)).first()
    if existing is None:
        row = {
            "rater_id": exclusion.rater_id, "since": since, "reason": exclusion.reason,
            "created_at": moment_text(exclusion.created_at), "created_by": exclusion.by, **_lifting(exclusion),
        }  # fmt: skip
        connection.execute(exclusions.insert(), row)
        return True
    if exclusion.lifted_at is not None:
        still = (exclusions.c.seq == existing[0], exclusions.c.lifted_at.is_(None))
        connection.execute(update(exclusions).where(*still).values(_lifting(exclusion)))
    return False


def lift_exclusions(connection: Connection, rater_id: str, *, moment: str, by: str, reason: str) -> int:
    """Lift all exclusions of a rater; returns how many there were."""
    live = (exclusions.c.rater_id == rater_id, exclusions.c.lifted_at.is_(None))
    lifted = {"lifted_at": moment, "lifted_by": by, "lifted_reason": reason}
    return connection.execute(update(exclusions).where(*live).values(lifted)).rowcount


def _lifting(exclusion: Exclusion) -> dict[str, str | None]:
    if exclusion.lifted_at is None:
        return {"lifted_at": None, "lifted_by": None, "lifted_reason": None}
    moment = moment_text(exclusion.lifted_at)
    return {"lifted_at": moment, "lifted_by": exclusion.lifted_by, "lifted_reason": exclusion.lifted_reason}


def _record(row: Any) -> Exclusion:
    texts = {"by": row["created_by"], "lifted_by": row["lifted_by"], "lifted_reason": row["lifted_reason"]}
    columns = {name: row[name] for name in ("rater_id", "since", "reason", "created_at", "lifted_at")}
    return Exclusion.model_validate({**columns, **{name: value or "" for name, value in texts.items()}})
