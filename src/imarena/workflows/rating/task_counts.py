"""Change the number of raters per unit in a running campaign: tasks are added or withdrawn."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, case, func, select, update

from imarena.core.records import Assignment, Campaign, EventKind, Output
from imarena.routing import another_assignment, plan_of, slot_changes
from imarena.storage import Workspace, leases, reading, writing
from imarena.storage.schema import assignments, events, votes
from imarena.storage.schema import leases as leases_table
from imarena.workflows.views import rater_is_excluded, vote_is_excluded

_CHUNK = 500
WITHDRAWN = "withdrawn"
EXCLUDED = "excluded"
"""State of an excluded rater's task: another task is created in its place."""
T = TypeVar("T")


def set_slots(workspace: Workspace, campaign: Campaign) -> None:
    """Give every unit as many tasks as the campaign wants raters. Calling it twice changes nothing.

    Too many: free tasks are withdrawn; those that somebody holds or has answered stay. Too few: withdrawn tasks are
    offered again first, then new ones are created with random sides.
    """
    number = plan_of(campaign).raters
    withdraw: list[str] = []
    revive: list[str] = []
    make: list[tuple[str, int, int]] = []
    for identity, states in _units(workspace, campaign):
        changes = slot_changes(states, number)
        withdraw += changes.withdraw
        revive += changes.revive
        make += [(identity, slot, extra) for extra, slot in enumerate(changes.new_slots)]
    _set_state(workspace, withdraw, "free", WITHDRAWN)
    _set_state(workspace, revive, WITHDRAWN, "free")
    _make(workspace, campaign, make)


def _units(workspace: Workspace, campaign: Campaign) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield for each unit one of its assignments, and all of them by state."""
    table = leases_table
    query = (
        select(table.c.unit, state_of_task(), table.c.assignment_id)
        .outerjoin(votes, votes.c.id == table.c.vote_id)
        .where(table.c.campaign_id == campaign.campaign_id, table.c.purpose == "vote")
    )
    units: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    with reading(workspace.store.engine) as connection:
        for unit, state, identity in connection.execute(query.order_by(table.c.position)):
            units[unit][state].append(identity)
        for unit, state, identity in connection.execute(tasks_not_dealt(campaign.campaign_id)):
            units[unit][state].append(identity)
    for states in units.values():
        yield next(iter(states.values()))[0], states


def tasks_not_dealt(campaign_id: str) -> Select[Any]:
    """Query for unit, state and id of tasks not offered here: those for named raters, or sent out on sheets.

    Answers from a sheet count; a task that waits for a rater has the state `named`.
    """
    answers = select(votes.c.seq).where(votes.c.assignment_id == assignments.c.id)
    counting, answered = answers.where(~vote_is_excluded()).exists(), answers.exists()
    return (
        select(
            assignments.c.unit,
            case((counting, "done"), (answered, EXCLUDED), else_="named").label("state"),
            assignments.c.id,
        )
        .outerjoin(leases_table, leases_table.c.assignment_id == assignments.c.id)
        .where(
            assignments.c.campaign_id == campaign_id,
            assignments.c.purpose == "vote",
            leases_table.c.assignment_id.is_(None),
        )
    )


def count_of_skips() -> ColumnElement[int]:
    """SQL expression for the number of skips in a query of events, without those that were undone."""
    skipped = func.count().filter(events.c.kind == EventKind.SKIPPED.value)
    return skipped - func.count().filter(events.c.kind == EventKind.UNSKIPPED.value)


def state_of_task() -> ColumnElement[str]:
    """SQL expression for a lease's state in a query of leases and votes; `excluded` if its answer does not count."""
    table = leases_table
    return case(
        ((table.c.state == "done") & vote_is_excluded(), EXCLUDED),
        (table.c.state.in_(leases.HOLDING) & rater_is_excluded(table.c.rater_id), EXCLUDED),
        else_=table.c.state,
    )


def _parts(all_of_them: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(all_of_them), _CHUNK):
        yield all_of_them[start : start + _CHUNK]


def _set_state(workspace: Workspace, ids: list[str], old: str, new: str) -> None:
    """Change states in short transactions: raters can vote meanwhile, and a task that was just taken stays taken."""
    table = leases_table
    for part in _parts(ids):
        with writing(workspace.store.engine) as connection:
            conditions = (table.c.assignment_id.in_(part), table.c.state == old)
            connection.execute(update(table).where(*conditions).values(state=new))


def _make(workspace: Workspace, campaign: Campaign, tasks: list[tuple[str, int, int]]) -> None:
    engine = workspace.store.engine
    with reading(engine) as connection:
        last = connection.execute(
            select(func.max(leases_table.c.position)).where(leases_table.c.campaign_id == campaign.campaign_id)
        ).scalar_one()
    position = int(last or 0)
    tasks = sorted(tasks, key=lambda task: task[2])  # a first extra task for every unit, then second ones
    for part in _parts(tasks):
        originals = workspace.store.records(Assignment, id=sorted({identity for identity, _, _ in part}))
        by_id = {assignment.assignment_id: assignment for assignment in originals}
        assignments = [another_assignment(by_id[identity], slot, plan_of(campaign).seed) for identity, slot, _ in part]
        workspace.store.add(assignments)
        playable = [assignment for assignment in assignments if _has_pixels(workspace, assignment)]
        with writing(engine) as connection:
            leases.offer_tasks(connection, zip(playable, count(position + 1)))
        position += len(playable)


def _has_pixels(workspace: Workspace, assignment: Assignment) -> bool:
    """Whether a task can be shown here; others can only go out on a sheet."""
    sides = (side for side in (assignment.left_id, assignment.right_id) if side is not None)
    outputs = [workspace.store.get(Output, side) for side in sides]
    return all(output is not None and output.image is not None for output in outputs)
