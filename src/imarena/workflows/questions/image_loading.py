"""The images of questions: read from the storage, or only named if the executor's workers can get them already."""

import threading
from collections.abc import Callable

from cachetools import TTLCache

from imarena.core.records import ImageRef
from imarena.storage import Workspace

CHECK_S = 5.0
"""How long an image counts as stored after it was last seen in the storage: it may be withdrawn during a run."""
MOST_CHECKED = 10_000


class ImageLoader:
    """Loads the images of a run's questions. Thread-safe."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.held: Callable[[str], bytes | None] | None = None
        """The executor's stand-ins for images (`OpenExecutor.held`), while a run asks."""
        self._present: TTLCache[str, bool] = TTLCache(MOST_CHECKED, CHECK_S)
        self._lock = threading.Lock()

    def __call__(self, image: ImageRef) -> bytes:
        """Return the bytes or a stand-in for them. Raises `StoreError` if the image is no longer stored."""
        prepared = None if self.held is None else self.held(image.sha256)
        if prepared is None or not self._is_stored(image.sha256):
            data = self._workspace.load(image)
            self._note(image.sha256)
            return data
        return prepared

    def _is_stored(self, sha256: str) -> bool:
        with self._lock:
            if sha256 in self._present:
                return True
        if self._workspace.blobs.size(sha256) is None:
            return False
        self._note(sha256)
        return True

    def _note(self, sha256: str) -> None:
        if self.held is not None:
            with self._lock:
                self._present[sha256] = True
