"""The battles of a view as the table that `rank` takes: the same columns as a file of battles."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import CodeArray, UserError, suggestion
from imarena.ranking import CodedColumn, signed_numbers
from imarena.tables import build_column, joined, row_slices
from imarena.workflows.views import (
    MODES,
    PREFERENCES,
    STATES,
    BattleColumns,
    MissingBattles,
    Names,
    OutputCoverage,
    View,
)

COLUMNS = (
    "left", "right", "winner", "item", "rater", "source", "judge", "dimension",
    "score_left", "score_right", *("task", "family", "topic", "track", "dataset"), "mode",
)  # fmt: skip
_WINNERS = ("", *PREFERENCES[1:5], "tie")  # a tie of unstated kind counts as one
_SOURCES = ("human", "judge")
_NAMES_SHOWN = 30
Codes = Callable[[slice], NDArray[Any]]
"""Returns the codes of some of the rows."""


class BattleTable:
    """The battles of a view as columns, like an Arrow table. A column is computed on request and not kept: all of them
    together take several times the memory of the battles.

    Columns without any value are left out. `missing`: battles that a missing output prevented. They come last, with a
    status and without a winner.
    """

    def __init__(
        self,
        view: View,
        battles: BattleColumns,
        output_coverage: OutputCoverage | None = None,
        missing: MissingBattles | None = None,
    ) -> None:
        self._entries, self._battles = view.entries, battles
        self._missing = missing if output_coverage is not None and missing is not None and missing.left.size else None
        self._more = self._missing.left.size if self._missing is not None else 0
        self.num_rows = len(battles) + self._more
        names = (*COLUMNS, *(("status_left",) if self._missing is not None else ()))
        self.column_names = [name for name in names if self._has_values(name)]

    def __getitem__(self, name: str) -> Any:
        import pyarrow as pa

        return pa.chunked_array([self._make_column(name)])

    def whole(self) -> Any:
        """All columns as an Arrow table."""
        import pyarrow as pa

        return pa.table({name: self._make_column(name) for name in self.column_names})

    def _make_column(self, name: str) -> Any:
        import pyarrow as pa

        if name in _SCORES:
            numbers = self.numbers(name)
            return _arrow(numbers, pa.float64(), np.isnan(numbers))
        return _coded(*self._places(name))

    def coded(self, name: str) -> CodedColumn | None:
        """Return a text column as codes, -1 for no value; None for a column of numbers."""
        return None if name in _SCORES else CodedColumn(*self._places(name))

    def words(self, name: str) -> Iterable[str]:
        """Return the names that occur in a text column."""
        return self._places(name)[1]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column of scores, NaN for no value."""
        scores = _SCORES[name](self._battles)
        return joined(scores, np.full(self._more, np.nan)) if self._more else scores

    def signed_bytes(self, name: str) -> Iterator[Any]:
        """Return the bytes of a score column that a signature covers."""
        return signed_numbers(self.numbers(name))

    def _places(self, name: str) -> tuple[CodeArray, tuple[str, ...]]:
        codes, names, none = self._coded_column(name)
        return _places(codes, self.num_rows, names, none)

    def _has_values(self, name: str) -> bool:
        if name in _SCORES:
            scores = _SCORES[name](self._battles)
            return any(np.isfinite(scores[rows]).any() for rows in row_slices(scores.size))
        codes, _, none = self._coded_column(name)
        return not self.num_rows or any((codes(rows) != none).any() for rows in row_slices(self.num_rows))

    def _coded_column(self, name: str) -> tuple[Codes, tuple[str, ...], int]:
        """Return the codes of a column, the names they stand for, and the code of rows without a value."""
        entries, battles, missing = self._entries, self._battles, self._missing
        if name in ("left", "right"):
            side = battles.left if name == "left" else battles.right
            more = None if missing is None else missing.left if name == "left" else missing.right
            return self._rows(lambda rows: entries.editor.of[side[rows]], more), entries.editor.names, -1
        if name == "winner":
            return self._rows(lambda rows: battles.winner[rows], self._constant(0)), _WINNERS, 0
        if name in ("rater", "judge", "dimension"):
            column: Names = getattr(battles, name)
            return self._rows(lambda rows: column.of[rows], self._constant(-1)), column.names, -1
        if name == "source":
            code = self._constant(0 if missing is None else _one_source(battles))
            return self._rows(lambda rows: (battles.judge.of[rows] >= 0).view(np.int8), code), _SOURCES, -1
        if name == "mode":
            modes = np.where(entries.mode == 0, np.int8(-1), entries.mode)
            late = None if missing is None else np.where(missing.mode == 0, -1, missing.mode)
            return self._rows(lambda rows: modes[battles.left[rows]], late), MODES, -1
        if name == "status_left":
            late = None if missing is None else missing.status
            return self._rows(lambda rows: np.full(battles.left[rows].size, -1), late), STATES, -1
        item = self._rows(lambda rows: entries.item[battles.left[rows]], None if missing is None else missing.item)
        if name == "item":
            return item, entries.item_id, -1
        labels = entries.labels[name]
        return lambda rows: labels.of[item(rows)], labels.names, -1

    def _constant(self, code: int) -> NDArray[Any]:
        return np.full(self._more, code)

    def _rows(self, of: Codes, more: NDArray[Any] | None) -> Codes:
        """Return the codes of the battles, followed by those of battles that a missing output prevented."""
        n = len(self._battles)

        def codes(rows: slice) -> NDArray[Any]:
            if rows.stop <= n or more is None:
                return of(rows)
            return np.concatenate([of(rows), more[max(0, rows.start - n) : rows.stop - n]])

        return codes


def battle_table(view: View, battles: BattleColumns) -> Any:
    """Return an Arrow table of all columns, without columns that have no value."""
    return BattleTable(view, battles).whole()


def with_item_column(view: View, battles: BattleColumns, table: Any, name: str) -> Any:
    """Return the table with a column that was imported with the items. Raises `UserError` if no item has it."""
    labels = view.item_label(name)
    if labels is None:
        names = view.item_columns.names()
        raise UserError(
            f"No column '{name}'.",
            hint=suggestion(name, [*table.column_names, *names], f"The battles have: {', '.join(table.column_names)}.")
            + (f" The items have: {', '.join(names[:_NAMES_SHOWN])}." if names else ""),
        )
    column = _coded(*_places(lambda rows: labels.of[view.entries.item[battles.left[rows]]], len(battles), labels.names))
    return table if column.null_count == len(column) else table.append_column(name, column)


def _one_source(battles: BattleColumns) -> int:
    """Return the source of battles that could not be fought: that of the others, if they share one."""
    judged = battles.n_judged
    return 1 if judged == len(battles) else -1 if judged else 0


def _places(codes_of: Codes, n: int, names: tuple[str, ...], none: int = -1) -> tuple[CodeArray, tuple[str, ...]]:
    """(n,) the index of each row's text among the texts that occur, by first appearance; -1 for none."""
    position = np.full(len(names) + 1, -1, np.int32)
    used: list[int] = []

    def places(rows: slice) -> CodeArray:
        codes = codes_of(rows)
        new = (position[codes] < 0) & (codes != none)
        if new.any():
            values, first = np.unique(codes[new], return_index=True)
            values = values[np.argsort(first)]
            position[values] = np.arange(len(used), len(used) + values.size, dtype=np.int32)
            used.extend(values.tolist())
        return position[codes]

    column = build_column(n, np.int32, places)  # now all names that occur are known
    return column, tuple(names[code] for code in used)


def _coded(places: CodeArray, names: tuple[str, ...]) -> Any:
    """Return a text column as the table reader does: with a dictionary of the names that occur."""
    import pyarrow as pa

    indices = _arrow(np.maximum(places, 0), pa.int32(), places < 0)
    return pa.DictionaryArray.from_arrays(indices, _strings(list(names)))


def _strings(texts: list[str]) -> Any:
    import pyarrow as pa

    spelt = [word.encode("utf-8", "surrogatepass") for word in texts]
    ends = np.cumsum([0, *map(len, spelt)]).astype(np.int32)
    return pa.Array.from_buffers(pa.string(), len(spelt), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(spelt))])


def _arrow(values: NDArray[Any], kind: Any, absent: NDArray[np.bool_]) -> Any:
    """Return an Arrow array over the values' own memory. (`pyarrow.array` would import pandas if it is installed.)"""
    import pyarrow as pa

    gaps = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    return pa.Array.from_buffers(kind, values.size, [gaps, pa.py_buffer(np.ascontiguousarray(values))])


_SCORES: Mapping[str, Callable[[BattleColumns], NDArray[np.float64]]] = {
    "score_left": lambda battles: battles.score_left,
    "score_right": lambda battles: battles.score_right,
}
