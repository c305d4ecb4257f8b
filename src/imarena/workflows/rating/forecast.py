"""Forecast a rater's remaining work: tasks they hold, tasks they may take, and gold and repeats in between.

Gold and repeats count when they will come up, so that the number drops by one with every answer, whatever the task
was. A number that did not drop would give gold away.
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
"""Maximum number of tasks to report; beyond it, `more` is set."""


@dataclass(frozen=True)
class WorkForecast:
    """Number of tasks that wait for a rater; `more`: there are more than this."""

    waiting: int
    more: bool = False
    can_undo: bool = False
    """Whether the rater can undo an answer now."""


def forecast_work(
    connection: Connection,
    campaign: Campaign,
    plan: CampaignPlan,
    where: RaterStanding,
    rater_id: str,
    holds: tuple[leases.Lease, ...],
) -> WorkForecast:
    """The work that waits for this rater in a campaign now. Others may take some of it meanwhile."""
    if where.stage not in WITH_WORK:
        return WorkForecast(0)
    held_tasks = held_work([lease.purpose for lease in holds])
    if access.has_personal_invitation(connection, rater_id):
        return _least(held_tasks + leases.named_tasks(connection, campaign.campaign_id, rater_id))
    free = _free(connection, campaign.campaign_id, rater_id)
    if not (plan.gold and plan.gold_rate) and not plan.repeat_rate:
        return _least(held_tasks + free)
    tasks_given = _tasks_given(connection, campaign.campaign_id, rater_id)
    most = MOST - held_tasks
    return _least(
        held_tasks
        + tasks_to_come(plan, campaign.campaign_id, rater_id, where.done + held_tasks, tasks_given, free, most)
    )


def tasks_may_return(connection: Connection, campaign_id: str, rater_id: str) -> bool:
    """Whether somebody holds a task that this rater could get if it comes back."""
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
    """Number of units, unseen by this rater, with a task that is free or whose lease with another rater has expired.

    In a large campaign, counting stops beyond `MOST`.
    """
    seen = select(units_seen.c.unit).where(units_seen.c.campaign_id == campaign_id, units_seen.c.rater_id == rater_id)
    prefetched = select(table.c.unit).where(  # prefetched for this rater, not yet shown: already counted as held
        table.c.campaign_id == campaign_id, table.c.rater_id == rater_id, table.c.state == leases.WAITING
    )
    other = (table.c.unit.not_in(seen), table.c.unit.not_in(prefetched))
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
    conditions = (table.c.campaign_id == campaign_id, table.c.rater_id == rater_id)
    # held votes will be done by then; skipped gold and repeats count, because they do not come again
    counts = or_(table.c.purpose != "vote", table.c.state != "skipped")
    query = select(table.c.purpose, func.count()).where(*conditions, counts).group_by(table.c.purpose)
    by_purpose = {str(purpose): int(count) for purpose, count in connection.execute(query)}
    return TasksGiven(by_purpose.get("vote", 0), by_purpose.get("gold", 0), by_purpose.get("repeat", 0))
