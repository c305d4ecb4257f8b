"""Precompiled SQL statements: on the path of every vote, building a statement costs more than running it."""

from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, CursorResult, Dialect, literal_column
from sqlalchemy.sql.expression import Executable
from sqlalchemy.sql.visitors import replacement_traverse


class PreparedStatement:
    """A statement with named values (``bindparam``), compiled once for each kind of database.

    All other values are written into the text: PostgreSQL keeps one plan for all times only where it sees them. A
    ``LIMIT`` or a state that it does not know makes that plan look dear, and it plans anew every time.
    """

    def __init__(self, statement: Executable) -> None:
        self._statement: Any = replacement_traverse(statement, {}, _spelt_out)  # type: ignore[call-overload]
        self._spelt: dict[str, tuple[str, dict[str, Any], tuple[str, ...] | None]] = {}

    def __call__(self, connection: Connection, **values: Any) -> CursorResult[Any]:
        """Run it."""
        text, fixed, order = self._spelling(connection.dialect)
        named = {**fixed, **values}
        if order is not None:
            return connection.exec_driver_sql(text, tuple(named[name] for name in order))
        return connection.exec_driver_sql(text, named)

    def _spelling(self, dialect: Dialect) -> tuple[str, dict[str, Any], tuple[str, ...] | None]:
        spelling = self._spelt.get(dialect.name)
        if spelling is None:
            compiled: Any = self._statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
            order = tuple(compiled.positiontup) if compiled.positiontup is not None else None
            spelling = self._spelt[dialect.name] = (str(compiled), dict(compiled.params), order)
        return spelling


def _spelt_out(part: Any, **_: Any) -> ColumnElement[Any] | None:
    """The text of a value that never changes; None where a part is something else."""
    if not isinstance(part, BindParameter) or part.required or not isinstance(part.value, str | int):
        return None
    text = str(part.value).replace("'", "''")
    return literal_column(text if isinstance(part.value, int) else f"'{text}'", part.type)
