"""Questions for a cluster: large bytes (that is, images) are replaced by their hash, and each is sent once.

The driver puts an image into Ray's object store when it is first needed; every question that shows it refers to it. For
an image that is there already, a question may hold a `SentImage`, so that the driver need not read it again. A worker
fetches it from the store, through its own machine's copy, and caches the most recent ones.
"""

import io
import pickle
import threading
from collections.abc import Callable
from typing import Any

from cachetools import LRUCache

from imarena.core import sha256_hex
from imarena.engine.process_worker import load_pickle

LARGE = 16_384
"""Minimum size in bytes for which a reference pays off."""
DRIVER_BYTES = 2_000_000_000
"""Bytes of images that the driver keeps in the object store; the oldest is dropped, and stored again when needed."""
WORKER_BYTES = 256_000_000


def _size(entry: tuple[Any, int]) -> int:
    return entry[1]


class SentImage(bytes):
    """In a question, stands for an image in the object store. It has no bytes here; the worker gets the image's."""

    sha256: str
    reference: Any

    @classmethod
    def of(cls, sha256: str, reference: Any) -> "SentImage":
        """Return the stand-in. It keeps the image in the object store."""
        image = cls()
        image.sha256, image.reference = sha256, reference
        return image


class ImageSender:
    """On the driver: the images already in the object store, for all workers of a run."""

    def __init__(self, put: Callable[[bytes], Any], cap: int = DRIVER_BYTES) -> None:
        self._put = put
        self._refs: LRUCache[str, tuple[Any, int]] = LRUCache(cap, getsizeof=_size)
        self._lock = threading.Lock()
        """Questions are packed in several threads."""
        self.sent = 0

    def pack(self, question: object) -> tuple[bytes, dict[str, Any]]:
        """Return the pickled question without its images, and references to them by hash."""
        refs: dict[str, Any] = {}

        class Pickler(pickle.Pickler):
            def persistent_id(_, value: object) -> str | None:  # noqa: N805
                if isinstance(value, SentImage):
                    refs[value.sha256] = value.reference
                    return value.sha256
                if type(value) is not bytes or len(value) < LARGE:
                    return None
                key = sha256_hex(value)
                refs[key] = self._reference(key, value)
                return key

        buffer = io.BytesIO()
        Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(question)
        return buffer.getvalue(), refs

    def held(self, sha256: str) -> SentImage | None:
        """Return a stand-in for an image that was sent; None if it has to be read."""
        with self._lock:
            return SentImage.of(sha256, self._refs[sha256][0]) if sha256 in self._refs else None

    def _reference(self, key: str, value: bytes) -> Any:
        with self._lock:
            if key in self._refs:
                return self._refs[key][0]
            reference = self._put(value)
            self.sent += 1
            if len(value) <= self._refs.maxsize:
                self._refs[key] = reference, len(value)
            return reference


class ImageReceiver:
    """In a worker: puts the images back into questions."""

    def __init__(self, fetch: Callable[[Any], bytes], cap: int = WORKER_BYTES) -> None:
        self._fetch = fetch
        self._images: LRUCache[str, bytes] = LRUCache(cap, getsizeof=len)

    def unpack(self, data: bytes, refs: dict[str, Any]) -> Any:
        """Return the original question."""

        class Unpickler(pickle.Unpickler):
            def persistent_load(_, key: Any) -> bytes:  # noqa: N805
                return self._image(str(key), refs)

        return load_pickle(data, lambda data: Unpickler(io.BytesIO(data)).load())

    def _image(self, key: str, refs: dict[str, Any]) -> bytes:
        if key in self._images:
            return self._images[key]
        image = self._fetch(refs[key])
        if len(image) <= self._images.maxsize:
            self._images[key] = image
        return image
