"""Columns of millions of rows in private temporary files, so that memory use does not grow with the number of rows.

The files are memory-mapped: unused pages are in the system's file cache, which it can empty at any time. If there is no
space on the disk, or no way to reserve it, columns stay in memory. Mappings are shared: releasing pages loses nothing
that another thread writes meanwhile, and a forked process writes to the same column.
"""

import errno
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray

LEAST_BYTES = 1 << 20
"""Smaller columns stay in memory."""
ROWS_AT_ONCE = 1 << 17
"""Rows that are looked up at once, because NumPy temporarily uses eight bytes per code."""
LEAST_FREE = 256 << 20
"""Bytes of disk space to leave free, so that a database on the same disk can write."""
_SCATTERED_AT_ONCE = 256
_SAMPLES, _SAMPLED_ROWS, _MOST_PARTS = 256, 64, 1 << 16
_GOLDEN = (5**0.5 - 1) / 2
_MAPPINGS: "WeakValueDictionary[int, mmap.mmap]" = WeakValueDictionary()
"""All file-backed columns in use."""


def empty_column(n: int, dtype: DTypeLike) -> NDArray[Any]:
    """(n,) uninitialised values; a large column is in a file."""
    kind = np.dtype(dtype)
    size = n * kind.itemsize
    if size >= LEAST_BYTES:
        try:
            with _temporary_file() as file:
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk raises here instead of crashing later
                _check_room(file)
                return _mapped(file, kind)
        except (OSError, AttributeError):
            pass
    return np.empty(n, kind)


def row_slices(n: int, step: int | None = None) -> Iterator[slice]:
    """All n rows, some at a time; the pages of file-backed columns are released after each slice."""
    width = step or ROWS_AT_ONCE
    for begin in range(0, n, width):
        yield slice(begin, min(n, begin + width))
        release_pages()


def build_column(n: int, dtype: DTypeLike, of: Callable[[slice], NDArray[Any]]) -> NDArray[Any]:
    """Build a column of n values; `of` returns the values for some rows at a time."""
    writer = ColumnWriter(dtype, n)
    for rows in row_slices(n):
        writer.append(of(rows))
    return writer.column()


def rows_where(n: int, of: Callable[[slice], NDArray[np.bool_]]) -> NDArray[np.signedinteger[Any]]:
    """The numbers of the rows that `of` keeps, computed for some rows at a time."""
    writer = ColumnWriter(np.int32 if n < 1 << 31 else np.int64)
    for rows in row_slices(n):
        writer.append(rows.start + np.flatnonzero(of(rows)))
    return writer.column()


class KeptRows:
    """The rows that `of` keeps, stored as one bit per row; the numbers of some can be read without all others."""

    def __init__(self, n: int, of: Callable[[slice], NDArray[np.bool_]]) -> None:
        self._n, self._step, self._begins = n, ROWS_AT_ONCE, np.arange(0, n, ROWS_AT_ONCE)
        bits, numbers = ColumnWriter(np.uint8, n // 8), []
        for mask in map(of, row_slices(n)):
            bits.append(np.packbits(mask))
            numbers.append(np.count_nonzero(mask))
        self._bits = bits.column()
        self._ends = np.cumsum(numbers)

    def __len__(self) -> int:
        return int(self._ends[-1]) if self._ends.size else 0

    def __getitem__(self, some: slice) -> NDArray[np.int64]:
        """The numbers of some of the kept rows, in order."""
        begin, end, _ = some.indices(len(self))
        first, last = np.searchsorted(self._ends, [begin + 1, end]).tolist()
        parts = [self._part(number) for number in range(first, last + 1 if begin < end else first)]
        before = int(self._ends[first - 1]) if first else 0
        return np.concatenate([np.zeros(0, np.int64), *parts])[begin - before : end - before]

    def filter(self, of: Callable[[NDArray[np.int64]], NDArray[np.bool_]]) -> "KeptRows":
        """The kept rows that `of` also keeps; it receives row numbers."""
        parts = iter(range(self._begins.size))

        def select(rows: slice) -> NDArray[np.bool_]:
            numbers = self._part(next(parts))
            mask = np.zeros(rows.stop - rows.start, bool)
            mask[numbers[of(numbers)] - rows.start] = True
            return mask

        return KeptRows(self._n, select)

    def _part(self, number: int) -> NDArray[np.int64]:
        size = -(-self._step // 8)  # bytes per part
        bits = np.unpackbits(self._bits[number * size : (number + 1) * size])
        numbers: NDArray[np.int64] = self._begins[number] + np.flatnonzero(bits)
        return numbers


def take_in_parts(values: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Return `values[places]`, looked up some rows at a time."""
    return build_column(places.size, values.dtype, lambda rows: take_rows_at(values, places[rows]))


def take_rows_at(values: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Return `values[places]`. Each place in a file maps 64 KB, so scattered places are looked up in small parts."""
    small = values.nbytes < 16 * LEAST_BYTES or places.size <= _SCATTERED_AT_ONCE
    result: NDArray[Any]
    if small or np.ptp(places) < 8 * places.size:  # few places, or close to each other
        result = values[places]
        return result
    result = np.empty(places.size, values.dtype)
    for rows in row_slices(places.size, _SCATTERED_AT_ONCE):
        result[rows] = values[places[rows]]
    return result


def filter_column(values: NDArray[Any], kept: NDArray[np.bool_]) -> NDArray[Any]:
    """Return `values[kept]`, computed for some rows at a time."""
    if kept.size <= ROWS_AT_ONCE:
        return values[kept]
    return build_column(kept.size, values.dtype, lambda rows: values[rows][kept[rows]])


def joined(*parts: NDArray[Any]) -> NDArray[Any]:
    """Concatenate columns."""
    writer = ColumnWriter(np.result_type(*parts), sum(part.size for part in parts))
    for part in parts:
        for rows in row_slices(part.size):
            writer.append(part[rows])
    return writer.column()


def used_codes(n: int, *columns: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) which of the codes 0 to n - 1 occur in any of these columns; -1 is not a code."""
    used = np.zeros(n + 1, bool)
    for codes in columns:
        for rows in row_slices(codes.size):
            used[codes[rows]] = True
    return used[:n]


def sorted_parts(n: int, read: Callable[[slice], Sequence[NDArray[Any]]]) -> Iterator[list[NDArray[Any]]]:
    """Split the n rows of some columns into parts by the first column, the key: about `ROWS_AT_ONCE` rows per part.

    The keys of a part are above those of the part before. Within a part, rows keep their order; callers that need
    sorted keys sort each part. `read` returns the columns of some rows, which are copied to files once.
    """
    if n <= ROWS_AT_ONCE:
        yield list(read(slice(0, n)))
        return
    bounds = _part_bounds(n, read)
    writers: list[ColumnWriter] = []
    ends = []
    for rows in row_slices(n):
        columns = read(rows)
        part = np.searchsorted(bounds, columns[0], side="right").astype(np.uint16)
        order = np.argsort(part, kind="stable")  # sorting two bytes is several times as fast as eight
        ends.append(rows.start + np.cumsum(np.bincount(part, minlength=bounds.size + 1)))
        writers = writers or [ColumnWriter(column.dtype, n) for column in columns]
        for writer, column in zip(writers, columns, strict=True):
            writer.append(column[order])
    readers = [writer.reader() for writer in writers]
    begins = [np.append(begin, end[:-1]) for begin, end in zip(range(0, n, ROWS_AT_ONCE), ends, strict=True)]
    for number in range(bounds.size + 1):
        cuts = [slice(begin[number], end[number]) for begin, end in zip(begins, ends, strict=True)]
        yield [pieces(cuts) for pieces in readers]


def _part_bounds(n: int, read_part: Callable[[slice], Sequence[NDArray[Any]]]) -> NDArray[Any]:
    """The keys at which parts of about `ROWS_AT_ONCE` rows begin, estimated from a sample of the rows."""
    begins = (np.arange(_SAMPLES) * _GOLDEN % 1 * n).astype(int).tolist()  # irregular steps: keys may repeat
    samples = []
    for begin in begins:
        samples.append(read_part(slice(begin, min(n, begin + _SAMPLED_ROWS)))[0].copy())
        release_pages()
    sample = np.sort(np.concatenate(samples))
    parts = min(n // ROWS_AT_ONCE + 1, _MOST_PARTS)
    return np.unique(sample[np.arange(1, parts) * sample.size // parts])


def release_pages() -> None:
    """Release the memory of all file-backed columns. They are read from their files when they are used again.

    This includes the columns of other threads: reloading a page costs microseconds, and needs no bookkeeping.
    """
    if hasattr(mmap, "MADV_DONTNEED"):
        for reference in _MAPPINGS.valuerefs():
            mapping = reference()
            if mapping is not None:
                mapping.madvise(mmap.MADV_DONTNEED)


class ColumnWriter:
    """A growing column; beyond `LEAST_BYTES`, values are written to a file."""

    def __init__(self, dtype: DTypeLike, rows: int = 0) -> None:
        """`rows`: the expected number of rows, if known."""
        self._dtype = np.dtype(dtype)
        self._parts: list[NDArray[Any]] = []
        self._held = self._written = 0
        self._file: IO[bytes] | None = None
        large = rows * self._dtype.itemsize >= LEAST_BYTES
        self._most_held: float = LEAST_BYTES / 16 if large else LEAST_BYTES

    def append(self, values: NDArray[Any]) -> None:
        """Add values to the end."""
        part = np.ascontiguousarray(values, self._dtype)
        self._parts.append(part)
        self._held += part.nbytes
        if self._held >= self._most_held:
            self._write_parts()

    def column(self) -> NDArray[Any]:
        """Return all values. Nothing can be appended afterwards."""
        self._finish()
        if self._file is None or not self._written:
            return np.concatenate([np.empty(0, self._dtype), *self._parts])
        with self._file as file:
            file.truncate(self._written)
            try:
                values = _mapped(file, self._dtype)
            except OSError:  # some file systems do not support mapping
                values = _read(file, self._written, self._dtype)
        return np.concatenate([values, *self._parts]) if self._parts else values

    def reader(self) -> Callable[[Sequence[slice]], NDArray[Any]]:
        """Return a function that reads pieces of the finished column and concatenates them.

        They are read from the file, because mapping would load many pages for each small piece.
        """
        self._finish()
        file, dtype = self._file, self._dtype
        if file is None or self._parts:
            column = self.column()
            return lambda cuts: np.concatenate([column[cut] for cut in cuts])

        def read_pieces(cuts: Sequence[slice]) -> NDArray[Any]:
            result, at = np.empty(sum(cut.stop - cut.start for cut in cuts), dtype), 0
            data = result.view(np.uint8)
            for cut in cuts:
                file.seek(cut.start * dtype.itemsize)
                end = at + (cut.stop - cut.start) * dtype.itemsize
                while at < end:
                    at += _read_some(file, data[at:end])
            return result

        return read_pieces

    def _finish(self) -> None:
        if self._file is not None and self._parts and self._held < self._most_held:
            self._write_parts()

    def _write_parts(self) -> None:
        try:
            if self._file is None:
                self._file = _temporary_file()
            _check_room(self._file)
            self._file.seek(self._written)
            for part in self._parts:
                _write(self._file, part)
        except OSError:  # no space: this part and all later ones stay in memory
            self._most_held = float("inf")
            return
        self._written += self._held
        self._parts, self._held = [], 0
        self._most_held = LEAST_BYTES / 16


def _temporary_file() -> IO[bytes]:
    """Open an unnamed file on a disk, not in /tmp, which is memory on many systems."""
    folder = os.environ.get("TMPDIR", "/var/tmp")  # noqa: S108
    file: IO[bytes] = tempfile.TemporaryFile(  # noqa: SIM115
        dir=folder if os.access(folder, os.W_OK) else None, buffering=0
    )
    next_number = os.dup(file.fileno())  # Python keeps one file open per mapping
    os.close(next_number)
    if next_number >= _most_open():
        file.close()
        raise OSError(errno.EMFILE, "too many open files")
    return file


def _most_open() -> float:
    """Half of the files that this process may open; the rest are for databases, images and connections."""
    try:
        import resource
    except ImportError:  # Windows
        return 256
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most / 2 if most > 0 else float("inf")


def _check_room(file: IO[bytes]) -> None:
    if hasattr(os, "fstatvfs"):
        disk = os.fstatvfs(file.fileno())
        if disk.f_blocks and disk.f_bavail * disk.f_frsize < LEAST_FREE:
            raise OSError(errno.ENOSPC, "too little room on the disk")


def _write(file: IO[bytes], part: NDArray[Any]) -> None:
    left = part.view(np.uint8).data
    while left:
        left = left[file.write(left) :]


def _read(file: IO[bytes], size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Read the first bytes of a file as a column in memory."""
    column, at = np.empty(size // dtype.itemsize, dtype), 0
    file.seek(0)
    while at < size:
        at += _read_some(file, column.view(np.uint8)[at:size])
    return column


def _read_some(file: IO[bytes], into: NDArray[np.uint8]) -> int:
    number = int(file.readinto(into.data))  # type: ignore[attr-defined]
    if not number:
        raise OSError("a temporary file became shorter")
    return number


def _mapped(file: IO[bytes], dtype: np.dtype[Any]) -> NDArray[Any]:
    mapping = mmap.mmap(file.fileno(), 0)
    _MAPPINGS[id(mapping)] = mapping
    return np.frombuffer(mapping, dtype)
