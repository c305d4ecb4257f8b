"""A folder of finished outputs as an editor: one picture an item, named by the item's key.

Looked for, in this order: `KEY.png`, `DATASET/KEY.png`, `KEY/TURN.png` (turns count from 1), any picture type. The
request names the item in its `params` (`key`, `dataset`, `turn`); no other editor gets to see these.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from imarena.core.errors import UserError
from imarena.core.protocols import EditRequest, EditResult
from imarena.core.records import JsonDict, Status
from imarena.core.records.base import Noun
from imarena.editors.options import read_options

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
    needs_key: bool = field(default=True, init=False)
    deterministic: bool = field(default=True, init=False)

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
            name = _names(request.params)[0]
            return EditResult(Status.MISSING_OUTPUT, error=f"No picture called '{name}' is in {self.root.name}.")
        return EditResult(Status.OK, path.read_bytes(), cost_usd=None)

    def file_of(self, named: Mapping[str, JsonValue]) -> Path | None:
        """The picture of the item that is named by `key`, `dataset`, `turn` and `turns`; None where there is none."""
        found = (self._inside(stem + suffix) for stem in _names(named) for suffix in ("", *TYPES))
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


def _names(named: Mapping[str, JsonValue]) -> list[str]:
    """What its file may be called, without the type."""
    key, dataset, turn = str(named.get("key", "")), str(named.get("dataset", "")), named.get("turn", 0)
    number = str(turn + 1) if isinstance(turn, int) else "1"
    names = [f"{key}/{number}"] if named.get("turns", 1) != 1 else []
    return names + ([key, f"{dataset}/{key}"] if not names or number == "1" else [])


def make(name: str, options: Mapping[str, JsonValue]) -> FolderEditor:
    """From a table with `path`."""
    settings = read_options(FolderSettings, options, "folder")
    root = Path(settings.path).expanduser()
    if not root.is_dir():
        raise UserError(f"There is no folder {root}.", hint="Name the folder that holds the finished outputs.")
    return FolderEditor(name, root.resolve(), settings.version)
