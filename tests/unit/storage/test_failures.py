"""A database that fails is told in one message, by the command line too."""

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError

from imarena.core.errors import DatabaseFailed, UserError
from imarena.storage import database, init_workspace, open_workspace
from imarena.storage.database import ConnectionPool, connect, reading, sqlite_url, writing
from tests.command import Imarena
from tests.servers.postgres import new_database


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    init_workspace(tmp_path / "w").close()
    (tmp_path / "w" / "arena.db").write_bytes(os.urandom(8192))
    with pytest.raises(DatabaseFailed, match=r"arena\.db is damaged.*\n.*restore"):
        open_workspace(tmp_path / "w")
    ended = Imarena(tmp_path)("-w", "w", "--json", "status", code=2)
    assert ended.out == ""
    assert ended.err.startswith("error: The database w/arena.db is damaged")
    assert "Traceback" not in ended.err


def test_a_writer_that_waits_too_long_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 50)
    engine = connect(sqlite_url(tmp_path / "a.db"))
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE t (x INTEGER PRIMARY KEY)"))
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseFailed, match=r"keeps the database .* busy"), writing(engine):
        pass
    other.execute("ROLLBACK")
    other.close()
    with writing(engine) as connection:
        connection.execute(text("INSERT INTO t VALUES (1)"))
    with pytest.raises(IntegrityError), writing(engine) as connection:
        connection.execute(text("INSERT INTO t VALUES (1)"))
    engine.dispose()


def test_a_server_that_is_not_there_is_told_without_its_password() -> None:
    pytest.importorskip("psycopg", reason="PostgreSQL needs: pip install 'imarena[postgres]'")
    engine = connect("postgresql://someone:sesame@127.0.0.1:1/arena")
    with pytest.raises(DatabaseFailed, match="cannot be reached") as caught, reading(engine):
        pass
    assert "sesame" not in str(caught.value)


def test_two_writers_that_wait_for_each_other_are_told_so(postgres: str) -> None:
    """PostgreSQL ends one of them; a run must not take that for a fact about the question that it was to ask."""
    engine = connect(new_database(postgres))
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE t AS SELECT generate_series(1, 2) AS x"))
    both = Barrier(2)

    def cross(first: int, second: int) -> str:
        try:
            with writing(engine) as connection:
                connection.execute(text("UPDATE t SET x = x WHERE x = :x"), {"x": first})
                both.wait(30)
                connection.execute(text("UPDATE t SET x = x WHERE x = :x"), {"x": second})
        except DatabaseFailed as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(2) as pool:
        told = [told for told in pool.map(cross, (1, 2), (2, 1)) if told]
    assert len(told) == 1
    assert "Run the same command again" in told[0]
    engine.dispose()


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match="not an address"):
        connect("not an address")


@pytest.mark.parametrize("command", [("export", "native", "file/out"), ("backup", "file"), ("report", "file/report")])
def test_a_path_that_cannot_be_written_is_one_message(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "file").touch()
    init_workspace(tmp_path / "w").close()
    ended = Imarena(tmp_path)("-w", "w", *command, code=2)
    assert ended.err.startswith("error: file")
    assert "Traceback" not in ended.err


def test_a_full_disk_is_one_message(tmp_path: Path) -> None:
    """Files may grow to 64 kB only: SQLite and the blob store meet that as they meet a full disk."""
    init_workspace(tmp_path / "w").close()
    script = f"ulimit -f 64; exec {sys.executable} -m imarena -w w backup there"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr


def test_waiting_too_long_for_a_connection_is_told_as_a_failure_of_the_database(tmp_path: Path) -> None:
    engine = create_engine(
        sqlite_url(tmp_path / "a.db"), poolclass=ConnectionPool, pool_size=1, max_overflow=0, pool_timeout=0.05
    )
    with reading(engine), pytest.raises(DatabaseFailed, match="All connections"), reading(engine):
        pass
    with reading(engine) as connection:  # the one that is free again is given out
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    engine.dispose()
    assert isinstance(connect(sqlite_url(tmp_path / "b.db")).pool, ConnectionPool)
