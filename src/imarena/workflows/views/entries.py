"""Items and outputs of a workspace as columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from imarena.core import CodeArray, IntArray
from imarena.storage.schema import items, outputs
from imarena.tables import ColumnWriter, build_column, empty_column, row_slices, sorted_parts
from imarena.workflows.views.codes import MODES, OK, STATUSES, ByteArray, Names, NameWriter, code_column
from imarena.workflows.views.fetch import column_pages

ITEM_LABELS = ("dataset", "task", "family", "topic", "track")
"""Labels by which items can be grouped."""


@dataclass(frozen=True)
class Entries:
    """m items and k outputs, in order of arrival. `item` (k,) points into the items."""

    item_id: tuple[str, ...]
    labels: Mapping[str, Names]
    """Each (m,)."""
    seq: IntArray
    output_id: NDArray[np.bytes_]
    item: CodeArray
    editor: Names
    turn: CodeArray
    mode: ByteArray
    sample: CodeArray
    status: ByteArray
    pictured: NDArray[np.bool_]
    """(k,) whether the output has pixels here."""

    @cached_property
    def _at(self) -> CodeArray:
        index: CodeArray = empty_column(int(self.seq[-1]) + 2 if self.seq.size else 1, np.int32)
        for rows in row_slices(index.size):
            index[rows] = -1
        for rows in row_slices(self.seq.size):
            index[self.seq[rows]] = np.arange(rows.start, rows.stop)
        return index

    def at(self, seq: IntArray) -> CodeArray:
        """Positions of outputs by their `seq`; -1 for 0 (no output)."""
        return np.asarray(self._at[seq])

    @cached_property
    def order(self) -> CodeArray:
        """(k,) rank of each output when sorted by id: an order that does not depend on arrival."""
        rank: CodeArray = empty_column(self.seq.size, np.int32)
        begin = 0

        def numbered(rows: slice) -> list[NDArray[Any]]:
            return [self.output_id[rows], np.arange(rows.start, rows.stop)]

        for ids, position in sorted_parts(self.seq.size, numbered):
            rank[position[np.argsort(ids, kind="stable")]] = np.arange(begin, begin + ids.size)
            begin += ids.size
        return rank

    @cached_property
    def ok(self) -> NDArray[np.bool_]:
        """(k,) whether the output has the status ok."""
        return np.asarray(self.status == OK)

    @cached_property
    def unit(self) -> IntArray:
        """(k,) a number for each item, turn and mode: outputs that can be compared share it."""
        turns = int(self.turn.max(initial=0)) + 1

        def unit(rows: slice) -> IntArray:
            return (self.item[rows].astype(np.int64) * turns + self.turn[rows]) * len(MODES) + self.mode[rows]

        return build_column(self.seq.size, np.int64, unit)

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Maps output ids to positions."""
        return {name.decode(): index for index, name in enumerate(self.output_id.tolist())}

    def id_of(self, index: int) -> str:
        """The id of one output."""
        return bytes(self.output_id[index]).decode()


def read_entries(connection: Connection) -> Entries:
    """Read all items and outputs: there are ten times fewer than judgments or less, and every view needs them.

    Columns are built from one page of rows at a time: a million rows of text would be most of a board's memory.
    """
    item_ids: list[str] = []
    labels = {name: NameWriter() for name in ITEM_LABELS}
    query = select(items.c.id, *(items.c[name] for name in ITEM_LABELS)).order_by(items.c.seq)
    for page, *about in column_pages(connection, query):
        item_ids += page
        for values, writer in zip(about, labels.values(), strict=True):
            writer.append(values)
    return Entries(
        item_id=tuple(item_ids),
        labels={name: writer.names() for name, writer in labels.items()},
        **_read_outputs(connection, {name: number for number, name in enumerate(item_ids)}),
    )


def _read_outputs(connection: Connection, item_index: dict[str, int]) -> dict[str, Any]:
    query = select(
        outputs.c.editor,
        outputs.c.item_id,
        outputs.c.seq,
        outputs.c.id,
        outputs.c.turn,
        code_column(outputs.c.mode, MODES),
        outputs.c.sample,
        code_column(outputs.c.status, STATUSES),
        outputs.c.image_sha256.is_not(None),
    ).order_by(outputs.c.seq)
    editors, writers = NameWriter(), {name: ColumnWriter(kind) for name, kind in _KINDS.items()}
    for editor, of_item, *columns in column_pages(connection, query):
        editors.append(editor)
        places = [item_index[name] for name in of_item]
        for values, (name, writer) in zip((places, *columns), writers.items(), strict=True):
            writer.append(np.array(values, _KINDS[name]))
    return {"editor": editors.names(), **{name: writer.column() for name, writer in writers.items()}}


_KINDS: Mapping[str, Any] = {
    "item": np.int32,
    "seq": np.int64,
    "output_id": "S64",
    "turn": np.int32,
    "mode": np.int8,
    "sample": np.int32,
    "status": np.int8,
    "pictured": bool,
}
"""The columns of `_read_outputs`."""
