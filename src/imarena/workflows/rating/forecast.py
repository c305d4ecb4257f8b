"""How much work there is for a rater now: what they hold, what they may take, and what will come among it.

Gold and repeats count too, at the moments at which they will come: the number goes down by one with every answer,
whatever the task was. One that stood still would give gold away.
"""

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, func, or_, select

from imarena.core import moment_text
from imarena.core.records import Campaign, now
from imarena.routing import CampaignPlan
from imarena.storage import access, leases
from imarena.storage.schema import assignments, units_seen
from imarena.storage.schema import leases as table
from imarena.workflows.rating.offers import REPEAT_GAP, RaterStanding, chance

MOST = 1000
"""Nobody plans further ahead: past this many it is told that there are more."""
_WORKING = ("open", "practice", "qualification", "quota", "consent")
_TRAINING = ("practice", "qualification")


@dataclass(frozen=True)
class Outlook:
    """Tasks that wait for a rater; `more`: at least so many."""

    waiting: int
    more: bool = False


def outlook(
    connection: Connection,
    campaign: Campaign,
    plan: CampaignPlan,
    where: RaterStanding,
    rater_id: str,
    holds: tuple[leases.Lease, ...],
) -> Outlook:
    """What waits for this rater in a campaign now. Others may take some of it meanwhile."""
    if where.stage not in _WORKING:
        return Outlook(0)
    held = sum(lease.purpose not in _TRAINING for lease in holds)
    if access.is_bound(connection, rater_id):
        return _least(held + leases.named_tasks(connection, campaign.campaign_id, rater_id))
    free = _free(connection, campaign.campaign_id, rater_id)
    if not (plan.gold and plan.gold_rate) and not plan.repeat_rate:
        return _least(held + free)
    return _least(held + _walk(connection, campaign.campaign_id, plan, where.done + held, rater_id, free, MOST - held))


def _least(count: int) -> Outlook:
    return Outlook(min(count, MOST), count > MOST)


def _free(connection: Connection, campaign_id: str, rater_id: str) -> int:
    """Units of which a task is free, or has run out in somebody else's hands, and which this rater has not seen.

    Of a large campaign only as many are looked up as are told.
    """
    seen = select(units_seen.c.unit).where(units_seen.c.campaign_id == campaign_id, units_seen.c.rater_id == rater_id)
    unseen = select(table.c.unit).where(table.c.campaign_id == campaign_id, table.c.unit.not_in(seen)).distinct()
    for_one = select(assignments.c.rater_id).where(assignments.c.id == table.c.assignment_id).scalar_subquery()
    late = unseen.where(
        table.c.state.in_((*leases.HOLDING, leases.WAITING)),
        table.c.until < moment_text(now()),
        table.c.rater_id != rater_id,
        table.c.purpose == "vote",
        for_one.is_(None),
    )
    units: set[str] = set()
    for query in (unseen.where(table.c.state == "free"), late):
        if len(units) <= MOST:
            units.update(connection.execute(query.limit(MOST + 1)).scalars())
    return len(units)


def _walk(
    connection: Connection, campaign_id: str, plan: CampaignPlan, done: int, rater_id: str, free: int, most: int
) -> int:
    """Go through the tasks to come as `next_personal` will: gold, a repeat, or one that is free, until none is."""
    mine = (table.c.campaign_id == campaign_id, table.c.rater_id == rater_id)
    # a vote is done, or in hand and done by then; gold and repeats that were skipped do not come again
    counts = or_(table.c.purpose != "vote", table.c.state != "skipped")
    query = select(table.c.purpose, func.count()).where(*mine, counts).group_by(table.c.purpose)
    had = Counter({str(purpose): int(count) for purpose, count in connection.execute(query)})
    gold = len(plan.gold) - had["gold"]
    to_come = 0
    while to_come <= most:
        if gold > 0 and chance(campaign_id, rater_id, done + to_come, "gold") < plan.gold_rate:
            gold -= 1
        elif (
            plan.repeat_rate
            and had["vote"] - REPEAT_GAP > had["repeat"]
            and chance(campaign_id, rater_id, done + to_come, "repeat") < plan.repeat_rate
        ):
            had["repeat"] += 1
        elif free > 0:
            free -= 1
            had["vote"] += 1
        else:
            break
        to_come += 1
    return to_come
