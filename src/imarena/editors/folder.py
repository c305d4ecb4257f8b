"""A folder of finished outputs as an editor: one image per item, named by the item's key.

`KEY.png` for an item of one turn; for a longer one `KEY/TURN.png` (turns count from 1), and `KEY/complex.png` for all
turns in one (`KEY/complex-2.png` for the first two). Each may be below `DATASET/`, in any image format. The
request names the item in its `params` (`key`, `dataset`, `turn`, `turns`, `mode`); no other editor can see these.
"""

import asyncio
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from imarena.core import EditorTraits, EditRequest, EditResult, FrozenModel, UserError, command_line, read_options
from imarena.core.records import JsonDict, Mode, Status
from imarena.editors.catalog import Ports
from imarena.images import MAX_IMAGE_BYTES, read_image_file

TYPES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff", ".bmp", ".gif")
NO_FILE = "has no image for"
"""Part of the error message for an item without a file."""


class FolderSettings(FrozenModel):
    """Where the outputs are."""

    path: str
    version: str = "1"


@dataclass(frozen=True)
class FolderEditor:
    """Returns images that were made elsewhere."""

    name: str
    root: Path
    version: str = "1"

    @property
    def traits(self) -> EditorTraits:
        """Needs the key, because files are found by the item's name."""
        return EditorTraits(needs_key=True, deterministic=True, files=self)

    @property
    def params(self) -> JsonDict:
        """Empty: the path of the folder does not affect the outputs."""
        return {}

    async def edit(self, request: EditRequest) -> EditResult:
        """The image with the item's name; status `missing_output` if there is none."""
        return await asyncio.to_thread(self._read_output_file, request)

    def _read_output_file(self, request: EditRequest) -> EditResult:
        path = self.file_of(request.params)
        if path is None:
            return EditResult(Status.MISSING_OUTPUT, error=f"The folder {self.root.name} {NO_FILE} this item.")
        return EditResult(Status.OK, read_image_file(path), cost_usd=None)

    def file_of(self, named: Mapping[str, JsonValue]) -> Path | None:
        """The image for `key`, `dataset`, `turn`, `turns` and `mode` in `named`; None if there is none."""
        paths = (self._inside(stem + suffix) for stem in file_names(named) for suffix in ("", *TYPES))
        return next((path for path in paths if path is not None), None)

    def files_beside(self, expected: Container[str]) -> list[str]:
        """Images below the folder that have none of the expected names (without extension), sorted by name."""
        return [
            name
            for name in self._pictures()
            if not any(name.endswith(kind) and name.removesuffix(kind) in expected for kind in ("", *TYPES))
        ]

    def _pictures(self) -> list[str]:
        """All files that may be outputs, by their extension; links to folders are not followed."""
        names = []
        for directory, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            below = Path(directory).relative_to(self.root)
            names += [(below / name).as_posix() for name in files if Path(name).suffix.lower() in TYPES]
        return sorted(names)

    def _inside(self, name: str) -> Path | None:
        """A plain file below the root. Keys come from data sets, so paths that lead outside are rejected."""
        if not name or "\0" in name or len(name) > 1024:
            return None
        path = self.root / name
        try:
            real = path.resolve(strict=True)
        except OSError:
            return None
        inside = real.is_relative_to(self.root) and real.is_file() and real.suffix.lower() in TYPES
        return real if inside and real.stat().st_size <= MAX_IMAGE_BYTES else None


def file_names(named: Mapping[str, JsonValue]) -> list[str]:
    """Possible file names, without extension. For an item with several turns, a file always names the output."""
    key, dataset, turn = str(named.get("key", "")), str(named.get("dataset", "")), named.get("turn", 0)
    if named.get("mode") == Mode.COMPLEX.value:
        level = named.get("level")
        key = f"{key}/{Mode.COMPLEX.value}" + ("" if level is None else f"-{level}")
    elif named.get("turns", 1) != 1:
        key = f"{key}/{turn + 1 if isinstance(turn, int) else 1}"
    return [key, f"{dataset}/{key}"]


def make(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> FolderEditor:
    """Build the editor from a table with `path`."""
    settings = read_options(FolderSettings, options, "editors", "folder")
    root = Path(settings.path).expanduser()
    if not root.is_dir():
        raise UserError(
            f"There is no folder {root}.",
            hint=f"Name the folder that holds the finished outputs. `{command_line('status --items')}` lists the "
            "file names.",
        )
    return FolderEditor(name, root.resolve(), settings.version)
