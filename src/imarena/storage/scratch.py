"""Copies of a workspace: a temporary one of its records, for planning, and a full one for experiments."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from imarena.core import FILE_NAME, UserError
from imarena.storage.backup import copy_blob, dump_database, settings_with_blobs, settings_with_url
from imarena.storage.blob_store import FOLDER
from imarena.storage.blobs import Blobs
from imarena.storage.database import connect, sqlite_url
from imarena.storage.store import Store
from imarena.storage.workspace import Workspace, open_workspace


@contextmanager
def scratch_copy(workspace: Workspace) -> Iterator[Workspace]:
    """All records and the settings, in a folder that is deleted at the end; the images are not copied."""
    with tempfile.TemporaryDirectory(prefix="imarena-") as folder:
        path = Path(folder) / "arena.db"
        dump_database(workspace.store.engine, path)
        with Workspace(Path(folder), workspace.settings, Store(connect(sqlite_url(path)))) as copy:
            yield copy


def copy_workspace(workspace: Workspace, to: Path) -> Workspace:
    """A copy in a new folder, on SQLite: all records, and the images as hard links where possible.

    Changes to the copy do not affect the workspace.
    """
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UserError(f"{to} is not empty.", hint="Name a new folder for the copy.")
    to.mkdir(parents=True, exist_ok=True)
    dump_database(workspace.store.engine, to / "arena.db")
    copies = Blobs(to / FOLDER)
    copies.root.mkdir()
    for sha256 in workspace.blobs:
        if isinstance(workspace.blobs, Blobs):
            _link(workspace.blobs.path(sha256), copies.path(sha256))
        else:
            copy_blob(workspace.blobs, copies, sha256)
    settings = settings_with_blobs((workspace.root / FILE_NAME).read_text(encoding="utf-8"), "")
    (to / FILE_NAME).write_text(settings_with_url(settings, ""), encoding="utf-8")
    return open_workspace(to)


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copyfile(source, target)
