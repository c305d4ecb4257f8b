"""The tables. Columns hold what is searched for; `body` holds the rest of the record as JSON.

`seq` is the order of arrival, `id` the record's content identity. Links are foreign keys; what must not happen twice
is a unique index. Derived columns repeat what a body or a linked row holds, so that boards read columns and no bodies:
``codec.py`` fills them, ``verify`` compares them. The shape is versioned by Alembic (``storage/migrations``): a test
compares the two.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)

metadata = MetaData()

_SEQ = BigInteger().with_variant(Integer, "sqlite")


def _record(name: str, *columns: Column[object] | Index) -> Table:
    return Table(
        name,
        metadata,
        Column("seq", _SEQ, primary_key=True, autoincrement=True),
        Column("id", Text, nullable=False, unique=True),
        *columns,
        Column("created_at", Text, nullable=False),
        Column("body", Text, nullable=False),
    )


def _text(name: str, *, null: bool = True, link: str | None = None, index: bool = False) -> Column[object]:
    args = [ForeignKey(link)] if link else []
    return Column(name, Text, *args, nullable=null, index=index)


def _int(name: str, *, null: bool = False) -> Column[object]:
    return Column(name, Integer, nullable=null)


def _derived(name: str, kind: type[BigInteger | Float[float] | Text] = BigInteger) -> Column[object]:
    return Column(name, kind)


def _flag(name: str) -> Column[object]:
    return Column(name, Integer, nullable=False, server_default="0")


items = _record(
    "items",
    _text("dataset", null=False),
    _text("key", null=False),
    _text("content_id", null=False, index=True),
    _text("task", index=True),
    _text("family"),
    _text("topic"),
    _text("track"),
    Index("one_item_per_key", "dataset", "key", unique=True),
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
    _derived("driven_by", Text),
    Index("outputs_of_item", "item_id", "editor"),
    Index(
        "outputs_driven_by_judges", "editor", "driven_by",
        sqlite_where=text("driven_by IS NOT NULL"), postgresql_where=text("driven_by IS NOT NULL"),
    ),
    Index("outputs_by_editor", "editor", "status"),
    Index(
        "one_ok_output_per_slot",
        "item_id", "turn", "editor", "mode", "sample",
        unique=True,
        sqlite_where=text("status = 'ok' AND editor IS NOT NULL"),
        postgresql_where=text("status = 'ok' AND editor IS NOT NULL"),
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
    Index("one_reply_per_attempt", "work_id", "attempt", unique=True),
)

judge_forms = Table(
    "judge_forms",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("judge", Text, nullable=False),
    Column("dimension", Text, nullable=False),
    Column("pairwise", Integer, nullable=False),
    Column("imported", Integer, nullable=False),
    Column("judge_version", Text, nullable=False),
    Column("prompt_id", Text, nullable=False),
    Column("prompt_version", Text, nullable=False),
    Column("parser_version", Text, nullable=False),
    Column("params", Text, nullable=False),
    Column("orders", Text, nullable=False),
    Column("higher_is_better", Integer, nullable=False),
)
"""What made a judgment: a judge with its version, prompt and parameters (``storage/forms.py``)."""


def _one_successor(name: str) -> Index:
    """At most one record replaces another. Most replace none: they are not in the index."""
    there = text("supersedes IS NOT NULL")
    return Index(name, "supersedes", unique=True, sqlite_where=there, postgresql_where=there)


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
    Column("score", Float),
    _text("reply_id", link="replies.id"),
    _text("supersedes", link="judgments.id"),
    _text("run_id"),
    _derived("form_id"),
    _derived("left_seq"),
    _derived("right_seq"),
    _derived("created_us"),
    _flag("tie_unstated"),
    _flag("superseded"),
    Index(
        "verdicts_by_form", "form_id", "left_seq", "right_seq", "repeat", "order", "status", "preference", "score",
        "tie_unstated", "superseded", "created_us", "seq",
    ),
    Index(
        "failed_judgments", "judge", "work_id",
        sqlite_where=text("status <> 'ok'"), postgresql_where=text("status <> 'ok'"),
    ),
    Index("judgments_of_work", "work_id", "status"),
    Index("judgments_by_judge", "judge", "dimension", "status"),
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
    _derived("probability", Float),
    Index("assignments_of_campaign", "campaign_id", "purpose", "unit"),
)

events = _record(
    "events",
    _text("assignment_id", null=False, link="assignments.id", index=True),
    _text("kind", null=False),
    _text("rater_id", link="raters.id", index=True),
)

leases = Table(
    "leases",
    metadata,
    Column("assignment_id", Text, ForeignKey("assignments.id"), primary_key=True),
    Column("campaign_id", Text, ForeignKey("campaigns.id"), nullable=False),
    Column("rater_id", Text, ForeignKey("raters.id")),
    Column("until", Text),
    Column("state", Text, nullable=False),
    Column("unit", Text, nullable=False, server_default=""),
    Column("purpose", Text, nullable=False, server_default="vote"),
    Column("position", Integer, nullable=False, server_default="0"),
    Column("address", Text),
    Column("vote_id", Text),
    Column("done_at", Text),
    Column("handed_at", Text),
    Index("free_leases", "campaign_id", "state", "until"),
    Index("next_leases", "campaign_id", "state", "position"),
    Index("work_of_rater", "rater_id", "state", "campaign_id", "purpose", "done_at"),
    Index(
        "one_held_lease_per_rater", "campaign_id", "rater_id", unique=True,
        sqlite_where=text("state = 'held'"), postgresql_where=text("state = 'held'"),
    ),
)  # fmt: skip
"""The one table of work that is updated: who holds an assignment now. Taken by conditional update.

`state`: free, held, parked (held, but put aside by an undo), waiting (kept ready for its rater, not yet shown), done,
skipped or withdrawn (nobody is asked any more). `address`: the id of the event that says
who leased it, random; `vote_id`: the newest vote or retraction of the holder; `position`: the order of offering;
`handed_at`: when the holder got the task to answer it (a task that waits has not been handed out yet).
"""

pictures_served = Table(
    "pictures_served",
    metadata,
    Column("address", Text, primary_key=True),
    Column("slot", Text, primary_key=True),
    Column("at", Text, nullable=False),
)
"""Which pictures of a task its holder was sent first when, by the task's address. No foreign key: these rows are
written in batches beside the work of raters, and the address is checked before a picture is sent.
"""

units_seen = Table(
    "units_seen",
    metadata,
    Column("campaign_id", Text, ForeignKey("campaigns.id"), primary_key=True),
    Column("rater_id", Text, ForeignKey("raters.id"), primary_key=True),
    Column("unit", Text, primary_key=True),
)
"""What a rater was shown: no unit is offered to the same person twice."""

participants = Table(
    "participants",
    metadata,
    Column("seq", _SEQ, primary_key=True, autoincrement=True),
    Column("campaign_id", Text, ForeignKey("campaigns.id"), nullable=False),
    Column("rater_id", Text, ForeignKey("raters.id"), nullable=False),
    Column("joined_at", Text, nullable=False),
    Column("consented_at", Text),
    Column("active", Integer, nullable=False),
    Index("one_place_per_participant", "campaign_id", "rater_id", unique=True),
    Index("campaigns_of_rater", "rater_id"),
)

invitations = Table(
    "invitations",
    metadata,
    Column("seq", _SEQ, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("campaign_id", Text, ForeignKey("campaigns.id"), index=True),
    Column("role", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("max_people", Integer, nullable=False),
    Column("person_param", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("revoked_at", Text),
)
"""Links for people. The secret itself is told once and not kept."""

guests = Table(
    "guests", metadata, Column("invitation_id", Text, ForeignKey("invitations.id"), primary_key=True),
    Column("person", Text, primary_key=True), Column("rater_id", Text, ForeignKey("raters.id")),
)  # fmt: skip
"""Who came by an invitation. `person` is a hash of what a crowd platform calls them."""

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("rater_id", Text, ForeignKey("raters.id")),
    Column("invitation_id", Text, ForeignKey("invitations.id"), index=True),
    Column("campaign_id", Text, ForeignKey("campaigns.id")),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("revoked_at", Text),
)
"""People who are signed in. `id` is the hash of what their cookie holds."""

tokens = Table(
    "tokens",
    metadata,
    Column("seq", _SEQ, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("revoked_at", Text),
    Column("last_used_at", Text),
)
"""Tokens for machines. `last_used_at` is exact to some minutes."""

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
    _derived("dimension", Text),
    _derived("left_seq"),
    _derived("right_seq"),
    _derived("created_us"),
    _flag("superseded"),
    Index("votes_of_pair", "left_seq", "right_seq", "dimension"),
    Index("votes_of_rater", "rater_id"),
    _one_successor("one_successor_per_vote"),
    Index(
        "one_first_vote_per_assignment", "assignment_id", "rater_id", unique=True,
        sqlite_where=text("supersedes IS NULL AND assignment_id IS NOT NULL"),
        postgresql_where=text("supersedes IS NULL AND assignment_id IS NOT NULL"),
    ),
    Index(
        "one_vote_per_idempotency_key", "rater_id", "idempotency_key", unique=True,
        sqlite_where=text("idempotency_key IS NOT NULL"),
        postgresql_where=text("idempotency_key IS NOT NULL"),
    ),
)  # fmt: skip
"""A vote that replaces another names it; with both indexes each rater has one chain, and so one live vote, a task."""

exclusions = Table(
    "exclusions",
    metadata,
    Column("seq", _SEQ, primary_key=True, autoincrement=True),
    Column("rater_id", Text, ForeignKey("raters.id"), nullable=False, index=True),
    Column("since", Text),
    Column("reason", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("lifted_at", Text),
    Column("created_by", Text),
    Column("lifted_by", Text),
    Column("lifted_reason", Text),
)
"""Raters whose votes do not count: all of them, or those from the moment `since` on. `lifted_at` ends an exclusion."""

rankings = _record(
    "rankings",
    _text("method", null=False),
    _derived("content_key", Text),
    Index("one_board_per_content", "content_key", unique=True),
)
calibrations = _record("calibrations", _text("judge", null=False, index=True))
verifications = _record(
    "verifications", _text("item_id", null=False, link="items.id", index=True), _text("rater_id", link="raters.id")
)
traces = _record("traces", _text("output_id", null=False, link="outputs.id", index=True))
runs = _record("runs", _text("command", null=False), _text("state", null=False))
tombstones = _record("tombstones", _text("subject", null=False, index=True), _text("kind", null=False))

blobs = Table(
    "blobs",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("size_bytes", BigInteger, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("width", Integer),
    Column("height", Integer),
    Column("created_at", Text, nullable=False),
    Column("hashed_at", Text),
    Column("withdrawn_at", Text),
)
"""Every picture ever kept. `hashed_at`: when a deep check last read it, so that a deep check resumes."""

claims = Table(
    "claims", metadata, Column("work_id", Text, primary_key=True), Column("owner", Text, nullable=False),
    Column("expires", Float, nullable=False), Index("claims_of_owner", "owner"),
)  # fmt: skip
"""Which process is at which piece of work (``claims.py``). `expires`: seconds since 1970 by the database's clock."""
facts = Table("facts", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))
"""What the workspace knows of itself: its id, when it was made."""
