"""Previews and tiles on demand, in a folder of limited size. Everything here can be deleted at any time."""

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from imarena.core import sha256_hex

DEFAULT_CAP_BYTES = 2 * 1024**3
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class Cache:
    """Bytes by key. When the size limit is exceeded, the least recently used ones are deleted."""

    def __init__(self, root: Path, cap_bytes: int = DEFAULT_CAP_BYTES) -> None:
        self.root = root
        self.cap_bytes = cap_bytes
        self._size: int | None = None

    def get(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The bytes under `key`; calls `make` if they are not cached."""
        name = sha256_hex(key.encode())
        path = self.root / name[:2] / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            data = make()
            self._write(path, data)
        else:
            with suppress(FileNotFoundError):
                os.utime(path)
        return data

    def _write(self, path: Path, data: bytes) -> None:
        """Store the bytes. If the disk is full, they are made again next time: nothing depends on the cache."""
        part = path.with_suffix(f".{secrets.token_hex(4)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(data)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            part.unlink(missing_ok=True)
            return
        with suppress(FileNotFoundError):  # another process made room
            part.replace(path)
        self._size = self.size() if self._size is None else self._size + len(data)
        if self._size > self.cap_bytes:
            self._shrink()

    def size(self) -> int:
        """Bytes in use, measured on disk."""
        return sum(size for _, size, _ in self._files())

    def clear(self) -> None:
        """Delete everything."""
        for _, _, path in self._files():
            path.unlink(missing_ok=True)
        self._size = 0

    def _shrink(self) -> None:
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        for _, size, path in files:
            if total <= self.cap_bytes * 0.8:
                break
            total -= size
            path.unlink(missing_ok=True)
        self._size = total

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """When each file was used last, and its size. Another process may delete a file at any moment."""
        for path in self.root.rglob("*"):
            with suppress(FileNotFoundError):
                status = path.stat()
                if S_ISREG(status.st_mode):
                    yield status.st_mtime, status.st_size, path
