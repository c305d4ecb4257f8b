"""Votes and ratings as rows of plain tables, read from the store as they are sent."""

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import select

from imarena.core.records import Item, Output
from imarena.storage import Workspace
from imarena.storage.database import reading
from imarena.storage.schema import assignments
from imarena.workflows.battles import live_votes

VOTE_COLUMNS = (
    "left", "right", "winner", "item", "rater", "dataset", "task", "topic", "dimension", "comment", "time_spent_s",
    "created_at", "vote_id",
)  # fmt: skip
RATING_COLUMNS = (
    "unit", "rater", "value", "criterion", "model", "task", "topic", "dataset", "item", "scale_low", "scale_high",
    "issues", "comment", "time_spent_s", "created_at",
)  # fmt: skip


def _live(workspace: Workspace, campaign_id: str | None) -> Iterator[Any]:
    """Rows of the votes that count, of one campaign or of all; work that is about the rater is left out."""
    wanted: set[str] | None = None
    if campaign_id is not None:
        query = select(assignments.c.id).where(assignments.c.campaign_id == campaign_id)
        with reading(workspace.store.engine) as connection:
            wanted = set(connection.execute(query).scalars())
    return (row for row in live_votes(workspace) if wanted is None or row["assignment_id"] in wanted)


def _names(workspace: Workspace) -> tuple[dict[str, str | None], dict[str, Any]]:
    editors = {row["id"]: row["editor"] for row in workspace.store.rows(Output)}
    return editors, {row["id"]: row for row in workspace.store.rows(Item)}


def vote_rows(workspace: Workspace, campaign_id: str | None = None) -> Iterator[list[object]]:
    """Live preferences with the names of what they are about (`VOTE_COLUMNS`)."""
    editors, items = _names(workspace)
    for row in _live(workspace, campaign_id):
        item = items[row["item_id"]]
        if row["preference"] is not None:
            body = json.loads(row["body"])
            yield [
                editors.get(row["left_id"]), editors.get(row["right_id"]), row["preference"], item["key"],
                row["rater_id"], item["dataset"], item["task"], item["topic"], body.get("dimension", "overall"),
                body.get("comment"), body.get("time_spent_s"), row["created_at"], row["id"],
            ]  # fmt: skip


def rating_rows(workspace: Workspace, campaign_id: str | None = None) -> Iterator[list[object]]:
    """Live ratings, one row a criterion (`RATING_COLUMNS`): a unit is an output. Issues and words stand on each row."""
    editors, items = _names(workspace)
    for row in _live(workspace, campaign_id):
        body, item = json.loads(row["body"]), items[row["item_id"]]
        low, high = body.get("scale") or (None, None)
        for criterion, value in body.get("ratings", {}).items():
            yield [
                row["left_id"], row["rater_id"], value, criterion, editors.get(row["left_id"]), item["task"],
                item["topic"], item["dataset"], item["key"], low, high, body.get("issues"), body.get("comment"),
                body.get("time_spent_s"), row["created_at"],
            ]  # fmt: skip
