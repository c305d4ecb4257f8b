"""The tools' findings about images, cached by content; and near-duplicates among the images of a data set."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from imarena import curation
from imarena.core import sha256_hex
from imarena.core.records import Evidence, Item
from imarena.images import pixels
from imarena.storage import Workspace, from_row

KIND = "perception"


class ImageAnalysisCache:
    """Analyses each image once per workspace. `stores`: keep the findings; not for a dry run, which writes nothing."""

    def __init__(self, workspace: Workspace, *, stores: bool = True) -> None:
        self._workspace = workspace
        self._stores = stores

    def look(self, data: bytes) -> tuple[curation.Perception, curation.Fingerprint]:
        """Return the findings about an encoded image, and its fingerprint."""
        return self._look(sha256_hex(data), lambda: data)

    def describe(self, data: bytes) -> str:
        """Return words for the index of a library."""
        return curation.describe_seen(self.look(data)[0])

    def fingerprint(self, sha256: str) -> curation.Fingerprint:
        """Return the findings about a stored image."""
        return self._look(sha256, lambda: self._workspace.blobs.get(sha256))[1]

    def _look(self, sha256: str, load: Callable[[], bytes]) -> tuple[curation.Perception, curation.Fingerprint]:
        version = curation.perception_version()
        for stored in self._workspace.store.records(Evidence, image_sha256=sha256, kind=KIND):
            if stored.tool_version == version:
                value: Any = stored.value
                return curation.read_perception(value["seen"]), curation.read_fingerprint(value["fingerprint"])
        image = pixels(load())
        perception, fingerprint = curation.perceive(image), curation.make_fingerprint(image)
        if self._stores:
            self._keep(sha256, version, perception, fingerprint)
        return perception, fingerprint

    def _keep(
        self, sha256: str, version: str, perception: curation.Perception, fingerprint: curation.Fingerprint
    ) -> None:
        self._workspace.store.add(
            [
                Evidence(
                    image_sha256=sha256, tool="curation", tool_version=version, kind=KIND,
                    value={"seen": perception.to_json(), "fingerprint": fingerprint.to_json()},
                )
            ]
        )  # fmt: skip


class BenchmarkImages:
    """The images of a data set, for excluding near-duplicates. An instruction's own images do not count against it."""

    def __init__(
        self, workspace: Workspace, dataset: str, memory: ImageAnalysisCache, settings: curation.CurationSettings
    ) -> None:
        self._workspace = workspace
        self._dataset = dataset
        self._new_index = partial(curation.DuplicateIndex, settings.hash_distance, settings.duplicate_likeness)
        self._index, self._supposed = self._new_index(), self._new_index()
        self._memory = memory
        self._request_of: dict[str, str] = {}
        self._read_to = 0
        self._lock = threading.Lock()
        self._narrow = settings.duplicates_in == "instruction"
        self.refresh()

    def refresh(self) -> None:
        """Read the items that were stored since the last call, also by other processes."""
        for row in self._workspace.store.rows(Item, after=self._read_to, dataset=self._dataset):
            self.add(from_row(Item, row))
            self._read_to = row["seq"]

    def add(self, item: Item) -> None:
        """Add the source images of an item."""
        if item.key not in self._request_of:
            self._request_of[item.key] = str(item.provenance.get("request") or "")
            for image in item.sources:
                self._add(self._index, item.key, image.sha256)

    @contextmanager
    def supposing(self) -> Iterator[Callable[[str, str], None]]:
        """Give a function that adds an image of an instruction until the context is left."""

        def suppose(request: str, sha256: str) -> None:
            key = f"{request}/{sha256}"
            self._request_of[key] = request
            self._add(self._supposed, key, sha256)

        try:
            yield suppose
        finally:
            self._supposed = self._new_index()

    def near(self, request: str, fingerprint: curation.Fingerprint) -> Sequence[curation.NearDuplicate]:
        """Return near-duplicates among the images of other instructions."""
        if self._narrow:
            return ()
        with self._lock:
            found = [*self._index.search(fingerprint), *self._supposed.search(fingerprint)]
        return [near for near in found if self._request_of[near.key] != request]

    def _add(self, index: curation.DuplicateIndex, key: str, sha256: str) -> None:
        fingerprint = self._memory.fingerprint(sha256)
        with self._lock:
            index.add(key, fingerprint)
