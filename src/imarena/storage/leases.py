"""Leases: who holds which assignment now. Every change is one conditional update inside the caller's transaction.

A lease that has run out stays with its holder until somebody else takes it, so that a late vote can still count; the
one who takes it gets a new address, and the old address then opens nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from imarena.core.records import Assignment, Record
from imarena.storage.codec import kind_of, to_row
from imarena.storage.schema import events, leases, participants, units_seen

HOLDING = ("held", "parked")


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


def insert_new(connection: Connection, record: Record) -> None:
    """Append one record that must be new; the database checks its links."""
    connection.execute(insert(kind_of(type(record)).table).values(to_row(record)))


def offer(connection: Connection, assignments: Iterable[tuple[Assignment, int]]) -> None:
    """Make assignments free to take, in the order of their positions."""
    rows = [_free(assignment, position) for assignment, position in assignments]
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


def offer_to(connection: Connection, assignment: Assignment, rater_id: str, until: str, address: str) -> None:
    """Give a task that was made for one rater to that rater."""
    row = {**_free(assignment, 0), "state": "held", "rater_id": rater_id, "until": until, "address": address}
    connection.execute(insert(leases).values(row))


def lease_of(connection: Connection, assignment_id: str) -> Lease | None:
    """The lease of an assignment."""
    row = connection.execute(select(leases).where(leases.c.assignment_id == assignment_id)).mappings().first()
    return None if row is None else Lease(**row)


def holding(connection: Connection, campaign_id: str, rater_id: str) -> Lease | None:
    """What a rater holds in a campaign: the task in hand first, then those put aside."""
    query = (
        select(leases)
        .where(leases.c.rater_id == rater_id, leases.c.state.in_(HOLDING), leases.c.campaign_id == campaign_id)
        .order_by(leases.c.state, leases.c.until.desc())
        .limit(1)
    )
    row = connection.execute(query).mappings().first()
    return None if row is None else Lease(**row)


def free_task(connection: Connection, campaign_id: str, rater_id: str, now: str) -> Lease | None:
    """A task that this rater may take: free, or run out in somebody else's hands; never a unit seen before."""
    unseen = ~(
        select(units_seen.c.unit)
        .where(
            units_seen.c.campaign_id == campaign_id,
            units_seen.c.rater_id == rater_id,
            units_seen.c.unit == leases.c.unit,
        )
        .exists()
    )
    mine = leases.c.campaign_id == campaign_id
    free = select(leases).where(mine, leases.c.state == "free", unseen).order_by(leases.c.position).limit(1)
    row = connection.execute(free.with_for_update(skip_locked=True)).mappings().first()
    if row is None:
        late = (
            select(leases)
            .where(mine, leases.c.state.in_(HOLDING), leases.c.until < now, leases.c.purpose == "vote", unseen)
            .order_by(leases.c.until)
            .limit(1)
        )
        row = connection.execute(late.with_for_update(skip_locked=True)).mappings().first()
    return None if row is None else Lease(**row)


def take(connection: Connection, lease: Lease, rater_id: str, *, until: str, address: str, now: str) -> bool:
    """Take a task if it is still to be had. The unit counts as seen from now on."""
    to_be_had = or_(leases.c.state == "free", and_(leases.c.state.in_(HOLDING), leases.c.until < now))
    taken = connection.execute(
        update(leases)
        .where(leases.c.assignment_id == lease.assignment_id, to_be_had)
        .values(rater_id=rater_id, until=until, state="held", address=address, vote_id=None, done_at=None)
    )
    if taken.rowcount != 1:
        return False
    see(connection, lease.campaign_id, rater_id, lease.unit)
    return True


def see(connection: Connection, campaign_id: str, rater_id: str, unit: str) -> None:
    """Note that a rater was shown a unit."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    row = {"campaign_id": campaign_id, "rater_id": rater_id, "unit": unit}
    connection.execute(dialect.insert(units_seen).on_conflict_do_nothing(), row)


def change(connection: Connection, lease: Lease, **values: Any) -> bool:
    """Change a lease if nobody changed it since it was read."""
    same = [leases.c[name] == getattr(lease, name) for name in ("assignment_id", "state")]
    same.append(leases.c.address.is_(None) if lease.address is None else leases.c.address == lease.address)
    return connection.execute(update(leases).where(*same).values(**values)).rowcount == 1


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


def leased_to(connection: Connection, address: str) -> tuple[str, str | None] | None:
    """Which assignment an address opens or once opened, and for which rater."""
    query = select(events.c.assignment_id, events.c.rater_id).where(events.c.id == address, events.c.kind == "leased")
    row = connection.execute(query).first()
    return None if row is None else (row[0], row[1])


def happened(connection: Connection, event_id: str) -> bool:
    """Is there an event with this id?"""
    return connection.execute(select(events.c.seq).where(events.c.id == event_id)).first() is not None


def tally(connection: Connection, campaign_id: str, rater_id: str, since: str) -> Tally:
    """How much a rater has done: of real work in all and since a moment, and of the two kinds of training."""
    real = leases.c.purpose.not_in(("practice", "qualification"))
    query = select(
        func.count().filter(real),
        func.count().filter(real, leases.c.done_at >= since),
        func.count().filter(leases.c.purpose == "practice"),
        func.count().filter(leases.c.purpose == "qualification"),
    ).where(leases.c.rater_id == rater_id, leases.c.state == "done", leases.c.campaign_id == campaign_id)
    return Tally(*connection.execute(query).one())


def place_of(connection: Connection, campaign_id: str, rater_id: str) -> Place | None:
    """A rater's place in a campaign; None where they do not take part."""
    query = select(participants.c.consented_at, participants.c.active).where(
        participants.c.campaign_id == campaign_id, participants.c.rater_id == rater_id
    )
    row = connection.execute(query).first()
    return None if row is None else Place(row[0], bool(row[1]))


def join(connection: Connection, campaign_id: str, rater_id: str, now: str) -> None:
    """Give a rater a place in a campaign."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    row = {"campaign_id": campaign_id, "rater_id": rater_id, "joined_at": now, "active": 1}
    connection.execute(dialect.insert(participants).on_conflict_do_nothing(), row)


def change_place(connection: Connection, campaign_id: str, rater_id: str, **values: Any) -> bool:
    """Note consent, or pause a rater."""
    mine = (participants.c.campaign_id == campaign_id, participants.c.rater_id == rater_id)
    return connection.execute(update(participants).where(*mine).values(**values)).rowcount == 1
