"""Read the data that the rules of `routing/offers.py` need: a rater's standing, and tasks not yet given to them."""

from collections.abc import Iterator
from dataclasses import replace

from sqlalchemy import Connection, func, select

from imarena import routing
from imarena.core import moment_text
from imarena.core.records import Assignment, Vote, now
from imarena.storage import access, leases
from imarena.storage.schema import leases as leases_table
from imarena.workflows.rating.record_cache import RecordCache

_REPEATS_TRIED = 50


def week_ago() -> str:
    """The time from which answers count towards the weekly quota."""
    return moment_text(routing.quota_start(now()))


def standing(
    connection: Connection, records: RecordCache, campaign_id: str, rater_id: str, state: leases.RaterState
) -> routing.RaterStanding:
    """A rater's current standing. Facts that few decisions need are read only on demand."""
    plan, facts = records.plan(campaign_id), _facts(state)
    while isinstance(decided := routing.rater_standing(plan, facts), routing.RaterFact):
        count = _count(connection, records, campaign_id, rater_id, decided)
        facts = replace(facts, counts={**facts.counts, decided: count})
    return decided


def _facts(state: leases.RaterState) -> routing.RaterFacts:
    counts = {name: getattr(state, name) for name in ("done", "recent", "practice_done", "qualification_done")}
    invited, active = state.active is not None, bool(state.active)
    return routing.RaterFacts(state.is_open, invited, active, state.consented_at, **counts)


def _count(
    connection: Connection, records: RecordCache, campaign_id: str, rater_id: str, fact: routing.RaterFact
) -> int:
    if fact is routing.RaterFact.QUALIFICATION_RIGHT:
        return _right_answers(connection, records, campaign_id, rater_id)
    purpose = "practice" if fact is routing.RaterFact.PRACTICE_SKIPPED else "qualification"
    table = leases_table
    of_rater = (table.c.campaign_id == campaign_id, table.c.rater_id == rater_id)
    query = select(func.count()).where(*of_rater, table.c.purpose == purpose, table.c.state == "skipped")
    return int(connection.execute(query).scalar_one())


def _right_answers(connection: Connection, records: RecordCache, campaign_id: str, rater_id: str) -> int:
    table = leases_table
    query = select(table.c.assignment_id, table.c.vote_id).where(
        table.c.campaign_id == campaign_id,
        table.c.rater_id == rater_id,
        table.c.purpose == "qualification",
        table.c.state == "done",
    )
    verdicts = []
    for assignment_id, vote_id in connection.execute(query):
        vote: Vote | None = records.vote_within(connection, vote_id) if vote_id else None
        verdicts.append(
            vote is not None and routing.is_correct_answer(records.assignment(assignment_id), vote) is not False
        )
    return sum(verdicts)


def next_personal(
    connection: Connection, records: RecordCache, campaign_id: str, where: routing.RaterStanding, rater_id: str
) -> Assignment | None:
    """A personal task for this rater, if one is due: practice, qualification, gold or a repeat."""
    plan = records.plan(campaign_id)
    for purpose in routing.due_purposes(plan, campaign_id, rater_id, where):
        for assignment in _candidates(connection, records, plan, campaign_id, purpose, rater_id):
            if leases.lease_of(connection, assignment.assignment_id) is None:
                return assignment
    return None


def _candidates(
    connection: Connection,
    records: RecordCache,
    plan: routing.CampaignPlan,
    campaign_id: str,
    purpose: routing.PersonalPurpose,
    rater_id: str,
) -> Iterator[Assignment]:
    if purpose != "repeat":
        yield from routing.known_assignments(plan, campaign_id, purpose, rater_id)
        return
    table = leases_table
    of_rater = (table.c.campaign_id == campaign_id, table.c.rater_id == rater_id, table.c.purpose == "vote")
    in_hand = select(func.count()).where(*of_rater, table.c.state.in_(leases.HOLDING))
    gap = routing.repeat_gap(int(connection.execute(in_hand).scalar_one()))
    done = select(table.c.assignment_id).where(*of_rater, table.c.state == "done").order_by(table.c.done_at.desc())
    for identity in connection.execute(done.offset(gap).limit(_REPEATS_TRIED)).scalars():
        yield routing.repeat_of(records.assignment(identity), rater_id)


def personal_task(
    connection: Connection, records: RecordCache, campaign_id: str, where: routing.RaterStanding, rater_id: str
) -> tuple[Assignment | None, bool]:
    """A personal task for this rater, stored if new, or None; and whether the rater may get shared tasks too.

    A rater with a personal invitation gets only the tasks made for that id, which include gold and repeats.
    """
    if where.stage == "open" and access.has_personal_invitation(connection, rater_id):
        own = leases.named_task(connection, campaign_id, rater_id)
        return None if own is None else records.assignment(own, connection), False
    assignment = next_personal(connection, records, campaign_id, where, rater_id)
    if assignment is not None:
        leases.insert_new(connection, assignment)
    return assignment, True
