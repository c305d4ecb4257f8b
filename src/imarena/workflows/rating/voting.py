"""Voting: a rater takes a task, answers, skips, undoes. Decides which votes count; `routing` decides who gets what.

The rule for late votes: a vote that arrives after its lease has expired counts as long as nobody else has taken the
task; otherwise it is refused with a message and stored as an event. No vote is lost, none counts twice.
"""

import json
import secrets
import time
from asyncio import sleep, wrap_future
from concurrent.futures import Future
from dataclasses import asdict, replace
from datetime import timedelta

from sqlalchemy import Connection

from imarena.core import content_id, moment_text
from imarena.core.records import Assignment, Campaign, Event, EventKind, Verification, Vote, now
from imarena.routing import (
    ANSWERING,
    DECIDING_ACCESS,
    RATERS_PER_UNIT,
    TRAINING,
    WITHOUT_UNDO,
    Answer,
    RaterStanding,
    feedback_on,
    practice_result,
    quota_left,
    read_ballot,
    standing_of_lead,
)
from imarena.storage import Workspace, WriteQueue, access, leases, membership, reading, writing
from imarena.workflows.rating.adjudication import offer_adjudication, take_for_lead
from imarena.workflows.rating.forecast import WorkForecast, forecast_work, tasks_may_return
from imarena.workflows.rating.held_tasks import AcceptedVote, HeldTask, Refusal
from imarena.workflows.rating.offers import personal_task, standing, week_ago
from imarena.workflows.rating.picture_log import FLUSH_S, PictureLog
from imarena.workflows.rating.record_cache import RecordCache
from imarena.workflows.rating.vote_checks import NOT_SEEN, TaskView, key_refusal, may_undo, view_of_task, view_refusal

_TRIES = 5
MARKS_S = 2.0
"""Seconds that a vote waits for the marks of pictures that another server may have sent."""


class Voting:
    """The voting desk of a workspace. One instance serves all threads."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.engine = workspace.store.engine
        self.records = RecordCache(workspace)
        self.write_queue = WriteQueue(self.engine)
        self.pictures = PictureLog(self.write_queue)
        """Log of the pictures that raters were sent."""

    def close(self) -> None:
        """Finish pending writes, then stop."""
        self.pictures.flush()
        self.write_queue.close()

    # ------------------------------------------------------------------ taking part

    def campaign(self, campaign_id: str) -> Campaign:
        """A campaign, open or closed as it is now."""
        with reading(self.engine) as connection:
            return self._as_it_is(campaign_id, leases.is_open(connection, campaign_id))

    def participation(
        self, connection: Connection, campaign_id: str, rater_id: str
    ) -> tuple[Campaign, RaterStanding, tuple[leases.Lease, ...]]:
        """A campaign as it is now, a rater's standing in it, and the tasks they hold, in one query."""
        state = leases.rater_state(connection, campaign_id, rater_id, week_ago())
        if state is None:
            raise _no_campaign()
        campaign = self._as_it_is(campaign_id, state.is_open)
        return campaign, standing(connection, self.records, campaign_id, rater_id, state), state.holds

    def _as_it_is(self, campaign_id: str, is_open: bool | None) -> Campaign:
        campaign = None if is_open is None else self.records.campaign(campaign_id)
        if campaign is None or campaign.kind not in RATERS_PER_UNIT:  # routing's gold set is only stored as one
            raise _no_campaign()
        return campaign if campaign.open == is_open else campaign.model_copy(update={"open": is_open})

    def join(self, campaign_id: str, rater_id: str) -> None:
        """Join without an invitation, for leads and for the person at this machine."""
        self.campaign(campaign_id)
        with writing(self.engine) as connection:
            membership.join_campaign(connection, campaign_id, rater_id, moment_text(now()))

    def standing(self, campaign_id: str, rater_id: str) -> RaterStanding:
        """A rater's standing in a campaign."""
        with reading(self.engine) as connection:
            return self.participation(connection, campaign_id, rater_id)[1]

    def forecast(self, campaign_id: str, rater_id: str, *, leads: bool = False) -> tuple[RaterStanding, WorkForecast]:
        """A rater's standing and remaining work. Counting the work takes time, so tasks do not include it.

        `leads`: a lead, who may take part without an invitation.
        """
        with reading(self.engine) as connection:
            campaign, where, holds = self.participation(connection, campaign_id, rater_id)
            plan = self.records.plan(campaign_id)
            where = standing_of_lead(plan, where) if leads else where
            work = forecast_work(connection, campaign, plan, where, rater_id, holds)
            if where.stage == "open" and not work.waiting:
                shared = not access.has_personal_invitation(connection, rater_id)
                where = self._without_task(connection, campaign_id, rater_id, where, shared=shared)
            can_undo = where.stage not in WITHOUT_UNDO and may_undo(connection, campaign_id, rater_id)
            return where, replace(work, can_undo=can_undo)

    def consent(self, campaign_id: str, rater_id: str) -> None:
        """Record that a rater agreed to take part."""
        self.campaign(campaign_id)
        with writing(self.engine) as connection:
            if not membership.change_membership(connection, campaign_id, rater_id, consented_at=moment_text(now())):
                raise Refusal("not_invited", "You do not take part in this campaign.")

    # ------------------------------------------------------------------ tasks

    def next(self, campaign_id: str, rater_id: str, *, leads: bool = False) -> HeldTask | RaterStanding:
        """The held task or a new one; if there is none, the rater's standing.

        `leads`: disputed units come first, if the campaign leaves adjudication to its lead.
        """
        return self.next_soon(campaign_id, rater_id, leads=leads).result()

    def next_soon(self, campaign_id: str, rater_id: str, *, leads: bool = False) -> "Future[HeldTask | RaterStanding]":
        """`next` as a future, without waiting."""

        def work(connection: Connection) -> HeldTask | RaterStanding:
            for _ in range(_TRIES):
                task = self._next(connection, campaign_id, rater_id, leads=leads)
                if task is not None:
                    return task
            raise Refusal("busy", "The task was taken just now.", hint="Try again.")

        return self.write_queue.submit(rater_id, work)

    def _next(
        self, connection: Connection, campaign_id: str, rater_id: str, *, leads: bool
    ) -> HeldTask | RaterStanding | None:
        """One attempt, in one transaction; None if somebody else was faster."""
        campaign, where, holds = self.participation(connection, campaign_id, rater_id)
        lease = holds[0] if holds else None
        if leads and lease is None and self.records.plan(campaign_id).adjudication == "lead":
            disputed = self._adjudicate(connection, campaign_id, rater_id, where)
            if disputed is not None:
                return disputed
        if where.stage not in ANSWERING:
            return where
        return self._take(connection, campaign, rater_id, where, lease)

    def _adjudicate(
        self, connection: Connection, campaign_id: str, rater_id: str, where: RaterStanding
    ) -> HeldTask | None:
        """Hand out a disputed unit to the lead."""
        if where.stage in ("closed", "on_hold"):
            return None
        moment, until = self.moments(campaign_id)
        address = secrets.token_urlsafe(18)
        assignment_id = take_for_lead(connection, campaign_id, rater_id, until=until, address=address, now=moment)
        if assignment_id is None:
            return None
        self.note(connection, address, assignment_id, EventKind.LEASED, rater_id)
        return HeldTask(self.records.assignment(assignment_id, connection), address, until, where, handed_at=moment)

    def _without_task(
        self, connection: Connection, campaign_id: str, rater_id: str, where: RaterStanding, *, shared: bool
    ) -> RaterStanding:
        """The standing without a task: `waiting` if a shared task that others hold may come back, else `done`."""
        returns = shared and where.stage == "open" and tasks_may_return(connection, campaign_id, rater_id)
        return replace(where, stage="waiting" if returns else "done")

    def _take(
        self,
        connection: Connection,
        campaign: Campaign,
        rater_id: str,
        where: RaterStanding,
        lease: leases.Lease | None,
    ) -> HeldTask | RaterStanding | None:
        """Take a task. Kept short: on SQLite nobody else can write meanwhile. None if somebody else was faster."""
        moment, until = self.moments(campaign.campaign_id)
        if lease is not None and lease.address is not None:
            handed = moment if lease.state == leases.WAITING else lease.handed_at
            if not leases.change_lease(connection, lease, state="held", until=until, handed_at=handed):
                return None
            if lease.state == leases.WAITING:
                leases.mark_seen(connection, lease.campaign_id, rater_id, lease.unit)
            task = self.records.assignment(lease.assignment_id, connection)
            return HeldTask(task, lease.address, until, where, handed_at=handed)
        address = secrets.token_urlsafe(18)
        assignment, shared = personal_task(connection, self.records, campaign.campaign_id, where, rater_id)
        if assignment is not None:
            leases.offer_to(connection, assignment, rater_id, until, address, moment)
            self.note(connection, address, assignment.assignment_id, EventKind.LEASED, rater_id)
            return HeldTask(assignment, address, until, where, handed_at=moment)
        theirs = leases.free_task(connection, campaign.campaign_id, rater_id, moment) if shared else None
        if theirs is None:
            return self._without_task(connection, campaign.campaign_id, rater_id, where, shared=shared)
        free, assignment = theirs
        if free.rater_id is not None:
            old_address = f"gone_{secrets.token_hex(12)}"
            self.note(connection, old_address, free.assignment_id, EventKind.EXPIRED, free.rater_id)
        if not leases.take_task(connection, free, rater_id, until=until, address=address, now=moment):
            return None
        self.note(connection, address, free.assignment_id, EventKind.LEASED, rater_id)
        return HeldTask(self.records.keep(assignment), address, until, where, handed_at=moment)

    def task(self, address: str, rater_id: str) -> HeldTask:
        """A task that this rater holds, by its address."""
        with reading(self.engine) as connection:
            lease = self.lease(connection, address, rater_id)
            where = self.participation(connection, lease.campaign_id, rater_id)[1]
        if lease.address != address or lease.state not in leases.HOLDING:
            raise Refusal("gone", "This task is no longer yours.", hint="Ask for the next one.")
        assignment = self.records.assignment(lease.assignment_id)
        return HeldTask(assignment, address, lease.until or "", where, handed_at=lease.handed_at)

    def shown(self, address: str, rater_id: str) -> Assignment:
        """The assignment behind an address, to show its pictures to the holder, also just after the vote."""
        with reading(self.engine) as connection:
            lease = self.lease(connection, address, rater_id)
        if lease.address != address:
            raise Refusal("gone", "This task is no longer yours.", hint="Ask for the next one.")
        return self.records.assignment(lease.assignment_id)

    # ------------------------------------------------------------------ answering

    def vote(self, address: str, rater_id: str, key: str, answer: Answer, *, browser: bool = False) -> AcceptedVote:
        """Store an answer. Repeating the same key and answer stores nothing and returns the same result."""
        return raise_refusal(self.vote_soon(address, rater_id, key, answer, browser=browser).result())

    def vote_soon(
        self, address: str, rater_id: str, key: str, answer: Answer, *, browser: bool = False
    ) -> "Future[AcceptedVote | Refusal]":
        """`vote` as a future, without waiting; a refusal is returned as a value, because its answer is stored too.

        `browser`: the answer counts only if the task's pictures were requested and the minimum time has passed.
        """
        moment = moment_text(now())

        def work(connection: Connection) -> AcceptedVote | Refusal:
            return self._vote(connection, address, rater_id, key, answer, moment, browser=browser)

        return self.write_queue.submit(rater_id, work, durable=True)

    async def vote_of_browser(self, address: str, rater_id: str, key: str, answer: Answer) -> AcceptedVote | Refusal:
        """`vote` from a browser. If several servers share the database, another one may have sent the pictures without
        having recorded it yet: a vote with missing pictures is retried for a while before it is refused.
        """
        until = 0.0 if self.engine.dialect.name == "sqlite" else time.monotonic() + MARKS_S
        while True:
            counted = await wrap_future(self.vote_soon(address, rater_id, key, answer, browser=True))
            unseen = isinstance(counted, Refusal) and counted.code == NOT_SEEN
            if not unseen or time.monotonic() > until:
                return counted
            await sleep(FLUSH_S / 2)

    def _vote(
        self, connection: Connection, address: str, rater_id: str, key: str, answer: Answer, moment: str, *,
        browser: bool,
    ) -> AcceptedVote | Refusal:  # fmt: skip
        """Count the vote, or return why it is refused. An answer that came too late is stored either way."""
        voted = content_id("voted", rater_id, key)
        target = leases.vote_address(connection, address, rater_id, voted=voted, since=week_ago())
        if target is None:
            raise _no_task()
        lease, before = target.lease, target.before
        assignment = self.records.assignment(lease.assignment_id, connection)
        plan = self.records.plan(lease.campaign_id)
        refused = self._why_not(lease, address, rater_id) if before is None else None
        if refused is not None:
            self._keep_refused(connection, lease, rater_id, key, answer)
            return refused
        record = read_ballot(assignment, answer, rater_id, key, lease.vote_id, plan.dimension)
        if before is not None:
            refused = key_refusal(connection, self.records, lease, rater_id, before, record)
            if refused is not None:
                self._keep_refused(connection, lease, rater_id, key, answer)
                return refused
        if before is None:
            view = view_of_task(connection, self.records, self.pictures, lease, assignment)
            refused = view_refusal(view, plan.min_seconds, moment) if browser else None
            if refused is not None:
                return refused
            self._count(connection, lease, record, view, voted)
        late = before is None and bool(lease.until and lease.until < moment)
        added = int(before is None and lease.purpose not in TRAINING)  # this vote itself, which was not stored yet
        left = quota_left(plan, target.recent + added)
        practice = practice_result(assignment, answer) if assignment.purpose == "practice" else None
        feedback = feedback_on(assignment, answer) if practice else None
        return AcceptedVote(late, target.done + added, left, feedback, lease.purpose not in DECIDING_ACCESS, practice)

    def _count(
        self, connection: Connection, lease: leases.Lease, record: Vote | Verification, view: TaskView, voted: str
    ) -> None:
        if isinstance(record, Vote):
            first_turn = self.records.question_of(self.records.assignment(lease.assignment_id, connection)).first_turn
            record = record.model_copy(update={**view.vote_fields(), "first_turn": first_turn})
        leases.insert_new(connection, record)
        self.note(connection, voted, lease.assignment_id, EventKind.VOTED, record.rater_id)
        vote_id = record.vote_id if isinstance(record, Vote) else None
        if not leases.change_lease(connection, lease, state="done", done_at=moment_text(now()), vote_id=vote_id):
            raise Refusal("busy", "The task changed hands just now.", hint="Try again.")
        if lease.purpose == "vote":
            offer_adjudication(connection, self.records.plan(lease.campaign_id), lease.campaign_id, lease.unit)

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
            hint="It was recorded. Please continue with the next task.",
        )

    def _keep_refused(
        self, connection: Connection, lease: leases.Lease, rater_id: str, key: str, answer: Answer
    ) -> None:
        """Store a refused answer as an event, once."""
        identity = content_id("late", rater_id, key)
        if not leases.has_event(connection, identity):
            content = json.dumps(asdict(answer), default=lambda value: value.model_dump(mode="json"))
            kind = EventKind.EXPIRED
            self.note(connection, identity, lease.assignment_id, kind, rater_id, f"refused vote: {content}")

    def for_anybody(self, connection: Connection, lease: leases.Lease) -> bool:
        """Whether others may get this task; False if it was made for one rater."""
        shared = (*leases.SHARED, *leases.ADJUDICATING)
        return lease.purpose in shared and self.records.assignment(lease.assignment_id, connection).rater_id is None

    # ------------------------------------------------------------------ inside

    def lease(self, connection: Connection, address: str, rater_id: str) -> leases.Lease:
        """The lease behind an address, for its rater."""
        lease = leases.leased_to(connection, address, rater_id)
        if lease is None:
            raise _no_task()
        return lease

    def moments(self, campaign_id: str) -> tuple[str, str]:
        """The current time, and the time at which the lease of a task taken now expires."""
        moment = now()
        return moment_text(moment), moment_text(moment + timedelta(seconds=self.records.plan(campaign_id).lease_s))

    def note(
        self, connection: Connection, identity: str, assignment_id: str, kind: EventKind, rater_id: str, why: str = ""
    ) -> None:
        """Append an event about a task."""
        event = Event(event_id=identity, assignment_id=assignment_id, kind=kind, rater_id=rater_id, reason=why)
        leases.insert_new(connection, event)


def _no_campaign() -> Refusal:
    return Refusal("no_campaign", "There is no such campaign.")


def _no_task() -> Refusal:
    return Refusal("no_task", "There is no such task.")


def raise_refusal(counted: AcceptedVote | Refusal) -> AcceptedVote:
    """Return an accepted vote, or raise the refusal."""
    if isinstance(counted, Refusal):
        raise counted
    return counted
