"""How many people are asked about each unit of a campaign that is under way: tasks are added, or withdrawn."""

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeVar

from sqlalchemy import func, select, update

from imarena.core.records import Assignment, Campaign
from imarena.routing import another_assignment, plan_of, slot_changes
from imarena.storage import Workspace, from_row, leases, reading, writing
from imarena.storage.schema import assignments as assignments_table
from imarena.storage.schema import leases as leases_table

_CHUNK = 500
WITHDRAWN = "withdrawn"
T = TypeVar("T")


def set_slots(workspace: Workspace, campaign: Campaign) -> None:
    """Bring every unit to the number of raters that the campaign asks for. Doing it twice changes nothing.

    Too many: free tasks are withdrawn; those that somebody holds or has answered stay. Too few: withdrawn ones come
    back first, then new ones are made, with sides by chance.
    """
    wanted = plan_of(campaign).raters
    withdraw: list[str] = []
    revive: list[str] = []
    make: list[tuple[str, int, int]] = []
    for known, states in _units(workspace, campaign):
        changes = slot_changes(states, wanted)
        withdraw += changes.withdraw
        revive += changes.revive
        make += [(known, slot, place) for place, slot in enumerate(changes.new_slots)]
    _set_state(workspace, withdraw, "free", WITHDRAWN)
    _set_state(workspace, revive, WITHDRAWN, "free")
    _make(workspace, campaign, make)


def _units(workspace: Workspace, campaign: Campaign) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """For each unit one of its assignments, and all of them by state."""
    table = leases_table
    query = select(table.c.unit, table.c.state, table.c.assignment_id).where(
        table.c.campaign_id == campaign.campaign_id, table.c.purpose == "vote"
    )
    units: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    with reading(workspace.store.engine) as connection:
        for unit, state, identity in connection.execute(query.order_by(table.c.position)):
            units[unit][state].append(identity)
    for states in units.values():
        yield next(iter(states.values()))[0], states


def _parts(all_of_them: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(all_of_them), _CHUNK):
        yield all_of_them[start : start + _CHUNK]


def _set_state(workspace: Workspace, chosen: list[str], old: str, new: str) -> None:
    """Short transactions: raters go on voting meanwhile, and a task that was just taken stays taken."""
    table = leases_table
    for part in _parts(chosen):
        with writing(workspace.store.engine) as connection:
            mine = (table.c.assignment_id.in_(part), table.c.state == old)
            connection.execute(update(table).where(*mine).values(state=new))


def _make(workspace: Workspace, campaign: Campaign, wanted: list[tuple[str, int, int]]) -> None:
    engine = workspace.store.engine
    with reading(engine) as connection:
        last = connection.execute(
            select(func.max(leases_table.c.position)).where(leases_table.c.campaign_id == campaign.campaign_id)
        ).scalar_one()
    position = int(last or 0)
    wanted = sorted(wanted, key=lambda one: one[2])  # every unit once more before any unit twice more
    for part in _parts(wanted):
        with reading(engine) as connection:
            rows = connection.execute(
                select(assignments_table).where(assignments_table.c.id.in_({identity for identity, _, _ in part}))
            ).mappings()
            found = {one.assignment_id: one for row in rows if isinstance(one := from_row(Assignment, row), Assignment)}
        made = [another_assignment(found[identity], slot, plan_of(campaign).seed) for identity, slot, _ in part]
        workspace.store.add(made)
        with writing(engine) as connection:
            leases.offer_tasks(connection, ((one, position + number) for number, one in enumerate(made, 1)))
        position += len(made)
