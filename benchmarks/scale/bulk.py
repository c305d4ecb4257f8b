"""Fill a workspace with millions of battles: judgments go in by COPY (PostgreSQL) or plain inserts (SQLite).

The program's writer (`fill` in `fill_workspace.py`) checks every record, which takes an hour at 10,000,000 battles.
Here each row is made from the text of a row that `to_row` made of a real `Judgment`, and indexes are made afterwards.
`tests/workflow/views/test_bulk_fill.py` compares every column of both ways.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, insert

from benchmarks.scale.records import (
    BEGUN,
    FAILED,
    OUTCOMES,
    Verdicts,
    battles_of,
    confidence_of,
    item_and_outputs,
    item_count,
    made_by,
    moment_of,
    run_record,
    sides_of,
    tokens_of,
    usage_of,
    verdict_fields,
    verdicts,
    votes_of,
    work_id,
)
from imarena.core.records import Judgment, Order, Output, Record
from imarena.storage import Workspace, microseconds, reading, schema, to_row, writing
from imarena.storage.judge_variants import variant_of
from imarena.storage.store import existing_values

ITEMS_AT_ONCE = 100
CONSTANT = ("judge", "dimension", "repeat", "status", "preference", "run_id", "form_id", "tie_unstated")
COLUMNS = (
    "id", "work_id", "attempt", "item_id", "left_id", "right_id", "order", "left_seq", "right_seq", "created_at",
    "created_us", "supersedes", "superseded", "body", *CONSTANT,
)  # fmt: skip
_NAMES = ", ".join(f'"{name}"' for name in COLUMNS)
_MARKS = {"confidence": 0.123456789, "input": 111_111_111, "output": 222_222_222, "number": 333_333_333}
"""What stands in the text of a body in place of the values that differ."""
Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Shape:
    """Judgments that differ only in what they are about: columns that are the same, and the text of their bodies."""

    constant: Row
    body: str
    """A template with four places: confidence (missing in a failure), number, tokens in and out."""
    form: dict[str, Any]


def shape_of(outcome: int | None, parser: str, turn: int, *, one_order: bool) -> Shape:
    """The row that the program makes of such a judgment; `outcome` is None where the attempt failed."""
    said: dict[str, Any] = dict(FAILED)
    if outcome is not None:
        said = {**verdict_fields(OUTCOMES[outcome], int(_MARKS["number"])), "confidence": _MARKS["confidence"]}
    usage = usage_of((int(_MARKS["input"]), int(_MARKS["output"])))
    judgment = Judgment(
        **made_by(one_order=one_order), **said, work_id="", item_id="", left_id="", right_id="", turn=turn,
        order=Order.LEFT_FIRST, parser_version=parser, usage=usage, created_at=BEGUN,
    )  # fmt: skip
    row = to_row(judgment)
    body = str(row["body"]).replace("%", "%%")
    if "\\" in body:
        raise ValueError("COPY reads a backslash as an escape")
    for name, mark in _MARKS.items():
        body = body.replace(str(mark), f"%({name})s")
    constant = tuple(None if row[name] is None else str(row[name]) for name in CONSTANT)
    return Shape(constant, body, variant_of(judgment).row())


class Rows:
    """The rows of judgments as texts, in the order of `COLUMNS`."""

    def __init__(self, said: Verdicts, battles: int) -> None:
        self.said, self.battles = said, battles
        shapes = [(outcome, parser, turn) for outcome in (None, 0, 1, 2) for parser in "12" for turn in (0, 1)]
        self.shapes = {key: shape_of(*key, one_order=said.one_order) for key in shapes}

    def of_battle(self, battle: int, outputs: list[Output], seqs: list[str]) -> Iterator[Row]:
        """The rows of what `judgments_of` makes. `seqs`: numbers of the outputs in the database."""
        said, (left, right), (tokens_in, tokens_out) = self.said, sides_of(battle), tokens_of(battle)
        item_id, left_id, right_id = outputs[left].item_id, outputs[left].output_id, outputs[right].output_id
        moment = moment_of(battle, self.battles)
        at = (seqs[left], seqs[right], moment.isoformat(timespec="microseconds"), str(microseconds(moment)))
        values = {"confidence": confidence_of(battle), "number": battle, "input": tokens_in, "output": tokens_out}

        def row(order: str, work: str, attempt: int, outcome: int | None, parser: str, *replaces: str | None) -> Row:
            shape = self.shapes[outcome, parser, outputs[left].turn]
            key = f'["judgment","{work}",{attempt},"{parser}","{left_id}","{right_id}","{order}"]'
            identity = "judgment_" + hashlib.sha256(key.encode()).hexdigest()[:32]
            about = (identity, work, str(attempt), item_id, left_id, right_id, order)
            return (*about, *at, *replaces, shape.body % values, *shape.constant)

        orders = ((Order.LEFT_FIRST, said.first), (Order.RIGHT_FIRST, said.second))
        for order, codes in orders[: 1 if said.one_order else 2]:
            work, code = (order.value, work_id(self.battles, battle, order)), int(codes[battle])
            here = order is Order.LEFT_FIRST
            if here and (said.repeated[battle] or said.lost[battle]):
                yield row(*work, 0, None, "2", None, "0")
                if said.lost[battle]:
                    continue
            attempt, replaced = int(here and said.repeated[battle]), None
            if here and said.reread[battle]:
                old = row(*work, attempt, (code + 1) % 3, "1", None, "1")
                yield old
                replaced = old[0]
            yield row(*work, attempt, code, "2", replaced, "0")


def fill_bulk(workspace: Workspace, battles: int, *, one_order: bool) -> int:
    """Fill an empty workspace; returns the number of judgments. Items, outputs and votes go through the writer."""
    rows, items = Rows(verdicts(battles, one_order=one_order), battles), item_count(battles)
    add = workspace.store.add
    add([run_record()])
    begun = told = time.perf_counter()
    total, forms = 0, set[int]()
    with without_indexes(workspace):
        numbers = iter(range(items))
        while some := list(islice(numbers, ITEMS_AT_ONCE)):
            made = {number: item_and_outputs(number, items) for number in some}
            add([record for item, outputs in made.values() for record in (item, *outputs)])
            block: list[Row] = []
            with reading(workspace.store.engine) as connection:
                wanted = [output.output_id for _, outputs in made.values() for output in outputs]
                seq_of = existing_values(connection, schema.outputs.c.id, wanted)
            for number, (_, outputs) in made.items():
                seqs = [str(seq_of[output.output_id]) for output in outputs]
                for battle in battles_of(number, battles):
                    block += rows.of_battle(battle, outputs, seqs)
            with writing(workspace.store.engine) as connection:
                _insert(connection, block)
            forms |= {int(row[-2] or 0) for row in block}
            total += len(block)
            if time.perf_counter() - told > 10:
                told = time.perf_counter()
                print(f"  {total:,} judgments, {total / (told - begun):,.0f} per second", flush=True)
        print(f"  {total:,} judgments in {time.perf_counter() - begun:.0f} s; making indexes", flush=True)
        named = {shape.form["id"]: shape.form for shape in rows.shapes.values() if shape.form["id"] in forms}
        with writing(workspace.store.engine) as connection:
            connection.execute(insert(schema.judge_forms), list(named.values()))
    votes: list[Record] = list(votes_of(battles))
    add(votes)
    print(f"  everything in {time.perf_counter() - begun:.0f} s", flush=True)
    return total


def _insert(connection: Connection, block: list[Row]) -> None:
    raw: Any = connection.connection.dbapi_connection
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" for _ in COLUMNS)
        raw.executemany(f"INSERT INTO judgments ({_NAMES}) VALUES ({marks})", block)  # noqa: S608
        return
    raw.execute("SET LOCAL session_replication_role = replica")  # links are right: they were just read
    text = "\n".join(["\t".join(["\\N" if value is None else value for value in row]) for row in block])
    with raw.cursor() as cursor, cursor.copy(f"COPY judgments ({_NAMES}) FROM STDIN") as copy:
        copy.write(text + "\n")


@contextmanager
def without_indexes(workspace: Workspace) -> Iterator[None]:
    """Drop the indexes of judgments and what rests on them, and make them again at the end."""
    engine = workspace.store.engine
    with writing(engine) as connection:
        if engine.dialect.name == "sqlite":
            listed = connection.exec_driver_sql(
                "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'judgments' AND type = 'index' AND sql > ''"
            ).all()
            drop, make = [f'DROP INDEX "{name}"' for name, _ in listed], [sql for _, sql in listed]
        else:
            drop, make = _postgres_indexes(connection)
        for statement in drop:
            connection.exec_driver_sql(statement)
    yield
    for statement in make:
        with writing(engine) as connection:
            if engine.dialect.name == "postgresql":
                connection.exec_driver_sql("SET LOCAL maintenance_work_mem = '1GB'")
            connection.exec_driver_sql(statement)


def _postgres_indexes(connection: Connection) -> tuple[list[str], list[str]]:
    """Statements that drop and that make: links of judgments to judgments, unique constraints, other indexes."""
    constraints = connection.exec_driver_sql(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'judgments'::regclass "
        "AND (contype = 'u' OR contype = 'f' AND confrelid = conrelid) ORDER BY contype = 'u'"
    ).all()
    indexes = connection.exec_driver_sql(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'judgments' AND indexname NOT IN "
        "(SELECT conname FROM pg_constraint WHERE conrelid = 'judgments'::regclass)"
    ).all()
    drop = [f'ALTER TABLE judgments DROP CONSTRAINT "{name}"' for name, _ in constraints]
    make = [f'ALTER TABLE judgments ADD CONSTRAINT "{name}" {how}' for name, how in reversed(constraints)]
    return [*drop, *(f'DROP INDEX "{name}"' for name, _ in indexes)], [*make, *(how for _, how in indexes)]
