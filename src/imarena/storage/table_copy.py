"""Copies of all tables from one database to another, in bounded memory."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Table, func, insert, inspect, select, text

from imarena.core import Progress
from imarena.storage import schema

PAGE_ROWS = 5_000
PAGE_BYTES = 4 * 2**20
_FETCHED = 25
"""Rows that are fetched together, before their size is known."""


def copy_tables(source: Connection, sink: Connection, progress: Progress | None = None) -> dict[str, int]:
    """Copy the tables and columns that both databases have; returns the number of rows of each table.

    The source may have an older schema than this software. If a migration stopped halfway, it has columns that its
    schema does not have yet; the next upgrade fills them again.
    """
    source_schema, sink_schema = inspect(source), inspect(sink)
    present = set(source_schema.get_table_names()) & set(sink_schema.get_table_names())
    tables = [table for table in schema.metadata.sorted_tables if table.name in present]
    total = sum(_about(source, table) for table in tables) if progress else 0
    counts: dict[str, int] = {}
    done = 0
    for table in tables:
        names = set.intersection(
            *({column["name"] for column in end.get_columns(table.name)} for end in (source_schema, sink_schema))
        )
        order = [table.c.seq] if "seq" in table.c else list(table.primary_key.columns)
        query = select(*(column for column in table.c if column.name in names)).order_by(*order)
        rows = source.execute(query.execution_options(yield_per=_FETCHED)).mappings()
        counts[table.name] = 0
        for page in _pages(rows):
            sink.execute(insert(table), page)
            counts[table.name] += len(page)
            if progress:
                progress("records", done + counts[table.name], max(total, done + counts[table.name]))
        done += counts[table.name]
    return counts


def set_sequences(sink: Connection) -> None:
    """Let PostgreSQL continue numbering after the copied rows."""
    present = set(inspect(sink).get_table_names())
    for table in schema.metadata.sorted_tables:
        if "seq" in table.c and table.name in present:
            sink.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'seq'),"  # noqa: S608
                    f" COALESCE((SELECT MAX(seq) FROM {table.name}), 0) + 1, false)"
                )
            )


def _pages(rows: Iterable[Mapping[Any, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in lists of limited length and size."""
    page: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        page.append(dict(row))
        size += sum(len(value) for value in row.values() if isinstance(value, str | bytes))
        if len(page) >= PAGE_ROWS or size >= PAGE_BYTES:
            yield page
            page, size = [], 0
    if page:
        yield page


def _about(source: Connection, table: Table) -> int:
    """About how many rows a table has, for the progress bar: the last number of a numbered one is read at once."""
    number = func.max(table.c.seq) if "seq" in table.c else func.count()
    return source.execute(select(number).select_from(table)).scalar() or 0
