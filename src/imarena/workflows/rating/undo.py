"""Skip a task, and undo a skip or the last vote. Answers that decide access cannot be undone."""

import secrets
from dataclasses import replace

from sqlalchemy import Connection, select

from imarena.core.records import Event, EventKind, Vote
from imarena.routing import DECIDING_ACCESS, WITHOUT_UNDO, Answer
from imarena.storage import from_row, leases, writing
from imarena.storage.schema import events
from imarena.workflows.rating.held_tasks import HeldTask, Refusal
from imarena.workflows.rating.vote_checks import answer_of_vote, may_undo
from imarena.workflows.rating.voting import Voting


def undo_vote(voting: Voting, campaign_id: str, rater_id: str) -> HeldTask:
    """Undo the last vote: append a retraction, and return the task to the rater."""
    voting.campaign(campaign_id)
    _, until = voting.moments(campaign_id)
    with writing(voting.engine, durable=True) as connection:
        _need_open(voting, connection, campaign_id, rater_id)
        lease = leases.last_done(connection, campaign_id, rater_id)
        if lease is None or lease.address is None:
            raise Refusal("nothing", "There is no vote to take back.")
        if lease.purpose in DECIDING_ACCESS:
            raise Refusal("final", "Answers of the test are final.", hint="Go on with the next task.")
        previous, retraction = _retract(voting, connection, lease)
        leases.park_task(connection, campaign_id, rater_id)
        if not leases.change_lease(connection, lease, state="held", until=until, vote_id=retraction, done_at=None):
            raise Refusal("busy", "The task changed hands just now.", hint="Try again.")
        voting.note(connection, f"undo_{secrets.token_hex(12)}", lease.assignment_id, EventKind.UNDONE, rater_id)
        where = voting.participation(connection, campaign_id, rater_id)[1]
        again = may_undo(connection, campaign_id, rater_id)
    assignment = voting.records.assignment(lease.assignment_id)
    return HeldTask(assignment, lease.address, until, where, previous, lease.handed_at, again)


def _need_open(voting: Voting, connection: Connection, campaign_id: str, rater_id: str) -> None:
    stage = voting.participation(connection, campaign_id, rater_id)[1].stage
    if stage in WITHOUT_UNDO:
        raise Refusal(stage, "Votes cannot be taken back any more, or not just now.")


def _retract(voting: Voting, connection: Connection, lease: leases.Lease) -> tuple[Answer | None, str | None]:
    """Retract the lease's vote. A check has no retraction: a person's newest check of an item counts."""
    if lease.vote_id is None:
        return None, None
    vote = voting.records.vote_within(connection, lease.vote_id)
    fields = ("rater_id", "item_id", "turn", "left_id", "right_id", "assignment_id", "dimension")
    retraction = Vote(**{name: getattr(vote, name) for name in fields}, supersedes=vote.vote_id, retracted=True)
    leases.insert_new(connection, retraction)
    return answer_of_vote(vote), retraction.vote_id


def skip_task(voting: Voting, address: str, rater_id: str, reason: str) -> None:
    """Leave a task to others. It is not offered to this rater again, unless they undo the skip."""
    with writing(voting.engine) as connection:
        lease = voting.lease(connection, address, rater_id)
        if lease.address != address or lease.state not in leases.HOLDING:
            raise Refusal("gone", "This task is no longer yours.", hint="Ask for the next one.")
        shared = voting.for_anybody(connection, lease)
        # the address stops working, whatever the task was: one that still worked would reveal gold
        cleared = {"address": None, "until": None, "vote_id": None, "handed_at": None}
        after = {"state": "free", "rater_id": None} if shared else {"state": "skipped"}
        if not leases.change_lease(connection, lease, **cleared, **after):
            raise Refusal("gone", "This task is no longer yours.", hint="Ask for the next one.")
        voting.note(
            connection, f"skip_{secrets.token_hex(12)}", lease.assignment_id, EventKind.SKIPPED, rater_id, reason
        )


def unskip_task(voting: Voting, address: str, rater_id: str) -> HeldTask:
    """Undo a skip: the rater holds the task again under a new address, unless somebody else has taken it."""
    with writing(voting.engine, durable=True) as connection:
        lease = voting.lease(connection, address, rater_id)
        _need_open(voting, connection, lease.campaign_id, rater_id)
        if lease.purpose in DECIDING_ACCESS:
            raise Refusal("final", "Answers of the test are final.", hint="Go on with the next task.")
        if not _skipped_last(connection, lease.assignment_id, rater_id):
            raise Refusal("nothing", "This task was not skipped.", hint="Ask for the next one.")
        is_free = lease.rater_id in (None, rater_id) and lease.state in ("free", "skipped")
        leases.park_task(connection, lease.campaign_id, rater_id)
        moment, until = voting.moments(lease.campaign_id)
        new = secrets.token_urlsafe(18)
        changes = {"state": "held", "rater_id": rater_id, "until": until, "address": new, "handed_at": moment}
        if not is_free or not leases.change_lease(connection, lease, **changes):
            raise Refusal("taken", "Somebody else has taken this task meanwhile.", hint="Go on with the next task.")
        identity = f"unskip_{secrets.token_hex(12)}"
        voting.note(connection, identity, lease.assignment_id, EventKind.UNSKIPPED, rater_id)
        voting.note(connection, new, lease.assignment_id, EventKind.LEASED, rater_id)
        where = voting.participation(connection, lease.campaign_id, rater_id)[1]
        again = may_undo(connection, lease.campaign_id, rater_id)
    assignment = voting.records.assignment(lease.assignment_id)
    return replace(HeldTask(assignment, new, until, where), handed_at=moment, can_undo=again)


def _skipped_last(connection: Connection, assignment_id: str, rater_id: str) -> bool:
    """Whether a skip was this rater's last action on the task."""
    query = select(events).where(events.c.assignment_id == assignment_id, events.c.rater_id == rater_id)
    row = connection.execute(query.order_by(events.c.seq.desc()).limit(1)).mappings().first()
    return row is not None and from_row(Event, row).kind is EventKind.SKIPPED
