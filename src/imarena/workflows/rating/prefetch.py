"""The next task, kept ready while a rater is still answering this one, so that its pictures can be made and fetched.

The rule. A rater who holds a task may have one more that waits. It is theirs alone, like any lease, but only for
`AHEAD_S` seconds after the page last asked: the page asks again while somebody looks at it, and gives the task back
when it is closed. A task that waits does not count as shown, cannot be answered, and comes first in `next`.
It is never made past the weekly quota, and gold and repeats come when it is their turn, as in `next`.
"""

import secrets
from concurrent.futures import Future
from datetime import timedelta

from sqlalchemy import Connection

from imarena.core import moment_text
from imarena.core.records import Assignment, Campaign, Event, EventKind, now
from imarena.routing import RaterStanding, may_prefetch, standing_after_answer
from imarena.storage import leases
from imarena.workflows.rating.held_tasks import HeldTask, Refusal
from imarena.workflows.rating.offers import personal_task
from imarena.workflows.rating.voting import Voting

AHEAD_S = 120


def submit_prefetch(voting: Voting, campaign_id: str, rater_id: str) -> "Future[HeldTask | None]":
    """The task that comes after the one in hand, or None where there is none to keep ready; not waited for here."""
    return voting.turns.submit(rater_id, lambda connection: _ahead(connection, voting, campaign_id, rater_id))


def _ahead(connection: Connection, voting: Voting, campaign_id: str, rater_id: str) -> HeldTask | None:
    campaign, where, holds = voting.participation(connection, campaign_id, rater_id)
    if not may_prefetch(where) or not holds or holds[0].state != "held":
        return None
    until = moment_text(now() + timedelta(seconds=min(AHEAD_S, voting.records.plan(campaign_id).lease_s)))
    then = standing_after_answer(where)
    if len(holds) == 1:
        return _take(connection, voting, campaign, then, rater_id, until)
    known = holds[1]
    renewed = known.state != leases.WAITING or leases.change_lease(connection, known, until=until)
    if known.address is None or not renewed:
        return None
    return HeldTask(voting.records.assignment(known.assignment_id, connection), known.address, until, then)


def _take(
    connection: Connection, voting: Voting, campaign: Campaign, where: RaterStanding, rater_id: str, until: str
) -> HeldTask | None:
    """What `next` would hand out once the task in hand is answered."""
    address = secrets.token_urlsafe(18)
    assignment, shared = personal_task(connection, voting.records, campaign.campaign_id, where, rater_id)
    if assignment is not None:
        leases.offer_to(connection, assignment, rater_id, until, address, None)
    elif shared and where.stage == "open":
        assignment = _free(connection, voting, campaign, rater_id, until, address)
    if assignment is None:
        return None
    leases.insert_new(connection, _event(address, assignment.assignment_id, EventKind.LEASED, rater_id))
    return HeldTask(assignment, address, until, where)


def _free(
    connection: Connection, voting: Voting, campaign: Campaign, rater_id: str, until: str, address: str
) -> Assignment | None:
    moment = moment_text(now())
    task = leases.free_task(connection, campaign.campaign_id, rater_id, moment)
    if task is None:
        return None
    free, assignment = task
    taken = {"rater_id": rater_id, "until": until, "address": address, "state": leases.WAITING, "vote_id": None}
    taken["handed_at"] = None
    if not leases.change_lease(connection, free, **taken):
        return None
    if free.rater_id is not None:
        gone = f"gone_{secrets.token_hex(12)}"
        leases.insert_new(connection, _event(gone, free.assignment_id, EventKind.EXPIRED, free.rater_id))
    return voting.records.keep(assignment)


def release_task(voting: Voting, address: str, rater_id: str) -> None:
    """Let others have a task that waits. One that is in hand, answered or gone stays as it is."""
    voting.turns.submit(rater_id, lambda connection: _give_back(connection, voting, address, rater_id)).result()


def _give_back(connection: Connection, voting: Voting, address: str, rater_id: str) -> None:
    lease = leases.leased_to(connection, address, rater_id)
    if lease is None:
        raise Refusal("no_task", "There is no such task.")
    if lease.address != address or lease.state != leases.WAITING:
        return
    if not voting.for_anybody(connection, lease):
        _moved(connection, lease, rater_id)
        return
    free = {"rater_id": None, "address": None, "until": None, "state": "free"}
    if leases.change_lease(connection, lease, **free):
        identity = f"back_{secrets.token_hex(12)}"
        leases.insert_new(connection, _event(identity, lease.assignment_id, EventKind.RETURNED, rater_id))


def _moved(connection: Connection, lease: leases.Lease, rater_id: str) -> None:
    """A task that was made for this rater alone can be nobody else's. It gets a new address, as any task that comes
    back does: one that kept its own would be known for gold or a repeat.
    """
    address = secrets.token_urlsafe(18)
    if leases.change_lease(connection, lease, address=address):
        leases.insert_new(connection, _event(address, lease.assignment_id, EventKind.LEASED, rater_id))


def _event(identity: str, assignment_id: str, kind: EventKind, rater_id: str) -> Event:
    return Event(event_id=identity, assignment_id=assignment_id, kind=kind, rater_id=rater_id)
