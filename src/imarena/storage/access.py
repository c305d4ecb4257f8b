"""Access control: invitations, sessions and tokens. Secrets are 256 random bits and are stored as SHA-256 only."""

import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import Field
from sqlalchemy import Connection, Engine, RowMapping, Select, func, insert, select, update

from imarena.core import moment_text, sha256_hex
from imarena.core.records import FrozenModel, Rater, now
from imarena.storage.database import reading, writing
from imarena.storage.leases import insert_new
from imarena.storage.membership import join_campaign
from imarena.storage.schema import guests, invitations, sessions, tokens

_USED_DAYS = 5 / 1440
"""Precision in days of a token's last use: a client that asks every second causes almost no writes."""
_BOUND = "bound"
"""Guest name for an invitation that is bound to an existing rater, both before and after the rater comes."""
ONE_USE = ("lead",)
"""Roles whose links open only once: whoever finds such a link later must not become a lead."""
_MADE_HERE = re.compile(r"rater_[0-9a-f]{16}")
T = TypeVar("T", "StoredInvitation", "StoredToken", "StoredSession")


@dataclass(frozen=True)
class Visitor:
    """The person or machine behind a session or a token."""

    key: str
    role: str
    name: str
    rater_id: str | None = None
    campaign_id: str | None = None


class StoredInvitation(FrozenModel):
    """An invitation link without its secret, and the number of people who came through it."""

    seq: int = Field(exclude=True)
    invitation_id: str
    campaign_id: str | None
    role: str
    name: str
    created_at: str
    expires_at: str
    revoked: bool
    max_people: int
    people: int
    rater_id: str | None
    """The rater that the link is bound to; None: each person who opens it becomes a new rater."""
    one_use: bool
    """The link opens only once, like a lead's. The owner of any other link may open it again."""
    used: bool
    """A one-use link has been opened."""


class StoredToken(FrozenModel):
    """A machine's token without its secret."""

    seq: int = Field(exclude=True)
    token_id: str
    name: str
    role: str
    created_at: str
    expires_at: str
    revoked: bool
    last_used_at: str | None
    """Precise to five minutes; None: never used."""


class StoredSession(FrozenModel):
    """An open session. `cursor` is its position in the list."""

    session_id: str
    role: str
    name: str
    campaign_id: str | None
    created_at: str
    expires_at: str
    cursor: str = Field(exclude=True)


def hash_secret(secret: str) -> str:
    """The form in which a secret is stored. It is long and random, so a plain hash cannot be brute-forced."""
    return sha256_hex(secret.encode("utf-8", "surrogatepass"))


def _later(days: float) -> str:
    return moment_text(now() + timedelta(days=days))


def _stored(kind: type[T], key: str, row: RowMapping) -> T:
    """Build `kind` from a row: `key` is the name of its id field, and a revocation time means revoked."""
    one_use = row["role"] in ONE_USE
    values: dict[str, Any] = {**row, key: row["id"], "revoked": row["revoked_at"] is not None}
    values |= {"one_use": one_use, "used": one_use and row.get("people", 0) > 0}
    return kind(**{name: values[name] for name in kind.model_fields})


# ---------------------------------------------------------------- invitations


def invite(
    engine: Engine,
    *,
    campaign_id: str | None,
    role: str,
    name: str,
    days: float,
    max_people: int,
    person_param: str,
    rater_id: str | None = None,
) -> tuple[str, str]:
    """Create an invitation; returns its id and its secret, which is not stored. `rater_id` makes it personal."""
    identity, secret = f"inv_{secrets.token_hex(8)}", secrets.token_urlsafe(32)
    row = {
        "id": identity, "secret_hash": hash_secret(secret), "campaign_id": campaign_id, "role": role, "name": name,
        "max_people": max_people, "person_param": person_param, "created_at": _later(0), "expires_at": _later(days),
    }  # fmt: skip
    with writing(engine) as connection:
        connection.execute(insert(invitations).values(row))
        if rater_id is not None:
            connection.execute(insert(guests).values(invitation_id=identity, person=_BOUND, rater_id=rater_id))
    return identity, secret


def invitation_rows(
    engine: Engine, *, campaign_id: str | None, before: int | None, limit: int, identity: str | None = None
) -> list[StoredInvitation]:
    """Invitations, newest first, with the number of people who came through each."""
    of_link = guests.c.invitation_id == invitations.c.id
    people = select(func.count()).where(of_link, guests.c.person != _BOUND).scalar_subquery().label("people")
    bound = select(guests.c.rater_id).where(of_link, guests.c.person == _BOUND).scalar_subquery().label("rater_id")
    query = select(invitations, people, bound).order_by(invitations.c.seq.desc()).limit(limit)
    if campaign_id is not None:
        query = query.where(invitations.c.campaign_id == campaign_id)
    if identity is not None:
        query = query.where(invitations.c.id == identity)
    if before is not None:
        query = query.where(invitations.c.seq < before)
    with reading(engine) as connection:
        return [_stored(StoredInvitation, "invitation_id", row) for row in connection.execute(query).mappings()]


def count_invitations(engine: Engine, *, campaign_id: str | None) -> int:
    """Number of invitations, to one campaign or to all."""
    query = select(func.count()).select_from(invitations)
    if campaign_id is not None:
        query = query.where(invitations.c.campaign_id == campaign_id)
    with reading(engine) as connection:
        return int(connection.execute(query).scalar_one())


def revoke_invitation(engine: Engine, identity: str) -> bool:
    """Revoke an invitation and every session that came from it."""
    moment = _later(0)
    with writing(engine) as connection:
        row = connection.execute(select(invitations.c.revoked_at).where(invitations.c.id == identity)).first()
        if row is None or row[0] is not None:  # a second revocation would hide which sessions the first one ended
            return row is not None
        connection.execute(update(invitations).where(invitations.c.id == identity).values(revoked_at=moment))
        live = (sessions.c.invitation_id == identity, sessions.c.revoked_at.is_(None))
        connection.execute(update(sessions).where(*live).values(revoked_at=moment))
    return True


def restore_invitation(engine: Engine, identity: str) -> bool:
    """Undo a revocation and restore the sessions that it ended; False if nothing is revoked."""
    query = select(invitations.c.revoked_at).where(invitations.c.id == identity)
    with writing(engine) as connection:
        moment = connection.execute(query.with_for_update()).scalar_one_or_none()
        if moment is None:
            return False
        connection.execute(update(invitations).where(invitations.c.id == identity).values(revoked_at=None))
        ended = (sessions.c.invitation_id == identity, sessions.c.revoked_at == moment)
        connection.execute(update(sessions).where(*ended).values(revoked_at=None))
    return True


def is_live_name(connection: Connection, campaign_id: str, name: str) -> bool:
    """Does the campaign have a link with this name that can still be opened?"""
    live = (invitations.c.campaign_id == campaign_id, invitations.c.name == name, invitations.c.revoked_at.is_(None))
    query = select(invitations.c.seq).where(*live, invitations.c.expires_at >= _later(0))
    return connection.execute(query.limit(1)).first() is not None


def accept_invitation(engine: Engine, secret: str, params: dict[str, str], days: float) -> str | None:
    """Open an invitation: returns the cookie secret of a new session, or None if the link is not valid (any more)."""
    with writing(engine) as connection:
        query = select(invitations).where(invitations.c.secret_hash == hash_secret(secret))
        row = connection.execute(query.with_for_update()).mappings().first()
        if row is None or row["revoked_at"] or row["expires_at"] < _later(0):
            return None
        rater_id = None if _is_used(connection, row) else _guest(connection, row, params)
        if rater_id is None:
            return None
        if row["campaign_id"] is not None:
            join_campaign(connection, row["campaign_id"], rater_id, _later(0))
        return _session(
            connection, row["role"], row["name"], days,
            rater_id=rater_id, invitation_id=row["id"], campaign_id=row["campaign_id"],
        )  # fmt: skip


def invitation_refusal(engine: Engine, secret: str, params: dict[str, str]) -> str:
    """The reason why a link with this secret was refused: unknown, revoked, expired, used, no_person, full."""
    query = select(invitations).where(invitations.c.secret_hash == hash_secret(secret))
    with reading(engine) as connection:
        row = connection.execute(query).mappings().first()
        is_used = row is not None and _is_used(connection, row)
    if row is None:
        return "unknown"
    if row["revoked_at"]:
        return "revoked"
    if row["expires_at"] < _later(0):
        return "expired"
    if is_used:
        return "used"
    shared = row["max_people"] > 1 and row["person_param"]
    return "no_person" if shared and not params.get(row["person_param"]) else "full"


def came_by_invitation(engine: Engine, session: str, secret: str) -> bool:
    """Did the person with this session (its key) come through the link with this secret?"""
    link = select(invitations.c.id).where(invitations.c.secret_hash == hash_secret(secret)).scalar_subquery()
    query = select(sessions.c.id).where(sessions.c.id == session, sessions.c.invitation_id == link)
    with reading(engine) as connection:
        return connection.execute(query).first() is not None


def _is_used(connection: Connection, row: Any) -> bool:
    """Has a one-use link been opened?"""
    came = (guests.c.invitation_id == row["id"], guests.c.person != _BOUND)
    return row["role"] in ONE_USE and connection.execute(select(guests.c.person).where(*came)).first() is not None


def _guest(connection: Connection, row: Any, params: dict[str, str]) -> str | None:
    """The rater of the link: the same for a person on every visit; None if the link is full."""
    if row["max_people"] == 1:
        person = "the guest"
    elif row["person_param"]:
        person_id = params.get(row["person_param"], "")
        if not person_id:
            return None
        person = hash_secret(f"{row['id']}:{person_id}")
    else:
        person = secrets.token_hex(16)
    query = select(guests.c.rater_id).where(guests.c.invitation_id == row["id"], guests.c.person == person)
    rater_id = connection.execute(query).scalar_one_or_none()
    if rater_id is not None:
        return str(rater_id)
    bound = connection.execute(_bound_to(row["id"])).scalar_one_or_none()
    if bound is not None:
        connection.execute(insert(guests).values(invitation_id=row["id"], person=person, rater_id=bound))
        return str(bound)
    count = connection.execute(select(func.count()).where(guests.c.invitation_id == row["id"])).scalar_one()
    if count >= row["max_people"]:
        return None
    rater = Rater(
        rater_id=f"rater_{secrets.token_hex(8)}", name=row["name"], role=row["role"], params=dict(params),
    )  # fmt: skip
    insert_new(connection, rater)
    connection.execute(insert(guests).values(invitation_id=row["id"], person=person, rater_id=rater.rater_id))
    return rater.rater_id


def _bound_to(invitation_id: str) -> Select[tuple[str]]:
    return select(guests.c.rater_id).where(guests.c.invitation_id == invitation_id, guests.c.person == _BOUND)


def is_walk_in_rater(rater_id: str) -> bool:
    """Was this rater id created by an invitation that was not bound to a rater?"""
    return _MADE_HERE.fullmatch(rater_id) is not None


def has_personal_invitation(connection: Connection, rater_id: str) -> bool:
    """Did this rater come through a personal invitation, to do tasks that were made for them?"""
    if is_walk_in_rater(rater_id):  # most raters: no query
        return False
    query = select(guests.c.rater_id).where(guests.c.rater_id == rater_id, guests.c.person == _BOUND).limit(1)
    return connection.execute(query).first() is not None


# ---------------------------------------------------------------- sessions and tokens


def _session(connection: Connection, role: str, name: str, days: float, **values: Any) -> str:
    secret = secrets.token_urlsafe(32)
    row = {"id": hash_secret(secret), "role": role, "name": name, "created_at": _later(0), "expires_at": _later(days)}
    connection.execute(insert(sessions).values({**row, **values}))
    return secret


def open_session(engine: Engine, *, role: str, name: str, days: float, rater: Rater | None = None) -> str:
    """Sign in somebody who needs no invitation; returns the cookie secret."""
    with writing(engine) as connection:
        return _session(connection, role, name, days, rater_id=rater.rater_id if rater else None)


def visitors(engine: Engine, keys: Iterable[str]) -> dict[str, Visitor]:
    """The owners of sessions by their keys (`hash_secret`), without sessions that have ended.

    All keys are one parameter: a separate statement for each number of keys would evict the statements of a vote from
    PostgreSQL's prepared ones.
    """
    postgresql = engine.dialect.name == "postgresql"
    condition = "= ANY(%s)" if postgresql else "IN (SELECT value FROM json_each(?))"
    query = f"""SELECT id, role, name, rater_id, campaign_id FROM sessions
        WHERE id {condition} AND revoked_at IS NULL AND expires_at >= {"%s" if postgresql else "?"}"""  # noqa: S608
    parameter = list(keys) if postgresql else json.dumps(list(keys))
    with reading(engine) as connection:
        rows = connection.exec_driver_sql(query, (parameter, _later(0))).all()
    return {row[0]: Visitor(*row) for row in rows}


def close_session(engine: Engine, key: str) -> None:
    """Sign somebody out."""
    with writing(engine) as connection:
        connection.execute(update(sessions).where(sessions.c.id == key).values(revoked_at=_later(0)))


def session_rows(engine: Engine, *, before: str | None, limit: int) -> list[StoredSession]:
    """Open sessions, newest first. `before` is the `created_at` and `id` of the last one seen, joined."""
    cursor = sessions.c.created_at + " " + sessions.c.id
    query = (
        select(sessions, cursor.label("cursor"))
        .where(sessions.c.revoked_at.is_(None), sessions.c.expires_at >= _later(0))
        .order_by(cursor.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(cursor < before)
    with reading(engine) as connection:
        return [_stored(StoredSession, "session_id", row) for row in connection.execute(query).mappings()]


def end_session(engine: Engine, key: str) -> bool:
    """End a session from elsewhere; returns whether it was open."""
    query = update(sessions).where(sessions.c.id == key, sessions.c.revoked_at.is_(None))
    with writing(engine) as connection:
        return bool(connection.execute(query.values(revoked_at=_later(0))).rowcount)


def make_token(engine: Engine, *, name: str, role: str, days: float) -> tuple[str, str]:
    """Create a machine's token; returns its id and its secret, which is not stored."""
    identity, secret = f"tok_{secrets.token_hex(8)}", f"imarena_{secrets.token_urlsafe(32)}"
    row = {"id": identity, "secret_hash": hash_secret(secret), "name": name, "role": role}
    with writing(engine) as connection:
        connection.execute(insert(tokens).values(**row, created_at=_later(0), expires_at=_later(days)))
    return identity, secret


def token_visitor(engine: Engine, secret: str) -> Visitor | None:
    """The owner of a token, or None if it is not valid."""
    with reading(engine) as connection:
        row = connection.execute(select(tokens).where(tokens.c.secret_hash == hash_secret(secret))).mappings().first()
    if row is None or row["revoked_at"] or row["expires_at"] < _later(0):
        return None
    if (row["last_used_at"] or "") < _later(-_USED_DAYS):
        with writing(engine) as connection:
            connection.execute(update(tokens).where(tokens.c.id == row["id"]).values(last_used_at=_later(0)))
    return Visitor(row["id"], row["role"], row["name"])


def token_rows(
    engine: Engine, *, before: int | None, limit: int, identity: str | None = None, roles: Sequence[str] = ()
) -> list[StoredToken]:
    """Tokens, newest first; `roles`: only tokens with one of these roles."""
    query = select(tokens).order_by(tokens.c.seq.desc()).limit(limit)
    if roles:
        query = query.where(tokens.c.role.in_(roles))
    if before is not None:
        query = query.where(tokens.c.seq < before)
    if identity is not None:
        query = query.where(tokens.c.id == identity)
    with reading(engine) as connection:
        return [_stored(StoredToken, "token_id", row) for row in connection.execute(query).mappings()]


def revoke_token(engine: Engine, identity: str) -> bool:
    """Revoke a token."""
    with writing(engine) as connection:
        result = connection.execute(update(tokens).where(tokens.c.id == identity).values(revoked_at=_later(0)))
    return bool(result.rowcount)
