"""How much work there is for a rater now: what they hold, what they may take, and what will come among it.

Gold and repeats count too, at the moments at which they will come: the number goes down by one with every answer,
whatever the task was. One that stood still would give gold away.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, func, or_, select

from imarena.core import moment_text
from imarena.core.records import Campaign, now
from imarena.routing import WITH_WORK, CampaignPlan, RaterStanding, TasksGiven, held_work, tasks_to_come
from imarena.storage import access, leases
from imarena.storage.schema import assignments, units_seen
from imarena.storage.schema import leases as table

MOST = 1000
"""Nobody plans further ahead: past this many it is told that there are more."""


@dataclass(frozen=True)
class WorkForecast:
    """Tasks that wait for a rater; `more`: at least so many."""

    waiting: int
    more: bool = False
    can_undo: bool = False
    """Can the rater take an answer back now?"""


def forecast_work(
    connection: Connection,
    campaign: Campaign,
    plan: CampaignPlan,
    where: RaterStanding,
    rater_id: str,
    holds: tuple[leases.Lease, ...],
) -> WorkForecast:
    """What waits for this rater in a campaign now. Others may take some of it meanwhile."""
    if where.stage not in WITH_WORK:
        return WorkForecast(0)
    held = held_work([lease.purpose for lease in holds])
    if access.has_personal_invitation(connection, rater_id):
        return _least(held + leases.named_tasks(connection, campaign.campaign_id, rater_id))
    free = _free(connection, campaign.campaign_id, rater_id)
    if not (plan.gold and plan.gold_rate) and not plan.repeat_rate:
        return _least(held + free)
    tasks_given = _tasks_given(connection, campaign.campaign_id, rater_id)
    most = MOST - held
    return _least(
        held + tasks_to_come(plan, campaign.campaign_id, rater_id, where.done + held, tasks_given, free, most)
    )


def tasks_may_return(connection: Connection, campaign_id: str, rater_id: str) -> bool:
    """Does somebody hold a task that this rater could get, should it come back?"""
    seen = select(units_seen.c.unit).where(units_seen.c.campaign_id == campaign_id, units_seen.c.rater_id == rater_id)
    query = (
        select(table.c.assignment_id)
        .join(assignments, assignments.c.id == table.c.assignment_id)
        .where(
            table.c.campaign_id == campaign_id,
            table.c.state.in_((*leases.HOLDING, leases.WAITING)),
            table.c.rater_id != rater_id,
            table.c.purpose.in_(leases.SHARED),
            assignments.c.rater_id.is_(None),
            table.c.unit.not_in(seen),
        )
        .limit(1)
    )
    return connection.execute(query).first() is not None


def _least(count: int) -> WorkForecast:
    return WorkForecast(min(count, MOST), count > MOST)


def _free(connection: Connection, campaign_id: str, rater_id: str) -> int:
    """Units of which a task is free, or has run out in somebody else's hands, and which this rater has not seen.

    Of a large campaign only as many are looked up as are told.
    """
    seen = select(units_seen.c.unit).where(units_seen.c.campaign_id == campaign_id, units_seen.c.rater_id == rater_id)
    kept = select(table.c.unit).where(  # ready for this rater, not yet shown: counted as held already
        table.c.campaign_id == campaign_id, table.c.rater_id == rater_id, table.c.state == leases.WAITING
    )
    other = (table.c.unit.not_in(seen), table.c.unit.not_in(kept))
    unseen = select(table.c.unit).where(table.c.campaign_id == campaign_id, *other).distinct()
    for_one = select(assignments.c.rater_id).where(assignments.c.id == table.c.assignment_id).scalar_subquery()
    late = unseen.where(
        table.c.state.in_((*leases.HOLDING, leases.WAITING)),
        table.c.until < moment_text(now()),
        table.c.rater_id != rater_id,
        table.c.purpose.in_(leases.SHARED),
        for_one.is_(None),
    )
    units: set[str] = set()
    for query in (unseen.where(table.c.state == "free", table.c.purpose != "lead"), late):
        if len(units) <= MOST:
            units.update(connection.execute(query.limit(MOST + 1)).scalars())
    return len(units)


def _tasks_given(connection: Connection, campaign_id: str, rater_id: str) -> TasksGiven:
    mine = (table.c.campaign_id == campaign_id, table.c.rater_id == rater_id)
    # a vote is done, or in hand and done by then; gold and repeats that were skipped do not come again
    counts = or_(table.c.purpose != "vote", table.c.state != "skipped")
    query = select(table.c.purpose, func.count()).where(*mine, counts).group_by(table.c.purpose)
    by_purpose = {str(purpose): int(count) for purpose, count in connection.execute(query)}
    return TasksGiven(by_purpose.get("vote", 0), by_purpose.get("gold", 0), by_purpose.get("repeat", 0))
