"""Backups: a folder with one shared blob store and a database snapshot per backup.

A snapshot is always a SQLite file, whatever database the workspace uses, so that it can be restored into either.
"""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, delete, insert, inspect, literal, select, text, tuple_

from imarena.core import (
    FILE_NAME,
    VERSION,
    InvalidImage,
    Progress,
    StoreError,
    UserError,
    load_settings,
    sha256_hex,
    write_atomically,
)
from imarena.core.records import now
from imarena.storage import migrate, schema
from imarena.storage.blob_store import FOLDER, BlobStore, open_blobs
from imarena.storage.blobs import Blobs
from imarena.storage.database import connect, reading, sqlite_url, writing
from imarena.storage.store import Store
from imarena.storage.workspace import Workspace, database_url, is_workspace

_PAGE = 5_000
_MANIFEST = "manifest.json"
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


def backup(workspace: Workspace, target: Path, *, progress: Progress | None = None) -> Snapshot:
    """Add a snapshot to a backup folder. Blobs that are in the folder already are not copied again."""
    if target.resolve().is_relative_to(workspace.root.resolve()):
        raise UserError("A backup cannot be inside the workspace.", hint="Name a folder outside it.")
    stamp = now().strftime("%Y%m%dT%H%M%S.%fZ")
    part = target / f".{stamp}.part"
    part.mkdir(parents=True)
    counts = dump_database(workspace.store.engine, part / "arena.db")
    shutil.copyfile(workspace.root / FILE_NAME, part / FILE_NAME)
    store = Blobs(target / FOLDER)
    rows = [row for row in workspace.store.images() if not row["withdrawn_at"]]
    missing = []
    for done, row in enumerate(rows):
        if progress and done % 50 == 0:
            progress("blobs", done, len(rows))
        sha256 = row["sha256"]
        if store.size(sha256) == row["size_bytes"]:
            continue
        if not copy_blob(workspace.blobs, store, sha256):
            missing.append(sha256)
    manifest = {
        "imarena": VERSION,
        "schema": migrate.current_version(workspace.store.engine),
        "made_at": now().isoformat(),
        "records": counts,
        "blobs": len(rows) - len(missing),
        "missing": missing,
        "database_sha256": sha256_hex((part / "arena.db").read_bytes()),
    }
    (part / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    final = target / stamp
    part.replace(final)
    return Snapshot(final, counts, len(rows) - len(missing), tuple(missing))


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


def settings_with_blobs(settings: str, blobs: str) -> str:
    """The settings with another location of the images; everything else stays as it is."""
    other_settings = re.sub(r"(?m)^[ \t]*blobs(_endpoint)?[ \t]*=.*\n?", "", settings)
    return f"blobs = {json.dumps(blobs, ensure_ascii=False)}\n{other_settings}" if blobs else other_settings


def snapshots(target: Path) -> list[Path]:
    """The snapshots in a backup folder, oldest first."""
    return (
        sorted(path for path in target.iterdir() if re.match(r"\d{8}T", path.name) and (path / _MANIFEST).is_file())
        if target.is_dir()
        else []
    )


def restore(
    source: Path, root: Path, *, url: str = "", blobs: str | None = None, progress: Progress | None = None
) -> Snapshot:
    """Make a workspace from a snapshot (or from the newest one in a backup folder).

    `blobs`: where to store its images; empty: in the workspace's folder; None: where the snapshot's settings say.
    """
    candidates = [source] if (source / _MANIFEST).is_file() else snapshots(source)
    if not candidates:
        raise UserError(f"There is no backup in {source}.", hint="Name the folder that 'imarena backup' wrote to.")
    snapshot = candidates[-1]
    if is_workspace(root):
        raise UserError(f"{root} holds a workspace already.", hint="Restore into a new folder.")
    manifest = json.loads((snapshot / _MANIFEST).read_text(encoding="utf-8"))
    if sha256_hex((snapshot / "arena.db").read_bytes()) != manifest["database_sha256"]:
        raise UserError(f"The database in {snapshot} was changed or is damaged.", hint="Use another snapshot.")
    settings = load_settings(snapshot / FILE_NAME)
    settings_text = (snapshot / FILE_NAME).read_text(encoding="utf-8")
    if blobs is not None:
        settings_text = settings_with_blobs(settings_text, blobs)
        settings = settings.model_copy(update={"blobs": blobs, "blobs_endpoint": ""})
    root.mkdir(parents=True, exist_ok=True)
    rows, missing = _restore_blobs(snapshot, open_blobs(root, settings), progress)
    elsewhere = ""
    if not url and not settings.database.url and not settings.database.url_env:
        shutil.copyfile(snapshot / "arena.db", root / "arena.db")
    else:
        elsewhere = url or database_url(root, settings)
        _load(snapshot / "arena.db", elsewhere, manifest["database_sha256"])
    # Last, because this makes the folder a workspace; until then the restore can be run again.
    write_atomically(root / FILE_NAME, settings_with_url(settings_text, url) if url else settings_text)
    if elsewhere:
        _forget_mark(elsewhere)
    return Snapshot(snapshot, manifest["records"], rows - len(missing), tuple(missing))


def _restore_blobs(snapshot: Path, store: BlobStore, progress: Progress | None) -> tuple[int, list[str]]:
    """Copy a snapshot's images. Returns how many it references, and the hashes of the lost ones."""
    pictures = Blobs(snapshot.parent / FOLDER)
    if isinstance(store, Blobs):
        store.root.mkdir(parents=True, exist_ok=True)
    records = Store(connect(sqlite_url(snapshot / "arena.db")))
    rows = [row["sha256"] for row in records.images() if not row["withdrawn_at"]]
    for row in records.images():
        if row["withdrawn_at"]:
            store.bar(row["sha256"])
    records.close()
    missing = []
    for done, sha256 in enumerate(rows):
        if progress and done % 50 == 0:
            progress("blobs", done, len(rows))
        if not copy_blob(pictures, store, sha256):
            missing.append(sha256)
    return len(rows), missing


def copy_blob(source: BlobStore, target: BlobStore, sha256: str) -> bool:
    """Copy a blob; if it is missing, damaged, or withdrawn in the target, write nothing and return False."""
    try:
        target.put(source.get(sha256))
    except (StoreError, InvalidImage):
        return False
    return True


def dump_database(engine: Engine, path: Path) -> dict[str, int]:
    """Copy every table into a new SQLite file, all as of the same moment."""
    target = connect(sqlite_url(path))
    migrate.upgrade(target, migrate.current_version(engine) or "head")
    counts: dict[str, int] = {}
    with reading(engine) as source, writing(target) as sink:
        if source.dialect.name == "postgresql":
            source.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        _copy(source, sink, counts)
    target.dispose()
    return counts


def _load(path: Path, url: str, sha256: str) -> None:
    """Copy a snapshot's tables into an empty database, which is marked with the snapshot's hash.

    If a restore stops after its rows were committed, the next run finds the mark and continues.
    """
    source_engine, target = connect(sqlite_url(path)), connect(url)
    if migrate.current_version(target) is not None and _has_rows(target):
        loaded = Store(target).fact(_RESTORING)
        target.dispose()
        source_engine.dispose()
        if loaded == sha256:
            return
        raise UserError(
            "The database that the backup should go into is not empty.",
            hint="Name the snapshot whose restore was stopped there, or an empty database."
            if loaded
            else "Name an empty one.",
        )
    migrate.upgrade(target, migrate.current_version(source_engine) or "head")
    with reading(source_engine) as source, writing(target) as sink:
        _copy(source, sink, {})
        sink.execute(delete(schema.facts).where(schema.facts.c.key == _RESTORING))
        sink.execute(insert(schema.facts).values(key=_RESTORING, value=sha256))
        if sink.dialect.name == "postgresql":
            present = set(inspect(sink).get_table_names())
            for table in schema.metadata.sorted_tables:
                if "seq" in table.c and table.name in present:
                    sink.execute(
                        text(
                            f"SELECT setval(pg_get_serial_sequence('{table.name}', 'seq'),"  # noqa: S608
                            f" COALESCE((SELECT MAX(seq) FROM {table.name}), 0) + 1, false)"
                        )
                    )
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


def _copy(source: Connection, sink: Connection, counts: dict[str, int]) -> None:
    """Copy the tables and columns that both databases have.

    The source may have an older schema than this software. If a migration stopped halfway, it has columns that its
    schema does not have yet; the next upgrade fills them again.
    """
    source_schema, sink_schema = inspect(source), inspect(sink)
    present = set(source_schema.get_table_names()) & set(sink_schema.get_table_names())
    for table in schema.metadata.sorted_tables:
        if table.name not in present:
            continue
        names = set.intersection(
            *({column["name"] for column in end.get_columns(table.name)} for end in (source_schema, sink_schema))
        )
        columns = [column for column in table.c if column.name in names]
        order = [table.c.seq] if "seq" in table.c else list(table.primary_key.columns)
        last: tuple[object, ...] = ()
        counts[table.name] = 0
        while True:
            query = select(*columns).order_by(*order).limit(_PAGE)
            if last:
                query = query.where(tuple_(*order) > tuple_(*(literal(value) for value in last)))
            rows = [dict(row) for row in source.execute(query).mappings()]
            if not rows:
                break
            sink.execute(insert(table), rows)
            counts[table.name] += len(rows)
            last = tuple(rows[-1][column.name] for column in order)
