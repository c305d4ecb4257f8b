"""Backups: a folder with one shared blob store and a database snapshot per backup.

A snapshot is always a SQLite file, whatever database the workspace uses, so that it can be restored into either.
"""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, delete, insert, inspect, literal, make_url, select

from imarena.core import (
    FILE_NAME,
    VERSION,
    InvalidImage,
    Progress,
    Settings,
    StoreError,
    UserError,
    file_sha256,
    load_settings,
    write_atomically,
)
from imarena.core.records import now
from imarena.storage import migrate, schema
from imarena.storage.blob_store import FOLDER, BlobStore, open_blobs
from imarena.storage.blobs import Blobs
from imarena.storage.database import connect, reading, sqlite_url, writing
from imarena.storage.store import Store
from imarena.storage.table_copy import copy_tables, set_sequences
from imarena.storage.workspace import Workspace, database_url, is_workspace

_MANIFEST = "manifest.json"
SQLITE = "sqlite"
"""The database to restore into: the file in the workspace's folder, instead of the one of the settings."""
_S3 = "s3://"
_RESTORING = "restoring"
"""Fact in a database that is being restored: the hash of the snapshot that it will contain."""


@dataclass(frozen=True)
class Snapshot:
    """One backup."""

    path: Path
    records: dict[str, int]
    blobs: int
    missing: tuple[str, ...]
    """Blobs that were missing or damaged and could not be copied."""
    images_at: str = ""
    """Where the images were when the backup was made, if it holds the database only."""


def backup(workspace: Workspace, target: Path, *, images: bool = True, progress: Progress | None = None) -> Snapshot:
    """Add a snapshot to a backup folder. Blobs that are in the folder already are not copied again.

    Without `images` it holds the database only; a restore then takes the images from where they are now.
    """
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(target)):
        raise UserError(
            f"A backup is written to a folder; '{target}' is an address.",
            hint="Name a folder, and copy it there afterwards (for S3: aws s3 sync DIR s3://bucket/prefix).",
        )
    if target.resolve().is_relative_to(workspace.root.resolve()):
        raise UserError("A backup cannot be inside the workspace.", hint="Name a folder outside it.")
    stamp = now().strftime("%Y%m%dT%H%M%S.%fZ")
    part = target / f".{stamp}.part"
    part.mkdir(parents=True)
    counts = dump_database(workspace.store.engine, part / "arena.db", progress)
    shutil.copyfile(workspace.root / FILE_NAME, part / FILE_NAME)
    copied, missing = _copy_images(workspace, Blobs(target / FOLDER), progress) if images else (0, [])
    manifest = {
        "imarena": VERSION,
        "schema": migrate.current_version(workspace.store.engine),
        "made_at": now().isoformat(),
        "records": counts,
        "images": images,
        "workspace": str(workspace.root.resolve()),
        "blobs": copied,
        "missing": missing,
        "database_sha256": file_sha256(part / "arena.db"),
    }
    (part / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    final = target / stamp
    part.replace(final)
    return Snapshot(final, counts, copied, tuple(missing), "" if images else workspace.blobs.place)


def _copy_images(workspace: Workspace, store: Blobs, progress: Progress | None) -> tuple[int, list[str]]:
    """Copy the images that are not in a backup folder yet. Returns how many it has, and the hashes of the others."""
    rows = [row for row in workspace.store.images() if not row["withdrawn_at"]]
    missing = []
    for done, row in enumerate(rows):
        if progress and done % 50 == 0:
            progress("images", done, len(rows))
        sha256 = row["sha256"]
        if store.size(sha256) != row["size_bytes"] and not copy_blob(workspace.blobs, store, sha256):
            missing.append(sha256)
    return len(rows) - len(missing), missing


def settings_with_url(settings: str, url: str) -> str:
    """The settings with another database; everything else stays as it is, including comments."""
    entry = f"url = {json.dumps(url, ensure_ascii=False)}"
    lines: list[str] = []
    section = ""
    for line in settings.splitlines():
        head = re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line)
        section = head[1] if head else section
        if not (section == "database" and re.match(r"\s*url(_env)?\s*=", line)):
            lines.append(line)
        if head and section == "database":
            lines.append(entry)
    if entry not in lines:
        lines += ["", "[database]", entry]
    return "\n".join(lines) + "\n"


def settings_with_blobs(settings: str, blobs: str, endpoint: str = "") -> str:
    """The settings with another location of the images; everything else stays as it is."""
    other_settings = re.sub(r"(?m)^[ \t]*blobs(_endpoint)?[ \t]*=.*\n?", "", settings)
    values = {"blobs": blobs, "blobs_endpoint": endpoint}
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items() if value]
    return "".join(lines) + other_settings


def snapshots(target: Path) -> list[Path]:
    """The snapshots in a backup folder, oldest first."""
    return (
        sorted(path for path in target.iterdir() if re.match(r"\d{8}T", path.name) and (path / _MANIFEST).is_file())
        if target.is_dir()
        else []
    )


def restore(
    source: Path,
    root: Path,
    *,
    url: str = "",
    blobs: str | None = None,
    blobs_endpoint: str | None = None,
    progress: Progress | None = None,
) -> Snapshot:
    """Make a workspace from a snapshot (or from the newest one in a backup folder).

    `url`: the database; empty: the one in the snapshot's settings; `sqlite`: the file in the workspace's folder.
    `blobs`: where to store its images; empty: in the workspace's folder; None: where the snapshot's settings say.
    `blobs_endpoint`: the S3-compatible service; None: that of the snapshot's settings.
    """
    candidates = [source] if (source / _MANIFEST).is_file() else snapshots(source)
    if not candidates:
        raise UserError(f"There is no backup in {source}.", hint="Name the folder that `backup` wrote to.")
    snapshot = candidates[-1]
    if is_workspace(root):
        raise UserError(f"{root} holds a workspace already.", hint="Restore into a new folder.")
    manifest = json.loads((snapshot / _MANIFEST).read_text(encoding="utf-8"))
    if file_sha256(snapshot / "arena.db") != manifest["database_sha256"]:
        raise UserError(f"The database in {snapshot} was changed or is damaged.", hint="Use another snapshot.")
    before = load_settings(snapshot / FILE_NAME)
    settings_text = (snapshot / FILE_NAME).read_text(encoding="utf-8")
    settings = _with_images_at(before, blobs, blobs_endpoint)
    if (settings.blobs, settings.blobs_endpoint) != (before.blobs, before.blobs_endpoint):
        settings_text = settings_with_blobs(settings_text, settings.blobs, settings.blobs_endpoint)
    if url:
        settings_text = settings_with_url(settings_text, "" if url == SQLITE else url)
    in_folder = url == SQLITE or not (url or settings.database.url or settings.database.url_env)
    elsewhere = "" if in_folder else url or database_url(root, settings)
    loaded = bool(elsewhere) and _is_loaded(elsewhere, manifest["database_sha256"])  # before any image is copied
    root.mkdir(parents=True, exist_ok=True)
    images = _ImageSource(snapshot, manifest, before)
    rows, missing = _restore_blobs(images, open_blobs(root, settings), progress)
    if in_folder:
        shutil.copyfile(snapshot / "arena.db", root / "arena.db")
    elif not loaded:
        _load(snapshot / "arena.db", elsewhere, manifest["database_sha256"], progress)
    # Last, because this makes the folder a workspace; until then the restore can be run again.
    write_atomically(root / FILE_NAME, settings_text)
    if elsewhere:
        _forget_mark(elsewhere)
    location = images.original.place if images.original is not None else ""
    return Snapshot(snapshot, manifest["records"], rows - len(missing), tuple(missing), location)


def _with_images_at(settings: Settings, blobs: str | None, endpoint: str | None) -> Settings:
    """The settings with another location of the images; the service stays the same unless another is named."""
    location = settings.blobs if blobs is None else blobs
    if endpoint and not location.startswith(_S3):
        raise UserError("An endpoint is only for images in S3 storage.", hint="Add --blobs s3://bucket/prefix.")
    service = settings.blobs_endpoint if endpoint is None else endpoint
    return settings.model_copy(
        update={"blobs": location, "blobs_endpoint": service if location.startswith(_S3) else ""}
    )


class _ImageSource:
    """The images of a snapshot: in its backup folder, or, if it holds the database only, where they were."""

    def __init__(self, snapshot: Path, manifest: dict[str, Any], settings: Settings) -> None:
        self.database = snapshot / "arena.db"
        self.copies = Blobs(snapshot.parent / FOLDER)
        self.original = None if manifest.get("images", True) else open_blobs(Path(manifest["workspace"]), settings)

    def copy(self, sha256: str, target: BlobStore) -> bool:
        """Copy an image; False if it cannot be had."""
        if copy_blob(self.copies, target, sha256):
            return True
        return self.original is not None and copy_blob(self.original, target, sha256)


def _restore_blobs(images: _ImageSource, store: BlobStore, progress: Progress | None) -> tuple[int, list[str]]:
    """Copy a snapshot's images. Returns how many it references, and the hashes of the lost ones."""
    if isinstance(store, Blobs):
        store.root.mkdir(parents=True, exist_ok=True)
    records = Store(connect(sqlite_url(images.database)))
    rows = [(row["sha256"], row["size_bytes"]) for row in records.images() if not row["withdrawn_at"]]
    for row in records.images():
        if row["withdrawn_at"]:
            store.block(row["sha256"])
    records.close()
    missing = []
    same_place = images.original is not None and images.original.place == store.place  # images stay where they were
    for done, (sha256, size) in enumerate(rows):
        if progress and done % 50 == 0:
            progress("images", done, len(rows))
        if not (same_place and store.size(sha256) == size) and not images.copy(sha256, store):
            missing.append(sha256)
    return len(rows), missing


def copy_blob(source: BlobStore, target: BlobStore, sha256: str) -> bool:
    """Copy a blob; if it is missing, damaged, or withdrawn in the target, write nothing and return False."""
    try:
        target.put(source.get(sha256))
    except (StoreError, InvalidImage):
        return False
    return True


def dump_database(engine: Engine, path: Path, progress: Progress | None = None) -> dict[str, int]:
    """Copy every table into a new SQLite file, all as of the same moment."""
    target = connect(sqlite_url(path))
    migrate.upgrade(target, migrate.current_version(engine) or "head")
    with reading(engine, same_moment=True) as source, writing(target) as sink:
        counts = copy_tables(source, sink, progress)
    target.dispose()
    return counts


def _is_loaded(url: str, sha256: str) -> bool:
    """Whether a restore of this snapshot into this database stopped after its rows were committed.

    Raises `UserError` if the database contains anything else.
    """
    target = connect(url)
    try:
        if migrate.current_version(target) is None or not _has_rows(target):
            return False
        loaded = Store(target).fact(_RESTORING)
    finally:
        target.dispose()
    if loaded == sha256:
        return True
    raise UserError(
        f"The database {shown_url(url)} is not empty.",
        hint="Name the snapshot whose restore was stopped there, or an empty database with --database."
        if loaded
        else "Name an empty database with --database postgresql://user@host/name, or restore into a SQLite file in "
        f"the workspace's folder with --database {SQLITE}.",
    )


def shown_url(url: str) -> str:
    """A database's address without its password."""
    return make_url(url).render_as_string(hide_password=True)


def _load(path: Path, url: str, sha256: str, progress: Progress | None) -> None:
    """Copy a snapshot's tables into an empty database, which is marked with the snapshot's hash.

    If a restore stops after its rows were committed, the next run finds the mark and continues.
    """
    source_engine, target = connect(sqlite_url(path)), connect(url)
    migrate.upgrade(target, migrate.current_version(source_engine) or "head")
    with reading(source_engine) as source, writing(target) as sink:
        copy_tables(source, sink, progress)
        sink.execute(delete(schema.facts).where(schema.facts.c.key == _RESTORING))
        sink.execute(insert(schema.facts).values(key=_RESTORING, value=sha256))
        if sink.dialect.name == "postgresql":
            set_sequences(sink)
    source_engine.dispose()
    target.dispose()


def _forget_mark(url: str) -> None:
    """Remove the mark when the restore is complete: from now on the database differs from the snapshot."""
    engine = connect(url)
    with writing(engine) as connection:
        connection.execute(delete(schema.facts).where(schema.facts.c.key == _RESTORING))
    engine.dispose()


def _has_rows(engine: Engine) -> bool:
    """Does any table contain rows? An interrupted restore leaves the tables empty."""
    with reading(engine) as connection:
        present = set(inspect(connection).get_table_names())
        tables = [table for table in schema.metadata.sorted_tables if table.name in present]
        return any(connection.execute(select(literal(1)).select_from(table).limit(1)).first() for table in tables)
