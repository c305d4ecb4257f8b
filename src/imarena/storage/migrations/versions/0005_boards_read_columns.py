"""Boards read columns. `storage/derive.py` has added and filled them; here they get their indexes"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_VERDICTS = [
    "form_id", "left_seq", "right_seq", "repeat", "order", "status", "preference", "score", "tie_unstated",
    "superseded", "created_us", "seq",
]  # fmt: skip


def upgrade() -> None:
    op.create_index("verdicts_by_form", "judgments", _VERDICTS)
    _where("failed_judgments", "judgments", ["judge", "work_id"], "status <> 'ok'")
    _where("outputs_driven_by_judges", "outputs", ["editor", "driven_by"], "driven_by IS NOT NULL")
    op.create_index("votes_of_pair", "votes", ["left_seq", "right_seq", "dimension"])
    op.create_index("one_board_per_content", "rankings", ["content_key"], unique=True)


def _where(name: str, table: str, columns: list[str], condition: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(condition), postgresql_where=sa.text(condition))
