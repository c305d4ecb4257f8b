"""Precompiled SQL statements: for each vote, building a statement would cost more than running it."""

from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, CursorResult, Dialect, literal_column
from sqlalchemy.sql.expression import Executable
from sqlalchemy.sql.visitors import replacement_traverse


class PreparedStatement:
    """A statement with named parameters (``bindparam``), compiled once per kind of database.

    All other values are written into the SQL: PostgreSQL reuses a generic plan only if it sees them. With an unknown
    ``LIMIT`` or state, that plan looks expensive, and PostgreSQL plans again every time.
    """

    def __init__(self, statement: Executable) -> None:
        self._statement: Any = replacement_traverse(statement, {}, _spelt_out)  # type: ignore[call-overload]
        self._spelt: dict[str, tuple[str, dict[str, Any], tuple[str, ...] | None]] = {}

    def __call__(self, connection: Connection, **values: Any) -> CursorResult[Any]:
        """Execute the statement."""
        text, fixed, order = self._spelling(connection.dialect)
        parameters = {**fixed, **values}
        if order is not None:
            return connection.exec_driver_sql(text, tuple(parameters[name] for name in order))
        return connection.exec_driver_sql(text, parameters)

    def _spelling(self, dialect: Dialect) -> tuple[str, dict[str, Any], tuple[str, ...] | None]:
        spelling = self._spelt.get(dialect.name)
        if spelling is None:
            compiled: Any = self._statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
            order = tuple(compiled.positiontup) if compiled.positiontup is not None else None
            spelling = self._spelt[dialect.name] = (str(compiled), dict(compiled.params), order)
        return spelling


def _spelt_out(part: Any, **_: Any) -> ColumnElement[Any] | None:
    """Render a constant value as SQL; None if the part is something else."""
    if not isinstance(part, BindParameter) or part.required or not isinstance(part.value, str | int):
        return None
    text = str(part.value).replace("'", "''")
    return literal_column(text if isinstance(part.value, int) else f"'{text}'", part.type)
