"""Convert records to rows and back. A row's columns and its `body` together form the record, without duplication."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache, lru_cache
from typing import Any, TypeVar

from sqlalchemy import Table

from imarena.core import StoreError, moment_text, records
from imarena.storage import schema
from imarena.storage.judge_variants import variant_of

R = TypeVar("R", bound=records.Record)


@dataclass(frozen=True, eq=False)
class RecordKind:
    """How to store one record class."""

    record: type[records.Record]
    table: Table
    identity: str
    """Name of the record's id attribute."""
    derived: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """Columns that are computed from the record and therefore not read back."""
    linked: Mapping[str, str] = field(default_factory=dict)
    """Columns that hold the `seq` of the output that another column names; set when a row is inserted."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SIDES = {"left_seq": "left_id", "right_seq": "right_id"}


def microseconds(moment: datetime) -> int:
    """A moment as integer microseconds since 1970, UTC."""
    return (moment - _EPOCH) // _MICROSECOND


_text_of = lru_cache(64)(moment_text)
_number_of = lru_cache(64)(microseconds)
"""Cached, because all records of an import share the moment at which it began."""


def _created_us(record: records.Record) -> int:
    return _number_of(record.created_at)


def _driven_by(output: records.Output) -> str | None:
    judge = output.params.get("driven_by")
    return judge if isinstance(judge, str) else None


def _content_key(ranking: records.Ranking) -> str | None:
    key = ranking.settings.get("content_key")
    return key if isinstance(key, str) else None


KINDS: tuple[RecordKind, ...] = (
    RecordKind(records.Item, schema.items, "item_id", {"content_id": lambda item: item.content_id}),
    RecordKind(records.Rater, schema.raters, "rater_id"),
    RecordKind(
        records.Output,
        schema.outputs,
        "output_id",
        {
            "work_id": lambda output: output.work_id,
            "image_sha256": lambda output: output.image.sha256 if output.image is not None else None,
            "driven_by": _driven_by,
        },
    ),
    RecordKind(records.Evidence, schema.evidence, "evidence_id"),
    RecordKind(records.Reply, schema.replies, "reply_id"),
    RecordKind(
        records.Judgment,
        schema.judgments,
        "judgment_id",
        {
            "form_id": lambda judgment: variant_of(judgment).form_id,
            "created_us": _created_us,
            "tie_unstated": lambda judgment: int(judgment.tie_unstated),
        },
        _SIDES,
    ),
    RecordKind(records.Campaign, schema.campaigns, "campaign_id"),
    RecordKind(
        records.Assignment,
        schema.assignments,
        "assignment_id",
        {"probability": lambda assignment: assignment.probability},
    ),
    RecordKind(records.Event, schema.events, "event_id"),
    RecordKind(
        records.Vote,
        schema.votes,
        "vote_id",
        {"dimension": lambda vote: vote.dimension, "created_us": _created_us},
        _SIDES,
    ),
    RecordKind(records.Ranking, schema.rankings, "ranking_id", {"content_key": _content_key}),
    RecordKind(records.Calibration, schema.calibrations, "calibration_id"),
    RecordKind(records.Verification, schema.verifications, "verification_id"),
    RecordKind(records.Trace, schema.traces, "trace_id"),
    RecordKind(records.Run, schema.runs, "run_id"),
    RecordKind(records.Tombstone, schema.tombstones, "tombstone_id"),
)
"""All record kinds, in an order in which links only point to earlier kinds."""

_PLAIN = frozenset({str, int, float, type(None)})
_BY_RECORD = {kind.record: kind for kind in KINDS}


def record_kind(record: type[records.Record]) -> RecordKind:
    """How to store records of this class."""
    try:
        return _BY_RECORD[record]
    except KeyError:
        raise StoreError(f"{record.__name__} is not stored") from None


@cache
def _columns(kind: RecordKind) -> tuple[str, ...]:
    """Columns that hold a field of the record unchanged."""
    fields = kind.record.model_fields
    return tuple(c.name for c in kind.table.columns if c.name in fields and c.name not in kind.derived)


@cache
def _in_body(kind: RecordKind) -> set[str]:
    """Fields that have no column and are not computed."""
    return kind.record.model_fields.keys() - {*_columns(kind), kind.identity}


def to_row(record: records.Record) -> dict[str, Any]:
    """The row of a record. Fields at their default are left out of `body`."""
    kind = record_kind(type(record))
    values = record.__dict__
    row: dict[str, Any] = {"id": getattr(record, kind.identity)}
    for column in _columns(kind):
        value = values[column]
        if value.__class__ not in _PLAIN:  # the common case first: this runs for every column of every record
            value = value.value if isinstance(value, Enum) else int(value) if isinstance(value, bool) else value
        row[column] = value
    row["created_at"] = _text_of(record.created_at)
    for column, derive in kind.derived.items():
        row[column] = derive(record)
    if row.get("idempotency_key") == "":
        row["idempotency_key"] = None
    serializer = type(record).__pydantic_serializer__
    row["body"] = serializer.to_json(record, include=_in_body(kind), exclude_defaults=True).decode()
    return row


def from_row(record: type[R], row: Any) -> R:
    """The record of a row (a mapping from column name to value)."""
    kind = record_kind(record)
    fields: dict[str, Any] = json.loads(row["body"])
    for column in _columns(kind):
        value = row[column]
        if value is not None or kind.record.model_fields[column].is_required():
            fields[column] = value
    identity = kind.identity
    if identity in kind.record.model_fields:
        fields[identity] = row["id"]
    return record.model_validate(fields)
