"""The first schema"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_SEQ = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_Column = sa.Column[object]


def upgrade() -> None:
    _table(
        "blobs",
        _text("sha256"),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        _text("media_type"),
        _whole("width", null=True),
        _whole("height", null=True),
        _text("created_at"),
        _text("hashed_at", null=True),
        _text("withdrawn_at", null=True),
        key="sha256",
    )
    _record(
        "calibrations",
        _text("judge"),
    )
    _index("calibrations", "ix_calibrations_judge", "judge")
    _record(
        "campaigns",
        _text("name"),
        _text("kind"),
        _whole("open"),
    )
    _record(
        "evidence",
        _text("image_sha256"),
        _text("against_sha256", null=True),
        _text("tool"),
        _text("kind"),
        _text("status"),
    )
    _index("evidence", "ix_evidence_image_sha256", "image_sha256")
    _table(
        "facts",
        _text("key"),
        _text("value"),
        key="key",
    )
    _record(
        "items",
        _text("dataset"),
        _text("key"),
        _text("content_id"),
        _text("task", null=True),
        _text("family", null=True),
        _text("topic", null=True),
        _text("track", null=True),
    )
    _index("items", "ix_items_content_id", "content_id")
    _index("items", "ix_items_task", "task")
    _index("items", "one_item_per_key", "dataset", "key", unique=True)
    _record(
        "rankings",
        _text("method"),
    )
    _record(
        "raters",
        _text("role"),
        _whole("active"),
    )
    _record(
        "replies",
        _text("work_id"),
        _whole("attempt"),
        _text("run_id", null=True),
    )
    _index("replies", "one_reply_per_attempt", "work_id", "attempt", unique=True)
    _record(
        "runs",
        _text("command"),
        _text("state"),
    )
    _record(
        "tombstones",
        _text("subject"),
        _text("kind"),
    )
    _index("tombstones", "ix_tombstones_subject", "subject")
    _record(
        "outputs",
        _text("work_id"),
        _whole("attempt"),
        _text("item_id"),
        _text("editor", null=True),
        _whole("turn"),
        _text("mode"),
        _whole("sample"),
        _text("parent_id", null=True),
        _text("status"),
        _text("image_sha256", null=True),
        _text("run_id", null=True),
        links={"image_sha256": "blobs.sha256", "item_id": "items.id", "parent_id": "outputs.id"},
    )
    _index("outputs", "ix_outputs_image_sha256", "image_sha256")
    _index("outputs", "ix_outputs_work_id", "work_id")
    _index(
        "outputs",
        "one_ok_output_per_slot",
        "item_id",
        "turn",
        "editor",
        "mode",
        "sample",
        unique=True,
        where="status = 'ok' AND editor IS NOT NULL",
    )
    _index("outputs", "outputs_by_editor", "editor", "status")
    _index("outputs", "outputs_of_item", "item_id", "editor")
    _record(
        "verifications",
        _text("item_id"),
        _text("rater_id", null=True),
        links={"item_id": "items.id", "rater_id": "raters.id"},
    )
    _index("verifications", "ix_verifications_item_id", "item_id")
    _record(
        "assignments",
        _text("campaign_id"),
        _text("item_id"),
        _text("left_id"),
        _text("right_id", null=True),
        _text("kind"),
        _text("unit"),
        _text("purpose"),
        _text("rater_id", null=True),
        links={
            "campaign_id": "campaigns.id",
            "item_id": "items.id",
            "left_id": "outputs.id",
            "rater_id": "raters.id",
            "right_id": "outputs.id",
        },
    )
    _index("assignments", "assignments_of_campaign", "campaign_id", "purpose", "unit")
    _record(
        "judgments",
        _text("work_id"),
        _whole("attempt"),
        _text("judge"),
        _text("dimension"),
        _text("item_id"),
        _text("left_id"),
        _text("right_id", null=True),
        _text("order", null=True),
        _whole("repeat"),
        _text("status"),
        _text("preference", null=True),
        sa.Column("score", sa.Float(), nullable=True),
        _text("reply_id", null=True),
        _text("supersedes", null=True),
        _text("run_id", null=True),
        links={
            "item_id": "items.id",
            "left_id": "outputs.id",
            "reply_id": "replies.id",
            "right_id": "outputs.id",
            "supersedes": "judgments.id",
        },
    )
    _index("judgments", "ix_judgments_item_id", "item_id")
    _index("judgments", "ix_judgments_left_id", "left_id")
    _index("judgments", "judgments_by_judge", "judge", "dimension", "status")
    _index("judgments", "judgments_of_work", "work_id", "status")
    _index("judgments", "one_successor_per_judgment", "supersedes", unique=True)
    _record(
        "traces",
        _text("output_id"),
        links={"output_id": "outputs.id"},
    )
    _index("traces", "ix_traces_output_id", "output_id")
    _record(
        "events",
        _text("assignment_id"),
        _text("kind"),
        _text("rater_id", null=True),
        links={"assignment_id": "assignments.id", "rater_id": "raters.id"},
    )
    _index("events", "ix_events_assignment_id", "assignment_id")
    _index("events", "ix_events_rater_id", "rater_id")
    _table(
        "leases",
        _text("assignment_id"),
        _text("campaign_id"),
        _text("rater_id", null=True),
        _text("until", null=True),
        _text("state"),
        key="assignment_id",
        links={"assignment_id": "assignments.id", "campaign_id": "campaigns.id", "rater_id": "raters.id"},
    )
    _index("leases", "free_leases", "campaign_id", "state", "until")
    _index("leases", "leases_of_rater", "rater_id", "state")
    _record(
        "votes",
        _text("rater_id"),
        _text("item_id"),
        _text("left_id"),
        _text("right_id", null=True),
        _text("assignment_id", null=True),
        _text("preference", null=True),
        _text("idempotency_key", null=True),
        _text("supersedes", null=True),
        _whole("retracted"),
        links={
            "assignment_id": "assignments.id",
            "item_id": "items.id",
            "left_id": "outputs.id",
            "rater_id": "raters.id",
            "right_id": "outputs.id",
            "supersedes": "votes.id",
        },
    )
    _index("votes", "ix_votes_item_id", "item_id")
    _index(
        "votes",
        "one_first_vote_per_assignment",
        "assignment_id",
        "rater_id",
        unique=True,
        where="supersedes IS NULL AND assignment_id IS NOT NULL",
    )
    _index("votes", "one_successor_per_vote", "supersedes", unique=True)
    _index(
        "votes",
        "one_vote_per_idempotency_key",
        "rater_id",
        "idempotency_key",
        unique=True,
        where="idempotency_key IS NOT NULL",
    )
    _index("votes", "votes_of_rater", "rater_id")


def _text(name: str, *, null: bool = False) -> _Column:
    return sa.Column(name, sa.Text(), nullable=null)


def _whole(name: str, *, null: bool = False) -> _Column:
    return sa.Column(name, sa.Integer(), nullable=null)


def _table(name: str, *columns: _Column, key: str, unique: str = "", links: Mapping[str, str] | None = None) -> None:
    targets = [sa.ForeignKeyConstraint([column], [target]) for column, target in (links or {}).items()]
    once = [sa.UniqueConstraint(unique)] if unique else []
    op.create_table(name, *columns, *targets, sa.PrimaryKeyConstraint(key), *once)


def _record(name: str, *columns: _Column, links: Mapping[str, str] | None = None) -> None:
    seq: _Column = sa.Column("seq", _SEQ, autoincrement=True, nullable=False)
    last = _text("created_at"), _text("body")
    _table(name, seq, _text("id"), *columns, *last, key="seq", unique="id", links=links)


def _index(table: str, name: str, *columns: str, unique: bool = False, where: str = "") -> None:
    only: dict[str, Any] = {f"{dialect}_where": sa.text(where) for dialect in ("sqlite", "postgresql")} if where else {}
    op.create_index(name, table, list(columns), unique=unique, **only)
