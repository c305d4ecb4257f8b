"""``imarena campaign exclude, include``: whose votes count."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from imarena.cli.console import emit, fail, session_workspace
from imarena.core import counted

if TYPE_CHECKING:
    from imarena.workflows.rating import ExclusionChange

RaterName = Annotated[str, typer.Argument(help="The rater's id, or name.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="The reason; stored with the decision.")]
By = Annotated[str, typer.Option("--by", help="Your name; stored with the decision.")]


def exclude(
    context: typer.Context,
    rater: RaterName,
    reason: ReasonOption,
    since: Annotated[
        str, typer.Option("--from", help="Only votes from this day on, such as 2026-11-01, or moment (UTC).")
    ] = "",
    by: By = "command line",
) -> None:
    """Exclude a rater's votes from boards, agreement, exports and plans. Nothing is deleted; `include` undoes it.

    This holds for all campaigns, so the command takes a rater and no campaign.
    Example: imarena campaign exclude Ana --reason "answers at random"
    """
    from imarena.workflows.rating import exclude_rater

    with session_workspace(context) as workspace:
        change = exclude_rater(workspace, rater, since=_moment(since), reason=reason, by=by)
    start = f" from {change.since} on" if change.since else ""
    _emit(context, change, f"{counted(change.votes, 'vote')} of {_label(change)}{start} no longer count.")


def include(
    context: typer.Context,
    rater: RaterName,
    reason: ReasonOption = "",
    by: By = "command line",
) -> None:
    """Count the votes of an excluded rater again, in all campaigns. Example: imarena campaign include Ana"""
    from imarena.workflows.rating import include_rater

    with session_workspace(context) as workspace:
        change = include_rater(workspace, rater, reason=reason, by=by)
    _emit(context, change, f"{counted(change.votes, 'vote')} of {_label(change)} count again.")


def _emit(context: typer.Context, change: "ExclusionChange", text: str) -> None:
    emit(context, change.model_dump(), lambda console: console.print(text, soft_wrap=True))


def _label(change: "ExclusionChange") -> str:
    return f"{change.name} ({change.rater_id})" if change.name else change.rater_id


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        fail(f"--from '{text}' is not a date.", hint="Write a day such as 2026-11-01, or 2026-11-01T12:00.")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
