"""doctor: is this machine ready?"""

import os
import platform
import shutil
import sqlite3
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from imarena.core import VERSION, ImarenaError, command_line
from imarena.storage import is_workspace, open_workspace

_EXTRAS = {
    "postgres": ("psycopg", "PostgreSQL workspaces"),
    "web": ("fastapi", "the web application"),
    "vision": ("torch", "local models"),
    "ray": ("ray", "many machines"),
    "s3": ("boto3", "images in S3-compatible storage"),
    "hub": ("huggingface_hub", "data sets and weights from a hub"),
}
_MIN_FREE_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Check:
    """One check."""

    name: str
    state: str
    """good, bad, or absent (optional and missing)."""
    detail: str


def installed_extras() -> list[str]:
    """Return the extras installed on this machine."""
    return [extra for extra, (module, _) in _EXTRAS.items() if find_spec(module) is not None]


def examine(root: Path) -> list[Check]:
    """Run every check, in order of importance."""
    checks = [
        Check("imarena", "good", VERSION),
        Check("Python", "good" if sys.version_info >= (3, 11) else "bad", platform.python_version()),
        Check("SQLite", "good" if sqlite3.sqlite_version_info >= (3, 35) else "bad", sqlite3.sqlite_version),
        Check("processors", "good", str(os.cpu_count())),
    ]
    existing = next(folder for folder in (root.resolve(), *root.resolve().parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    room = f"{free / 1e9:,.1f} GB free at {existing}"
    checks.append(Check("disk", "good" if free > _MIN_FREE_BYTES else "bad", room))
    writable = os.access(existing, os.W_OK)
    can = "can be written to" if writable else "cannot be written to"
    checks.append(Check("folder", "good" if writable else "bad", f"{existing} {can}"))
    for extra, (module, purpose) in _EXTRAS.items():
        is_installed = find_spec(module) is not None
        detail = f"{purpose}: ready" if is_installed else f"{purpose}: pip install 'imarena[{extra}]'"
        checks.append(Check(f"extra {extra}", "good" if is_installed else "absent", detail))
    checks.append(_workspace(root))
    return checks


def _workspace(root: Path) -> Check:
    if not is_workspace(root):
        return Check("workspace", "absent", f"none in {root.resolve()}: {command_line('init')} makes one")
    try:
        with open_workspace(root) as workspace:
            return Check("workspace", "good", f"{workspace.root.resolve()} ({workspace.store.engine.dialect.name})")
    except ImarenaError as error:
        return Check("workspace", "bad", str(error).replace("\n", " "))
