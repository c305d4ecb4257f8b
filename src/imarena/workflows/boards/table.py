"""Battles of a view as the table that `rank` takes: the same columns as a file of battles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError
from imarena.workflows.boards.coverage import STATES, MissingBattles, OutputCoverage
from imarena.workflows.views import LABELS, MODES, PREFERENCES, BattleColumns, View

COLUMNS = (
    "left", "right", "winner", "item", "rater", "source", "judge", "dimension",
    "score_left", "score_right", *("task", "family", "topic", "track", "dataset"), "mode",
)  # fmt: skip
_WINNERS = ("", *PREFERENCES[1:5], "tie")  # a tie of unstated kind counts as one
_SOURCES = ("human", "judge")
_NAMES_SHOWN = 30
_AT_ONCE = 1_000_000


def battle_table(
    view: View, battles: BattleColumns, delivery: OutputCoverage | None, missing: MissingBattles | None = None
) -> Any:
    """An Arrow table; columns in which no row has a value are left out.

    `missing`: battles that a missing output prevented. They come last, with a status and without a winner.
    """
    import pyarrow as pa

    entries = view.entries
    n = len(battles)
    item, mode = entries.item[battles.left], entries.mode[battles.left]
    left, right = entries.editor.of[battles.left], entries.editor.of[battles.right]
    more = 0
    if delivery is not None and missing is not None and missing.left.size:
        more = missing.left.size
        left, right = np.append(left, missing.left), np.append(right, missing.right)
        item, mode = np.append(item, missing.item), np.append(mode, missing.mode)
    arrays: dict[str, Any] = {
        "left": _coded(left, entries.editor.names),
        "right": _coded(right, entries.editor.names),
        "winner": _coded(_longer(battles.winner, more, 0), _WINNERS, none=0),
        "item": _coded(item, entries.item_id),
        "rater": _coded(_longer(battles.rater.of, more), battles.rater.names),
        "source": _coded(_longer(battles.judged, more, _one_source(battles)), _SOURCES),
        "judge": _coded(_longer(battles.judge.of, more), battles.judge.names),
        "dimension": _coded(_longer(battles.dimension.of, more), battles.dimension.names),
        "score_left": _numbers(battles.score_left, more),
        "score_right": _numbers(battles.score_right, more),
        **{name: _coded(entries.labels[name].of[item], entries.labels[name].names) for name in LABELS},
        "mode": _coded(np.where(mode == 0, np.int8(-1), mode), MODES),
    }
    if more and missing is not None:
        status = np.concatenate([np.full(n, -1), missing.status])
        arrays["status_left"] = _coded(status, STATES)
    columns = {name: arrays[name] for name in (*COLUMNS, "status_left") if arrays.get(name) is not None}
    return pa.table(columns)


def with_item_column(view: View, battles: BattleColumns, table: Any, name: str) -> Any:
    """The table with a column that was imported with the items. Raises `UserError` where no item has it."""
    labels = view.item_label(name)
    if labels is None:
        names = view.item_columns.names()
        raise UserError(
            f"No column '{name}'.",
            hint=f"The battles have: {', '.join(table.column_names)}."
            + (f" The items have: {', '.join(names[:_NAMES_SHOWN])}." if names else ""),
        )
    column = _coded(labels.of[view.entries.item[battles.left]], labels.names)
    return table if column is None else table.append_column(name, column)


def _one_source(battles: BattleColumns) -> int:
    """The source of battles that nobody could fight: that of the others, where they have one."""
    judged = battles.judged
    return 1 if judged.all() else -1 if judged.any() else 0


def _longer(values: NDArray[Any], more: int, fill: int = -1) -> NDArray[Any]:
    codes = values.view(np.int8) if values.dtype == bool else values
    return np.concatenate([codes, np.full(more, fill, codes.dtype)]) if more else codes


def _coded(codes: NDArray[Any], names: tuple[str, ...], none: int = -1) -> Any:
    """A text column as the table reader gives it: a dictionary of the names that occur, in the order of appearance."""
    import pyarrow as pa

    absent = codes == none
    if absent.all() and codes.size:
        return None
    first = np.full(len(names) + 1, codes.size, np.int64)
    for end in range(codes.size, 0, -_AT_ONCE):  # backwards: the first place of each is written last
        begin = max(0, end - _AT_ONCE)
        first[codes[begin:end][::-1]] = np.arange(end - 1, begin - 1, -1)
    if absent.any():
        first[none] = codes.size
    first[-1] = codes.size
    used = np.flatnonzero(first < codes.size)
    used = used[np.argsort(first[used])]
    position = np.zeros(len(names) + 1, np.int32)
    position[used] = np.arange(used.size, dtype=np.int32)
    dictionary = _strings([names[code] for code in used.tolist()])
    return pa.DictionaryArray.from_arrays(_arrow(position[codes], pa.int32(), absent), dictionary)


def _strings(texts: list[str]) -> Any:
    import pyarrow as pa

    spelt = [word.encode("utf-8", "surrogatepass") for word in texts]
    ends = np.cumsum([0, *map(len, spelt)]).astype(np.int32)
    return pa.Array.from_buffers(pa.string(), len(spelt), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(spelt))])


def _arrow(values: NDArray[Any], kind: Any, absent: NDArray[np.bool_]) -> Any:
    """An Arrow array over the values' own memory. (`pyarrow.array` would import pandas where it is installed.)"""
    import pyarrow as pa

    gaps = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    return pa.Array.from_buffers(kind, values.size, [gaps, pa.py_buffer(np.ascontiguousarray(values))])


def _numbers(values: NDArray[np.float64], more: int) -> Any:
    import pyarrow as pa

    if not np.isfinite(values).any():
        return None
    longer = np.concatenate([values, np.full(more, np.nan)]) if more else values
    return _arrow(longer, pa.float64(), np.isnan(longer))
