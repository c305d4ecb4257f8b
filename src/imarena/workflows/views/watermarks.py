"""How far a view has read."""

from dataclasses import dataclass

from sqlalchemy import func, select

from imarena.storage import REMOVALS, Workspace, reading
from imarena.storage.schema import assignments, campaigns, exclusions, facts, items, judgments, outputs, votes


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
    removals: int = 0
    """Number of removed data sets."""


def read_watermarks(workspace: Workspace) -> Watermarks:
    """Read marks that change when a record for views is added, a campaign opens or closes, a rater is excluded,
    or a data set is removed.
    """
    tables = (items, outputs, judgments, votes, assignments)
    query = select(
        *(select(func.coalesce(func.max(table.c.seq), 0)).scalar_subquery() for table in tables),
        select(func.coalesce(func.sum(campaigns.c.seq * (1 + campaigns.c.open)), 0)).scalar_subquery(),
        select(
            func.coalesce(func.sum(exclusions.c.seq * 2 + func.coalesce(func.length(exclusions.c.lifted_at), 0)), 0)
        ).scalar_subquery(),
        func.coalesce(select(facts.c.value).where(facts.c.key == REMOVALS).scalar_subquery(), "0"),
    )
    with reading(workspace.store.engine) as connection:
        return Watermarks(*(int(value) for value in connection.execute(query).one()))
