"""The live votes of a campaign, including those from sheets (`imarena route ingest`), and values by criterion."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, Select, func, select

from imarena.core.records import Assignment, Campaign, Outcome, Vote
from imarena.routing import KnownTask, is_correct_answer, preference_label
from imarena.storage import Workspace, from_row, reading
from imarena.storage.schema import assignments, leases, participants, votes
from imarena.workflows.views import one_sided_votes, votes_in_force, without_excluded_raters


@dataclass(frozen=True, slots=True)
class AnsweredTask:
    """A live vote with the task it answers."""

    assignment: Assignment
    vote: Vote


VOTE_OF_TASK = [column.label(f"vote_{column.name}") for column in votes.c]
"""The vote's columns in a query for `answers_in_force`, in addition to those of the assignment."""


def vote_of_task(row: RowMapping) -> Vote:
    """The vote in a row of a query with `VOTE_OF_TASK`."""
    return from_row(Vote, {column.name: row[f"vote_{column.name}"] for column in votes.c})


def answers_in_force(workspace: Workspace, query: Select[Any], *, excluded: bool) -> Iterator[AnsweredTask]:
    """Yield the live votes from a query of assignments with `VOTE_OF_TASK`, by sequence number.

    `excluded`: include votes of excluded raters, and on pairs shown with the source of only one side.
    """
    query = query.order_by(votes.c.seq)
    query = query if excluded else without_excluded_raters(query)
    with reading(workspace.store.engine) as connection:
        rows = connection.execute(votes_in_force(query)).mappings().all()
        later = [row["vote_seq"] for row in rows if '"turn":' in row["vote_body"]]  # the first turn is not stored
        one_sided = () if excluded else one_sided_votes(connection, later)
    for row in rows:
        if row["vote_seq"] in one_sided:
            continue
        yield AnsweredTask(from_row(Assignment, row), vote_of_task(row))


def sheet_votes(workspace: Workspace, campaign: Campaign, *, excluded: bool) -> Iterator[AnsweredTask]:
    """Live votes on tasks of a campaign that were never offered here, but made for a rater and sent out on a sheet.

    `excluded`: include votes of excluded raters.
    """
    query = (
        select(assignments, *VOTE_OF_TASK)
        .join(votes, votes.c.assignment_id == assignments.c.id)
        .outerjoin(leases, leases.c.assignment_id == assignments.c.id)
        .where(assignments.c.campaign_id == campaign.campaign_id, leases.c.assignment_id.is_(None))
    )
    return answers_in_force(workspace, query, excluded=excluded)


def sheet_raters(workspace: Workspace, campaign: Campaign) -> dict[str, int]:
    """Raters who answered tasks of a campaign but never joined it here, with the number of their first vote."""
    joined = select(participants.c.rater_id).where(participants.c.campaign_id == campaign.campaign_id)
    query = (
        select(votes.c.rater_id, func.min(votes.c.seq))
        .join(assignments, assignments.c.id == votes.c.assignment_id)
        .where(assignments.c.campaign_id == campaign.campaign_id, votes.c.rater_id.not_in(joined))
        .group_by(votes.c.rater_id)
    )
    with reading(workspace.store.engine) as connection:
        return dict(connection.execute(query).tuples().all())


def is_known_answer_right(assignment: Assignment, vote: Vote, known_tasks: dict[str, KnownTask]) -> bool | None:
    """Whether a task with a known answer was answered correctly. A task sent out on a sheet does not carry its answer.

    `known_tasks`: the campaign's known answers by unit. Returns None if no answer is known.
    """
    known_task = known_tasks.get(assignment.unit)
    if isinstance(assignment.params.get("expected"), dict) or known_task is None or known_task.preference is None:
        return is_correct_answer(assignment, vote)
    expected = Outcome(known_task.preference)
    return vote.preference is (expected if assignment.left_id == known_task.left_id else expected.mirrored())


def count_check_tasks(workspace: Workspace, campaign: Campaign) -> tuple[int, int]:
    """Number of check tasks of a campaign (repeats, known answers), which measure raters: all, and answered."""
    conditions = (
        assignments.c.campaign_id == campaign.campaign_id,
        assignments.c.purpose.not_in(("vote", "adjudication")),
    )
    cast = select(func.count()).select_from(votes.join(assignments, assignments.c.id == votes.c.assignment_id))
    with reading(workspace.store.engine) as connection:
        every = connection.execute(select(func.count()).select_from(assignments).where(*conditions)).scalar_one()
        done = connection.execute(votes_in_force(cast.where(*conditions))).scalar_one()
    return int(every), int(done)


def answered_tasks(workspace: Workspace, campaign: Campaign, *, excluded: bool = False) -> Iterator[AnsweredTask]:
    """All live votes of a campaign, those from a sheet last. `excluded`: include votes of excluded raters."""
    query = (
        select(assignments, *VOTE_OF_TASK)
        .join(leases, leases.c.assignment_id == assignments.c.id)
        .join(votes, votes.c.id == leases.c.vote_id)
        .where(leases.c.campaign_id == campaign.campaign_id, leases.c.state == "done")
    )
    yield from answers_in_force(workspace, query, excluded=excluded)
    yield from sheet_votes(workspace, campaign, excluded=excluded)


def answers_by_criterion(answered: Sequence[AnsweredTask]) -> dict[str, tuple[list[str], list[str], list[float]]]:
    """Units, raters and values by criterion, from tasks of purpose `vote`; a rater's newest answer counts."""
    values_by_criterion: dict[str, dict[tuple[str, str], float]] = {}
    for cast in answered:
        if cast.assignment.purpose != "vote":
            continue
        mark = preference_label(cast.vote)
        values = cast.vote.ratings if mark is None else {"preference": mark}
        for criterion, value in values.items():
            values_by_criterion.setdefault(criterion, {})[cast.assignment.unit, cast.vote.rater_id] = value
    return {
        criterion: ([unit for unit, _ in by_unit], [rater for _, rater in by_unit], list(by_unit.values()))
        for criterion, by_unit in values_by_criterion.items()
    }
