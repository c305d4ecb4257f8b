"""Votes and ratings as rows of plain tables, read from the store as they are sent."""

import json
from collections.abc import Iterator
from typing import Any

from imarena.core.records import Item, Output
from imarena.storage import Workspace
from imarena.workflows.views import View, counting_votes

VOTE_COLUMNS = (
    "left", "right", "winner", "item", "rater", "dataset", "task", "topic", "dimension", "comment", "time_spent_s",
    "created_at", "vote_id",
)  # fmt: skip
RATING_COLUMNS = (
    "unit", "rater", "value", "criterion", "model", "task", "topic", "dataset", "item", "scale_low", "scale_high",
    "issues", "comment", "time_spent_s", "created_at",
)  # fmt: skip


def _names(workspace: Workspace) -> tuple[dict[str, str | None], dict[str, Any]]:
    editors = {row["id"]: row["editor"] for row in workspace.store.rows(Output)}
    return editors, {row["id"]: row for row in workspace.store.rows(Item)}


def vote_rows(workspace: Workspace, campaign_id: str | None = None) -> Iterator[list[object]]:
    """Preferences that count, with the names of what they are about (`VOTE_COLUMNS`)."""
    editors, items = _names(workspace)
    for row in counting_votes(View(workspace), campaign_id):
        item = items[row["item_id"]]
        if row["preference"] is not None:
            body = json.loads(row["body"])
            yield [
                editors.get(row["left_id"]), editors.get(row["right_id"]), row["preference"], item["key"],
                row["rater_id"], item["dataset"], item["task"], item["topic"], row["dimension"],
                body.get("comment"), body.get("time_spent_s"), row["created_at"], row["id"],
            ]  # fmt: skip


def rating_rows(workspace: Workspace, campaign_id: str | None = None) -> Iterator[list[object]]:
    """Ratings that count, one row per criterion (`RATING_COLUMNS`): a unit is an output.

    Issues and words are on each row.
    """
    editors, items = _names(workspace)
    for row in counting_votes(View(workspace), campaign_id):
        body, item = json.loads(row["body"]), items[row["item_id"]]
        low, high = body.get("scale") or (None, None)
        for criterion, value in body.get("ratings", {}).items():
            yield [
                row["left_id"], row["rater_id"], value, criterion, editors.get(row["left_id"]), item["task"],
                item["topic"], item["dataset"], item["key"], low, high, body.get("issues"), body.get("comment"),
                body.get("time_spent_s"), row["created_at"],
            ]  # fmt: skip
