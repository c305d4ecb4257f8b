"""Evidence measured on images: each measurement is looked up first and made only once."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from cachetools import LRUCache

from imarena.core import Pixels, sha256_hex
from imarena.core.records import Evidence, JsonDict
from imarena.images import pixels

_RECENT: LRUCache[str, Evidence] = LRUCache(4096)
_LOCK = threading.Lock()


@dataclass(frozen=True)
class EncodedImage:
    """An encoded image and its hash. Pixels are decoded when needed."""

    data: bytes
    sha256: str

    @property
    def pixels(self) -> Pixels:
        """(height, width, 3), sRGB."""
        return _decoded(self.data)


def encoded_image(data: bytes) -> EncodedImage:
    """The image of these bytes."""
    return EncodedImage(data, sha256_hex(data))


@lru_cache(maxsize=8)
def _decoded(data: bytes) -> Pixels:
    return np.asarray(pixels(data), np.uint8)


@dataclass(frozen=True)
class MeasuredBy:
    """A tool, its version and the kind of evidence that it produces."""

    tool: str
    version: str
    kind: str


class MeasurementCache:
    """Evidence by identity: stored evidence, recent evidence of this process, and new evidence."""

    def __init__(self, known: Iterable[Evidence] = ()) -> None:
        self._known = {evidence.evidence_id: evidence for evidence in known}
        self._fresh: dict[str, Evidence] = {}

    @property
    def fresh(self) -> tuple[Evidence, ...]:
        """New evidence that was not in `known` and needs to be stored."""
        return tuple(self._fresh.values())

    def find(
        self, by: MeasuredBy, image: EncodedImage, params: JsonDict, against: EncodedImage | None = None
    ) -> tuple[Evidence, bool]:
        """Return the evidence and True or, if it was not measured yet, evidence without a value and False."""
        empty = Evidence(
            image_sha256=image.sha256, against_sha256=against.sha256 if against is not None else None,
            tool=by.tool, tool_version=by.version, kind=by.kind, params=params,
        )  # fmt: skip
        identity = empty.evidence_id
        if identity in self._known:
            return self._known[identity], True
        with _LOCK:
            recent = _RECENT.get(identity)
        if recent is not None:
            self._known[identity] = self._fresh[identity] = recent
            return recent, True
        return empty, False

    def note(self, empty: Evidence, value: Any) -> Evidence:
        """Record a measured value."""
        evidence = empty.model_copy(update={"value": value})
        self._known[evidence.evidence_id] = self._fresh[evidence.evidence_id] = evidence
        with _LOCK:
            _RECENT[evidence.evidence_id] = evidence
        return evidence

    def measure(
        self,
        by: MeasuredBy,
        image: EncodedImage,
        params: JsonDict,
        make: Callable[[], Any],
        against: EncodedImage | None = None,
    ) -> Any:
        """Return the value; call `make` if it was not measured before."""
        evidence, stored = self.find(by, image, params, against)
        return evidence.value if stored else self.note(evidence, make()).value
