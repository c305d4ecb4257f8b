"""`agree`: how far raters agree on ratings or votes, from a file or a workspace."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from imarena.agreement import (
    Agreement,
    RatingColumns,
    filter_ratings,
    last_answers,
    measure_agreement,
    pair_ratings,
)
from imarena.core import UserError, command_line, counted, unknown_name
from imarena.core.notices import Notice
from imarena.core.records import Rater
from imarena.stats import Recipe
from imarena.storage import Workspace, is_workspace, open_workspace
from imarena.workflows.rating import all_campaigns, campaign_progress
from imarena.workflows.studies.agreement_files import bad_value_notices
from imarena.workflows.studies.columns import ratings_from_store
from imarena.workflows.studies.pair_columns import votes_from_store

_LISTED = 3
_ANSWERS = ("ratings", "votes", "all")


def ratings_in_folder(root: Path, what: str, by: Sequence[str] = ()) -> list[RatingColumns]:
    """Raters' answers in a workspace: ratings, then votes on pairs; at least one table. `by`: item columns to add."""
    if what not in _ANSWERS:
        raise unknown_name("Unknown --what", what, _ANSWERS)
    if not is_workspace(root):
        raise UserError("No ratings are given.", hint=f"{command_line('agree --from ratings.csv')}, or --workspace DIR")
    with open_workspace(root) as workspace:
        tables = ratings_in_workspace(workspace, what, by)
        if not any(len(columns) for columns in tables):
            _refuse_unanswered(workspace)
    return [columns for columns in tables if len(columns)] or tables[:1]


def _refuse_unanswered(workspace: Workspace) -> None:
    """Raise `UserError` with the progress of the campaigns that nobody has answered yet, if there are any."""
    campaigns = [campaign_progress(workspace, campaign) for _, campaign in all_campaigns(workspace)]
    waiting = [progress for progress in campaigns if not progress.votes]
    if waiting:
        tasks = "; ".join(f"0 of {counted(row.slots, 'task')} of '{row.name}'" for row in waiting[:_LISTED])
        answered = "is" if len(waiting) == 1 and waiting[0].slots == 1 else "are"
        raise UserError(
            f"No votes or ratings yet: {tasks} {answered} answered.",
            hint=f"`{command_line('campaign invite NAME')}` makes a link for raters; "
            f"`{command_line('campaign status')}` prints progress.",
        )


def ratings_in_workspace(workspace: Workspace, what: str = "all", by: Sequence[str] = ()) -> list[RatingColumns]:
    """Ratings, then votes on pairs; either may be empty. `what`: ratings, votes or all."""
    tables = [] if what == "votes" else [ratings_from_store(workspace, by)]
    return tables + ([] if what == "ratings" else [last_answers(pair_ratings(votes_from_store(workspace, by)))])


def rater_labels(root: Path) -> dict[str, str]:
    """How `campaign` shows the raters of a workspace, by id: the name, then the id. Raters without a name are left out.

    Names are for people who run the workspace; exports, reports and publications have ids.
    """
    with open_workspace(root) as workspace:
        raters = list(workspace.store.records(Rater))
    return {rater.rater_id: f"{rater.name} ({rater.rater_id})" for rater in raters if rater.name}


def with_rater_names(notices: Iterable[Notice], people: Mapping[str, str]) -> list[Notice]:
    """The notices with names of raters."""
    return [
        notice.model_copy(update={"values": {**notice.values, "rater": people.get(rater, rater)}})
        if isinstance(rater := notice.values.get("rater"), str)
        else notice
        for notice in notices
    ]


class AgreementOptions(TypedDict, total=False):
    """The arguments of `measure_agreement` that are the same for each table."""

    rounds: int
    seed: int
    leave_one_out: bool
    recipe: Recipe
    pairs: bool


def agree_on_each(
    tables: Sequence[RatingColumns],
    by: Sequence[str],
    only: Sequence[str],
    order: Sequence[str],
    **options: Unpack[AgreementOptions],
) -> list[Agreement]:
    """Agreement on each table. Only the first uses `order` and must have all groups in `by`."""
    if only:
        tables = filter_ratings(list(tables), list(only))
    first = measure_agreement(tables[0], by=tuple(by), order=tuple(order), **options)
    beside = [
        measure_agreement(columns, by=tuple(name for name in by if name in columns.labels), order=(), **options)
        for columns in tables[1:]
    ]
    return [
        replace(agreement, notices=(*agreement.notices, *bad_value_notices(columns)))
        for agreement, columns in zip([first, *beside], tables, strict=True)
    ]
