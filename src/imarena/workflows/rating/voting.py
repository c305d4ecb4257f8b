"""Voting: a rater takes a task, answers, skips, undoes. Which vote counts is decided here; who gets what, in `routing`.

The rule for late votes: a vote that comes after the lease has run out counts as long as nobody else has taken the task;
otherwise it is refused with a message, and what it said is kept as an event. No vote is lost, none counts twice.
"""

import json
import secrets
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Literal

from sqlalchemy import Connection

from imarena.core import UserError, content_id, moment_text
from imarena.core.records import Assignment, Campaign, Event, EventKind, Vote, now
from imarena.routing import (
    ANSWERING,
    RATERS_PER_UNIT,
    TRAINING,
    WITHOUT_UNDO,
    Answer,
    CampaignPlan,
    RaterStanding,
    feedback_on,
    quota_left,
    read_ballot,
    standing_of_lead,
)
from imarena.storage import Workspace, WriteQueue, leases, reading, writing
from imarena.workflows.rating.forecast import Outlook, outlook
from imarena.workflows.rating.offers import made_for, standing, week_ago
from imarena.workflows.rating.record_cache import RecordCache

_TRIES = 5


class Refusal(UserError):
    """A request that the rules forbid; `code` is for programs."""

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


@dataclass(frozen=True)
class HeldTask:
    """A task in a rater's hands."""

    assignment: Assignment
    address: str
    until: str
    standing: RaterStanding
    previous: Answer | None = None


@dataclass(frozen=True)
class AcceptedVote:
    """A vote that is stored, and how much the rater has done with it."""

    late: bool
    done: int
    quota_left: int
    feedback: str | None


class Voting:
    """The voting desk of a workspace. One instance serves all threads."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.engine = workspace.store.engine
        self.shelves = RecordCache(workspace)
        self.turns = WriteQueue(self.engine)

    # ------------------------------------------------------------------ taking part

    def campaign(self, campaign_id: str) -> Campaign:
        """A campaign, open or closed as it is now."""
        with reading(self.engine) as connection:
            return self._as_it_is(campaign_id, leases.is_open(connection, campaign_id))

    def place(
        self, connection: Connection, campaign_id: str, rater_id: str
    ) -> tuple[Campaign, RaterStanding, tuple[leases.Lease, ...]]:
        """A campaign as it is now, where a rater stands in it, and what they hold: one query."""
        found = leases.rater_state(connection, campaign_id, rater_id, week_ago())
        if found is None:
            raise _no_campaign()
        campaign = self._as_it_is(campaign_id, found.is_open)
        return campaign, standing(connection, self.shelves, campaign_id, rater_id, found), found.holds

    def _as_it_is(self, campaign_id: str, is_open: bool | None) -> Campaign:
        known = None if is_open is None else self.shelves.campaign(campaign_id)
        if known is None or known.kind not in RATERS_PER_UNIT:  # routing's gold set is kept as a campaign, and is none
            raise _no_campaign()
        return known if known.open == is_open else known.model_copy(update={"open": is_open})

    def join(self, campaign_id: str, rater_id: str) -> None:
        """Take part without an invitation: for leads and for the person at the machine."""
        self.campaign(campaign_id)
        with writing(self.engine) as connection:
            leases.join_campaign(connection, campaign_id, rater_id, moment_text(now()))

    def standing(self, campaign_id: str, rater_id: str) -> RaterStanding:
        """Where a rater stands in a campaign."""
        with reading(self.engine) as connection:
            return self.place(connection, campaign_id, rater_id)[1]

    def prospect(self, campaign_id: str, rater_id: str, *, leads: bool = False) -> tuple[RaterStanding, Outlook]:
        """Where a rater stands, and how much waits for them: counted, and so not told with every task.

        `leads`: may take part without an invitation.
        """
        with reading(self.engine) as connection:
            campaign, where, holds = self.place(connection, campaign_id, rater_id)
            plan = self.shelves.plan(campaign_id)
            where = standing_of_lead(plan, where) if leads else where
            return where, outlook(connection, campaign, plan, where, rater_id, holds)

    def consent(self, campaign_id: str, rater_id: str) -> None:
        """Note that a rater agreed to take part."""
        self.campaign(campaign_id)
        with writing(self.engine) as connection:
            if not leases.change_membership(connection, campaign_id, rater_id, consented_at=moment_text(now())):
                raise Refusal("not_invited", "You do not take part in this campaign.")

    # ------------------------------------------------------------------ tasks

    def next(self, campaign_id: str, rater_id: str) -> HeldTask | RaterStanding:
        """The task in hand, or a new one; or where the rater stands, when there is none."""
        return self.next_soon(campaign_id, rater_id).result()

    def next_soon(self, campaign_id: str, rater_id: str) -> "Future[HeldTask | RaterStanding]":
        """`next` without waiting for it here."""

        def work(connection: Connection) -> HeldTask | RaterStanding:
            for _ in range(_TRIES):
                found = self._next(connection, campaign_id, rater_id)
                if found is not None:
                    return found
            raise Refusal("busy", "The task was taken just now.", hint="Try again.")

        return self.turns.submit(rater_id, work)

    def _next(self, connection: Connection, campaign_id: str, rater_id: str) -> HeldTask | RaterStanding | None:
        """One try, in one transaction; None where somebody was faster."""
        campaign, where, holds = self.place(connection, campaign_id, rater_id)
        if where.stage not in ANSWERING:
            return where
        held = holds[0] if holds else None
        found = self._take(connection, campaign, self.shelves.plan(campaign_id), rater_id, where, held)
        if found == "none":
            return replace(where, stage="done")
        return found if isinstance(found, HeldTask) else None

    def _take(
        self,
        connection: Connection,
        campaign: Campaign,
        plan: CampaignPlan,
        rater_id: str,
        where: RaterStanding,
        held: leases.Lease | None,
    ) -> HeldTask | Literal["none", "again"]:
        """Short: on SQLite nobody else writes meanwhile."""
        moment, until = _moments(plan)
        if held is not None and held.address is not None:
            if not leases.change_lease(connection, held, state="held", until=until):
                return "again"
            if held.state == leases.WAITING:
                leases.mark_seen(connection, held.campaign_id, rater_id, held.unit)
            return HeldTask(self.shelves.assignment(held.assignment_id, connection), held.address, until, where)
        address = secrets.token_urlsafe(18)
        assignment, shared = made_for(connection, self.shelves, campaign.campaign_id, where, rater_id)
        if assignment is not None:
            leases.offer_to(connection, assignment, rater_id, until, address)
            self._happened(connection, address, assignment.assignment_id, EventKind.LEASED, rater_id)
            return HeldTask(assignment, address, until, where)
        theirs = leases.free_task(connection, campaign.campaign_id, rater_id, moment) if shared else None
        if theirs is None:
            return "none"
        free, assignment = theirs
        if free.rater_id is not None:
            gone = f"gone_{secrets.token_hex(12)}"
            self._happened(connection, gone, free.assignment_id, EventKind.EXPIRED, free.rater_id)
        if not leases.take_task(connection, free, rater_id, until=until, address=address, now=moment):
            return "again"
        self._happened(connection, address, free.assignment_id, EventKind.LEASED, rater_id)
        return HeldTask(self.shelves.keep(assignment), address, until, where)

    def task(self, address: str, rater_id: str) -> HeldTask:
        """A task that this rater holds, by its address."""
        with reading(self.engine) as connection:
            lease = self._lease(connection, address, rater_id)
            where = self.place(connection, lease.campaign_id, rater_id)[1]
        if lease.address != address or lease.state not in leases.HOLDING:
            raise Refusal("gone", "This task is no longer yours.", hint="Ask for the next one.")
        return HeldTask(self.shelves.assignment(lease.assignment_id), address, lease.until or "", where)

    def shown(self, address: str, rater_id: str) -> Assignment:
        """The assignment behind an address, for showing its pictures: the holder's, also just after the vote."""
        with reading(self.engine) as connection:
            lease = self._lease(connection, address, rater_id)
        if lease.address != address:
            raise Refusal("gone", "This task is no longer yours.", hint="Ask for the next one.")
        return self.shelves.assignment(lease.assignment_id)

    # ------------------------------------------------------------------ answering

    def vote(self, address: str, rater_id: str, key: str, answer: Answer) -> AcceptedVote:
        """Store an answer. The same key again stores nothing and says the same."""
        return raise_refusal(self.vote_soon(address, rater_id, key, answer).result())

    def vote_soon(self, address: str, rater_id: str, key: str, answer: Answer) -> "Future[AcceptedVote | Refusal]":
        """`vote` without waiting for it here; a refusal comes back as a value, since what it said is stored too."""
        moment = moment_text(now())

        def work(connection: Connection) -> AcceptedVote | Refusal:
            return self._vote(connection, address, rater_id, key, answer, moment)

        return self.turns.submit(rater_id, work, durable=True)

    def _vote(
        self, connection: Connection, address: str, rater_id: str, key: str, answer: Answer, moment: str
    ) -> AcceptedVote | Refusal:
        """The vote counts, or why it does not; either way it is on record."""
        voted = content_id("voted", rater_id, key)
        found = leases.vote_address(connection, address, rater_id, voted=voted, since=week_ago())
        if found is None:
            raise _no_task()
        lease, before = found.lease, found.before
        assignment = self.shelves.assignment(lease.assignment_id, connection)
        late = before is None and bool(lease.until and lease.until < moment)
        refused = self._why_not(lease, address, rater_id) if before is None else _used(before, lease, rater_id)
        if refused is not None:
            self._keep_refused(connection, lease, rater_id, key, answer)
            return refused
        if before is None:
            self._count(connection, lease, assignment, answer, (rater_id, key, voted))
        one = int(before is None and lease.purpose not in TRAINING)  # this vote itself, which was not there yet
        left = quota_left(self.shelves.plan(lease.campaign_id), found.recent + one)
        feedback = feedback_on(assignment, answer) if assignment.purpose == "practice" else None
        return AcceptedVote(late, found.done + one, left, feedback)

    def _count(
        self,
        connection: Connection,
        lease: leases.Lease,
        assignment: Assignment,
        answer: Answer,
        who: tuple[str, str, str],
    ) -> None:
        rater_id, key, voted = who
        plan = self.shelves.plan(lease.campaign_id)
        record = read_ballot(assignment, answer, rater_id, key, lease.vote_id, plan.dimension)
        leases.insert_new(connection, record)
        self._happened(connection, voted, assignment.assignment_id, EventKind.VOTED, rater_id)
        vote_id = record.vote_id if isinstance(record, Vote) else None
        if not leases.change_lease(connection, lease, state="done", done_at=moment_text(now()), vote_id=vote_id):
            raise Refusal("busy", "The task changed hands just now.", hint="Try again.")

    def _why_not(self, lease: leases.Lease, address: str, rater_id: str) -> Refusal | None:
        if lease.rater_id == rater_id and lease.address == address:
            if lease.state in leases.HOLDING:
                return None
            if lease.state == leases.WAITING:
                return Refusal("not_yet", "This task is not in your hands yet.", hint="Ask for the next one.")
            return Refusal("answered", "You have answered this task already.", hint="Undo it first to change it.")
        return Refusal(
            "too_late",
            "Your time for this task had run out and somebody else has it now, so that this answer does not count.",
            hint="It was noted. Please go on with the next task.",
        )

    def _keep_refused(
        self, connection: Connection, lease: leases.Lease, rater_id: str, key: str, answer: Answer
    ) -> None:
        """What a refused vote said stays on record, once."""
        identity = content_id("late", rater_id, key)
        if not leases.has_event(connection, identity):
            said = json.dumps(asdict(answer), default=lambda value: value.model_dump(mode="json"))
            kind = EventKind.EXPIRED
            self._happened(connection, identity, lease.assignment_id, kind, rater_id, f"refused vote: {said}")

    def skip(self, address: str, rater_id: str, reason: str) -> None:
        """Leave a task to others. It is not offered to this rater again."""
        with writing(self.engine) as connection:
            lease = self._lease(connection, address, rater_id)
            if lease.address != address or lease.state not in leases.HOLDING:
                raise Refusal("gone", "This task is no longer yours.", hint="Ask for the next one.")
            shared = self.for_anybody(connection, lease)
            # the address opens nothing any more, whatever the task was: one that still did would be known for gold
            gone = {"address": None, "until": None, "vote_id": None}
            after = {"state": "free", "rater_id": None} if shared else {"state": "skipped"}
            if not leases.change_lease(connection, lease, **gone, **after):
                raise Refusal("gone", "This task is no longer yours.", hint="Ask for the next one.")
            identity = f"skip_{secrets.token_hex(12)}"
            self._happened(connection, identity, lease.assignment_id, EventKind.SKIPPED, rater_id, reason)

    def for_anybody(self, connection: Connection, lease: leases.Lease) -> bool:
        """May others have this task? Not where it was made for one rater."""
        return lease.purpose == "vote" and self.shelves.assignment(lease.assignment_id, connection).rater_id is None

    def undo(self, campaign_id: str, rater_id: str) -> HeldTask:
        """Take the last vote back: a retraction is appended, and the task is in hand again."""
        self.campaign(campaign_id)
        _, until = _moments(self.shelves.plan(campaign_id))
        with writing(self.engine, durable=True) as connection:
            stage = self.place(connection, campaign_id, rater_id)[1].stage
            if stage in WITHOUT_UNDO:
                raise Refusal(stage, "Votes cannot be taken back any more, or not just now.")
            lease = leases.last_done(connection, campaign_id, rater_id)
            if lease is None or lease.address is None:
                raise Refusal("nothing", "There is no vote to take back.")
            previous, retraction = self._retract(connection, lease)
            leases.park_task(connection, campaign_id, rater_id)
            if not leases.change_lease(connection, lease, state="held", until=until, vote_id=retraction, done_at=None):
                raise Refusal("busy", "The task changed hands just now.", hint="Try again.")
            identity = f"undo_{secrets.token_hex(12)}"
            self._happened(connection, identity, lease.assignment_id, EventKind.UNDONE, rater_id)
            where = self.place(connection, campaign_id, rater_id)[1]
        return HeldTask(self.shelves.assignment(lease.assignment_id), lease.address, until, where, previous)

    def _retract(self, connection: Connection, lease: leases.Lease) -> tuple[Answer | None, str | None]:
        """A check has no retraction: the newest check of an item by a person is the one that counts."""
        if lease.vote_id is None:
            return None, None
        vote = self.shelves.vote_within(connection, lease.vote_id)
        shown = ("rater_id", "item_id", "turn", "left_id", "right_id", "assignment_id", "dimension")
        sides = {name: getattr(vote, name) for name in shown}
        retraction = Vote(**sides, supersedes=vote.vote_id, retracted=True)
        leases.insert_new(connection, retraction)
        return _answer_of(vote), retraction.vote_id

    # ------------------------------------------------------------------ inside

    def _lease(self, connection: Connection, address: str, rater_id: str) -> leases.Lease:
        lease = leases.leased_to(connection, address, rater_id)
        if lease is None:
            raise _no_task()
        return lease

    def _happened(
        self, connection: Connection, identity: str, assignment_id: str, kind: EventKind, rater_id: str, why: str = ""
    ) -> None:
        event = Event(event_id=identity, assignment_id=assignment_id, kind=kind, rater_id=rater_id, reason=why)
        leases.insert_new(connection, event)


def _no_campaign() -> Refusal:
    return Refusal("no_campaign", "There is no such campaign.")


def _no_task() -> Refusal:
    return Refusal("no_task", "There is no such task.")


def _used(before: str, lease: leases.Lease, rater_id: str) -> Refusal | None:
    """A key that was used is the same vote again only where that vote still stands for this task."""
    if before == lease.assignment_id and lease.state == "done" and lease.rater_id == rater_id:
        return None
    return Refusal(
        "key_used", "This key belongs to another answer, or to one that was taken back.", hint="Use a new one."
    )


def raise_refusal(counted: AcceptedVote | Refusal) -> AcceptedVote:
    """Raise what was refused."""
    if isinstance(counted, Refusal):
        raise counted
    return counted


def _moments(plan: CampaignPlan) -> tuple[str, str]:
    moment = now()
    return moment_text(moment), moment_text(moment + timedelta(seconds=plan.lease_s))


def _answer_of(vote: Vote) -> Answer:
    """What was answered, to be shown again after an undo."""
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
