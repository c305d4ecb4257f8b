"""Connect to SQLite with a write-ahead log, or to PostgreSQL by URL.

A writer on SQLite takes the lock when its transaction begins (BEGIN IMMEDIATE): a transaction that starts as a reader
and then writes would fail at once, regardless of the busy timeout.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Lock, RLock
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, PoolProxiedConnection, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from imarena.core import DatabaseAway, DatabaseFailed, DiskFull, MissingExtra, StoreError, UserError, fill_in_commands

BUSY_TIMEOUT_MS = 30_000
_WRITES = "imarena_writes"
_TURNS: WeakKeyDictionary[Engine, RLock] = WeakKeyDictionary()
_GUARD = Lock()
POOL = 12
"""Connections kept open; a server works with this many threads, each of which may hold two."""


_NOTICE = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""A machine that disappears is noticed within half a minute, instead of after the system's default of two hours."""


class ConnectionPool(QueuePool):
    """Connection pool of one process. A timeout while waiting for a connection counts as a database failure."""

    def connect(self) -> PoolProxiedConnection:
        """A free connection; raises `DatabaseFailed` if none becomes free in time."""
        try:
            return super().connect()
        except PoolTimeout as error:
            raise DatabaseFailed(
                "All connections to the database are in use.", hint="Try again in a moment."
            ) from error


def connect(url: str) -> Engine:
    """An engine for ``sqlite:///file`` or ``postgresql://user@host/name``."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise UserError(
            "The database's address is not an address.", hint="It should look like postgresql://user@host/name."
        ) from error
    if parsed.get_backend_name() == "sqlite":
        engine = create_engine(
            parsed,
            connect_args={"timeout": BUSY_TIMEOUT_MS / 1000},
            poolclass=ConnectionPool,
            pool_size=POOL,
            max_overflow=2 * POOL,
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        translate_database_errors(engine)
        return engine
    if parsed.get_backend_name() == "postgresql":
        try:
            import psycopg  # noqa: F401
        except ImportError as error:
            raise MissingExtra("A PostgreSQL workspace", "postgres") from error
        engine = create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            connect_args={name: value for name, value in _NOTICE.items() if name not in parsed.query},
            poolclass=ConnectionPool,
            pool_pre_ping=True,
            pool_use_lifo=True,  # the most recently used connection has its plans and rows cached
            pool_size=POOL,
            max_overflow=2 * POOL,
        )
        translate_database_errors(engine)
        return engine
    raise UserError(f"The database '{parsed.get_backend_name()}' is not known.", hint="Use sqlite or postgresql.")


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file."""
    return f"sqlite:///{path}"


@contextmanager
def reading(engine: Engine, *, same_moment: bool = False) -> Iterator[Connection]:
    """A transaction for reading. On SQLite all its queries see the data as of the same moment.

    On PostgreSQL each query sees what was committed before it began; with `same_moment` all of them see what was
    committed before the first.
    """
    with engine.connect() as plain:
        snapshot = same_moment and engine.dialect.name == "postgresql"
        connection = plain.execution_options(isolation_level="REPEATABLE READ") if snapshot else plain
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine, *, durable: bool = False, links_checked_at_end: bool = False) -> Iterator[Connection]:
    """A write transaction. `durable` waits for the disk on commit (votes), so a power failure loses nothing.

    `links_checked_at_end`: for schema changes, where SQLite recreates a table while others refer to it.
    """
    sqlite = engine.dialect.name == "sqlite"
    with _turn(engine) if sqlite else nullcontext(), engine.connect() as plain:
        connection = plain.execution_options(**{_WRITES: True})
        if sqlite and durable:
            _pragma(connection, "synchronous = FULL")
        if sqlite and links_checked_at_end:
            _pragma(connection, "foreign_keys = OFF")
        try:
            with connection.begin():
                yield connection
                if sqlite and links_checked_at_end:
                    _check_links(connection)
        finally:
            if sqlite and durable:
                _pragma(connection, "synchronous = NORMAL")
            if sqlite and links_checked_at_end:
                _pragma(connection, "foreign_keys = ON")


def truncate_wal(engine: Engine) -> None:
    """Copy SQLite's write-ahead log into the database and truncate it, so that overwritten data does not stay there."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            _pragma(connection, "wal_checkpoint(TRUNCATE)")


def _turn(engine: Engine) -> AbstractContextManager[Any]:
    """Writers of one process queue here: SQLite's own waiting sleeps, and wakes up too late."""
    with _GUARD:
        return _TURNS.setdefault(engine, RLock())


def _check_links(connection: Connection) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise StoreError(f"The table {broken[0]} would point at nothing in {broken[2]}; nothing was changed.")


def _pragma(connection: Connection, statement: str) -> None:
    raw: Any = connection.connection.dbapi_connection
    raw.execute(f"PRAGMA {statement}")


def _prepare_sqlite(connection: Any, record: object) -> None:  # noqa: ARG001
    connection.isolation_level = None  # this module issues BEGIN itself
    cursor = connection.cursor()
    for statement in (
        f"busy_timeout = {BUSY_TIMEOUT_MS}",
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
        "secure_delete = ON",  # withdrawn personal data must not linger in free pages
        "cache_size = -16384",
        "wal_autocheckpoint = 8000",  # 32 MB, so that bulk imports checkpoint the log less often
        "temp_store = MEMORY",
    ):
        cursor.execute(f"PRAGMA {statement}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_DAMAGED = ("The database {where} is damaged", "Restore a backup with `{imarena} restore`, or import the data again.")
_CLOSED = ("The database {where} cannot be opened or written", "Check the rights of the file and of its folder.")
_BUSY = ("Another process keeps the database {where} busy", "Run the same command again when that one is done.")
_FULL = ("The disk that holds the database {where} is full", "Make room and run the same command again.")
_SPENT = ("The database server of {where} has too much to do", "Run the same command again in a while.")
_DISK = ("The disk that holds the database {where} failed", "Check the disk, then run `{imarena} verify`.")

_SQLITE = {3: _CLOSED, 5: _BUSY, 6: _BUSY, 8: _CLOSED, 10: _DISK, 11: _DAMAGED, 13: _FULL, 14: _CLOSED, 26: _DAMAGED}
"""By SQLite's primary result code."""

_AWAY = ("08", "28", "3D", "57P")
"""PostgreSQL's state classes: connection, sign-in, no such database, server shutdown. Class 53: out of resources."""
_NO_ROOM = "53100"
_IN_THE_WAY = ("40001", "40P01")
"""Two transactions conflicted; nothing of this one was written."""

_UNREACHABLE = ("The database {where} cannot be reached", "Is the server running, and is the address right?")


_CROSSED = ("Others change the same rows of the database {where} now", "Run the same command again.")
_KINDS = {_FULL: DiskFull, _UNREACHABLE: DatabaseAway, _CROSSED: DatabaseAway}


def translate_database_errors(engine: Engine) -> None:
    """Make this engine raise `DatabaseFailed` if the database is damaged, closed, busy, full or unreachable.

    Violated constraints and wrong queries are programming errors and are passed on unchanged.
    """
    location = engine.url.render_as_string(hide_password=True)
    if engine.dialect.name == "sqlite":
        location = engine.url.database or location

    def explain(context: Any) -> None:
        if context.is_pre_ping and context.is_disconnect:
            return  # a dead idle connection is reopened; only a failure of that is reported
        explanation = _explanation(context.sqlalchemy_exception, context.original_exception)
        if explanation is not None:
            message, hint = explanation
            reason = " ".join(str(context.original_exception).split())
            raise _KINDS.get(explanation, DatabaseFailed)(
                f"{message.format(where=location)}: {reason}.", hint=fill_in_commands(hint)
            )

    event.listen(engine, "handle_error", explain)


def _explanation(error: DBAPIError | None, original: BaseException) -> tuple[str, str] | None:
    code = getattr(original, "sqlite_errorcode", None)
    if code is not None:
        return _SQLITE.get(code & 0xFF)
    state = getattr(original, "sqlstate", None) or ""
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    if state == _NO_ROOM:
        return _FULL
    if state in _IN_THE_WAY:
        return _CROSSED
    if state.startswith("53"):  # out of connections or memory
        return _SPENT
    return _UNREACHABLE if not state or state.startswith(_AWAY) else None
