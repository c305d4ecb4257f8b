"""Leases: who holds which assignment now. Every change is one conditional update in the caller's transaction.

An expired lease stays with its holder until somebody else takes it, so that a late vote can still count; the
new holder gets a new address, and the old address becomes invalid.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Text, and_, bindparam, case, func, insert, or_, select, true, update

from imarena.core.records import Assignment, Record
from imarena.storage.codec import from_row, record_kind, to_row
from imarena.storage.membership import RATER_IS_EXCLUDED
from imarena.storage.prepared import PreparedStatement
from imarena.storage.schema import assignments, campaigns, events, leases, outputs, participants, units_seen, votes
from imarena.storage.store import mark_superseded

HOLDING = ("held", "parked")
SHARED = ("vote", "adjudication")
"""Purposes of tasks that any rater can do."""
ADJUDICATING = ("adjudication", "lead")
"""Purposes of leases for units on which raters disagree: for one more rater, or for the lead."""
WAITING = "waiting"
"""Reserved for a rater who is still answering another task: their next task, not shown yet."""


@dataclass(frozen=True)
class Lease:
    """A row of the table of leases."""

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
    handed_at: str | None = None
    """When the holder received it to answer; None if it is waiting, or was taken by a version that did not note it."""


@dataclass(frozen=True)
class RaterState:
    """A campaign's current state, a rater's place, work and leases in it."""

    is_open: bool
    consented_at: str | None
    active: bool | None
    """None: the rater does not take part."""
    done: int
    recent: int
    """Real tasks, in total and since a moment."""
    practice_done: int
    qualification_done: int
    holds: tuple[Lease, ...]
    """In this order: the current task, tasks put aside by an undo (newest first), a waiting task."""


@dataclass(frozen=True)
class VoteAddress:
    """The lease and work behind the address that a vote was sent to."""

    lease: Lease
    before: str | None
    """The assignment for which this same vote was already counted."""
    done: int
    recent: int


_INSERTS: dict[str, PreparedStatement] = {}


def insert_new(connection: Connection, record: Record) -> None:
    """Append one record that must be new; the database checks its links."""
    row = to_row(record)
    table = record_kind(type(record)).table
    statement = _INSERTS.get(table.name)
    if statement is None:
        names: dict[str, Any] = {name: bindparam(name) for name in row}
        for column, source in record_kind(type(record)).linked.items():
            names[column] = select(outputs.c.seq).where(outputs.c.id == bindparam(source)).scalar_subquery()
        statement = _INSERTS[table.name] = PreparedStatement(insert(table).values(names))
    statement(connection, **row)
    if row.get("supersedes") is not None and "superseded" in table.c:
        mark_superseded(connection, table, [row["supersedes"]])


def offer_tasks(connection: Connection, offered: Iterable[tuple[Assignment, int]]) -> None:
    """Make assignments available, in the order of their positions."""
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
    connection: Connection, assignment: Assignment, rater_id: str, until: str, address: str, handed_at: str | None
) -> None:
    """Give a task to the rater for whom it was made; without `handed_at` it waits for them."""
    state = WAITING if handed_at is None else "held"
    row = {**_free(assignment, 0), "state": state, "rater_id": rater_id, "until": until, "address": address}
    connection.execute(insert(leases).values({**row, "handed_at": handed_at}))


_WIDTH = len(leases.columns)
_LEASE = PreparedStatement(select(leases).where(leases.c.assignment_id == bindparam("assignment")))
_IN_HANDS = or_(leases.c.state == "held", leases.c.state == "parked", leases.c.state == WAITING)


def lease_of(connection: Connection, assignment_id: str) -> Lease | None:
    """The lease of an assignment."""
    row: Any = _LEASE(connection, assignment=assignment_id).first()
    return None if row is None else Lease(*row)


_UNSEEN = (
    select(units_seen.c.unit)
    .where(
        units_seen.c.campaign_id == bindparam("campaign"),
        units_seen.c.rater_id == bindparam("rater"),
        units_seen.c.unit == leases.c.unit,
    )
    .scalar_subquery()
    .is_(None)
)
"""Evaluated per lease, because PostgreSQL turns NOT EXISTS into a join, which reads every unit that the rater has seen
until the tables are analysed.
"""
_TASKS = select(leases, assignments).join(assignments, assignments.c.id == leases.c.assignment_id)
_FREE = PreparedStatement(
    _TASKS.where(
        leases.c.campaign_id == bindparam("campaign"), leases.c.state == "free", leases.c.purpose != "lead", _UNSEEN
    )
    .order_by(leases.c.position)
    .limit(1)
    .with_for_update(skip_locked=True, of=leases)
)
_LATE = PreparedStatement(
    _TASKS.where(
        leases.c.campaign_id == bindparam("campaign"),
        _IN_HANDS,
        leases.c.until < bindparam("now"),
        or_(*(leases.c.purpose == purpose for purpose in SHARED)),
        assignments.c.rater_id.is_(None),  # a task made for one rater stays theirs, however late they are
        _UNSEEN,
    )
    .order_by(leases.c.until)
    .limit(1)
    .with_for_update(skip_locked=True, of=leases)
)
_THEIRS = (
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
)
_NEXT = PreparedStatement(_THEIRS.order_by(assignments.c.seq).limit(1))
_HOW_MANY = PreparedStatement(_THEIRS.with_only_columns(func.count()))
_TAKE = PreparedStatement(
    update(leases)
    .where(
        leases.c.assignment_id == bindparam("assignment"),
        or_(
            leases.c.state == "free",
            and_(_IN_HANDS, leases.c.until < bindparam("now")),
        ),
    )
    .values(
        handed_at=bindparam("now"),
        rater_id=bindparam("rater"),
        until=bindparam("ends"),
        state="held",
        address=bindparam("at"),
        vote_id=None,
        done_at=None,
    )
)


def free_task(connection: Connection, campaign_id: str, rater_id: str, now: str) -> tuple[Lease, Assignment] | None:
    """A task that this rater may take: free, or expired with another rater; never a unit that they have seen."""
    row: Any = _FREE(connection, campaign=campaign_id, rater=rater_id).first()
    row = row or _LATE(connection, campaign=campaign_id, rater=rater_id, now=now).first()
    if row is None:
        return None
    columns = dict(zip(assignments.columns.keys(), row[_WIDTH:], strict=True))
    return Lease(*row[:_WIDTH]), from_row(Assignment, columns)


def named_task(connection: Connection, campaign_id: str, rater_id: str) -> str | None:
    """The first task made for this rater elsewhere (routing) that was neither dealt nor answered yet."""
    row: Any = _NEXT(connection, campaign=campaign_id, rater=rater_id).first()
    return None if row is None else str(row[0])


def named_tasks(connection: Connection, campaign_id: str, rater_id: str) -> int:
    """The number of tasks that `named_task` could return."""
    row: Any = _HOW_MANY(connection, campaign=campaign_id, rater=rater_id).first()
    return int(row[0])


def take_task(connection: Connection, lease: Lease, rater_id: str, *, until: str, address: str, now: str) -> bool:
    """Take a task if it is still available. From now on the unit counts as seen."""
    result = _TAKE(connection, assignment=lease.assignment_id, now=now, rater=rater_id, ends=until, at=address)
    if result.rowcount != 1:
        return False
    mark_seen(connection, lease.campaign_id, rater_id, lease.unit)
    return True


_SEE = PreparedStatement(
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


def mark_seen(connection: Connection, campaign_id: str, rater_id: str, unit: str) -> None:
    """Record that a rater was shown a unit."""
    _SEE(connection, campaign=campaign_id, rater=rater_id, what=unit)


_CHANGES: dict[tuple[str, ...], PreparedStatement] = {}


def change_lease(connection: Connection, lease: Lease, **values: Any) -> bool:
    """Change a lease unless somebody changed it since it was read."""
    shape = (*values, "" if lease.address is None else "address")
    statement = _CHANGES.get(shape)
    if statement is None:
        slot = leases.c.address.is_(None) if lease.address is None else leases.c.address == bindparam("was_at")
        conditions = (leases.c.assignment_id == bindparam("was_id"), leases.c.state == bindparam("was_state"), slot)
        names: dict[str, Any] = {name: bindparam(name) for name in values}
        statement = _CHANGES[shape] = PreparedStatement(update(leases).where(*conditions).values(names))
    parameters = {"was_id": lease.assignment_id, "was_state": lease.state}
    if lease.address is not None:
        parameters["was_at"] = lease.address
    return statement(connection, **parameters, **values).rowcount == 1


def park_task(connection: Connection, campaign_id: str, rater_id: str) -> None:
    """Put the current task aside, so that the rater can hold another."""
    own = (leases.c.campaign_id == campaign_id, leases.c.rater_id == rater_id, leases.c.state == "held")
    connection.execute(update(leases).where(*own).values(state="parked"))


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


_BY_ADDRESS = (
    select(leases)
    .join(events, events.c.assignment_id == leases.c.assignment_id)
    .where(events.c.id == bindparam("at"), events.c.kind == "leased", events.c.rater_id == bindparam("rater"))
)
_LEASED_TO = PreparedStatement(_BY_ADDRESS)
_HAPPENED = PreparedStatement(select(events.c.assignment_id).where(events.c.id == bindparam("event")))
_done = leases.alias("done")
_REAL = and_(_done.c.purpose != "practice", _done.c.purpose != "qualification")
_DONE = select(func.count()).where(_done.c.rater_id == bindparam("rater"), _done.c.state == "done")
_HIS = _DONE.where(_done.c.campaign_id == leases.c.campaign_id, _REAL).correlate(leases)
_CAST = PreparedStatement(
    _BY_ADDRESS.add_columns(
        select(events.c.assignment_id).where(events.c.id == bindparam("voted")).correlate(None).scalar_subquery(),
        _HIS.scalar_subquery(),
        _HIS.where(_done.c.done_at >= bindparam("since")).scalar_subquery(),
    )
)
_COUNTS = (
    _DONE.where(_done.c.campaign_id == bindparam("campaign"))
    .with_only_columns(
        func.count().filter(_REAL).label("done"),
        func.count().filter(_REAL, _done.c.done_at >= bindparam("since")).label("recent"),
        func.count().filter(_done.c.purpose == "practice").label("practice"),
        func.count().filter(_done.c.purpose == "qualification").label("qualification"),
    )
    .subquery()
)
_PLACE = and_(participants.c.campaign_id == campaigns.c.id, participants.c.rater_id == bindparam("rater"))
_HOLDS = and_(leases.c.rater_id == bindparam("rater"), _IN_HANDS)
"""In any campaign: if limited to one, PostgreSQL may scan all leases of that campaign."""
_ACTIVE = case((and_(participants.c.active == 1, RATER_IS_EXCLUDED), 0), else_=participants.c.active)
"""An excluded rater is also paused: nobody works on tasks whose answers do not count."""
_STANDS = PreparedStatement(
    select(campaigns.c.open, participants.c.consented_at, _ACTIVE, _COUNTS, leases)
    .select_from(campaigns.join(_COUNTS, true()).outerjoin(participants, _PLACE).outerjoin(leases, _HOLDS))
    .where(campaigns.c.id == bindparam("campaign"))
    .order_by(leases.c.state, leases.c.until.desc())
)
_OPEN = PreparedStatement(select(campaigns.c.open).where(campaigns.c.id == bindparam("campaign")))


def leased_to(connection: Connection, address: str, rater_id: str) -> Lease | None:
    """The rater's lease for the task that an address opens or used to open; None for other raters."""
    row: Any = _LEASED_TO(connection, at=address, rater=rater_id).first()
    return None if row is None else Lease(*row)


def vote_address(connection: Connection, address: str, rater_id: str, *, voted: str, since: str) -> VoteAddress | None:
    """`leased_to` for a vote, with the assignment of the event `voted` and the rater's work in that campaign."""
    row: Any = _CAST(connection, at=address, rater=rater_id, voted=voted, since=since).first()
    return None if row is None else VoteAddress(Lease(*row[:_WIDTH]), *row[_WIDTH:])


def has_event(connection: Connection, event_id: str) -> bool:
    """Is this event stored?"""
    return _HAPPENED(connection, event=event_id).first() is not None


def rater_state(connection: Connection, campaign_id: str, rater_id: str, since: str) -> RaterState | None:
    """A rater's state in a campaign; None if there is no such campaign. `since`: start of the recent work."""
    rows: Any = _STANDS(connection, campaign=campaign_id, rater=rater_id, since=since).all()
    if not rows:
        return None
    is_open, consented_at, active, done, recent, practice, qualification = rows[0][:-_WIDTH]
    joined = None if active is None else bool(active)
    leased = (Lease(*row[-_WIDTH:]) for row in rows)
    holds = tuple(lease for lease in leased if lease.campaign_id == campaign_id)
    return RaterState(bool(is_open), consented_at, joined, done, recent, practice, qualification, holds)


def is_open(connection: Connection, campaign_id: str) -> bool | None:
    """Is the campaign open now? None if there is no such campaign."""
    row: Any = _OPEN(connection, campaign=campaign_id).first()
    return None if row is None else bool(row[0])
