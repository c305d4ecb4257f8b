"""People sign in and vote"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_SEQ = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    with op.batch_alter_table("assignments") as table:
        table.alter_column("left_id", existing_type=sa.Text(), nullable=True)
    with op.batch_alter_table("leases") as table:
        table.add_column(sa.Column("unit", sa.Text(), nullable=False, server_default=""))
        table.add_column(sa.Column("purpose", sa.Text(), nullable=False, server_default="vote"))
        table.add_column(sa.Column("position", sa.Integer(), nullable=False, server_default="0"))
        table.add_column(sa.Column("address", sa.Text(), nullable=True))
        table.add_column(sa.Column("vote_id", sa.Text(), nullable=True))
        table.add_column(sa.Column("done_at", sa.Text(), nullable=True))
        table.create_index("next_leases", ["campaign_id", "state", "position"])
    op.create_index(
        "one_held_lease_per_rater",
        "leases",
        ["campaign_id", "rater_id"],
        unique=True,
        sqlite_where=sa.text("state = 'held'"),
        postgresql_where=sa.text("state = 'held'"),
    )
    _fill_leases()
    _work()
    _people()


def _fill_leases() -> None:
    """Fill unit and purpose in rows of the first schema."""
    op.execute(
        "UPDATE leases SET unit = (SELECT unit FROM assignments WHERE assignments.id = leases.assignment_id),"
        " purpose = (SELECT purpose FROM assignments WHERE assignments.id = leases.assignment_id)"
    )


def _work() -> None:
    op.create_table(
        "units_seen",
        sa.Column("campaign_id", sa.Text(), sa.ForeignKey("campaigns.id"), primary_key=True),
        sa.Column("rater_id", sa.Text(), sa.ForeignKey("raters.id"), primary_key=True),
        sa.Column("unit", sa.Text(), primary_key=True),
    )
    op.create_table(
        "participants",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("campaign_id", sa.Text(), sa.ForeignKey("campaigns.id"), nullable=False),
        sa.Column("rater_id", sa.Text(), sa.ForeignKey("raters.id"), nullable=False),
        sa.Column("joined_at", sa.Text(), nullable=False),
        sa.Column("consented_at", sa.Text()),
        sa.Column("active", sa.Integer(), nullable=False),
    )
    op.create_index("one_place_per_participant", "participants", ["campaign_id", "rater_id"], unique=True)
    op.create_index("campaigns_of_rater", "participants", ["rater_id"])


def _people() -> None:
    op.create_table(
        "invitations",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text(), nullable=False, unique=True),
        sa.Column("secret_hash", sa.Text(), nullable=False, unique=True),
        sa.Column("campaign_id", sa.Text(), sa.ForeignKey("campaigns.id")),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("max_people", sa.Integer(), nullable=False),
        sa.Column("person_param", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.Text()),
    )
    op.create_index("ix_invitations_campaign_id", "invitations", ["campaign_id"])
    op.create_table(
        "guests",
        sa.Column("invitation_id", sa.Text(), sa.ForeignKey("invitations.id"), primary_key=True),
        sa.Column("person", sa.Text(), primary_key=True),
        sa.Column("rater_id", sa.Text(), sa.ForeignKey("raters.id")),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("rater_id", sa.Text(), sa.ForeignKey("raters.id")),
        sa.Column("invitation_id", sa.Text(), sa.ForeignKey("invitations.id")),
        sa.Column("campaign_id", sa.Text(), sa.ForeignKey("campaigns.id")),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.Text()),
    )
    op.create_index("ix_sessions_invitation_id", "sessions", ["invitation_id"])
    op.create_table(
        "tokens",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text(), nullable=False, unique=True),
        sa.Column("secret_hash", sa.Text(), nullable=False, unique=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.Text()),
    )
