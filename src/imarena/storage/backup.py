"""Backups: a folder with one store of blobs and a snapshot of the database for each time.

A snapshot is always a SQLite file, whatever database the workspace uses, so that it can be restored into either.
"""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, insert, inspect, literal, select, text, tuple_

from imarena.core.errors import UserError
from imarena.core.ids import sha256_hex
from imarena.core.protocols import Progress
from imarena.core.records import now
from imarena.core.settings import FILE_NAME, load_settings
from imarena.core.version import VERSION
from imarena.storage import migrate, schema
from imarena.storage.blobs import Blobs
from imarena.storage.database import connect, reading, sqlite_url, writing
from imarena.storage.workspace import Workspace, database_url, is_workspace, open_workspace

_PAGE = 5_000
_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Snapshot:
    """One backup."""

    path: Path
    records: dict[str, int]
    blobs: int
    missing: tuple[str, ...]
    """Blobs that the workspace lacked when the backup was made."""


def backup(workspace: Workspace, target: Path, *, progress: Progress | None = None) -> Snapshot:
    """Add a snapshot to a backup folder. Blobs that are in the folder already are not copied again."""
    if target.resolve().is_relative_to(workspace.root.resolve()):
        raise UserError("A backup cannot lie inside the workspace.", hint="Name a folder outside it.")
    stamp = now().strftime("%Y%m%dT%H%M%S.%fZ")
    part = target / f".{stamp}.part"
    part.mkdir(parents=True)
    counts = _dump(workspace.store.engine, part / "arena.db")
    shutil.copyfile(workspace.root / FILE_NAME, part / FILE_NAME)
    store = Blobs(target / "blobs")
    rows = [row for row in workspace.store.images() if not row["withdrawn_at"]]
    missing = []
    for done, row in enumerate(rows):
        if progress and done % 50 == 0:
            progress("blobs", done, len(rows))
        sha256 = row["sha256"]
        if store.size(sha256) == row["size_bytes"]:
            continue
        if workspace.blobs.size(sha256) is None:
            missing.append(sha256)
        else:
            store.put(workspace.blobs.get(sha256))
    manifest = {
        "imarena": VERSION,
        "schema": migrate.newest(),
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


def snapshots(target: Path) -> list[Path]:
    """The snapshots in a backup folder, oldest first."""
    return (
        sorted(path for path in target.iterdir() if re.match(r"\d{8}T", path.name) and (path / _MANIFEST).is_file())
        if target.is_dir()
        else []
    )


def restore(source: Path, root: Path, *, url: str = "", progress: Progress | None = None) -> Snapshot:
    """Make a workspace from a snapshot (or from the newest one in a backup folder)."""
    found = [source] if (source / _MANIFEST).is_file() else snapshots(source)
    if not found:
        raise UserError(f"There is no backup in {source}.", hint="Name the folder that 'imarena backup' wrote to.")
    snapshot = found[-1]
    if is_workspace(root):
        raise UserError(f"{root} holds a workspace already.", hint="Restore into a new folder.")
    manifest = json.loads((snapshot / _MANIFEST).read_text(encoding="utf-8"))
    if sha256_hex((snapshot / "arena.db").read_bytes()) != manifest["database_sha256"]:
        raise UserError(f"The database in {snapshot} was changed or is damaged.", hint="Use another snapshot.")
    root.mkdir(parents=True, exist_ok=True)
    settings = load_settings(snapshot / FILE_NAME)
    if not url and not settings.database.url and not settings.database.url_env:
        shutil.copyfile(snapshot / "arena.db", root / "arena.db")
    else:
        _load(snapshot / "arena.db", url or database_url(root, settings))
    text_settings = (snapshot / FILE_NAME).read_text(encoding="utf-8")
    if url:
        text_settings = re.sub(r'(?m)^url = ".*"$', lambda _: f"url = {json.dumps(url)}", text_settings)
    store, pictures = Blobs(root / "blobs"), Blobs(snapshot.parent / "blobs")
    (root / FILE_NAME).write_text(text_settings, encoding="utf-8")
    with open_workspace(root, check_schema=False) as workspace:
        rows = [row for row in workspace.store.images() if not row["withdrawn_at"]]
    missing = []
    for done, row in enumerate(rows):
        if progress and done % 50 == 0:
            progress("blobs", done, len(rows))
        if pictures.size(row["sha256"]) is None:
            missing.append(row["sha256"])
        else:
            store.put(pictures.get(row["sha256"]))
    return Snapshot(snapshot, manifest["records"], len(rows) - len(missing), tuple(missing))


def _dump(engine: Engine, path: Path) -> dict[str, int]:
    """Copy every table into a new SQLite file, all from one moment."""
    target = connect(sqlite_url(path))
    migrate.upgrade(target, migrate.current(engine) or "head")
    counts: dict[str, int] = {}
    with reading(engine) as source, writing(target) as sink:
        if source.dialect.name == "postgresql":
            source.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        _copy(source, sink, counts)
    target.dispose()
    return counts


def _load(path: Path, url: str) -> None:
    """Copy a snapshot's tables into an empty database."""
    source_engine, target = connect(sqlite_url(path)), connect(url)
    if migrate.current(target) is not None:
        raise UserError("The database that the backup should go into is not empty.", hint="Name an empty one.")
    migrate.upgrade(target, migrate.current(source_engine) or "head")
    with reading(source_engine) as source, writing(target) as sink:
        _copy(source, sink, {})
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


def _copy(source: Connection, sink: Connection, counts: dict[str, int]) -> None:
    """Copy the tables and columns that the source has: it may be of an older schema than this software."""
    found = inspect(source)
    present = set(found.get_table_names())
    for table in schema.metadata.sorted_tables:
        if table.name not in present:
            continue
        names = {column["name"] for column in found.get_columns(table.name)}
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
