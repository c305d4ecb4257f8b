"""The cache of previews and tiles: a cap, and others who write and delete in the same folder."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from imarena.storage.cache import Cache


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, cap_bytes=1000)
    for number in range(10):
        assert cache.get(f"key-{number}", lambda: b"x" * 100) == b"x" * 100
    for at, path in enumerate(sorted(path for path in tmp_path.rglob("*") if path.is_file())):
        os.utime(path, (at, at))
    assert cache.get("key-3", lambda: b"made again") == b"x" * 100  # used just now
    cache.get("key-10", lambda: b"x" * 100)
    assert cache.size() <= 800
    assert cache.get("key-3", lambda: b"made again") == b"x" * 100
    cache.clear()
    assert cache.size() == 0


def test_others_may_take_files_away_at_any_moment(tmp_path: Path) -> None:
    def write_and_forget() -> None:
        other = Cache(tmp_path)
        for number in range(300):
            other.get(f"key-{number}", lambda: b"x")
            if number % 10 == 9:
                other.clear()

    with ThreadPoolExecutor(1) as aside:
        writing = aside.submit(write_and_forget)
        while not writing.done():
            Cache(tmp_path, cap_bytes=5).get("mine", lambda: b"y")
        writing.result()
