"""Small versions of a workspace's pictures for a report: files in its folder, or data URIs inside the page."""

from base64 import b64encode
from pathlib import Path

from imarena.core import ImarenaError
from imarena.core.records import ImageRef
from imarena.images import preview
from imarena.storage import Workspace

FILE_PX, INSIDE_PX = 320, 240
INSIDE_BYTES = 6_500_000
"""What all pictures inside one page may take, so that the page stays under 10 MB."""


class Thumbnails:
    """Gives the address of a small version of a picture; '' where it is missing, withdrawn or beyond the limit."""

    def __init__(self, workspace: Workspace, folder: Path | None) -> None:
        self.workspace = workspace
        self.folder = folder
        """Where files go; None: pictures are inside the page."""
        self.left_out = 0
        """Pictures beyond the limit."""
        self._bytes = 0
        self._known: dict[str, str] = {}

    def __call__(self, image: ImageRef) -> str:
        if self.folder is not None:
            return self._file(image, self.folder)
        known = self._known.get(image.sha256)
        address = self._inside(image) if known is None else known
        self._known[image.sha256] = address
        if not address or self._bytes + len(address) > INSIDE_BYTES:
            self.left_out += bool(address)
            return ""
        self._bytes += len(address)
        return address

    def _inside(self, image: ImageRef) -> str:
        data = self._small(image, INSIDE_PX)
        return f"data:image/jpeg;base64,{b64encode(data).decode()}" if data else ""

    def _file(self, image: ImageRef, folder: Path) -> str:
        file = folder / "images" / f"{image.sha256[:20]}.jpg"
        if not file.exists():
            data = self._small(image, FILE_PX)
            if not data:
                return ""
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return f"images/{file.name}"

    def _small(self, image: ImageRef, side: int) -> bytes:
        try:
            return preview(self.workspace.load(image), side).data
        except ImarenaError:  # withdrawn or missing: `verify` lists it
            return b""
