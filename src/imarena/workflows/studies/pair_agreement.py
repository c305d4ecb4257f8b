"""Votes on pairs of a workspace as ratings, so that `agree` measures how far voters agree."""

from imarena.agreement import RatingColumns, pair_ratings
from imarena.storage import Workspace
from imarena.workflows.studies.pair_columns import votes_from_store


def votes_in_workspace(workspace: Workspace) -> RatingColumns:
    """Every live vote on two outputs; where one rater voted on the same pair twice, the last vote counts."""
    found = pair_ratings(votes_from_store(workspace))
    last = {cell: row for row, cell in enumerate(zip(found.unit, found.rater, found.labels["criterion"], strict=True))}
    rows = sorted(last.values())
    return RatingColumns(
        [found.unit[row] for row in rows],
        [found.rater[row] for row in rows],
        [str(found.value[row]) if found.value[row] is not None else None for row in rows],
        {name: [column[row] for row in rows] for name, column in found.labels.items()},
        found.source,
        votes=True,
    )
