"""Statements that are spelt once: on the path of every vote, building a statement anew costs more than running it."""

from typing import Any

from sqlalchemy import Connection, CursorResult, Dialect
from sqlalchemy.sql.expression import Executable


class Prepared:
    """A statement with named values (``bindparam``), compiled once for each kind of database."""

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._spelt: dict[str, tuple[str, dict[str, Any], tuple[str, ...] | None]] = {}

    def __call__(self, connection: Connection, **values: Any) -> CursorResult[Any]:
        """Run it."""
        text, fixed, order = self._spelling(connection.dialect)
        named = {**fixed, **values}
        if order is not None:
            return connection.exec_driver_sql(text, tuple(named[name] for name in order))
        return connection.exec_driver_sql(text, named)

    def _spelling(self, dialect: Dialect) -> tuple[str, dict[str, Any], tuple[str, ...] | None]:
        found = self._spelt.get(dialect.name)
        if found is None:
            compiled: Any = self._statement.compile(  # type: ignore[attr-defined]
                dialect=dialect, compile_kwargs={"render_postcompile": True}
            )
            order = tuple(compiled.positiontup) if compiled.positiontup is not None else None
            found = self._spelt[dialect.name] = (str(compiled), dict(compiled.params), order)
        return found
