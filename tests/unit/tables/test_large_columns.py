"""Columns in temporary files hold the same values as columns in memory, also where there is no room for them."""

import mmap
import os
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from imarena.tables import large_columns
from imarena.tables.large_columns import (
    ColumnWriter,
    KeptRows,
    build_column,
    empty_column,
    filter_column,
    release_pages,
    rows_where,
    sorted_parts,
    take_in_parts,
    take_rows_at,
    used_codes,
)

PARTS = st.lists(st.lists(st.integers(-1000, 1000), max_size=40), max_size=12)


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files from 64 bytes on, and seven rows at a time."""
    monkeypatch.setattr(large_columns, "LEAST_BYTES", 64)
    monkeypatch.setattr(large_columns, "ROWS_AT_ONCE", 7)


def _in_file(column: NDArray[Any]) -> bool:
    held: Any = column
    while isinstance(held, np.ndarray | memoryview):
        held = held.obj if isinstance(held, memoryview) else held.base
    return isinstance(held, mmap.mmap)


def _written(parts: list[list[int]]) -> NDArray[Any]:
    writer = ColumnWriter(np.int16)
    for part in parts:
        writer.append(np.array(part, np.int16))
    return writer.column()


@given(PARTS)
def test_a_column_that_grows_has_all_its_values(parts: list[list[int]]) -> None:
    column = _written(parts)
    assert column.tolist() == [value for part in parts for value in part]
    assert _in_file(column) == (column.nbytes >= 64)
    release_pages()
    assert column.tolist() == [value for part in parts for value in part]


@given(PARTS, st.integers(0, 400))
def test_a_full_disk_loses_nothing(parts: list[list[int]], room: int) -> None:
    write = os.write

    def limited(file: Any, part: NDArray[Any]) -> None:
        data, free = part.tobytes(), max(0, room - file.tell())
        write(file.fileno(), data[:free])
        if free < len(data):
            raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_columns, "_write", limited)
        assert _written(parts).tolist() == [value for part in parts for value in part]


def test_where_no_room_can_be_reserved_a_column_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _in_file(empty_column(64, np.int8))
    assert not _in_file(empty_column(63, np.int8))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    column = empty_column(64, np.int8)
    column[:] = 3
    assert not _in_file(column)
    assert column.sum() == 192


@pytest.mark.skipif(not hasattr(os, "fstatvfs"), reason="the room on the disk is not known")
def test_the_last_room_on_a_disk_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_columns, "LEAST_FREE", float("inf"))
    assert not _in_file(empty_column(64, np.int8))
    column = _written([list(range(40)), list(range(40))])
    assert not _in_file(column)
    assert column.tolist() == [*range(40), *range(40)]


def test_many_large_columns_leave_files_to_open(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    highest, held = max(map(int, os.listdir("/dev/fd"))), [os.dup(0)]  # noqa: PTH208 - numbers, not paths
    while held[-1] < highest:  # numbers that other tests left free would be taken first
        held.append(os.dup(0))
    most = 2 * (held[-1] + 10)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (most, most))
    columns = [empty_column(64, np.int8) for _ in range(12)] + [_written([[3] * 40]) for _ in range(12)]
    assert 0 < sum(map(_in_file, columns)) <= 10
    assert [column.size for column in columns] == [64] * 12 + [40] * 12
    del columns
    for number in held:
        os.close(number)
    assert _in_file(empty_column(64, np.int8)), "files are closed when nobody uses the columns"


def test_where_no_file_can_be_mapped_columns_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_device(*_: object) -> None:
        raise OSError(19, "No such device")

    monkeypatch.setattr(large_columns, "_mapped", no_device)
    column = _written([list(range(40)), list(range(40)), [5]])
    assert column.tolist() == [*range(40), *range(40), 5]
    column[0] = 7  # as one in a file
    assert not _in_file(empty_column(64, np.int8))


def test_pages_are_given_back_while_others_read_and_write() -> None:
    column = empty_column(1 << 16, np.int64)
    done = threading.Event()

    def give_back() -> None:
        while not done.is_set():
            release_pages()

    other = threading.Thread(target=give_back)
    other.start()
    try:
        for number in range(50):
            column[:] = number
            assert (column == number).all()
    finally:
        done.set()
        other.join()


def test_files_go_where_they_are_wanted_and_leave_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    column = empty_column(1000, np.int64)
    column[:] = np.arange(1000)
    release_pages()
    assert column.sum() == 499_500
    assert not list(tmp_path.iterdir()), "a process that is killed leaves no file"
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))
    assert empty_column(1000, np.int64).size == 1000


@given(st.lists(st.integers(-1, 8), max_size=60), st.integers(0, 2**60 - 1))
def test_rows_are_taken_as_numpy_takes_them(codes: list[int], bits: int) -> None:
    column = np.array(codes, np.int32)
    kept = np.array([bool(bits >> row & 1) for row in range(column.size)], bool)
    assert filter_column(column, kept).tolist() == column[kept].tolist()
    values = np.arange(10) * 11
    assert take_in_parts(values, column).tolist() == values[column].tolist()
    assert np.flatnonzero(used_codes(9, column)).tolist() == sorted({*codes} - {-1})


@given(st.lists(st.integers(-5, 60), max_size=300), st.booleans())
def test_parts_are_sorted_by_their_key_and_keep_the_order_of_rows(values: list[int], as_bytes: bool) -> None:
    keys = np.array([str(1000 + value) for value in values], "S4") if as_bytes else np.array(values, np.int64)
    rows = np.arange(keys.size)
    parts = [*sorted_parts(keys.size, lambda some: [keys[some], rows[some]])]
    assert sorted(row for _, part in parts for row in part.tolist()) == rows.tolist()
    for key, part in parts:
        np.testing.assert_array_equal(keys[part], key)
        assert all(first < second for first, second in pairwise(part.tolist()))
    filled = [key for key, _ in parts if key.size]
    assert all(max(one.tolist()) < min(other.tolist()) for one, other in pairwise(filled))
    assert rows_where(keys.size, lambda some: rows[some] % 3 == 0).tolist() == rows[rows % 3 == 0].tolist()


@given(st.lists(st.booleans(), max_size=300), st.integers(0, 320), st.integers(0, 320), st.integers(2, 5))
def test_kept_rows_are_the_numbers_of_the_rows(rows: list[bool], begin: int, end: int, divisor: int) -> None:
    mask = np.array(rows, bool)
    kept = KeptRows(mask.size, lambda some: mask[some])
    numbers = np.flatnonzero(mask)
    assert len(kept) == numbers.size
    np.testing.assert_array_equal(kept[begin:end], numbers[begin:end])
    divisible = kept.filter(lambda some: some % divisor == 0)
    np.testing.assert_array_equal(divisible[:], numbers[numbers % divisor == 0])


def test_the_bits_of_many_kept_rows_are_in_a_file() -> None:
    kept = KeptRows(10_000, lambda some: np.arange(some.start, some.stop) % 3 == 0)
    assert _in_file(kept._bits)
    np.testing.assert_array_equal(kept[3_000:3_003], [9_000, 9_003, 9_006])


def test_scattered_places_of_a_large_column_are_picked_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    values = build_column(20_000, np.int64, lambda rows: np.arange(rows.start, rows.stop) * 3)
    released: list[int] = []
    monkeypatch.setattr(large_columns, "release_pages", lambda: released.append(1))
    scattered = np.random.default_rng(0).integers(0, values.size, 1_000)
    np.testing.assert_array_equal(take_rows_at(values, scattered), scattered * 3)
    assert len(released) == 4, "after every 256 places"
    near = np.arange(5_000, 6_000)
    np.testing.assert_array_equal(take_rows_at(values, near), near * 3)
    assert len(released) == 4, "neighbours are looked up at once"
