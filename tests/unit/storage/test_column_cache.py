"""Files of columns: what is read is what was written, or nothing."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from imarena.storage.column_cache import ColumnCache

ARRAYS: dict[str, NDArray[Any]] = {
    "numbers": np.arange(1000, dtype=np.int64),
    "small": np.arange(7, dtype=np.int8),
    "none": np.zeros(0, np.float64),
    "names": np.array([b"one", b"three"]),
    "yes": np.array([True, False, True]),
    "spread": np.arange(20, dtype=np.float64)[::2],
}


@pytest.fixture
def cache(tmp_path: Path) -> ColumnCache:
    return ColumnCache(tmp_path / "columns", 10_000_000)


def test_columns_come_back_as_they_were(cache: ColumnCache) -> None:
    assert cache.read("x") is None
    assert cache.metadata("x") is None
    cache.write("x", {"from": ["here", 7]}, ARRAYS)
    found = cache.read("x")
    assert found is not None
    assert found.metadata == cache.metadata("x") == {"from": ["here", 7]}
    assert list(found.arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found.arrays[name].dtype == array.dtype
        assert np.array_equal(found.arrays[name], array)
        with pytest.raises(ValueError, match="read-only"):
            found.arrays[name][...] = 0
    cache.write("x", {}, {"numbers": np.zeros(3)})
    again = cache.read("x")
    assert again is not None
    assert list(again.arrays) == ["numbers"]
    assert found.arrays["numbers"][-1] == 999, "what was read stays as it was"


def test_one_wrong_bit_anywhere_is_noticed(cache: ColumnCache) -> None:
    cache.write("x", {"from": "here"}, {"small": ARRAYS["small"]})
    path = cache.folder / "x"
    good = path.read_bytes()
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        path.write_bytes(bad)
        assert cache.read("x") is None, f"byte {place} of {len(good)}"
        assert not path.exists(), "it is written again by whoever needs it"
    for size in range(len(good)):
        path.write_bytes(good[:size])
        assert cache.read("x") is None
    path.write_bytes(good + b"more")
    assert cache.read("x") is None


def test_only_plain_numbers_and_bytes_are_read(cache: ColumnCache) -> None:
    cache.write("x", {}, {"bad": np.array([1, 2], "m8[s]")})
    assert (cache.folder / "x").exists()
    assert cache.read("x") is None


def test_too_much_or_nowhere_to_write_stores_nothing(cache: ColumnCache) -> None:
    cache.most_bytes = 100
    cache.write("x", {}, ARRAYS)
    assert not cache.folder.exists()
    cache.most_bytes = 10_000_000
    cache.folder.write_text("a file")
    cache.write("x", {}, ARRAYS)
    assert cache.folder.read_text() == "a file"
    assert cache.read("x") is None


def test_whoever_reads_while_others_write_sees_one_of_them_whole(cache: ColumnCache) -> None:
    def write(number: int) -> None:
        for _ in range(20):
            cache.write("x", {"number": number}, {"numbers": np.full(20_000, number)})

    def read(_: int) -> int:
        seen = 0
        for _ in range(60):
            found = cache.read("x")
            if found is not None:
                assert set(found.arrays["numbers"].tolist()) == {found.metadata["number"]}
                seen += 1
        return seen

    write(0)
    with ThreadPoolExecutor(6) as pool:
        writers = [pool.submit(write, number) for number in range(1, 4)]
        readers = [pool.submit(read, number) for number in range(3)]
        assert sum(one.result() for one in readers) == 180
        for one in writers:
            one.result()
    assert [path.name for path in cache.folder.iterdir()] == ["x"], "no part is left behind"
