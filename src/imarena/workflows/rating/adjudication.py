"""Adjudication: another rater or the lead answers units on which raters disagree.

All answers are kept; the adjudicator's answer counts as one more vote.
The task records whether the adjudicator saw the others' answers (`answers` in its params).
"""

from sqlalchemy import Connection, func, insert, or_, select, update

from imarena.core.records import Assignment, Campaign, Verification, Vote
from imarena.routing import Answer, CampaignPlan, another_assignment, are_disputed, plan_of
from imarena.storage import Workspace, from_row, leases, reading, writing
from imarena.storage.schema import assignments, verifications, votes
from imarena.storage.schema import leases as table
from imarena.workflows.rating.answers import VOTE_OF_TASK, vote_of_task
from imarena.workflows.rating.task_counts import WITHDRAWN
from imarena.workflows.rating.vote_checks import answer_of_vote
from imarena.workflows.views import vote_is_excluded

_PURPOSE = {"rater": "adjudication", "lead": "lead"}
"""The purpose of the lease: raters are never offered tasks for the lead."""


def offer_adjudication(connection: Connection, plan: CampaignPlan, campaign_id: str, unit: str) -> bool:
    """Offer a unit once more if all its raters have answered and disagree; returns False otherwise."""
    if plan.adjudication == "off":
        return False
    of_unit = (table.c.campaign_id == campaign_id, table.c.unit == unit)
    tasks = connection.execute(select(table).where(*of_unit, table.c.purpose.in_(("vote", *leases.ADJUDICATING)))).all()
    open_tasks = [task for task in tasks if task.state not in ("done", WITHDRAWN)]
    if open_tasks or any(task.purpose != "vote" for task in tasks):
        return False
    if plan.kind == "check":
        first, checks = _checks(connection, campaign_id, unit)
        if first is None or len({check.decision for check in checks}) < 2:
            return False
    else:
        answers = _answers(connection, campaign_id, unit)
        if len(answers) < 2 or not are_disputed([vote for _, vote in answers]):
            return False
        first = answers[0][0]
    settled = another_assignment(first, len(tasks), plan.seed).model_copy(
        update={"purpose": "adjudication", "params": {"answers": plan.adjudication_answers}}
    )
    leases.insert_new(connection, settled)
    last = select(func.coalesce(func.min(table.c.position), 0) - 1).where(table.c.campaign_id == campaign_id)
    row = {
        "assignment_id": settled.assignment_id, "campaign_id": campaign_id, "unit": unit, "state": "free",
        "purpose": _PURPOSE[plan.adjudication], "position": connection.execute(last).scalar_one(),
    }  # fmt: skip
    connection.execute(insert(table).values(row))
    return True


def _answers(connection: Connection, campaign_id: str, unit: str) -> list[tuple[Assignment, Vote]]:
    """The votes on a unit that count, each with its task, including those from a sheet."""
    query = (
        select(assignments, *VOTE_OF_TASK)
        .join(votes, votes.c.assignment_id == assignments.c.id)
        .where(
            assignments.c.campaign_id == campaign_id,
            assignments.c.purpose == "vote",
            assignments.c.unit == unit,
            votes.c.superseded == 0,
            votes.c.retracted == 0,
            ~vote_is_excluded(),
        )
        .order_by(votes.c.seq)
    )
    return [(from_row(Assignment, row), vote_of_task(row)) for row in connection.execute(query).mappings()]


def _checks(connection: Connection, campaign_id: str, unit: str) -> tuple[Assignment | None, list[Verification]]:
    """A task of a unit, and each rater's newest check of its item; a check is not linked to a task."""
    of_unit = (assignments.c.campaign_id == campaign_id, assignments.c.purpose == "vote", assignments.c.unit == unit)
    row = connection.execute(select(assignments).where(*of_unit).limit(1)).mappings().first()
    if row is None:
        return None, []
    done = select(table.c.rater_id).where(
        table.c.campaign_id == campaign_id, table.c.unit == unit, table.c.purpose == "vote", table.c.state == "done"
    )
    query = select(verifications).where(verifications.c.item_id == row["item_id"], verifications.c.rater_id.in_(done))
    rows = connection.execute(query.order_by(verifications.c.seq)).mappings()
    newest = {check["rater_id"]: from_row(Verification, check) for check in rows}
    return from_row(Assignment, row), list(newest.values())


def offer_adjudications(workspace: Workspace, campaign: Campaign) -> int:
    """Offer every disputed unit of a campaign for adjudication; returns how many are new.

    For answers stored before adjudication was enabled, and for answers from a sheet.
    """
    plan = plan_of(campaign)
    if plan.adjudication == "off":
        return 0
    query = select(assignments.c.unit).where(
        assignments.c.campaign_id == campaign.campaign_id, assignments.c.purpose == "vote"
    )
    new = 0
    units = sorted(workspace.store.values(query.distinct()))
    for unit in units:  # short transactions, so that raters can vote meanwhile
        with writing(workspace.store.engine) as connection:
            new += offer_adjudication(connection, plan, campaign.campaign_id, unit)
    return new


def hand_over_open(workspace: Workspace, campaign: Campaign) -> None:
    """Apply a changed setting to open adjudications: those that nobody holds go to raters or to the lead."""
    mode = plan_of(campaign).adjudication
    free = (table.c.campaign_id == campaign.campaign_id, table.c.purpose.in_(leases.ADJUDICATING))
    with writing(workspace.store.engine) as connection:
        changed = {"state": WITHDRAWN} if mode == "off" else {"state": "free", "purpose": _PURPOSE[mode]}
        connection.execute(update(table).where(*free, table.c.state.in_(("free", WITHDRAWN))).values(changed))


def take_for_lead(
    connection: Connection, campaign_id: str, rater_id: str, *, until: str, address: str, now: str
) -> str | None:
    """Take an adjudication for the lead; returns the assignment's id, or None if there is none."""
    late = (table.c.state == "held") & (table.c.until < now) & (table.c.rater_id != rater_id)
    query = (
        select(table)
        .where(
            table.c.campaign_id == campaign_id, table.c.purpose == "lead", or_(table.c.state == "free", late)
        )
        .order_by(table.c.position)
        .limit(1)
        .with_for_update(skip_locked=True)
    )  # fmt: skip
    row = connection.execute(query).mappings().first()
    if row is None:
        return None
    lease = leases.Lease(**row)
    changes = {"state": "held", "rater_id": rater_id, "until": until, "address": address, "handed_at": now}
    return lease.assignment_id if leases.change_lease(connection, lease, **changes) else None


def other_answers(workspace: Workspace, assignment: Assignment) -> list[Answer]:
    """Other raters' answers on the unit, with the sides as in this task; empty unless the task shows answers."""
    if assignment.purpose != "adjudication" or assignment.params.get("answers") != "shown":
        return []
    with reading(workspace.store.engine) as connection:
        if assignment.kind == "check":
            _, checks = _checks(connection, assignment.campaign_id, assignment.unit)
            return [Answer(checks=check.checks, decision=check.decision, comment=check.comment) for check in checks]
        answers = _answers(connection, assignment.campaign_id, assignment.unit)
    return [answer_of_vote(_with_sides_of(vote, assignment)) for _, vote in answers]


def _with_sides_of(vote: Vote, assignment: Assignment) -> Vote:
    if vote.preference is None or vote.left_id == assignment.left_id:
        return vote
    return vote.model_copy(update={"preference": vote.preference.mirrored()})
