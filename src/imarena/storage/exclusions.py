"""Exclusions: whose votes do not count. Rows are added and lifted, never deleted."""

from typing import Any

from sqlalchemy import Connection, bindparam, exists, select, update

from imarena.core import moment_text
from imarena.core.records import Exclusion
from imarena.storage.schema import exclusions

RATER_IS_EXCLUDED = exists().where(exclusions.c.rater_id == bindparam("rater"), exclusions.c.lifted_at.is_(None))
"""A condition in a statement with the value `rater`."""


def read_exclusions(connection: Connection, rater_id: str | None = None, *, live: bool = False) -> list[Exclusion]:
    """Exclusions, oldest first: of one rater or of all. `live`: only those that nobody lifted."""
    query = select(exclusions).order_by(exclusions.c.seq)
    if rater_id is not None:
        query = query.where(exclusions.c.rater_id == rater_id)
    if live:
        query = query.where(exclusions.c.lifted_at.is_(None))
    return [_record(row) for row in connection.execute(query).mappings()]


def add_exclusion(connection: Connection, exclusion: Exclusion) -> bool:
    """Store an exclusion; False where it is there already. One that was lifted elsewhere since is lifted here too."""
    since = None if exclusion.since is None else moment_text(exclusion.since)
    same = (
        exclusions.c.rater_id == exclusion.rater_id,
        exclusions.c.created_at == moment_text(exclusion.created_at),
        exclusions.c.since.is_(None) if since is None else exclusions.c.since == since,
    )
    known = connection.execute(select(exclusions.c.seq).where(*same)).first()
    if known is None:
        row = {
            "rater_id": exclusion.rater_id, "since": since, "reason": exclusion.reason,
            "created_at": moment_text(exclusion.created_at), "created_by": exclusion.by, **_lifting(exclusion),
        }  # fmt: skip
        connection.execute(exclusions.insert(), row)
        return True
    if exclusion.lifted_at is not None:
        still = (exclusions.c.seq == known[0], exclusions.c.lifted_at.is_(None))
        connection.execute(update(exclusions).where(*still).values(_lifting(exclusion)))
    return False


def lift_exclusions(connection: Connection, rater_id: str, *, moment: str, by: str, reason: str) -> int:
    """End all exclusions of a rater; returns how many there were."""
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
    same = {name: row[name] for name in ("rater_id", "since", "reason", "created_at", "lifted_at")}
    return Exclusion.model_validate({**same, **{name: value or "" for name, value in texts.items()}})
