"""More columns by which items can be grouped: the other columns of the table that they were imported from."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from imarena.core.records import Item
from imarena.datasets import TAKEN_NAMES
from imarena.storage.schema import items
from imarena.workflows.views.codes import Names, encode_names
from imarena.workflows.views.fetch import fetch_columns

FIELDS = ("taxonomy", "subtopic", "language", "licence")
"""Fields of an item that have no column in the database."""
MAX_TEXT = 200
"""Maximum length of a group's name; a longer value is a text."""


@dataclass(frozen=True)
class ItemColumns:
    """The columns of m items by name. Few items may have a column, so each is stored as a mapping until requested."""

    items: int
    values: Mapping[str, Mapping[int, str]]

    def get(self, name: str) -> Names | None:
        """(m,) the values of a column; None if no item has one."""
        column = self.values.get(name)
        return None if column is None else encode_names(column.get(number) for number in range(self.items))

    def names(self) -> list[str]:
        """The names of the columns, in alphabetical order."""
        return sorted(self.values)


def read_item_columns(connection: Connection, item_ids: Sequence[str]) -> ItemColumns:
    """Read the columns from the items' records, which costs time only when grouping by such a column."""
    index = {name: number for number, name in enumerate(item_ids)}
    values: dict[str, dict[int, str]] = defaultdict(dict)
    identities, bodies = fetch_columns(connection, select(items.c.id, items.c.body).order_by(items.c.seq))
    for identity, body in zip(identities, bodies, strict=True):
        number = index.get(identity)
        if number is not None:  # else it was added after the view was made
            for name, value in _columns_of(json.loads(body)):
                values[name][number] = value
    return ItemColumns(len(index), values)


def _columns_of(body: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the provenance's plain values, then the item's own fields, which come last and take precedence."""
    provenance = body.get("provenance")
    for name, value in (*(provenance if isinstance(provenance, dict) else {}).items(), *_fields(body)):
        if name in TAKEN_NAMES:
            continue  # `--by` means the verdicts' own column
        if isinstance(value, bool):
            yield name, "true" if value else "false"
        elif isinstance(value, str | int | float) and 0 < len(str(value)) <= MAX_TEXT:
            yield name, str(value)


def _fields(body: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The item's own fields; defaults are not written into the body."""
    return ((name, body.get(name) or Item.model_fields[name].default) for name in FIELDS)
