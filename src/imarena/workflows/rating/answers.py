"""The live votes of a campaign, and their values by criterion."""

from collections.abc import Iterator, Sequence

from sqlalchemy import select

from imarena.core.records import Campaign, Vote
from imarena.stats import PAIR_CODES
from imarena.storage import Workspace
from imarena.storage.schema import assignments, leases, votes
from imarena.workflows.rating.sheets import VOTE_OF_TASK, AnsweredTask, answers_in_force, sheet_votes


def answered_tasks(workspace: Workspace, campaign: Campaign, *, excluded: bool = False) -> Iterator[AnsweredTask]:
    """All live votes of a campaign, those that came on a sheet last. `excluded`: also of raters who are excluded."""
    query = (
        select(assignments, *VOTE_OF_TASK)
        .join(leases, leases.c.assignment_id == assignments.c.id)
        .join(votes, votes.c.id == leases.c.vote_id)
        .where(leases.c.campaign_id == campaign.campaign_id, leases.c.state == "done")
    )
    yield from answers_in_force(workspace, query, excluded=excluded)
    yield from sheet_votes(workspace, campaign, excluded=excluded)


def preference_label(vote: Vote) -> float | None:
    """A preference as a label that does not depend on the sides shown: the outputs in the order of their ids."""
    if vote.preference is None or vote.right_id is None:
        return None
    return PAIR_CODES[(vote.preference if vote.left_id < vote.right_id else vote.preference.mirrored()).value]


def answers_by_criterion(answered: Sequence[AnsweredTask]) -> dict[str, tuple[list[str], list[str], list[float]]]:
    """Units, raters and values by criterion, of real work only; of two answers by one rater the newer counts."""
    values_by_criterion: dict[str, dict[tuple[str, str], float]] = {}
    for cast in answered:
        if cast.assignment.purpose != "vote":
            continue
        mark = preference_label(cast.vote)
        values = cast.vote.ratings if mark is None else {"preference": mark}
        for criterion, value in values.items():
            values_by_criterion.setdefault(criterion, {})[cast.assignment.unit, cast.vote.rater_id] = value
    return {
        criterion: ([unit for unit, _ in by_unit], [rater for _, rater in by_unit], list(by_unit.values()))
        for criterion, by_unit in values_by_criterion.items()
    }
