"""Data sets of a workspace: what belongs to each, and how to remove one that was imported by mistake."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, func, select
from sqlalchemy.exc import IntegrityError

from imarena.core import UserError, counted, suggestion
from imarena.core.records import Item
from imarena.storage import schema
from imarena.storage.database import reading, writing
from imarena.storage.workspace import Workspace

REMOVALS = "datasets_removed"
"""The fact that counts removals. Caches compare it, because SQLite gives the row numbers of removed records again."""
_COMPARED = 50
"""Maximum number of items that are compared to find a repeated data set."""


@dataclass(frozen=True)
class StoredDataset:
    """A data set: its items, and the records that depend on them."""

    name: str
    items: int
    outputs: int
    judgments: int
    votes: int
    blocked_by: tuple[str, ...]
    """Why it cannot be removed: records that cannot be imported again, in words."""


def list_datasets(workspace: Workspace) -> list[StoredDataset]:
    """The data sets of a workspace, by name."""
    table = schema.items
    with reading(workspace.store.engine) as connection:
        names = connection.execute(select(table.c.dataset).distinct().order_by(table.c.dataset)).scalars().all()
        return [_dataset(connection, name) for name in names]


def remove_dataset(workspace: Workspace, name: str, *, remove: bool) -> StoredDataset:
    """Remove a data set's items and their imported outputs in one transaction. `remove=False` only checks.

    Raises `UserError` if records depend on it that an import cannot bring back: outputs of `edit`, judgments, votes,
    tasks of campaigns, checks by people, traces. Images stay until `collect_garbage`.
    """
    try:
        with (writing if remove else reading)(workspace.store.engine) as connection:
            dataset = _find(connection, name)
            if dataset.blocked_by:
                verb = (
                    "depends" if len(dataset.blocked_by) == 1 and dataset.blocked_by[0].startswith("1 ") else "depend"
                )
                *first, last = dataset.blocked_by
                blockers = f"{', '.join(first)} and {last}" if first else last
                raise UserError(
                    f"The data set '{name}' cannot be removed: {blockers} {verb} on it.",
                    hint="Only data sets without results can be removed. To start over, create a new workspace.",
                )
            if remove:
                _delete(connection, name)
    except IntegrityError as error:  # PostgreSQL: another process added a record between the check and the removal
        raise UserError(
            f"The data set '{name}' cannot be removed: another process added records that depend on it.",
            hint="Run the command again without --yes to list them.",
        ) from error
    if remove:
        workspace.store.forget()
    return dataset


def _find(connection: Connection, name: str) -> StoredDataset:
    names = connection.execute(select(schema.items.c.dataset).distinct()).scalars().all()
    if name not in names:
        hint = f"Data sets: {', '.join(sorted(names))}." if names else "The workspace has no items."
        raise UserError(f"There is no data set '{name}'.", hint=suggestion(name, names, hint))
    return _dataset(connection, name)


def _dataset(connection: Connection, name: str) -> StoredDataset:
    item_ids = select(schema.items.c.id).where(schema.items.c.dataset == name).scalar_subquery()
    outputs = schema.outputs
    output_ids = select(outputs.c.id).where(outputs.c.item_id.in_(item_ids)).scalar_subquery()

    def count(table: Table, *where: ColumnElement[bool]) -> int:
        return connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one()

    def on_items(table: Table) -> int:
        return count(table, table.c.item_id.in_(item_ids))

    judgments, votes = on_items(schema.judgments), on_items(schema.votes)
    blocking = {
        "attempt of `edit`": count(outputs, outputs.c.item_id.in_(item_ids), outputs.c.run_id.is_not(None)),
        "judgment": judgments,
        "vote": votes,
        "task of a campaign": on_items(schema.assignments),
        "check by a person": on_items(schema.verifications),
        "trace": count(schema.traces, schema.traces.c.output_id.in_(output_ids)),
    }
    blocked_by = tuple(_first_plural(number, noun) for noun, number in blocking.items() if number)
    items = count(schema.items, schema.items.c.dataset == name)
    return StoredDataset(name, items, on_items(outputs), judgments, votes, blocked_by)


def _first_plural(number: int, noun: str) -> str:
    """Return the number with the plural of the first word: `2 attempts of edit`."""
    head, space, tail = noun.partition(" ")
    return counted(number, head) + space + tail


def _delete(connection: Connection, name: str) -> None:
    items, outputs, facts = schema.items, schema.outputs, schema.facts
    item_ids = select(items.c.id).where(items.c.dataset == name).scalar_subquery()
    connection.execute(outputs.delete().where(outputs.c.item_id.in_(item_ids), outputs.c.run_id.is_(None)))
    connection.execute(items.delete().where(items.c.dataset == name))
    number = connection.execute(select(facts.c.value).where(facts.c.key == REMOVALS)).scalar_one_or_none()
    connection.execute(facts.delete().where(facts.c.key == REMOVALS))
    connection.execute(facts.insert().values(key=REMOVALS, value=str(int(number or 0) + 1)))


def twin_datasets(workspace: Workspace, name: str) -> dict[str, int]:
    """Other data sets that repeat this one, with the number of common keys: at least half of this one's keys, on
    items with the same instruction or source image. An item without an instruction repeats any item with its key.
    """
    ours, theirs = schema.items.alias(), schema.items.alias()
    with reading(workspace.store.engine) as connection:
        total = connection.execute(select(func.count()).where(ours.c.dataset == name)).scalar_one()
        candidates = connection.execute(select(ours.c.dataset).distinct().where(ours.c.dataset != name)).scalars().all()
        twins: dict[str, int] = {}
        for other in sorted(candidates):
            same_key = (ours.c.dataset == name, theirs.c.dataset == other, theirs.c.key == ours.c.key)
            number = connection.execute(select(func.count()).where(*same_key)).scalar_one()
            if 2 * number >= total > 0:
                pairs = connection.execute(select(ours.c.id, theirs.c.id).where(*same_key).limit(_COMPARED)).tuples()
                if _alike(workspace, pairs.all()):
                    twins[other] = number
    return twins


def _alike(workspace: Workspace, pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether most pairs of items are one item."""
    items = {item.item_id: item for item in workspace.store.records(Item, id=[name for pair in pairs for name in pair])}
    alike = sum(_repeats(items[left], items[right]) for left, right in pairs)
    return 2 * alike > len(pairs)


def _repeats(left: Item, right: Item) -> bool:
    sources = {image.sha256 for image in left.sources}
    return (
        not (left.instruction and right.instruction)
        or left.instruction == right.instruction
        or any(image.sha256 in sources for image in right.sources)
    )
