"""Translate database errors into messages that a person can act on."""

from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from imarena.core import DatabaseFailed, DiskFull

_DAMAGED = ("The database {where} is damaged", "Restore a backup with 'imarena restore', or import the data again.")
_CLOSED = ("The database {where} cannot be opened or written", "Check the rights of the file and of its folder.")
_BUSY = ("Another process keeps the database {where} busy", "Run the same command again when that one is done.")
_FULL = ("The disk that holds the database {where} is full", "Make room and run the same command again.")
_SPENT = ("The database server of {where} has too much to do", "Run the same command again in a while.")
_DISK = ("The disk that holds the database {where} failed", "Check the disk, then run 'imarena verify'.")

_SQLITE = {3: _CLOSED, 5: _BUSY, 6: _BUSY, 8: _CLOSED, 10: _DISK, 11: _DAMAGED, 13: _FULL, 14: _CLOSED, 26: _DAMAGED}
"""By SQLite's primary result code."""

_AWAY = ("08", "28", "3D", "57P")
"""PostgreSQL's classes of states: connection, sign-in, no such database, server going down. Out of something: 53."""
_NO_ROOM = "53100"

_UNREACHABLE = ("The database {where} cannot be reached", "Is the server running, and is the address right?")


def translate_database_errors(engine: Engine) -> None:
    """Let this engine raise `DatabaseFailed` where the database is damaged, closed, busy, full or out of reach.

    A broken constraint and a wrong query are the program's affair and stay as they are.
    """
    where = engine.url.render_as_string(hide_password=True)
    if engine.dialect.name == "sqlite":
        where = engine.url.database or where

    def explain(context: Any) -> None:
        if context.is_pre_ping and context.is_disconnect:
            return  # an idle connection that died is opened anew; only where that fails is there something to tell
        explanation = _explanation(context.sqlalchemy_exception, context.original_exception)
        if explanation is not None:
            message, hint = explanation
            reason = " ".join(str(context.original_exception).split())
            kind = DiskFull if explanation is _FULL else DatabaseFailed
            raise kind(f"{message.format(where=where)}: {reason}.", hint=hint)

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
    if state.startswith("53"):  # connections or memory
        return _SPENT
    return _UNREACHABLE if not state or state.startswith(_AWAY) else None
