"""Integer codes for text: how columns of a view represent outcomes, orders, statuses and names."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, case

from imarena.core import CodeArray
from imarena.core.records import Mode, Order, Outcome, Status
from imarena.tables import ColumnWriter, build_column, filter_column, take_in_parts, used_codes

ByteArray = NDArray[np.int8]

NONE, LEFT, RIGHT, TIE, BOTH_BAD, EQUAL = range(6)
"""Preferences. EQUAL is a tie whose source does not state its kind."""
PREFERENCES = ("", Outcome.LEFT.value, Outcome.RIGHT.value, Outcome.TIE.value, Outcome.BOTH_BAD.value, "equal")
MIRRORED = np.array([NONE, RIGHT, LEFT, TIE, BOTH_BAD, EQUAL], np.int8)
ORDERS = ("", *(order.value for order in Order))
LEFT_FIRST, RIGHT_FIRST, BOTH_ORDERS = (ORDERS.index(order.value) for order in list(Order)[:3])
STATUSES = tuple(status.value for status in Status)
OK = STATUSES.index(Status.OK.value)
MODES = tuple(mode.value for mode in Mode)


def code_column(column: Any, values: Sequence[str]) -> ColumnElement[int]:
    """A text column as the index of its value in `values`; 0 for any other value."""
    return case({word: code for code, word in enumerate(values) if code}, value=column, else_=0)


@dataclass(frozen=True)
class Names:
    """A column of names: `of` (n,) points into `names`; -1 for no name."""

    of: CodeArray
    names: tuple[str, ...]

    def used(self) -> list[str]:
        """The names that occur, in the order of `names`."""
        return [self.names[code] for code in np.flatnonzero(used_codes(len(self.names), self.of)).tolist()]

    def list(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice = slice(None)) -> list[str | None]:
        """The names themselves."""
        return [None if code < 0 else self.names[code] for code in self.of[rows].tolist()]


class NameWriter:
    """Encodes names in batches."""

    def __init__(self) -> None:
        self._code_of: dict[str | None, int] = {None: -1}
        self._codes = ColumnWriter(np.int32)

    def append(self, values: Iterable[str | None]) -> None:
        """Add names to the end."""
        code_of = self._code_of
        self._codes.append(np.array([code_of.setdefault(name, len(code_of) - 1) for name in values], np.int32))

    def names(self) -> Names:
        """All names so far; those that occur are kept in sorted order."""
        names = [name for name in self._code_of if name is not None]
        ordered = sorted(names)
        place_of = {name: index for index, name in enumerate(ordered)}
        places = np.array([*(place_of[name] for name in names), -1], np.int32)
        return Names(take_in_parts(places, self._codes.column()), tuple(ordered))


def encode_names(values: Iterable[str | None]) -> Names:
    """Encode names; those that occur are kept in sorted order."""
    writer = NameWriter()
    writer.append(values)
    return writer.names()


def group_starts(*keys: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) whether a new group begins, in rows sorted by these keys, each (n,)."""
    new = np.zeros(keys[0].size, bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return new


@dataclass(frozen=True)
class ColumnTable:
    """Arrays of one length, one per column. Fields that are neither arrays nor names apply to all rows."""

    def where(self, rows: NDArray[Any] | slice) -> Self:
        """Only these rows."""
        columns: dict[str, Any] = {}
        for column in fields(self):
            values = getattr(self, column.name)
            if isinstance(values, Names):
                columns[column.name] = Names(column_part(values.of, rows), values.names)
            elif isinstance(values, np.ndarray):
                columns[column.name] = column_part(values, rows)
        return replace(self, **columns)


def constant_column(value: np.generic, n: int) -> NDArray[Any]:
    """(n,) one value repeated n times, with the memory of one."""
    return np.broadcast_to(value, n)


def is_constant(values: NDArray[Any]) -> bool:
    """Whether this column was made by `constant_column`."""
    return values.strides == (0,) and values.size > 0


def computed_column(values: NDArray[Any], dtype: Any, of: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """(n,) the result of `of` for each value; a constant column stays constant."""
    if is_constant(values):
        return constant_column(of(values[:1])[0], values.size)
    return build_column(values.size, dtype, lambda rows: of(values[rows]))


def column_part(values: NDArray[Any], rows: NDArray[Any] | slice) -> NDArray[Any]:
    """These rows of a column; a constant column stays constant."""
    if isinstance(rows, slice):
        return values[rows]
    if not is_constant(values):
        return filter_column(values, rows) if rows.dtype == bool else take_in_parts(values, rows)
    return constant_column(values[0], int(np.count_nonzero(rows)) if rows.dtype == bool else rows.size)
