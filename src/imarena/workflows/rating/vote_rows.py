"""Votes and ratings as plain tables: rows streamed from the store, and one campaign as CSV."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select

from imarena.core import NOT_COUNTED, moment_text
from imarena.core.records import Campaign, Item, Output, Verification, Vote
from imarena.reports.tables import csv_rows
from imarena.storage import Workspace, from_row, reading
from imarena.storage.schema import assignments, verifications
from imarena.workflows.rating.answers import answered_tasks
from imarena.workflows.views import View, counting_votes, uncounted_votes

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
    """Preferences that count, with the names of editors and items (`VOTE_COLUMNS`)."""
    editors, items = _names(workspace)
    for vote in counting_votes(View(workspace), campaign_id):
        item = items[vote.item_id]
        if vote.preference is not None:
            yield [
                editors.get(vote.left_id), editors.get(vote.right_id or ""), vote.preference.value, item["key"],
                vote.rater_id, item["dataset"], item["task"], item["topic"], vote.dimension,
                vote.comment or None, vote.time_spent_s, moment_text(vote.created_at), vote.vote_id,
            ]  # fmt: skip


def rating_rows(workspace: Workspace, campaign_id: str | None = None) -> Iterator[list[object]]:
    """Ratings that count, one row per criterion (`RATING_COLUMNS`): a unit is an output.

    Issues and comments are repeated on each row.
    """
    editors, items = _names(workspace)
    for vote in counting_votes(View(workspace), campaign_id):
        item = items[vote.item_id]
        low, high = vote.scale or (None, None)
        issues = [issue.model_dump(mode="json", exclude_defaults=True) for issue in vote.issues] or None
        for criterion, value in vote.ratings.items():
            yield [
                vote.left_id, vote.rater_id, value, criterion, editors.get(vote.left_id), item["task"],
                item["topic"], item["dataset"], item["key"], low, high, issues, vote.comment or None,
                vote.time_spent_s, moment_text(vote.created_at),
            ]  # fmt: skip


# ---------------------------------------------------------------- one campaign


_CAMPAIGN_COLUMNS = (
    "left", "right", "winner", "item", "rater", "dataset", "task", "topic", "purpose", "dimension", "ratings",
    "issues", "comment", "time_spent_s", "created_at", "unit", "vote_id", "measured_time_s", "handed_out_at",
    "pictures_served_at", "seen", NOT_COUNTED,
)  # fmt: skip
"""`not_counted` is the reason why a vote does not count: practice, test, gold, repeat, rater excluded, or
shown with the source of the left output only.

`time_spent_s` is claimed by the rater, `measured_time_s` measured by the server. `seen`: "yes" if the server sent all
pictures, "unseen by the server" if it did not, empty if an earlier version did not record it.
"""


def export_csv(workspace: Workspace, campaign: Campaign) -> str:
    """All live votes of a campaign as CSV, or all verdicts of a check campaign. `imarena rank --from` reads the votes.

    Includes answers to check tasks and votes of excluded raters, marked in `not_counted`.
    """
    if campaign.kind == "check":
        return _export_checks(workspace, campaign)
    editors, about = _names(workspace)
    uncounted = uncounted_votes(View(workspace))

    def rows() -> Iterator[Sequence[object]]:
        for cast in answered_tasks(workspace, campaign, excluded=True):
            vote, item = cast.vote, about[cast.vote.item_id]
            yield (
                editors.get(vote.left_id), editors.get(vote.right_id or ""),
                vote.preference.value if vote.preference else None, item["key"], vote.rater_id, item["dataset"],
                item["task"], item["topic"], cast.assignment.purpose, vote.dimension,
                json.dumps(vote.ratings) if vote.ratings else None,
                json.dumps([issue.model_dump(exclude_defaults=True) for issue in vote.issues]) if vote.issues else None,
                vote.comment, vote.time_spent_s, vote.created_at.isoformat(), cast.assignment.unit, vote.vote_id,
                vote.measured_time_s, _moment(vote.handed_out_at), _moment(vote.pictures_served_at), _seen(vote),
                uncounted.get(vote.vote_id),
            )  # fmt: skip

    return "".join(csv_rows(_CAMPAIGN_COLUMNS, rows()))


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _seen(vote: Vote) -> str | None:
    if vote.unseen:
        return "unseen by the server"
    return None if vote.pictures_served_at is None else "yes"


def _export_checks(workspace: Workspace, campaign: Campaign) -> str:
    query = (
        select(verifications)
        .join(assignments, assignments.c.item_id == verifications.c.item_id)
        .where(assignments.c.campaign_id == campaign.campaign_id)
        .order_by(verifications.c.seq)
        .distinct()
    )
    with reading(workspace.store.engine) as connection:
        checks = [from_row(Verification, row) for row in connection.execute(query).mappings()]
    about = {row["id"]: row for row in workspace.store.rows(Item)}
    names = ("item", "dataset", "rater", "decision", "checks", "comment", "created_at")

    def rows() -> Iterator[Sequence[object]]:
        for check in checks:
            item = about[check.item_id]
            yield (
                item["key"], item["dataset"], check.rater_id, check.decision, json.dumps(check.checks),
                check.comment, check.created_at.isoformat(),
            )  # fmt: skip

    return "".join(csv_rows(names, rows()))
