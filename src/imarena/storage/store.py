"""The record store. Facts are appended; nothing here rewrites a judgment or a vote."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, RowMapping, Select, Table, func, insert, select, update

from imarena.core import StoreError
from imarena.core.records import ImageRef, Judgment, Record, now
from imarena.storage import schema
from imarena.storage.codec import KINDS, RecordKind, from_row, record_kind, to_row
from imarena.storage.database import reading, writing
from imarena.storage.judge_variants import variant_of
from imarena.storage.schema_versions import check_not_newer

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_RecordAndRow = tuple[Record, dict[str, Any]]
"""A record with its row."""

PAGE = 1_000
"""Rows read at a time, and ids looked up at a time."""
REMEMBERED = 50_000
"""Maximum number of ids of items and outputs that a store remembers as existing."""
CHECK_S = 10.0
"""How often a writing process checks that it still knows the database's schema version."""
SHARED = 4
"""An id is remembered if the added records name it at least this often: others seldom occur again."""


@dataclass(frozen=True)
class Conflict:
    """A record that was not stored, because another takes its place or because a link target is missing."""

    record: Record
    reason: str


@dataclass(frozen=True)
class Added:
    """The result of adding records."""

    new: int = 0
    same: int = 0
    conflicts: tuple[Conflict, ...] = ()
    new_by_kind: Counter[str] = field(default_factory=Counter)


class Store:
    """Records in a database. One instance is shared by all threads of a process."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._checked = -CHECK_S
        self._there: dict[str, int] = {}
        """Items and outputs that later records may name, each with its `seq`: only `remove_dataset` deletes them."""

    # ------------------------------------------------------------------ writing

    def add(self, records: Iterable[Record], *, durable: bool = False) -> Added:
        """Append records in one transaction. Existing records are left alone and counted as `same`.

        A record whose place is taken, or whose link targets are missing, becomes a conflict; the others are stored.
        """
        pairs = [(record, to_row(record)) for record in records]  # before the transaction, so that others wait less
        groups: dict[type[Record], dict[str, _RecordAndRow]] = {}
        for pair in pairs:
            groups.setdefault(type(pair[0]), {}).setdefault(pair[1]["id"], pair)
        repeated = len(pairs) - sum(map(len, groups.values()))
        if not groups:
            return Added(same=repeated)
        seqs: dict[str, int] = {}
        by_kind: dict[str, Added] = {}
        with writing(self.engine, durable=durable) as connection:
            self._check_version(connection)
            for kind in KINDS:
                if kind.record in groups:
                    by_kind[kind.record.__name__] = self._append(connection, kind, groups[kind.record], seqs)
        self._remember(seqs)
        return Added(
            sum(added.new for added in by_kind.values()),
            repeated + sum(added.same for added in by_kind.values()),
            tuple(conflict for added in by_kind.values() for conflict in added.conflicts),
            Counter({name: added.new for name, added in by_kind.items()}),
        )

    def put(self, record: Record) -> None:
        """Write one of the few records that may change: a run, a rater, a campaign."""
        kind = record_kind(type(record))
        if kind.table.name not in ("runs", "raters", "campaigns"):
            raise StoreError(f"A {kind.record.__name__} is a fact: add a new one that names the old.")
        row = to_row(record)
        with writing(self.engine) as connection:
            result = connection.execute(update(kind.table).where(kind.table.c.id == row["id"]).values(row))
            if result.rowcount == 0:
                connection.execute(insert(kind.table).values(row))

    def keep_images(self, images: Sequence[ImageRef], *, withdrawn_at: str | None = None) -> None:
        """Register images: after their bytes were written, before records name them.

        `withdrawn_at`: images that came without their bytes, for good.
        """
        moment = now().isoformat()
        rows = [{**image.__dict__, "created_at": moment, "withdrawn_at": withdrawn_at} for image in images]
        if rows:
            with writing(self.engine) as connection:
                self._insert_missing(connection, schema.blobs, rows)

    def _check_version(self, connection: Connection) -> None:
        """From time to time: has somebody upgraded the database meanwhile?"""
        if time.monotonic() - self._checked >= CHECK_S:
            check_not_newer(connection)
            self._checked = time.monotonic()

    def _remember(self, seqs: dict[str, int]) -> None:
        """Remember what a transaction found, once it is committed: before that, its own rows could be rolled back."""
        if len(self._there) + len(seqs) > REMEMBERED:
            self._there = {}
        self._there.update(seqs)

    def _append(
        self, connection: Connection, kind: RecordKind, by_id: dict[str, _RecordAndRow], seqs: dict[str, int]
    ) -> Added:
        earlier = existing_values(connection, kind.table.c.id, by_id)
        fresh = {key: pair for key, pair in by_id.items() if key not in earlier} if earlier else by_id
        broken = self._broken_links(connection, kind, fresh, seqs)
        conflicts = [Conflict(fresh.pop(key)[0], reason) for key, reason in broken.items()]
        if not fresh:
            return Added(0, len(earlier), tuple(conflicts))
        if kind.record is Judgment:
            by_variant = {row["form_id"]: record for record, row in fresh.values()}
            self._insert_missing(connection, schema.judge_forms, _variants(by_variant.values()))
        count = self._insert_missing(connection, kind.table, [row for _, row in fresh.values()])
        if "superseded" in kind.table.c:
            mark_superseded(connection, kind.table, [row["supersedes"] for _, row in fresh.values()])
        if count != len(fresh):
            stored = existing_values(connection, kind.table.c.id, fresh)
            for key, (record, _) in fresh.items():
                if key not in stored:
                    conflicts.append(Conflict(record, _CONFLICTS.get(kind.table.name, "its place is taken")))
            count = len(stored)
        return Added(count, len(earlier), tuple(conflicts))

    def _insert_missing(self, connection: Connection, table: Table, rows: list[dict[str, Any]]) -> int:
        """Insert rows (all with the same keys), except those that a unique index refuses; returns how many are new.

        Plain SQL, because the expression language would cost as much again as the insert itself.
        """
        if not rows:
            return 0
        mark = "?" if connection.dialect.name == "sqlite" else "%s"
        names = ", ".join(f'"{name}"' for name in rows[0])
        marks = ", ".join(mark for _ in rows[0])
        statement = f"INSERT INTO {table.name} ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING"  # noqa: S608
        count = 0
        for start in range(0, len(rows), PAGE):
            page = [tuple(row.values()) for row in rows[start : start + PAGE]]
            count += max(connection.exec_driver_sql(statement, page).rowcount, 0)
        return count

    def _broken_links(
        self, connection: Connection, kind: RecordKind, fresh: dict[str, _RecordAndRow], known_seqs: dict[str, int]
    ) -> dict[str, str]:
        """Ids of rows that name a missing record, with the reason. Also sets the `seq` of the rows' outputs."""
        broken: dict[str, str] = {}
        linked = {source: column for column, source in kind.linked.items()}
        for column in kind.table.columns:
            for key in column.foreign_keys:
                ids = {row[column.name] for _, row in fresh.values() if row[column.name] is not None}
                if key.column.table is kind.table:
                    ids -= fresh.keys()
                shared = known_seqs if len(ids) * SHARED <= len(fresh) else {}
                seqs = self._linked(connection, key.column, ids, shared)
                missing = ids - seqs.keys()
                if column.name in linked:
                    seq = linked[column.name]
                    for _, row in fresh.values():
                        row[seq] = seqs.get(row[column.name])
                if missing:
                    noun = key.column.table.name.removesuffix("s")
                    for identity, (_, row) in fresh.items():
                        if row[column.name] in missing:
                            broken[identity] = f"the {noun} {row[column.name]} that it names is not stored"
        return broken

    def _linked(self, connection: Connection, column: Any, ids: set[str], known_seqs: dict[str, int]) -> dict[str, int]:
        """`existing_values`, but asks the database only for values that this store does not remember."""
        if column.table not in (schema.items, schema.outputs):
            return existing_values(connection, column, ids)
        cache = self._there
        known_keys = {key: cache[key] for key in ids if key in cache} if cache else {}
        new = existing_values(connection, column, ids - known_keys.keys() if known_keys else ids)
        known_seqs.update(new)
        return {**known_keys, **new} if known_keys else new

    # ------------------------------------------------------------------ reading

    def get(self, record: type[R], identity: str) -> R | None:
        """One record by id."""
        table = record_kind(record).table
        with reading(self.engine) as connection:
            row = connection.execute(select(table).where(table.c.id == identity)).mappings().first()
        return None if row is None else from_row(record, row)

    def records(self, record: type[R], **where: Any) -> Iterator[R]:
        """Records in insertion order, read in pages, filtered by column values.

        A value may be a list (any of them) or None.
        """
        for row in self.rows(record, **where):
            yield from_row(record, row)

    def rows(self, record: type[Record], *, after: int = 0, limit: int | None = None, **where: Any) -> Iterator[Any]:
        """Raw rows (mappings), for callers that only need columns."""
        table = record_kind(record).table
        left = limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            query = _where(select(table), table, where).where(table.c.seq > after).order_by(table.c.seq).limit(size)
            page = self.fetch(query)
            yield from page
            if len(page) < size:
                return
            after = page[-1]["seq"]
            left = None if left is None else left - len(page)

    def count(self, record: type[Record], *by: str, **where: Any) -> dict[tuple[Any, ...], int]:
        """Number of records, grouped by the values of columns. Without columns the only key is ``()``."""
        table = record_kind(record).table
        columns = [table.c[name] for name in by]
        query = _where(select(*columns, func.count()).select_from(table), table, where).group_by(*columns)
        with reading(self.engine) as connection:
            return {tuple(row[:-1]): row[-1] for row in connection.execute(query)}

    def newest(self, record: type[R], *, before: int | None, limit: int, **where: Any) -> list[tuple[int, R]]:
        """A page of records with their `seq`, newest first; `before`: only those with a lower one."""
        table = record_kind(record).table
        query = _where(select(table), table, where).order_by(table.c.seq.desc()).limit(limit)
        if before is not None:
            query = query.where(table.c.seq < before)
        return [(row["seq"], from_row(record, row)) for row in self.fetch(query)]

    def fetch(self, query: Select[Any]) -> Sequence[RowMapping]:
        """The rows of a query, which runs in its own transaction."""
        with reading(self.engine) as connection:
            return connection.execute(query).mappings().all()

    def values(self, query: Select[T]) -> Sequence[T]:
        """The values of a query with one column."""
        with reading(self.engine) as connection:
            return connection.scalars(query).all()

    def images(self) -> Sequence[RowMapping]:
        """Rows of the image register."""
        return self.fetch(select(schema.blobs).order_by(schema.blobs.c.sha256))

    def fact(self, key: str, default: str | None = None) -> str | None:
        """A fact about the workspace."""
        with reading(self.engine) as connection:
            return (
                connection.execute(select(schema.facts.c.value).where(schema.facts.c.key == key)).scalar_one_or_none()
                or default
            )

    def set_fact(self, key: str, value: str) -> None:
        """Store a fact about the workspace."""
        with writing(self.engine) as connection:
            if not connection.execute(
                update(schema.facts).where(schema.facts.c.key == key).values(value=value)
            ).rowcount:
                connection.execute(insert(schema.facts).values(key=key, value=value))

    def forget(self) -> None:
        """Forget which items and outputs exist, because some were removed."""
        self._there = {}

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


_CONFLICTS = {
    "items": "another item with this key and other content is in the data set already",
    "outputs": "this editor already has another ok output for the same item, turn, mode and sample",
    "votes": "this rater has voted on this assignment already",
    "replies": "another reply to this attempt is stored already",
    "judgments": "the judgment that it replaces was replaced already",
}


def _where(query: Select[Any], table: Table, where: dict[str, Any]) -> Select[Any]:
    for name, value in where.items():
        column = table.c[name]
        if isinstance(value, list | tuple | set | frozenset):
            query = query.where(column.in_(list(value)))
        else:
            query = query.where(column.is_(None) if value is None else column == value)
    return query


def existing_values(connection: Connection, column: Any, values: Iterable[str]) -> dict[str, int]:
    """The values that exist in a column, each with its row's `seq` (0 if the table has none).

    All values are one parameter, whatever the database.
    """
    keys = list(values)
    if not keys:
        return {}
    name, table = f'"{column.name}"', column.table.name
    seq = "seq" if "seq" in column.table.c else "0"
    if connection.dialect.name == "sqlite":
        query = f"SELECT {name}, {seq} FROM {table} WHERE {name} IN (SELECT value FROM json_each(?))"  # noqa: S608
        return dict(_fetched(connection, query, json.dumps(keys)))
    query = f"SELECT {name}, {seq} FROM {table} WHERE {name} = ANY(%s)"  # noqa: S608
    return dict(_fetched(connection, query, keys))


def _fetched(connection: Connection, query: str, parameter: Any) -> Sequence[Any]:
    """A query's rows as the database driver returns them: wrapping each one costs as much again as finding it."""
    cursor = connection.exec_driver_sql(query, (parameter,)).cursor
    return [] if cursor is None else cursor.fetchall()


def mark_superseded(connection: Connection, table: Table, replaced: Iterable[str | None]) -> None:
    """Mark the rows with these ids as replaced by a later record."""
    keys = [key for key in replaced if key is not None]
    for start in range(0, len(keys), PAGE):
        connection.execute(update(table).where(table.c.id.in_(keys[start : start + PAGE])).values(superseded=1))


def _variants(records: Iterable[Record]) -> list[dict[str, Any]]:
    variants = {variant_of(record) for record in records if isinstance(record, Judgment)}
    return [variant.row() for variant in variants]
