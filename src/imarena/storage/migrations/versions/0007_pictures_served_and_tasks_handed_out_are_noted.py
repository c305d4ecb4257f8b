"""When a task was handed out, and which of its pictures were served; smaller indexes of what replaces what"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("leases", sa.Column("handed_at", sa.Text(), nullable=True))
    op.create_table(
        "pictures_served",
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("address", "slot"),
    )
    there = sa.text("supersedes IS NOT NULL")
    for name, table in (("one_successor_per_judgment", "judgments"), ("one_successor_per_vote", "votes")):
        op.drop_index(name, table)
        op.create_index(name, table, ["supersedes"], unique=True, sqlite_where=there, postgresql_where=there)
