"""Fill derived columns of rows that were stored before these columns existed. Runs before migration 0005.

Works in committed batches, so that an interrupted upgrade continues. Only adds and fills columns; ids and bodies
stay as they are.
"""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import CreateColumn

from imarena.core import Progress, StoreError
from imarena.core.records import tie_is_unstated
from imarena.storage import schema
from imarena.storage.codec import microseconds
from imarena.storage.database import reading, writing
from imarena.storage.judge_variants import variant_from
from imarena.storage.store import existing_values

BATCH = 5_000
_ADDED = {
    schema.outputs: ("driven_by",),
    schema.judgments: ("form_id", "left_seq", "right_seq", "created_us", "tie_unstated", "superseded"),
    schema.assignments: ("probability",),
    schema.votes: ("dimension", "left_seq", "right_seq", "created_us", "superseded"),
    schema.rankings: ("content_key",),
}
_AS_OF_0005 = sa.MetaData()
sa.Table("raters", _AS_OF_0005, sa.Column("id", sa.Text, primary_key=True))
_FORMS = sa.Table(
    "judge_forms",
    _AS_OF_0005,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("judge", sa.Text, nullable=False),
    sa.Column("dimension", sa.Text, nullable=False),
    sa.Column("pairwise", sa.Integer, nullable=False),
    sa.Column("imported", sa.Integer, nullable=False),
    sa.Column("judge_version", sa.Text, nullable=False),
    sa.Column("prompt_id", sa.Text, nullable=False),
    sa.Column("prompt_version", sa.Text, nullable=False),
    sa.Column("parser_version", sa.Text, nullable=False),
    sa.Column("params", sa.Text, nullable=False),
    sa.Column("orders", sa.Text, nullable=False),
    sa.Column("higher_is_better", sa.Integer, nullable=False),
)
_TABLES = (
    _FORMS,
    sa.Table(
        "exclusions",
        _AS_OF_0005,
        sa.Column("seq", schema.exclusions.c.seq.type, primary_key=True, autoincrement=True),
        sa.Column("rater_id", sa.Text, sa.ForeignKey("raters.id"), nullable=False, index=True),
        sa.Column("since", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("lifted_at", sa.Text),
    ),
)
"""The tables that 0005 brought, as they were then: later migrations add columns to them."""


def derive_columns(engine: sa.Engine, progress: Progress | None = None) -> None:
    """Add the derived columns and fill them. May be interrupted and called again."""
    with writing(engine) as connection:
        _add(connection)
    tell = progress or (lambda *_: None)
    for table, rows in ((schema.judgments, _judgments), (schema.votes, _votes)):
        _fill(engine, table, table.c.created_us.is_(None), rows, tell)
        with writing(engine) as connection:
            later = table.alias("later")
            replaced = sa.select(later.c.supersedes).where(later.c.supersedes.is_not(None))
            connection.execute(sa.update(table).where(table.c.id.in_(replaced)).values(superseded=1))
    chance = schema.assignments.c.probability.is_(None) & schema.assignments.c.body.contains('"probability"')
    _fill(engine, schema.assignments, chance, _assignments, tell)
    driven = schema.outputs.c.driven_by.is_(None) & schema.outputs.c.body.contains('"driven_by"')
    _fill(engine, schema.outputs, driven, _outputs, tell)


def _add(connection: sa.Connection) -> None:
    inspector = sa.inspect(connection)
    for table in _TABLES:
        table.create(connection, checkfirst=True)
    for table, names in _ADDED.items():
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        for name in names:
            if name not in columns:
                spelt = CreateColumn(table.c[name]).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {spelt}")


Derive = Callable[[sa.Connection, list[Any]], list[dict[str, Any]]]


def _fill(engine: sa.Engine, table: sa.Table, empty: Any, derive: Derive, tell: Progress) -> None:
    """Fill the rows that `empty` selects, in batches. Rows without a derived value are skipped."""
    with reading(engine) as connection:
        total = connection.execute(sa.select(sa.func.count()).select_from(table).where(empty)).scalar_one()
    done, last = 0, 0
    while total:
        with writing(engine) as connection:
            stored = {column["name"] for column in sa.inspect(connection).get_columns(table.name)}
            columns = [column for column in table.c if column.name in stored]  # later migrations add others
            query = sa.select(*columns).where(empty, table.c.seq > last).order_by(table.c.seq).limit(BATCH)
            rows = list(connection.execute(query).mappings())
            if not rows:
                return
            values = _derived(connection, table, rows, derive)
            if values:
                names = [name for name in values[0] if name != "at"]
                change = sa.update(table).where(table.c.seq == sa.bindparam("at"))
                connection.execute(change.values({name: sa.bindparam(f"new_{name}") for name in names}), _rekey(values))
        done, last = done + len(rows), rows[-1]["seq"]
        tell(f"upgrading {table.name}", done, max(total, done))


def _derived(connection: sa.Connection, table: sa.Table, rows: list[Any], derive: Derive) -> list[dict[str, Any]]:
    try:
        return derive(connection, rows)
    except (ValueError, TypeError, AttributeError) as error:
        for row in rows:  # find the record for the message
            try:
                derive(connection, [row])
            except (ValueError, TypeError, AttributeError):
                raise StoreError(
                    f"The record {row['id']} of {table.name} is damaged: {error}. Nothing of it was changed; restore a "
                    "backup, or correct its row."
                ) from error
        raise


def _rekey(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{(name if name == "at" else f"new_{name}"): value for name, value in row.items()} for row in rows]


def _judgments(connection: sa.Connection, rows: list[Any]) -> list[dict[str, Any]]:
    variants, values = {}, []
    seqs = _seqs(connection, rows)
    for row in rows:
        body = json.loads(row["body"])
        variant = variant_from(
            body.get("params", {}),
            judge=row["judge"],
            dimension=row["dimension"],
            pairwise=row["right_id"] is not None,
            imported=row["run_id"] is None,
            judge_version=body.get("judge_version", ""),
            prompt_id=body.get("prompt_id", ""),
            prompt_version=body.get("prompt_version", ""),
            parser_version=body.get("parser_version", ""),
        )
        variants[variant.form_id] = variant
        unstated = row["preference"] == "tie" and tie_is_unstated(body.get("reasons", {}))
        values.append(
            {"at": row["seq"], "form_id": variant.form_id, "tie_unstated": int(unstated), **_sides(row, seqs)}
        )
    stored_ids = set(connection.execute(sa.select(_FORMS.c.id)).scalars())
    fresh = [variant.row() for identity, variant in variants.items() if identity not in stored_ids]
    if fresh:
        connection.execute(_FORMS.insert(), [{column.name: row[column.name] for column in _FORMS.c} for row in fresh])
    return values


def _votes(connection: sa.Connection, rows: list[Any]) -> list[dict[str, Any]]:
    seqs = _seqs(connection, rows)
    return [
        {"at": row["seq"], "dimension": json.loads(row["body"]).get("dimension", "overall"), **_sides(row, seqs)}
        for row in rows
    ]


def _assignments(connection: sa.Connection, rows: list[Any]) -> list[dict[str, Any]]:  # noqa: ARG001
    return [{"at": row["seq"], "probability": json.loads(row["body"]).get("probability")} for row in rows]


def _outputs(connection: sa.Connection, rows: list[Any]) -> list[dict[str, Any]]:  # noqa: ARG001
    drivers = ((row["seq"], json.loads(row["body"]).get("params", {}).get("driven_by")) for row in rows)
    return [{"at": seq, "driven_by": judge} for seq, judge in drivers if isinstance(judge, str)]


def _sides(row: Any, seqs: dict[str, int]) -> dict[str, Any]:
    created = microseconds(datetime.fromisoformat(row["created_at"]))
    return {"left_seq": seqs.get(row["left_id"]), "right_seq": seqs.get(row["right_id"]), "created_us": created}


def _seqs(connection: sa.Connection, rows: list[Any]) -> dict[str, int]:
    ids = {row[name] for row in rows for name in ("left_id", "right_id") if row[name] is not None}
    return existing_values(connection, schema.outputs.c.id, ids)
