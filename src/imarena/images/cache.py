"""Prepared pictures, made once: least recently used in memory under a byte cap, and in a folder if one is given."""

import os
import tempfile
import threading
from pathlib import Path

from cachetools import LRUCache

from imarena.core import InvalidImage, sha256_hex
from imarena.images.formats import SUFFIXES
from imarena.images.inspect import inspect
from imarena.images.prepare import Preparation, PreparedImage, prepare_with

_DEFAULT_MEMORY = 256 * 1024 * 1024
_DEFAULT_FOLDER = 4 * 1024 * 1024 * 1024


class PreparedCache:
    """Safe to use from several threads. A picture larger than the cap is made and handed out, not kept."""

    def __init__(
        self,
        max_bytes: int = _DEFAULT_MEMORY,
        folder: Path | None = None,
        folder_max_bytes: int = _DEFAULT_FOLDER,
    ) -> None:
        self._folder = _Folder(folder, folder_max_bytes) if folder is not None else None
        self._kept: LRUCache[str, PreparedImage] = LRUCache(max_bytes, getsizeof=lambda kept: len(kept.data))
        self._lock = threading.Lock()

    @property
    def size_bytes(self) -> int:
        """Bytes held in memory now; never above the cap."""
        return int(self._kept.currsize)

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, data: bytes, preparation: Preparation, *, sha256: str | None = None) -> PreparedImage:
        """The prepared picture, from memory, from the folder, or made now. Raises `InvalidImage`."""
        key = preparation.key(sha256 or sha256_hex(data))
        with self._lock:
            prepared = self._kept.get(key)
        if prepared is not None:
            return prepared
        if self._folder is not None:
            prepared = self._folder.read(key, preparation.media_type)
        if prepared is None:
            prepared = prepare_with(preparation, data)
            if self._folder is not None:
                self._folder.write(prepared)
        if len(prepared.data) <= self._kept.maxsize:
            with self._lock:
                self._kept[prepared.key] = prepared
        return prepared


class _Folder:
    """Files by key in two-level folders, written whole or not at all; the oldest go when the cap is passed."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._size: int | None = None
        self._lock = threading.Lock()

    def read(self, key: str, media_type: str) -> PreparedImage | None:
        path = self._path(key, media_type)
        try:
            data = path.read_bytes()
            info = inspect(data)
        except (OSError, InvalidImage):
            return None
        return PreparedImage(data, media_type, info.width, info.height, key)

    def write(self, prepared: PreparedImage) -> None:
        path = self._path(prepared.key, prepared.media_type)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(prepared.data)
        Path(temporary).replace(path)
        with self._lock:
            self._size = self._measure() if self._size is None else self._size + len(prepared.data)
            if self._size > self._max_bytes:
                self._prune()

    def _path(self, key: str, media_type: str) -> Path:
        digest = key.removeprefix("prepared_")
        return self._root / digest[:2] / digest[2:4] / f"{digest}{SUFFIXES[media_type]}"

    def _files(self) -> list[tuple[float, int, Path]]:
        rows = []
        for path in self._root.glob("*/*/*"):
            try:
                stat = path.stat()
            except OSError:
                continue
            rows.append((stat.st_mtime, stat.st_size, path))
        return sorted(rows)

    def _measure(self) -> int:
        return sum(size for _, size, _ in self._files())

    def _prune(self) -> None:
        """Down to nine tenths of the cap, so that not every write prunes."""
        files = self._files()
        left = sum(size for _, size, _ in files)
        for _, size, path in files:
            if left <= 0.9 * self._max_bytes:
                break
            path.unlink(missing_ok=True)
            left -= size
        self._size = left
