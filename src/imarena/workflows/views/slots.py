"""Slots: the outputs requested from an editor (item, turn, mode, sample), and the state of each over all attempts."""

from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy import Select, select

from imarena.core.records import Item, Mode, Output, Status
from imarena.storage import Workspace, reading
from imarena.storage import schema as tables

NOT_TRIED = "not_tried"
"""A later turn of a chain whose previous turn has no output: requested but never started."""
UNNAMED_EDITOR = "(not named)"
PAGE = 500

Slot = tuple[str, int, str, str, int]
"""Item, turn, editor, mode and sample."""


@dataclass(frozen=True)
class Slots:
    """Every slot of a workspace. An ok output makes a slot ok; otherwise it has the status of its newest attempt."""

    ok: Counter[str] = field(default_factory=Counter)
    """Number of slots with an output, by editor."""
    failed: dict[Slot, str] = field(default_factory=dict)
    """Slots without an output, and why: a status, or `not_tried`."""
    attempts: Counter[str] = field(default_factory=Counter)
    """Number of attempts by editor, including failed ones that were retried."""

    def counts(self) -> dict[str, dict[str, int]]:
        """Number of slots by editor and status, ok first; a row adds up to the outputs requested from the editor."""
        table = {editor: {Status.OK.value: number} if number else {} for editor, number in sorted(self.ok.items())}
        for (_, _, editor, _, _), state in sorted(self.failed.items()):
            row = table.setdefault(editor, {})
            row[state] = row.get(state, 0) + 1
        return dict(sorted(table.items()))


def slots_of(workspace: Workspace) -> Slots:
    """Read all slots. Fast: ok outputs are counted in the database, only failures are read."""
    slots = Slots()
    for (editor, state), number in workspace.store.count(Output, "editor", "status").items():
        slots.attempts[editor or UNNAMED_EDITOR] += number
        if state == Status.OK.value:
            slots.ok[editor or UNNAMED_EDITOR] += number
    with reading(workspace.store.engine) as connection:
        for row in connection.execute(_unfilled_query()).mappings():
            # Without an editor's name, two attempts cannot be matched: each work is a slot.
            identity = row["item_id"] if row["editor"] else row["work_id"]
            slot = (identity, row["turn"], row["editor"] or UNNAMED_EDITOR, row["mode"], row["sample"])
            slots.failed[slot] = row["status"]
    slots.failed.update(dict.fromkeys(_cut_off(workspace, slots.failed), NOT_TRIED))
    return slots


def _unfilled_query() -> Select[tuple[object, ...]]:
    """Query for failed attempts at slots that have no ok output, newest last."""
    table, other = tables.outputs, tables.outputs.alias()
    names = ("item_id", "turn", "editor", "mode", "sample")
    same_slot = [other.c[name] == table.c[name] for name in names]
    filled = select(other.c.id).where(other.c.status == Status.OK.value, *same_slot).exists()
    columns = (table.c[name] for name in (*names, "status", "work_id"))
    return select(*columns).where(table.c.status != Status.OK.value, ~filled).order_by(table.c.seq)


def _cut_off(workspace: Workspace, failed: dict[Slot, str]) -> list[Slot]:
    """Later turns that could not be tried, because the previous turn failed."""
    broken = [slot for slot in failed if slot[3] == Mode.MULTI_TURN.value and slot[2] != UNNAMED_EDITOR]
    items = sorted({slot[0] for slot in broken})
    turns: dict[str, int] = {}
    tried: set[Slot] = set()
    for start in range(0, len(items), PAGE):
        page = items[start : start + PAGE]
        turns |= {item.item_id: len(item.turns) for item in workspace.store.records(Item, id=page)}
        for row in workspace.store.rows(Output, item_id=page, mode=Mode.MULTI_TURN.value):
            tried.add((row["item_id"], row["turn"], row["editor"], row["mode"], row["sample"]))
    later = {
        (item, turn, editor, mode, sample)
        for item, first, editor, mode, sample in broken
        for turn in range(first + 1, turns[item])
    }
    return sorted(later - tried)
