"""How far a view has read."""

from dataclasses import dataclass

from sqlalchemy import func, select

from imarena.storage import Workspace, reading
from imarena.storage.schema import assignments, campaigns, exclusions, items, judgments, outputs, votes


@dataclass(frozen=True)
class Watermarks:
    """How far a view has read: the highest `seq` of each table, and the state of records that change in place."""

    items: int
    outputs: int
    judgments: int
    votes: int
    assignments: int
    campaigns: int
    exclusions: int


def read_watermarks(workspace: Workspace) -> Watermarks:
    """Read marks that change when a record for views is added, a campaign opens or closes, or a rater is excluded."""
    tables = (items, outputs, judgments, votes, assignments)
    query = select(
        *(select(func.coalesce(func.max(table.c.seq), 0)).scalar_subquery() for table in tables),
        select(func.coalesce(func.sum(campaigns.c.seq * (1 + campaigns.c.open)), 0)).scalar_subquery(),
        select(
            func.coalesce(func.sum(exclusions.c.seq * 2 + func.coalesce(func.length(exclusions.c.lifted_at), 0)), 0)
        ).scalar_subquery(),
    )
    with reading(workspace.store.engine) as connection:
        return Watermarks(*(int(value) for value in connection.execute(query).one()))
