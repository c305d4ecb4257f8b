"""Leases: who holds which assignment now. Every change is one conditional update inside the caller's transaction.

A lease that has run out stays with its holder until somebody else takes it, so that a late vote can still count; the
one who takes it gets a new address, and the old address then opens nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, CursorResult, Text, and_, bindparam, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from imarena.core.records import Assignment, Record
from imarena.storage.codec import kind_of, to_row
from imarena.storage.prepared import Prepared
from imarena.storage.schema import assignments, campaigns, events, leases, outputs, participants, units_seen, votes

HOLDING = ("held", "parked")
WAITING = "waiting"
"""Kept ready for a rater who is still answering another task: theirs to get next, not yet shown."""


@dataclass(frozen=True)
class Lease:
    """A row of the leases."""

    assignment_id: str
    campaign_id: str
    rater_id: str | None
    until: str | None
    state: str
    unit: str
    purpose: str
    position: int
    address: str | None
    vote_id: str | None
    done_at: str | None


@dataclass(frozen=True)
class Place:
    """A rater's place in a campaign."""

    consented_at: str | None
    active: bool


@dataclass(frozen=True)
class Tally:
    """What a rater has done in a campaign."""

    done: int
    recent: int
    practice: int
    qualification: int


_INSERTS: dict[str, Prepared] = {}


def insert_new(connection: Connection, record: Record) -> None:
    """Append one record that must be new; the database checks its links."""
    row = to_row(record)
    table = kind_of(type(record)).table
    statement = _INSERTS.get(table.name)
    if statement is None:
        names: dict[str, Any] = {name: bindparam(name) for name in row}
        statement = _INSERTS[table.name] = Prepared(insert(table).values(names))
    statement(connection, **row)


def offer(connection: Connection, offered: Iterable[tuple[Assignment, int]]) -> None:
    """Make assignments free to take, in the order of their positions."""
    rows = [_free(assignment, position) for assignment, position in offered]
    for start in range(0, len(rows), 1000):
        connection.execute(insert(leases), rows[start : start + 1000])


def _free(assignment: Assignment, position: int) -> dict[str, Any]:
    return {
        "assignment_id": assignment.assignment_id,
        "campaign_id": assignment.campaign_id,
        "state": "free",
        "unit": assignment.unit,
        "purpose": assignment.purpose,
        "position": position,
    }


def offer_to(
    connection: Connection, assignment: Assignment, rater_id: str, until: str, address: str, state: str = "held"
) -> None:
    """Give a task that was made for one rater to that rater."""
    row = {**_free(assignment, 0), "state": state, "rater_id": rater_id, "until": until, "address": address}
    connection.execute(insert(leases).values(row))


_LEASE = Prepared(select(leases).where(leases.c.assignment_id == bindparam("assignment")))
_HOLDING = Prepared(
    select(leases)
    .where(
        leases.c.rater_id == bindparam("rater"),
        or_(leases.c.state == "held", leases.c.state == "parked", leases.c.state == WAITING),
        leases.c.campaign_id == bindparam("campaign"),
    )
    .order_by(leases.c.state, leases.c.until.desc())
    .limit(1)
)


def _first(found: CursorResult[Any]) -> Lease | None:
    row: Any = found.first()
    return None if row is None else Lease(*row)


def lease_of(connection: Connection, assignment_id: str) -> Lease | None:
    """The lease of an assignment."""
    return _first(_LEASE(connection, assignment=assignment_id))


def holding(connection: Connection, campaign_id: str, rater_id: str) -> Lease | None:
    """What a rater holds in a campaign: the task in hand first, then those put aside."""
    return _first(_HOLDING(connection, campaign=campaign_id, rater=rater_id))


_ASIDE = Prepared(
    select(leases)
    .where(
        leases.c.rater_id == bindparam("rater"),
        or_(leases.c.state == "parked", leases.c.state == WAITING),
        leases.c.campaign_id == bindparam("campaign"),
    )
    .order_by(leases.c.state, leases.c.until.desc())
    .limit(1)
)


def put_aside(connection: Connection, campaign_id: str, rater_id: str) -> Lease | None:
    """What a rater gets next without taking anything new: put aside by an undo, or kept ready."""
    return _first(_ASIDE(connection, campaign=campaign_id, rater=rater_id))


_UNSEEN = ~(
    select(units_seen.c.unit)
    .where(
        units_seen.c.campaign_id == bindparam("campaign"),
        units_seen.c.rater_id == bindparam("rater"),
        units_seen.c.unit == leases.c.unit,
    )
    .exists()
)
_ANYBODYS = ~(
    select(assignments.c.id)
    .where(assignments.c.id == leases.c.assignment_id, assignments.c.rater_id.is_not(None))
    .exists()
)
"""A task that was made for one rater stays theirs, however late they are."""
_FREE = Prepared(
    select(leases)
    .where(leases.c.campaign_id == bindparam("campaign"), leases.c.state == "free", _UNSEEN)
    .order_by(leases.c.position)
    .limit(1)
    .with_for_update(skip_locked=True, of=leases)
)
_LATE = Prepared(
    select(leases)
    .where(
        leases.c.campaign_id == bindparam("campaign"),
        or_(leases.c.state == "held", leases.c.state == "parked", leases.c.state == WAITING),
        leases.c.until < bindparam("now"),
        leases.c.purpose == "vote",
        _ANYBODYS,
        _UNSEEN,
    )
    .order_by(leases.c.until)
    .limit(1)
    .with_for_update(skip_locked=True, of=leases)
)
_NAMED = Prepared(
    select(assignments.c.id)
    .outerjoin(leases, leases.c.assignment_id == assignments.c.id)
    .where(
        assignments.c.campaign_id == bindparam("campaign"),
        assignments.c.rater_id == bindparam("rater"),
        leases.c.assignment_id.is_(None),
        ~select(votes.c.seq).where(votes.c.assignment_id == assignments.c.id).exists(),
        *(
            or_(side.is_(None), side.in_(select(outputs.c.id).where(outputs.c.image_sha256.is_not(None))))
            for side in (assignments.c.left_id, assignments.c.right_id)
        ),
    )
    .order_by(assignments.c.seq)
    .limit(1)
)
_TAKE = Prepared(
    update(leases)
    .where(
        leases.c.assignment_id == bindparam("assignment"),
        or_(
            leases.c.state == "free",
            and_(
                or_(leases.c.state == "held", leases.c.state == "parked", leases.c.state == WAITING),
                leases.c.until < bindparam("now"),
            ),
        ),
    )
    .values(
        rater_id=bindparam("rater"),
        until=bindparam("ends"),
        state="held",
        address=bindparam("at"),
        vote_id=None,
        done_at=None,
    )
)


def free_task(connection: Connection, campaign_id: str, rater_id: str, now: str) -> Lease | None:
    """A task that this rater may take: free, or run out in somebody else's hands; never a unit seen before."""
    found = _first(_FREE(connection, campaign=campaign_id, rater=rater_id))
    return found or _first(_LATE(connection, campaign=campaign_id, rater=rater_id, now=now))


def named_task(connection: Connection, campaign_id: str, rater_id: str) -> str | None:
    """The first task that was made for this rater elsewhere (routing) and was neither dealt nor answered yet."""
    row: Any = _NAMED(connection, campaign=campaign_id, rater=rater_id).first()
    return None if row is None else str(row[0])


def take(connection: Connection, lease: Lease, rater_id: str, *, until: str, address: str, now: str) -> bool:
    """Take a task if it is still to be had. The unit counts as seen from now on."""
    taken = _TAKE(connection, assignment=lease.assignment_id, now=now, rater=rater_id, ends=until, at=address)
    if taken.rowcount != 1:
        return False
    see(connection, lease.campaign_id, rater_id, lease.unit)
    return True


_SEE = Prepared(
    insert(units_seen).from_select(
        ["campaign_id", "rater_id", "unit"],
        select(bindparam("campaign", type_=Text), bindparam("rater", type_=Text), bindparam("what", type_=Text)).where(
            ~select(units_seen.c.unit)
            .where(
                units_seen.c.campaign_id == bindparam("campaign", type_=Text),
                units_seen.c.rater_id == bindparam("rater", type_=Text),
                units_seen.c.unit == bindparam("what", type_=Text),
            )
            .exists()
        ),
    )
)


def see(connection: Connection, campaign_id: str, rater_id: str, unit: str) -> None:
    """Note that a rater was shown a unit."""
    _SEE(connection, campaign=campaign_id, rater=rater_id, what=unit)


_CHANGES: dict[tuple[str, ...], Prepared] = {}


def change(connection: Connection, lease: Lease, **values: Any) -> bool:
    """Change a lease if nobody changed it since it was read."""
    shape = (*values, "" if lease.address is None else "address")
    statement = _CHANGES.get(shape)
    if statement is None:
        placed = leases.c.address.is_(None) if lease.address is None else leases.c.address == bindparam("was_at")
        same = (leases.c.assignment_id == bindparam("was_id"), leases.c.state == bindparam("was_state"), placed)
        names: dict[str, Any] = {name: bindparam(name) for name in values}
        statement = _CHANGES[shape] = Prepared(update(leases).where(*same).values(names))
    known = {"was_id": lease.assignment_id, "was_state": lease.state}
    if lease.address is not None:
        known["was_at"] = lease.address
    return statement(connection, **known, **values).rowcount == 1


def park(connection: Connection, campaign_id: str, rater_id: str) -> None:
    """Put the task in hand aside, so that another can be held."""
    mine = (leases.c.campaign_id == campaign_id, leases.c.rater_id == rater_id, leases.c.state == "held")
    connection.execute(update(leases).where(*mine).values(state="parked"))


def last_done(connection: Connection, campaign_id: str, rater_id: str) -> Lease | None:
    """The task that a rater answered last."""
    query = (
        select(leases)
        .where(leases.c.campaign_id == campaign_id, leases.c.rater_id == rater_id, leases.c.state == "done")
        .order_by(leases.c.done_at.desc())
        .limit(1)
    )
    row = connection.execute(query).mappings().first()
    return None if row is None else Lease(**row)


_BY_ADDRESS = Prepared(
    select(leases, events.c.rater_id.label("was"))
    .join(events, events.c.assignment_id == leases.c.assignment_id)
    .where(events.c.id == bindparam("at"), events.c.kind == "leased")
)
_HAPPENED = Prepared(select(events.c.assignment_id).where(events.c.id == bindparam("event")))
_REAL = and_(leases.c.purpose != "practice", leases.c.purpose != "qualification")
_COUNTS = (
    select(
        func.count().filter(_REAL).label("done"),
        func.count().filter(_REAL, leases.c.done_at >= bindparam("since")).label("recent"),
        func.count().filter(leases.c.purpose == "practice").label("practice"),
        func.count().filter(leases.c.purpose == "qualification").label("qualification"),
    )
    .where(
        leases.c.rater_id == bindparam("rater"), leases.c.state == "done", leases.c.campaign_id == bindparam("campaign")
    )
    .subquery()
)
_MINE = and_(participants.c.campaign_id == bindparam("campaign"), participants.c.rater_id == bindparam("rater"))
_STANDS = Prepared(
    select(_COUNTS, participants.c.consented_at, participants.c.active).select_from(
        _COUNTS.outerjoin(participants, _MINE)
    )
)
_OPEN = Prepared(select(campaigns.c.open).where(campaigns.c.id == bindparam("campaign")))


def leased_to(connection: Connection, address: str, rater_id: str) -> Lease | None:
    """The lease of the task that an address opens, or once opened, for this rater; others get nothing."""
    row: Any = _BY_ADDRESS(connection, at=address).first()
    return Lease(*row[:-1]) if row is not None and row[-1] == rater_id else None


def happened(connection: Connection, event_id: str) -> str | None:
    """The assignment to which this event happened; None where there is no such event."""
    row: Any = _HAPPENED(connection, event=event_id).first()
    return None if row is None else str(row[0])


def stands(connection: Connection, campaign_id: str, rater_id: str, since: str) -> tuple[Place | None, Tally]:
    """A rater's place in a campaign (None where they do not take part) and what they have done in it.

    Of real work in all and since a moment, and of the two kinds of training.
    """
    row: Any = _STANDS(connection, campaign=campaign_id, rater=rater_id, since=since).one()
    *counts, consented_at, active = row
    return None if active is None else Place(consented_at, bool(active)), Tally(*counts)


def is_open(connection: Connection, campaign_id: str) -> bool | None:
    """Is a campaign open now? None where there is no such campaign."""
    row: Any = _OPEN(connection, campaign=campaign_id).first()
    return None if row is None else bool(row[0])


def join(connection: Connection, campaign_id: str, rater_id: str, now: str) -> None:
    """Give a rater a place in a campaign."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    row = {"campaign_id": campaign_id, "rater_id": rater_id, "joined_at": now, "active": 1}
    connection.execute(dialect.insert(participants).on_conflict_do_nothing(), row)


def change_place(connection: Connection, campaign_id: str, rater_id: str, **values: Any) -> bool:
    """Note consent, or pause a rater."""
    mine = (participants.c.campaign_id == campaign_id, participants.c.rater_id == rater_id)
    return connection.execute(update(participants).where(*mine).values(**values)).rowcount == 1
