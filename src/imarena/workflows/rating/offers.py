"""Who gets what next: consent, practice, qualification, quota; then gold and repeats at their rates."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sqlalchemy import Connection, func, select

from imarena.core import moment_text, sha256_hex
from imarena.core.records import Assignment, Campaign, Vote, now
from imarena.routing import CampaignPlan, KnownTask, right
from imarena.storage import access, leases
from imarena.storage.schema import leases as leases_table
from imarena.workflows.rating.record_cache import Shelves

Stage = Literal[
    "consent", "practice", "qualification", "open", "not_qualified", "quota", "paused", "on_hold", "done", "closed",
    "not_invited",
]  # fmt: skip
WEEK = timedelta(days=7)
REPEAT_GAP = 5
"""A repeat is of a task that lies at least this many answers back."""


@dataclass(frozen=True)
class RaterStanding:
    """Where a rater stands in a campaign."""

    stage: Stage
    done: int
    quota: int
    quota_left: int
    practised: int = 0
    examined: int = 0


def week_ago() -> str:
    """From when on answers count for the weekly quota."""
    return moment_text(now() - WEEK)


def standing(
    connection: Connection, shelves: Shelves, campaign_id: str, rater_id: str, found: leases.Stand
) -> RaterStanding:
    """Where a rater stands now, by what was found on record."""
    plan, counts = shelves.plan(campaign_id), found.tally
    left = max(0, plan.weekly_quota - counts.recent)
    stage = _stage(connection, shelves, campaign_id, rater_id, found, left)
    return RaterStanding(stage, counts.done, plan.weekly_quota, left, counts.practice, counts.qualification)


def _stage(
    connection: Connection, shelves: Shelves, campaign_id: str, rater_id: str, found: leases.Stand, left: int
) -> Stage:
    plan, place, counts = shelves.plan(campaign_id), found.place, found.tally
    if place is None:
        return "not_invited"
    if not found.is_open:
        return "closed"
    if plan.paused:
        return "on_hold"
    if not place.active:
        return "paused"
    if plan.consent and (place.consented_at or "") <= plan.consent_since:
        return "consent"
    first: tuple[Stage, int, int] = ("practice", counts.practice, len(plan.practice))
    second: tuple[Stage, int, int] = ("qualification", counts.qualification, len(plan.qualification))
    for purpose, done, asked in (first, second):
        if done < asked and done + _skipped(connection, campaign_id, rater_id, purpose) < asked:
            return purpose
    if plan.qualification and not _passed(connection, shelves, campaign_id, plan, rater_id):
        return "not_qualified"
    return "open" if left else "quota"


def _skipped(connection: Connection, campaign_id: str, rater_id: str, purpose: str) -> int:
    """A task with a known answer that was skipped does not come back; in a test it counts as not right."""
    table = leases_table
    mine = (table.c.campaign_id == campaign_id, table.c.rater_id == rater_id)
    query = select(func.count()).where(*mine, table.c.purpose == purpose, table.c.state == "skipped")
    return int(connection.execute(query).scalar_one())


def _passed(connection: Connection, shelves: Shelves, campaign_id: str, plan: CampaignPlan, rater_id: str) -> bool:
    table = leases_table
    query = select(table.c.assignment_id, table.c.vote_id).where(
        table.c.campaign_id == campaign_id,
        table.c.rater_id == rater_id,
        table.c.purpose == "qualification",
        table.c.state == "done",
    )
    verdicts = []
    for assignment_id, vote_id in connection.execute(query):
        vote: Vote | None = shelves.vote_within(connection, vote_id) if vote_id else None
        verdicts.append(vote is not None and right(shelves.assignment(assignment_id), vote) is not False)
    return sum(verdicts) >= plan.pass_share * len(plan.qualification)


def next_personal(
    connection: Connection, shelves: Shelves, campaign: Campaign, where: RaterStanding, rater_id: str
) -> Assignment | None:
    """A task made for this rater alone, where it is time for one: practice, qualification, gold or a repeat."""
    plan = shelves.plan(campaign.campaign_id)
    if where.stage in ("practice", "qualification"):
        known = plan.practice if where.stage == "practice" else plan.qualification
        return _unused(connection, campaign, known, where.stage, rater_id)
    if plan.gold and chance(campaign.campaign_id, rater_id, where.done, "gold") < plan.gold_rate:
        gold = _unused(connection, campaign, plan.gold, "gold", rater_id)
        if gold is not None:
            return gold
    if plan.repeat_rate and chance(campaign.campaign_id, rater_id, where.done, "repeat") < plan.repeat_rate:
        return _repeat(connection, shelves, campaign, rater_id)
    return None


def made_for(
    connection: Connection, shelves: Shelves, campaign: Campaign, where: RaterStanding, rater_id: str
) -> tuple[Assignment | None, bool]:
    """A task for this rater alone that is on record now; and, without one, whether tasks for anybody are theirs too.

    Who was invited under an id of their own gets exactly what was made for that id: its gold and repeats are among it.
    """
    if where.stage == "open" and access.is_bound(connection, rater_id):
        named = leases.named_task(connection, campaign.campaign_id, rater_id)
        return None if named is None else shelves.assignment(named, connection), False
    assignment = next_personal(connection, shelves, campaign, where, rater_id)
    if assignment is not None:
        leases.insert_new(connection, assignment)
    return assignment, True


def chance(campaign_id: str, rater_id: str, done: int, what: str) -> float:
    """A number in [0, 1) that the past decides: asking again does not throw the dice again."""
    return int(sha256_hex(f"{what}:{campaign_id}:{rater_id}:{done}".encode())[:12], 16) / 16**12


def _unused(
    connection: Connection, campaign: Campaign, known: tuple[KnownTask, ...], purpose: str, rater_id: str
) -> Assignment | None:
    for one in known:
        assignment = Assignment(
            campaign_id=campaign.campaign_id,
            item_id=one.item_id,
            left_id=one.left_id,
            right_id=one.right_id,
            kind=campaign.kind,
            unit=one.unit,
            rater_id=rater_id,
            purpose=purpose,
            params={"expected": one.expected()},
        )
        if leases.lease_of(connection, assignment.assignment_id) is None:
            return assignment
    return None


def _repeat(connection: Connection, shelves: Shelves, campaign: Campaign, rater_id: str) -> Assignment | None:
    """A task that the rater answered a while ago, once more, with the sides as chance has it."""
    table = leases_table
    mine = (table.c.campaign_id == campaign.campaign_id, table.c.rater_id == rater_id, table.c.purpose == "vote")
    in_hand = select(func.count()).where(*mine, table.c.state.in_(leases.HOLDING))
    gap = max(0, REPEAT_GAP - int(connection.execute(in_hand).scalar_one()))  # answered by the time this is shown
    done = select(table.c.assignment_id).where(*mine, table.c.state == "done").order_by(table.c.done_at.desc())
    for identity in connection.execute(done.offset(gap).limit(50)).scalars():
        first = shelves.assignment(identity)
        swap = first.right_id is not None and chance(first.unit, rater_id, 0, "side") < 0.5
        again = first.model_copy(
            update={
                "left_id": first.right_id if swap else first.left_id,
                "right_id": first.left_id if swap else first.right_id,
                "slot": 0,
                "rater_id": rater_id,
                "purpose": "repeat",
                "params": {**first.params, "repeats": identity},
                "created_at": now(),
            }
        )
        if leases.lease_of(connection, again.assignment_id) is None:
            return again
    return None
