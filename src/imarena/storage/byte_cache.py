"""Bytes of remote images in memory: the most recently used, up to a total size."""

import threading
from collections.abc import Callable
from typing import NamedTuple

from cachetools import LRUCache

CAP_BYTES = 256_000_000
_LOCKS = 256


class CachedBytes(NamedTuple):
    """Verified bytes, and the tag that the server gave to the object."""

    data: bytes
    tag: str


class ByteCache:
    """Thread-safe. Threads that need the same image at once read it once."""

    def __init__(self, cap: int = CAP_BYTES) -> None:
        self._entries: LRUCache[str, CachedBytes] = LRUCache(cap, getsizeof=lambda entry: len(entry.data))
        self._lock = threading.Lock()
        self._reading = tuple(threading.Lock() for _ in range(_LOCKS))
        """Held by the thread that reads; a hash has always the same one."""

    def get(self, sha256: str, unchanged: Callable[[str], bool], read: Callable[[], CachedBytes]) -> bytes:
        """The bytes: from memory if `unchanged` says so of their tag, else from `read`, whose errors pass."""
        entry = self._entry(sha256)
        if entry is not None:
            if unchanged(entry.tag):
                return entry.data
            self.drop(sha256)
        with self._reading[hash(sha256) % _LOCKS]:
            entry = self._entry(sha256)  # another thread has read it meanwhile
            if entry is None:
                entry = read()
                self._keep(sha256, entry)
            return entry.data

    def drop(self, sha256: str) -> None:
        """Forget an image."""
        with self._lock:
            self._entries.pop(sha256, None)

    def _entry(self, sha256: str) -> CachedBytes | None:
        with self._lock:
            return self._entries.get(sha256)

    def _keep(self, sha256: str, entry: CachedBytes) -> None:
        with self._lock:
            if len(entry.data) <= self._entries.maxsize:
                self._entries[sha256] = entry
