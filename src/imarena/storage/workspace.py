"""A workspace is a folder: ``imarena.toml``, ``arena.db`` (or a database elsewhere), ``blobs/`` and a cache."""

import os
import secrets
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from imarena.core import FILE_NAME, Settings, UserError, command_line, load_settings, write_atomically
from imarena.core.records import ImageRef, now
from imarena.storage import migrate
from imarena.storage.blob_store import FOLDER, BlobStore, open_blobs
from imarena.storage.cache import Cache
from imarena.storage.claims import Claims
from imarena.storage.column_cache import ColumnCache
from imarena.storage.database import connect, sqlite_url
from imarena.storage.store import Store

_TEMPLATE = """# An imarena workspace. See the guide: docs/guide/workspace.md
name = "{name}"
# Empty: the folder blobs/ here. For several machines: a folder that they share, or blobs = "s3://bucket/prefix"
blobs = "{blobs}"
{endpoint}
[database]
# Empty: arena.db in this folder. For a team: url = "postgresql://user@host/name", or the name of an
# environment variable that holds the address: url_env = "IMARENA_DATABASE_URL"
url = "{url}"
"""


@dataclass(frozen=True)
class Workspace:
    """An open workspace."""

    root: Path
    settings: Settings
    store: Store

    @cached_property
    def blobs(self) -> BlobStore:
        """The store of images."""
        return open_blobs(self.root, self.settings)

    @cached_property
    def cache(self) -> Cache:
        """The cache of previews and tiles."""
        return Cache(self.root / "cache", self.settings.cache.cap_mb * 1024 * 1024)

    @cached_property
    def columns(self) -> ColumnCache:
        """The cache of judgment columns. It is inside the cache folder and deleted with it."""
        return ColumnCache(self.root / "cache" / "columns", self.settings.cache.cap_mb * 1024 * 1024)

    @property
    def database(self) -> str:
        """The kind of database: sqlite or postgresql."""
        return self.store.engine.dialect.name

    def claims(self) -> Claims:
        """The claims that running processes have on work."""
        return Claims(self.store.engine, self.root / "locks")

    def load(self, image: ImageRef) -> bytes:
        """Return the original bytes of an image."""
        return self.blobs.get(image.sha256)

    def keep(self, image: ImageRef, data: bytes) -> ImageRef:
        """Store a checked image: bytes first, then the row."""
        self.blobs.put(data)
        self.store.keep_images([image])
        return image

    def close(self) -> None:
        """Close the database connection."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def database_url(root: Path, settings: Settings) -> str:
    """The database's address: from the environment, from the settings, or the SQLite file in the folder."""
    if settings.database.url_env:
        url = os.environ.get(settings.database.url_env, "")
        if not url:
            raise UserError(
                f"The environment variable {settings.database.url_env} is not set.",
                hint=f"{root / FILE_NAME} reads the database's address from it.",
            )
        return url
    return settings.database.url or sqlite_url(root / "arena.db")


def is_workspace(root: Path) -> bool:
    """Is there a workspace in this folder?"""
    return (root / FILE_NAME).is_file()


def init_workspace(
    root: Path, *, name: str = "", url: str = "", blobs: str = "", blobs_endpoint: str = ""
) -> Workspace:
    """Create a workspace, or finish an interrupted creation. An existing workspace is not changed."""
    if root.exists() and not root.is_dir():
        raise UserError(f"{root} is a file.", hint="Name a folder.")
    if not is_workspace(root):
        if blobs_endpoint and not blobs.startswith("s3://"):
            raise UserError("An endpoint is only for images in S3 storage.", hint="Add --blobs s3://bucket/prefix.")
        root.mkdir(parents=True, exist_ok=True)
        settings_text = _TEMPLATE.format(
            name=_toml(name or root.resolve().name),
            url=_toml(url),
            blobs=_toml(blobs),
            endpoint=f'blobs_endpoint = "{_toml(blobs_endpoint)}"\n' if blobs_endpoint else "",
        )
        write_atomically(root / FILE_NAME, settings_text)
    settings = load_settings(root / FILE_NAME)
    engine = connect(database_url(root, settings))
    if migrate.current_version(engine) is None:
        migrate.upgrade(engine)
    migrate.check_schema(engine)
    store = Store(engine)
    if store.fact("workspace_id") is None:
        store.set_fact("workspace_id", secrets.token_hex(8))
        store.set_fact("created_at", now().isoformat())
    if not settings.blobs:
        (root / FOLDER).mkdir(exist_ok=True)
    return Workspace(root, settings, store)


def open_workspace(root: Path, *, check_schema: bool = True) -> Workspace:
    """Open a workspace. Raises `UserError` with the next step if there is none."""
    if not is_workspace(root):
        raise UserError(
            f"There is no workspace in {root.resolve()}.",
            hint=f"Make one with `{command_line('init')}`, or name another with --workspace DIR.",
        )
    settings = load_settings(root / FILE_NAME)
    url = database_url(root, settings)
    if url.startswith("sqlite") and not settings.database.url and not (root / "arena.db").exists():
        raise UserError(
            f"The database of {root.resolve()} is missing.",
            hint=f"Run `{command_line('init')}` there to make an empty one, or `{command_line('restore')}` from a "
            "backup.",
        )
    engine = connect(url)
    if check_schema:
        migrate.check_schema(engine)
    return Workspace(root, settings, Store(engine))


def _toml(text: str) -> str:
    return "".join(c for c in text.replace("\\", "\\\\").replace('"', '\\"') if c >= " ")
