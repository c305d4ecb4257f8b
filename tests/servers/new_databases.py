"""New databases for tests: the migrations make one, the others get a copy of its schema. It saves a tenth of a second each."""

import sqlite3
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Engine

from imarena.core import Progress
from imarena.storage import migrate
from imarena.storage.database import connect, sqlite_url

_REAL = migrate.upgrade


def copy_new_databases() -> None:
    """From now on, an empty SQLite database in this process gets its newest schema from a copy."""

    def upgrade(engine: Engine, to: str = "head", progress: Progress | None = None) -> None:
        if engine.dialect.name != "sqlite" or to != "head" or migrate.current_version(engine) is not None:
            _REAL(engine, to, progress)
            return
        plain = engine.raw_connection()
        try:
            _driver(plain).executescript(newest_schema())
        finally:
            plain.close()

    migrate.upgrade = upgrade


@cache
def newest_schema() -> str:
    """What the migrations make of an empty database, as SQL."""
    with TemporaryDirectory() as folder:
        engine = connect(sqlite_url(Path(folder) / "arena.db"))
        _REAL(engine)
        plain = engine.raw_connection()
        made = "\n".join(_driver(plain).iterdump())
        plain.close()
        engine.dispose()
    return made


def _driver(plain: Any) -> sqlite3.Connection:
    return plain.driver_connection  # type: ignore[no-any-return]
