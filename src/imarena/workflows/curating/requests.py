"""Instructions to collect images for: a table with key, instruction and task."""

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from imarena.core import UserError
from imarena.curation import CurationRequest, CurationSettings, read_curation_settings
from imarena.storage import Workspace
from imarena.tables import column_names, read_file

_COLUMNS = ("key", "instruction", "task", "topic", "keywords")


def read_requests(path: Path) -> list[CurationRequest]:
    """Read a CSV, TSV, JSON Lines or Parquet file. `keywords` (separated by `;`) are for the base track."""
    columns = column_names(path)
    if "instruction" not in columns:
        raise UserError(
            f"{path} has no column 'instruction'.", hint=f"Columns: {', '.join(_COLUMNS)}; only instruction is needed."
        )
    requests: list[CurationRequest] = []
    keys: set[str] = set()
    for number, row in enumerate(read_file(path, text=frozenset(columns), wanted=None).to_pylist(), 1):
        cells = {name: " ".join(str(row.get(name) or "").split()) for name in _COLUMNS}
        if not cells["instruction"]:
            raise UserError(f"{path}, row {number}: the instruction is empty.")
        key = _plain(cells["key"]) or f"item-{number:03d}"
        if key in keys:
            raise UserError(f"{path}, row {number}: the key '{key}' appears twice.", hint="Give each row its own key.")
        keys.add(key)
        words = tuple(part.strip() for part in cells["keywords"].split(";") if part.strip())
        requests.append(
            CurationRequest(key, cells["instruction"], cells["task"] or None, cells["topic"] or None, words)
        )
    return requests


def _plain(text: str) -> str:
    """Return a key without characters that are unsafe in a file name or on a command line."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")[:80]


def curation_settings(workspace: Workspace, options: Mapping[str, JsonValue]) -> CurationSettings:
    """Return the settings of imarena.toml with the command line's changes (None: no change)."""
    changes = {name: value for name, value in options.items() if value is not None}
    read_curation_settings(dict(workspace.settings.curation), "[curation] in imarena.toml")
    return read_curation_settings({**workspace.settings.curation, **changes}, "The command line")
