"""Checks on a vote before it counts: the pictures that were sent, the time, and the vote's key."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from imarena.core.records import Assignment, Verification, Vote
from imarena.routing import DECIDING_ACCESS, Answer
from imarena.storage import from_row, leases
from imarena.storage.schema import verifications
from imarena.workflows.rating.held_tasks import Refusal
from imarena.workflows.rating.picture_log import PictureLog
from imarena.workflows.rating.record_cache import RecordCache

NOT_SEEN = "pictures_not_seen"


@dataclass(frozen=True)
class TaskView:
    """What the server knows about how a rater viewed a task."""

    handed_out_at: str | None
    pictures_served_at: str | None
    """When the last of its pictures was first requested; None: not all of them were."""
    missing: tuple[str, ...] = ()

    def vote_fields(self) -> dict[str, Any]:
        """Fields for the vote's record."""
        moments = {"handed_out_at": self.handed_out_at, "pictures_served_at": self.pictures_served_at}
        times = {name: datetime.fromisoformat(at) for name, at in moments.items() if at is not None}
        return {**times, "unseen": bool(self.missing)}


def view_of_task(
    connection: Connection, records: RecordCache, pictures: PictureLog, lease: leases.Lease, assignment: Assignment
) -> TaskView:
    """How the rater who holds a task viewed it."""
    slots = records.slots(assignment)
    served = pictures.served(connection, lease.address or "", slots)
    missing = tuple(sorted(slots - served.keys()))
    return TaskView(lease.handed_at, None if missing else max(served[slot] for slot in slots), missing)


def view_refusal(view: TaskView, min_seconds: float, moment: str) -> Refusal | None:
    """Why a browser's answer is not accepted yet; None if it is, or if an earlier version handed out the task."""
    if view.handed_out_at is None:
        return None
    if view.missing:
        return Refusal(
            NOT_SEEN,
            "Not all pictures of this task have been loaded, so the answer is not accepted yet.",
            hint="Load the pictures again, then answer.",
            fields=view.missing,
        )
    wait_s = seconds_to_wait(view.handed_out_at, min_seconds, moment)
    if not wait_s:
        return None
    return Refusal(
        "too_soon", f"Please look at the pictures for at least {min_seconds:g} seconds.",
        hint=f"Answer again in {wait_s:.1f} seconds.", wait_s=wait_s,
    )  # fmt: skip


def seconds_to_wait(handed_at: str | None, min_seconds: float, moment: str) -> float:
    """Seconds from `moment` until an answer is accepted; the full time for a task that is not handed out yet."""
    if not min_seconds or handed_at is None:
        return min_seconds
    passed = (datetime.fromisoformat(moment) - datetime.fromisoformat(handed_at)).total_seconds()
    return round(max(0.0, min_seconds - passed), 3)


def key_refusal(
    connection: Connection, records: RecordCache, lease: leases.Lease, rater_id: str, before: str,
    record: Vote | Verification,
) -> Refusal | None:  # fmt: skip
    """Refuse a used key, unless it repeats a vote on this task that still counts and has the same content."""
    hint = "Use a new key."
    if before != lease.assignment_id or lease.state != "done" or lease.rater_id != rater_id:
        return Refusal("key_used", "This key belongs to another answer, or to one that was taken back.", hint=hint)
    if isinstance(record, Vote):
        stored = None if lease.vote_id is None else _content(records.vote_within(connection, lease.vote_id))
        is_repeat = stored == _content(record)
    else:
        is_repeat = _last_check(connection, record) == (record.checks, record.decision, record.comment)
    return None if is_repeat else Refusal("key_used", "This key was sent with another answer before.", hint=hint)


def _content(vote: Vote) -> tuple[object, ...]:
    """A vote's content, without the time: a page that resends an answer may have kept counting."""
    return vote.preference, vote.ratings, vote.issues, vote.comment


def _last_check(connection: Connection, check: Verification) -> tuple[object, ...] | None:
    table = verifications
    query = select(table).where(table.c.item_id == check.item_id, table.c.rater_id == check.rater_id)
    row = connection.execute(query.order_by(table.c.seq.desc()).limit(1)).mappings().first()
    if row is None:
        return None
    stored = from_row(Verification, row)
    return stored.checks, stored.decision, stored.comment


def answer_of_vote(vote: Vote) -> Answer:
    """The answer of a vote, to show it again after an undo."""
    kinds = {issue.kind for issue in vote.issues}
    none = {issue.label for issue in vote.issues if issue.kind == "none"}
    yes = vote.ratings.get("instruction_following")
    return Answer(
        preference=vote.preference.value if vote.preference else None,
        ratings={} if yes is not None else {name: int(value) for name, value in vote.ratings.items()},
        answer=bool(yes) if yes is not None else None,
        issues=tuple(issue for issue in vote.issues if issue.kind in ("object", "segment", "box", "other")),
        no_object_issues="objects" in none,
        no_segment_issues="segments" in none,
        new_image="new_image" in kinds,
        returned_input="returned_input" in kinds,
        comment=vote.comment,
        time_spent_s=vote.time_spent_s,
    )


def may_undo(connection: Connection, campaign_id: str, rater_id: str) -> bool:
    """Whether there is an answer that could be undone. The rater's stage decides whether it may be undone now."""
    lease = leases.last_done(connection, campaign_id, rater_id)
    return lease is not None and lease.address is not None and lease.purpose not in DECIDING_ACCESS
