"""A folder of finished outputs as an editor: one image per item, named by the item's key.

`KEY.png` for an item of one turn; for a longer one `KEY/TURN.png` (turns count from 1), and `KEY/complex.png` for all
turns in one. Each may lie below `DATASET/`, and any picture type will do. The request names the item in its `params`
(`key`, `dataset`, `turn`, `turns`, `mode`); no other editor gets to see these.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from imarena.core import EditorTraits, EditRequest, EditResult, Noun, UserError
from imarena.core.records import JsonDict, Mode, Status
from imarena.editors.options import read_editor_options

TYPES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff", ".bmp", ".gif")
MAX_BYTES = 256 * 1024 * 1024


class FolderSettings(Noun):
    """Where the outputs are."""

    path: str
    version: str = "1"


@dataclass(frozen=True)
class FolderEditor:
    """Hands out pictures that were made elsewhere."""

    name: str
    root: Path
    version: str = "1"

    @property
    def traits(self) -> EditorTraits:
        """Files are found by the item's name."""
        return EditorTraits(needs_key=True, deterministic=True)

    @property
    def params(self) -> JsonDict:
        """The folder is where it comes from, not what it is."""
        return {}

    async def edit(self, request: EditRequest) -> EditResult:
        """The picture with the item's name; `missing_output` where there is none."""
        return await asyncio.to_thread(self._found, request)

    def _found(self, request: EditRequest) -> EditResult:
        path = self.file_of(request.params)
        if path is None:
            name = file_names(request.params)[0]
            return EditResult(Status.MISSING_OUTPUT, error=f"No picture called '{name}' is in {self.root.name}.")
        return EditResult(Status.OK, path.read_bytes(), cost_usd=None)

    def file_of(self, named: Mapping[str, JsonValue]) -> Path | None:
        """The picture of the item that is named by `key`, `dataset`, `turn`, `turns` and `mode`; None without one."""
        found = (self._inside(stem + suffix) for stem in file_names(named) for suffix in ("", *TYPES))
        return next((path for path in found if path is not None), None)

    def _inside(self, name: str) -> Path | None:
        """A plain file below the root; keys come from data sets, so a path that leads out is no file of ours."""
        if not name or "\0" in name or len(name) > 1024:
            return None
        path = self.root / name
        try:
            real = path.resolve(strict=True)
        except OSError:
            return None
        inside = real.is_relative_to(self.root) and real.is_file() and real.suffix.lower() in TYPES
        return real if inside and real.stat().st_size <= MAX_BYTES else None


def file_names(named: Mapping[str, JsonValue]) -> list[str]:
    """What its file may be called, without the type. A file of a longer item always says which of its outputs it is."""
    key, dataset, turn = str(named.get("key", "")), str(named.get("dataset", "")), named.get("turn", 0)
    if named.get("mode") == Mode.COMPLEX.value:
        key = f"{key}/{Mode.COMPLEX.value}"
    elif named.get("turns", 1) != 1:
        key = f"{key}/{turn + 1 if isinstance(turn, int) else 1}"
    return [key, f"{dataset}/{key}"]


def make(name: str, options: Mapping[str, JsonValue]) -> FolderEditor:
    """From a table with `path`."""
    settings = read_editor_options(FolderSettings, options, "folder")
    root = Path(settings.path).expanduser()
    if not root.is_dir():
        raise UserError(
            f"There is no folder {root}.",
            hint="Name the folder that holds the finished outputs. `imarena status --items` lists the file names.",
        )
    return FolderEditor(name, root.resolve(), settings.version)
