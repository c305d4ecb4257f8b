"""Exclusions name who made and who lifted them, and why they were lifted"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("created_by", "lifted_by", "lifted_reason"):
        op.add_column("exclusions", sa.Column(name, sa.Text(), nullable=True))
