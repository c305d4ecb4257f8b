"""A rater's work is counted from an index"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("leases_of_rater", "leases")
    op.create_index("work_of_rater", "leases", ["rater_id", "state", "campaign_id", "purpose", "done_at"])
