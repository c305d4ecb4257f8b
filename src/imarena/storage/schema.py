"""The tables. Columns hold searchable fields; `body` holds the rest of the record as JSON.

`seq` is the order of arrival, `id` the record's content identity. Links are foreign keys; unique indexes prevent
duplicates. Derived columns repeat values of a body or a linked row, so that boards can read columns without bodies:
``codec.py`` fills them, ``verify`` compares them. Alembic versions the schema (``storage/migrations``): a test
compares the two.
"""

import sqlalchemy as sa

metadata = sa.MetaData()

_SEQ = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _record(name: str, *columns: sa.Column[object] | sa.Index) -> sa.Table:
    return sa.Table(
        name,
        metadata,
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        *columns,
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )


def _text(name: str, *, null: bool = True, link: str | None = None, index: bool = False) -> sa.Column[object]:
    args = [sa.ForeignKey(link)] if link else []
    return sa.Column(name, sa.Text, *args, nullable=null, index=index)


def _int(name: str, *, null: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.Integer, nullable=null)


def _derived(name: str, kind: type[sa.BigInteger | sa.Float[float] | sa.Text] = sa.BigInteger) -> sa.Column[object]:
    return sa.Column(name, kind)


def _flag(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.Integer, nullable=False, server_default="0")


items = _record(
    "items",
    _text("dataset", null=False),
    _text("key", null=False),
    _text("content_id", null=False, index=True),
    _text("task", index=True),
    _text("family"),
    _text("topic"),
    _text("track"),
    sa.Index("one_item_per_key", "dataset", "key", unique=True),
)

outputs = _record(
    "outputs",
    _text("work_id", null=False, index=True),
    _int("attempt"),
    _text("item_id", null=False, link="items.id"),
    _text("editor"),
    _int("turn"),
    _text("mode", null=False),
    _int("sample"),
    _text("parent_id", link="outputs.id"),
    _text("status", null=False),
    _text("image_sha256", link="blobs.sha256", index=True),
    _text("run_id"),
    _derived("driven_by", sa.Text),
    sa.Index("outputs_of_item", "item_id", "editor"),
    sa.Index(
        "outputs_driven_by_judges", "editor", "driven_by",
        sqlite_where=sa.text("driven_by IS NOT NULL"), postgresql_where=sa.text("driven_by IS NOT NULL"),
    ),
    sa.Index("outputs_by_editor", "editor", "status"),
    sa.Index(
        "one_ok_output_per_slot",
        "item_id", "turn", "editor", "mode", "sample",
        unique=True,
        sqlite_where=sa.text("status = 'ok' AND editor IS NOT NULL"),
        postgresql_where=sa.text("status = 'ok' AND editor IS NOT NULL"),
    ),
)  # fmt: skip

evidence = _record(
    "evidence",
    _text("image_sha256", null=False, index=True),
    _text("against_sha256"),
    _text("tool", null=False),
    _text("kind", null=False),
    _text("status", null=False),
)

replies = _record(
    "replies",
    _text("work_id", null=False),
    _int("attempt"),
    _text("run_id"),
    sa.Index("one_reply_per_attempt", "work_id", "attempt", unique=True),
)

judge_forms = sa.Table(
    "judge_forms",
    metadata,
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
"""Judge variants: a judge with its version, prompt and parameters (``storage/judge_variants.py``)."""


def _one_successor(name: str) -> sa.Index:
    """At most one record replaces another. Most records replace none and are not in the index."""
    condition = sa.text("supersedes IS NOT NULL")
    return sa.Index(name, "supersedes", unique=True, sqlite_where=condition, postgresql_where=condition)


judgments = _record(
    "judgments",
    _text("work_id", null=False),
    _int("attempt"),
    _text("judge", null=False),
    _text("dimension", null=False),
    _text("item_id", null=False, link="items.id", index=True),
    _text("left_id", null=False, link="outputs.id", index=True),
    _text("right_id", link="outputs.id"),
    _text("order"),
    _int("repeat"),
    _text("status", null=False),
    _text("preference"),
    sa.Column("score", sa.Float),
    _text("reply_id", link="replies.id"),
    _text("supersedes", link="judgments.id"),
    _text("run_id"),
    _derived("form_id"),
    _derived("left_seq"),
    _derived("right_seq"),
    _derived("created_us"),
    _flag("tie_unstated"),
    _flag("superseded"),
    sa.Index(
        "verdicts_by_form", "form_id", "left_seq", "right_seq", "repeat", "order", "status", "preference", "score",
        "tie_unstated", "superseded", "created_us", "seq",
    ),
    sa.Index(
        "failed_judgments", "judge", "work_id",
        sqlite_where=sa.text("status <> 'ok'"), postgresql_where=sa.text("status <> 'ok'"),
    ),
    sa.Index("judgments_of_work", "work_id", "status"),
    sa.Index("judgments_by_judge", "judge", "dimension", "status"),
    _one_successor("one_successor_per_judgment"),
)  # fmt: skip

raters = _record("raters", _text("role", null=False), _int("active"))

campaigns = _record("campaigns", _text("name", null=False), _text("kind", null=False), _int("open"))

assignments = _record(
    "assignments",
    _text("campaign_id", null=False, link="campaigns.id"),
    _text("item_id", null=False, link="items.id"),
    _text("left_id", link="outputs.id"),
    _text("right_id", link="outputs.id"),
    _text("kind", null=False),
    _text("unit", null=False),
    _text("purpose", null=False),
    _text("rater_id", link="raters.id"),
    _derived("probability", sa.Float),
    sa.Index("assignments_of_campaign", "campaign_id", "purpose", "unit"),
)

events = _record(
    "events",
    _text("assignment_id", null=False, link="assignments.id", index=True),
    _text("kind", null=False),
    _text("rater_id", link="raters.id", index=True),
)

leases = sa.Table(
    "leases",
    metadata,
    sa.Column("assignment_id", sa.Text, sa.ForeignKey("assignments.id"), primary_key=True),
    sa.Column("campaign_id", sa.Text, sa.ForeignKey("campaigns.id"), nullable=False),
    sa.Column("rater_id", sa.Text, sa.ForeignKey("raters.id")),
    sa.Column("until", sa.Text),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("unit", sa.Text, nullable=False, server_default=""),
    sa.Column("purpose", sa.Text, nullable=False, server_default="vote"),
    sa.Column("position", sa.Integer, nullable=False, server_default="0"),
    sa.Column("address", sa.Text),
    sa.Column("vote_id", sa.Text),
    sa.Column("done_at", sa.Text),
    sa.Column("handed_at", sa.Text),
    sa.Index("free_leases", "campaign_id", "state", "until"),
    sa.Index("next_leases", "campaign_id", "state", "position"),
    sa.Index("work_of_rater", "rater_id", "state", "campaign_id", "purpose", "done_at"),
    sa.Index(
        "one_held_lease_per_rater", "campaign_id", "rater_id", unique=True,
        sqlite_where=sa.text("state = 'held'"), postgresql_where=sa.text("state = 'held'"),
    ),
)  # fmt: skip
"""The one work table that is updated: who holds an assignment now. Leases are taken by conditional update.

`state`: free, held, parked (held, but put aside by an undo), waiting (reserved for its rater, not shown yet), done,
skipped or withdrawn (nobody is asked any more). `address`: the random id of the event that
records who leased it; `vote_id`: the holder's newest vote or retraction; `position`: the order of offering;
`handed_at`: when the holder got the task to answer it (None for a waiting task).
"""

pictures_served = sa.Table(
    "pictures_served",
    metadata,
    sa.Column("address", sa.Text, primary_key=True),
    sa.Column("slot", sa.Text, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
)
"""When each picture of a task was first sent to its holder, by the task's address. No foreign key: these rows are
written in batches in parallel to the raters' work, and the address is checked before a picture is sent.
"""

units_seen = sa.Table(
    "units_seen",
    metadata,
    sa.Column("campaign_id", sa.Text, sa.ForeignKey("campaigns.id"), primary_key=True),
    sa.Column("rater_id", sa.Text, sa.ForeignKey("raters.id"), primary_key=True),
    sa.Column("unit", sa.Text, primary_key=True),
)
"""Units that a rater was shown: no unit is offered to the same person twice."""

participants = sa.Table(
    "participants",
    metadata,
    sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
    sa.Column("campaign_id", sa.Text, sa.ForeignKey("campaigns.id"), nullable=False),
    sa.Column("rater_id", sa.Text, sa.ForeignKey("raters.id"), nullable=False),
    sa.Column("joined_at", sa.Text, nullable=False),
    sa.Column("consented_at", sa.Text),
    sa.Column("active", sa.Integer, nullable=False),
    sa.Index("one_place_per_participant", "campaign_id", "rater_id", unique=True),
    sa.Index("campaigns_of_rater", "rater_id"),
)

invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("secret_hash", sa.Text, nullable=False, unique=True),
    sa.Column("campaign_id", sa.Text, sa.ForeignKey("campaigns.id"), index=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("max_people", sa.Integer, nullable=False),
    sa.Column("person_param", sa.Text, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("expires_at", sa.Text, nullable=False),
    sa.Column("revoked_at", sa.Text),
)
"""Links for people. The secret itself is shown once and not stored."""

guests = sa.Table(
    "guests", metadata, sa.Column("invitation_id", sa.Text, sa.ForeignKey("invitations.id"), primary_key=True),
    sa.Column("person", sa.Text, primary_key=True), sa.Column("rater_id", sa.Text, sa.ForeignKey("raters.id")),
)  # fmt: skip
"""Who came through an invitation. `person` is a hash of the crowd platform's name for them."""

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("rater_id", sa.Text, sa.ForeignKey("raters.id")),
    sa.Column("invitation_id", sa.Text, sa.ForeignKey("invitations.id"), index=True),
    sa.Column("campaign_id", sa.Text, sa.ForeignKey("campaigns.id")),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("expires_at", sa.Text, nullable=False),
    sa.Column("revoked_at", sa.Text),
)
"""Signed-in people. `id` is the hash of the cookie's secret."""

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("secret_hash", sa.Text, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("expires_at", sa.Text, nullable=False),
    sa.Column("revoked_at", sa.Text),
    sa.Column("last_used_at", sa.Text),
)
"""Tokens for machines. `last_used_at` is precise to a few minutes."""

votes = _record(
    "votes",
    _text("rater_id", null=False, link="raters.id"),
    _text("item_id", null=False, link="items.id", index=True),
    _text("left_id", null=False, link="outputs.id"),
    _text("right_id", link="outputs.id"),
    _text("assignment_id", link="assignments.id"),
    _text("preference"),
    _text("idempotency_key"),
    _text("supersedes", link="votes.id"),
    _int("retracted"),
    _derived("dimension", sa.Text),
    _derived("left_seq"),
    _derived("right_seq"),
    _derived("created_us"),
    _flag("superseded"),
    sa.Index("votes_of_pair", "left_seq", "right_seq", "dimension"),
    sa.Index("votes_of_rater", "rater_id"),
    _one_successor("one_successor_per_vote"),
    sa.Index(
        "one_first_vote_per_assignment", "assignment_id", "rater_id", unique=True,
        sqlite_where=sa.text("supersedes IS NULL AND assignment_id IS NOT NULL"),
        postgresql_where=sa.text("supersedes IS NULL AND assignment_id IS NOT NULL"),
    ),
    sa.Index(
        "one_vote_per_idempotency_key", "rater_id", "idempotency_key", unique=True,
        sqlite_where=sa.text("idempotency_key IS NOT NULL"),
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    ),
)  # fmt: skip
"""A replacing vote names the replaced one; with both indexes, each rater has one chain and one live vote per task."""

exclusions = sa.Table(
    "exclusions",
    metadata,
    sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
    sa.Column("rater_id", sa.Text, sa.ForeignKey("raters.id"), nullable=False, index=True),
    sa.Column("since", sa.Text),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("lifted_at", sa.Text),
    sa.Column("created_by", sa.Text),
    sa.Column("lifted_by", sa.Text),
    sa.Column("lifted_reason", sa.Text),
)
"""Raters whose votes do not count: all votes, or those from `since` on. `lifted_at` ends an exclusion."""

rankings = _record(
    "rankings",
    _text("method", null=False),
    _derived("content_key", sa.Text),
    sa.Index("one_board_per_content", "content_key", unique=True),
)
calibrations = _record("calibrations", _text("judge", null=False, index=True))
verifications = _record(
    "verifications", _text("item_id", null=False, link="items.id", index=True), _text("rater_id", link="raters.id")
)
traces = _record("traces", _text("output_id", null=False, link="outputs.id", index=True))
runs = _record("runs", _text("command", null=False), _text("state", null=False))
tombstones = _record("tombstones", _text("subject", null=False, index=True), _text("kind", null=False))

blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("sha256", sa.Text, primary_key=True),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
    sa.Column("media_type", sa.Text, nullable=False),
    sa.Column("width", sa.Integer),
    sa.Column("height", sa.Integer),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("hashed_at", sa.Text),
    sa.Column("withdrawn_at", sa.Text),
)
"""Every image ever stored. `hashed_at`: when a deep check last read it, so that a deep check can resume."""

claims = sa.Table(
    "claims", metadata, sa.Column("work_id", sa.Text, primary_key=True), sa.Column("owner", sa.Text, nullable=False),
    sa.Column("expires", sa.Float, nullable=False), sa.Index("claims_of_owner", "owner"),
)  # fmt: skip
"""Which process works on what (``claims.py``). `expires`: seconds since 1970 by the database's clock."""
facts = sa.Table(
    "facts", metadata, sa.Column("key", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
)
"""Facts about the workspace, such as its id and its creation time."""
