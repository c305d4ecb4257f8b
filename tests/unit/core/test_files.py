"""A file that two writers replace at once is one of the two, whole, and nothing is left beside it."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from imarena.core import atomic_replacement, write_atomically


def test_many_writers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "sheet.html"
    texts = [str(number) * 5000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(write_atomically, path), texts * 40))
    assert path.read_text(encoding="utf-8") in texts
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_atomically(path, b"old")
    with pytest.raises(TypeError), atomic_replacement(path) as part:
        part.open("wb").write("not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
