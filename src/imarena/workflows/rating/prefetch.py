"""Prefetch the next task while a rater is still answering this one, so that its pictures can be prepared and loaded.

A rater who holds a task may have one more that waits. Nobody else can take it, as with any lease, but only for
`AHEAD_S` seconds after the page's last request: the page repeats the request while somebody looks at it, and returns
the task when it is closed. A waiting task does not count as shown, cannot be answered, and comes first in `next`.
Prefetching never exceeds the weekly quota, and gold and repeats come when they are due, as in `next`.
"""

import secrets
from concurrent.futures import Future
from datetime import timedelta

from sqlalchemy import Connection

from imarena.core import moment_text
from imarena.core.records import Assignment, Campaign, EventKind, now
from imarena.routing import RaterStanding, may_prefetch, standing_after_answer
from imarena.storage import leases
from imarena.workflows.rating.held_tasks import HeldTask, Refusal
from imarena.workflows.rating.offers import personal_task
from imarena.workflows.rating.voting import Voting

AHEAD_S = 120


def submit_prefetch(voting: Voting, campaign_id: str, rater_id: str) -> "Future[HeldTask | None]":
    """Request the task after the one held, without waiting; the result is None if there is none to prefetch."""
    return voting.write_queue.submit(rater_id, lambda connection: _ahead(connection, voting, campaign_id, rater_id))


def _ahead(connection: Connection, voting: Voting, campaign_id: str, rater_id: str) -> HeldTask | None:
    campaign, where, holds = voting.participation(connection, campaign_id, rater_id)
    if not may_prefetch(where) or not holds or holds[0].state != "held":
        return None
    until = moment_text(now() + timedelta(seconds=min(AHEAD_S, voting.records.plan(campaign_id).lease_s)))
    then = standing_after_answer(where)
    if len(holds) == 1:
        return _take(connection, voting, campaign, then, rater_id, until)
    lease = holds[1]
    renewed = lease.state != leases.WAITING or leases.change_lease(connection, lease, until=until)
    if lease.address is None or not renewed:
        return None
    return HeldTask(voting.records.assignment(lease.assignment_id, connection), lease.address, until, then)


def _take(
    connection: Connection, voting: Voting, campaign: Campaign, where: RaterStanding, rater_id: str, until: str
) -> HeldTask | None:
    """Lease the task that `next` would hand out once the held task is answered."""
    address = secrets.token_urlsafe(18)
    assignment, shared = personal_task(connection, voting.records, campaign.campaign_id, where, rater_id)
    if assignment is not None:
        leases.offer_to(connection, assignment, rater_id, until, address, None)
    elif shared and where.stage == "open":
        assignment = _free(connection, voting, campaign, rater_id, until, address)
    if assignment is None:
        return None
    voting.note(connection, address, assignment.assignment_id, EventKind.LEASED, rater_id)
    return HeldTask(assignment, address, until, where)


def _free(
    connection: Connection, voting: Voting, campaign: Campaign, rater_id: str, until: str, address: str
) -> Assignment | None:
    task = leases.free_task(connection, campaign.campaign_id, rater_id, moment_text(now()))
    if task is None:
        return None
    free, assignment = task
    changes = {"rater_id": rater_id, "until": until, "address": address, "state": leases.WAITING}
    if not leases.change_lease(connection, free, **changes, vote_id=None, handed_at=None):
        return None
    if free.rater_id is not None:
        old_address = f"gone_{secrets.token_hex(12)}"
        voting.note(connection, old_address, free.assignment_id, EventKind.EXPIRED, free.rater_id)
    return voting.records.keep(assignment)


def release_task(voting: Voting, address: str, rater_id: str) -> None:
    """Return a waiting task. A task that is held, answered or gone stays as it is."""
    voting.write_queue.submit(rater_id, lambda connection: _give_back(connection, voting, address, rater_id)).result()


def _give_back(connection: Connection, voting: Voting, address: str, rater_id: str) -> None:
    lease = leases.leased_to(connection, address, rater_id)
    if lease is None:
        raise Refusal("no_task", "There is no such task.")
    if lease.address != address or lease.state != leases.WAITING:
        return
    if not voting.for_anybody(connection, lease):
        # a new address, as any returned task gets: an unchanged one would reveal gold or a repeat
        address = secrets.token_urlsafe(18)
        if leases.change_lease(connection, lease, address=address):
            voting.note(connection, address, lease.assignment_id, EventKind.LEASED, rater_id)
        return
    free = {"rater_id": None, "address": None, "until": None, "state": "free"}
    if leases.change_lease(connection, lease, **free):
        identity = f"back_{secrets.token_hex(12)}"
        voting.note(connection, identity, lease.assignment_id, EventKind.RETURNED, rater_id)
