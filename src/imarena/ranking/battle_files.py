"""Read a table of battles in batches of rows; columns are kept as codes and numbers in temporary files."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray
from imarena.ranking.battles import CodedColumn
from imarena.ranking.signature import AT_ONCE, listed_text, signed_numbers
from imarena.tables import TABLE_KINDS, ColumnWriter, release_pages, row_slices


class BattleFile:
    """The same table as from `read_table`, with memory use that does not depend on the number of rows.

    `batches` are checked Arrow tables with the same columns. Columns that no board needs are kept only in the form
    that the signature needs.
    """

    def __init__(self, batches: Iterable[Any]) -> None:
        self.num_rows = 0
        columns: dict[str, _Words | _Values | _Listed] = {}
        for batch in batches:
            for name in batch.column_names:
                column = columns.setdefault(name, _column(name, batch.schema.field(name).type))
                for chunk in batch[name].chunks:
                    column.append(chunk)
            self.num_rows += batch.num_rows
            release_pages()
        self.column_names = list(columns)
        self._words = {name: column.column() for name, column in columns.items() if isinstance(column, _Words)}
        self._named = {name: column.words for name, column in columns.items() if isinstance(column, _Listed)}
        self._others = {name: column.columns() for name, column in columns.items() if not isinstance(column, _Words)}

    def coded(self, name: str) -> CodedColumn | None:
        """A text column as codes, -1 for missing values; None for other columns."""
        return self._words.get(name)

    def words(self, name: str) -> Iterable[Any]:
        """The values that occur in a text column or in the column of data sets."""
        return self._words[name].names if name in self._words else self._named[name] or ()

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, with NaN for missing values."""
        (numbers,) = self._others[name]
        return numbers

    def signed_bytes(self, name: str) -> Iterator[Any]:
        """The bytes of a column that is not text, for the signature."""
        if name in TABLE_KINDS["battles"].known_numbers:
            yield from signed_numbers(self.numbers(name))
            return
        for column in self._others[name]:
            for rows in row_slices(column.size):
                yield column[rows].data


def _column(name: str, kind: Any) -> "_Words | _Values | _Listed":
    import pyarrow as pa

    if name in TABLE_KINDS["battles"].known_numbers:
        return _Values(kind, missing=np.nan)
    if name in TABLE_KINDS["battles"].known_text:
        return _Words()
    if name == "dataset":
        return _Listed(named=True)
    return _Values(kind, missing=0) if pa.types.is_integer(kind) or pa.types.is_floating(kind) else _Listed()


class _Words:
    """Text as codes, numbered in order of first appearance."""

    def __init__(self) -> None:
        self._place_of: dict[str, int] = {}
        self._codes = ColumnWriter(np.int32)
        self._known: Any = None
        self._places = np.zeros(0, np.int32)

    def append(self, chunk: Any) -> None:
        if self._known is None or not chunk.dictionary.equals(self._known):  # often the same as the last chunk's
            self._known = chunk.dictionary
            places = [self._place_of.setdefault(word, len(self._place_of)) for word in self._known.to_pylist()]
            self._places = np.array([*places, -1], np.int32)
        self._codes.append(self._places[chunk.indices.fill_null(-1).to_numpy()])

    def column(self) -> CodedColumn:
        return CodedColumn(self._codes.column(), tuple(self._place_of))


class _Values:
    """Numbers. Missing values are stored as `missing`; unless that is NaN, a second column marks them."""

    def __init__(self, kind: Any, missing: float) -> None:
        self._missing = missing
        self._values, self._absent = ColumnWriter(kind.to_pandas_dtype()), ColumnWriter(bool)
        self._any_absent = False

    def append(self, chunk: Any) -> None:
        self._values.append(chunk.fill_null(self._missing).to_numpy(zero_copy_only=False))
        if self._missing == 0:
            self._any_absent |= chunk.null_count > 0
            self._absent.append(chunk.is_null().to_numpy(zero_copy_only=False))

    def columns(self) -> list[NDArray[Any]]:
        return [*([self._absent.column()] if self._any_absent else []), self._values.column()]


class _Listed:
    """Values of any other type, written as the text of one long list."""

    def __init__(self, *, named: bool = False) -> None:
        self.words: dict[Any, None] | None = {} if named else None
        """Each value once, if `named`."""
        self._text, self._begun = ColumnWriter(np.uint8), False

    def append(self, chunk: Any) -> None:
        if self.words is not None:
            self.words |= dict.fromkeys(chunk.unique().to_pylist())
        for begin in range(0, len(chunk), AT_ONCE):
            self._add((", " if self._begun else "[") + listed_text(chunk.slice(begin, AT_ONCE)))
            self._begun = True

    def _add(self, text: str) -> None:
        self._text.append(np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8))

    def columns(self) -> list[NDArray[Any]]:
        self._add("]" if self._begun else "[]")
        return [self._text.column()]
