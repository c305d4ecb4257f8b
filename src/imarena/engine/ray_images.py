"""Questions as they travel to a cluster: large bytes, which are images, by their hash, each sent once.

The driver puts an image into Ray's object store when it is first needed; every question that shows it names it. A
worker fetches it from the store, by way of its own machine's copy, and keeps the last ones.
"""

import io
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from imarena.core import UserError, sha256_hex

LARGE = 16_384
"""Bytes from which it pays to send a reference."""
DRIVER_BYTES = 2_000_000_000
"""Images that the driver keeps in the object store; the oldest is dropped, and put in again where it is needed."""
WORKER_BYTES = 256_000_000


class _ByBytes:
    """Values by hash, up to a number of bytes; the one used longest ago goes first."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._held: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: str) -> Any:
        """The value, or None."""
        found = self._held.get(key)
        if found is None:
            return None
        self._held.move_to_end(key)
        return found[0]

    def put(self, key: str, value: Any, size: int) -> None:
        """Keep it."""
        self._held[key] = (value, size)
        self._bytes += size
        while self._bytes > self._cap and len(self._held) > 1:
            _, (_, old) = self._held.popitem(last=False)
            self._bytes -= old


class ImageSender:
    """On the driver: what was put into the object store already, for all workers of a run."""

    def __init__(self, put: Callable[[bytes], Any], cap: int = DRIVER_BYTES) -> None:
        self._put = put
        self._refs = _ByBytes(cap)
        self._lock = threading.Lock()
        """Questions are packed in several threads."""
        self.sent = 0

    def pack(self, question: object) -> tuple[bytes, dict[str, Any]]:
        """The question without its images, and references to these by their hash."""
        refs: dict[str, Any] = {}

        class Pickler(pickle.Pickler):
            def persistent_id(_, value: object) -> str | None:  # noqa: N805
                if type(value) is not bytes or len(value) < LARGE:
                    return None
                key = sha256_hex(value)
                refs[key] = self._reference(key, value)
                return key

        buffer = io.BytesIO()
        Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(question)
        return buffer.getvalue(), refs

    def _reference(self, key: str, value: bytes) -> Any:
        with self._lock:
            known = self._refs.get(key)
            if known is None:
                known = self._put(value)
                self._refs.put(key, known, len(value))
                self.sent += 1
        return known


class ImageReceiver:
    """In a worker: puts the images back into questions."""

    def __init__(self, fetch: Callable[[Any], bytes], cap: int = WORKER_BYTES) -> None:
        self._fetch = fetch
        self._images = _ByBytes(cap)

    def unpack(self, data: bytes, refs: dict[str, Any]) -> Any:
        """The question as it was asked."""

        class Unpickler(pickle.Unpickler):
            def persistent_load(_, key: Any) -> bytes:  # noqa: N805
                return self._image(str(key), refs)

        try:
            return Unpickler(io.BytesIO(data)).load()
        except Exception as error:
            raise UserError(
                f"A worker cannot load this work: {type(error).__name__}: {error}.",
                hint="Is the package that it comes from installed, or its folder on PYTHONPATH, where the workers run?",
            ) from error

    def _image(self, key: str, refs: dict[str, Any]) -> bytes:
        known: bytes | None = self._images.get(key)
        if known is None:
            known = self._fetch(refs[key])
            self._images.put(key, known, len(known))
        return known
