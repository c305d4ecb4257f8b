"""Integer codes for text: how columns of a view represent outcomes, orders, statuses and names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, case

from imarena.core.records import Mode, Order, Outcome, Status

ByteArray = NDArray[np.int8]
CodeArray = NDArray[np.int32]

NONE, LEFT, RIGHT, TIE, BOTH_BAD, EQUAL = range(6)
"""Preferences. EQUAL is a tie whose source does not say of which kind."""
PREFERENCES = ("", Outcome.LEFT.value, Outcome.RIGHT.value, Outcome.TIE.value, Outcome.BOTH_BAD.value, "equal")
MIRRORED = np.array([NONE, RIGHT, LEFT, TIE, BOTH_BAD, EQUAL], np.int8)
ORDERS = ("", *(order.value for order in Order))
LEFT_FIRST, RIGHT_FIRST, BOTH_ORDERS = (ORDERS.index(order.value) for order in list(Order)[:3])
STATUSES = tuple(status.value for status in Status)
OK = STATUSES.index(Status.OK.value)
MODES = tuple(mode.value for mode in Mode)


def code_column(column: Any, words: Sequence[str]) -> ColumnElement[int]:
    """A text column as the place of its value among `words`; what is not among them is 0."""
    return case({word: place for place, word in enumerate(words) if place}, value=column, else_=0)


@dataclass(frozen=True)
class Names:
    """A column of names: `of` (n,) points into `names`; -1 where there is none."""

    of: CodeArray
    names: tuple[str, ...]

    def used(self) -> list[str]:
        """The names that occur, in their order."""
        return [self.names[code] for code in occurring_codes(self.of, len(self.names))]

    def list(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice = slice(None)) -> list[str | None]:
        """The names themselves."""
        return [None if code < 0 else self.names[code] for code in self.of[rows].tolist()]


def occurring_codes(codes: NDArray[Any], number: int) -> list[int]:
    """Which of the codes 0 to `number` - 1 occur. Counting is ten times as fast as sorting a million rows."""
    return np.flatnonzero(np.bincount(codes[codes >= 0], minlength=number)).tolist()


def encode_names(values: Iterable[str | None]) -> Names:
    """Encode names; those that occur are kept in sorted order."""
    listed = list(values)
    known = sorted({value for value in listed if value is not None})
    place: dict[str | None, int] = {name: code for code, name in enumerate(known)}
    place[None] = -1
    return Names(np.fromiter((place[value] for value in listed), np.int32, len(listed)), tuple(known))


def concatenate_arrays(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    """Arrays one after the other; an empty array of this kind where there are none."""
    return np.concatenate(parts).astype(kind, copy=False) if parts else np.zeros(0, kind)
