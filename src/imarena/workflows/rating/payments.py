"""Payments: each rater's tasks, checks, time and completion code in a campaign."""

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from imarena.core.records import Campaign
from imarena.reports.tables import csv_rows
from imarena.routing import ParticipationOutcome, RaterStanding, completion_code, participation_outcome, plan_of
from imarena.storage import Workspace
from imarena.workflows.rating.answers import answered_tasks
from imarena.workflows.rating.rater_work import RaterWork, rater_work
from imarena.workflows.rating.voting import Voting

COLUMNS = (
    "rater", "name", "params", "tasks", "checks_passed", "checks_asked", "minutes", "outcome", "completion_code",
    "excluded",
)  # fmt: skip
LONGEST_S = 600.0
"""Maximum working time per answer, in seconds: a page left open over lunch is not work."""


class Payment(BaseModel, frozen=True, extra="forbid"):
    """One rater's work, as a basis for payment."""

    rater_id: str
    name: str
    params: Mapping[str, str]
    """Parameters that a crowd platform added to the link, such as the person's id there."""
    tasks: int
    """Answers, including gold and repeats, but not practice and test."""
    checks_passed: int
    checks_asked: int
    """Gold, repeats and test tasks."""
    minutes: float | None
    """Measured by the server if known, else as claimed by the rater; at most ten minutes per answer count."""
    outcome: ParticipationOutcome | None
    """How the participation ended; None while there is more to do."""
    completion_code: str | None
    excluded: bool


def payment_list(workspace: Workspace, campaign: Campaign) -> list[Payment]:
    """All raters of a campaign, in the order in which they joined."""
    seconds: dict[str, float] = {}
    for cast in answered_tasks(workspace, campaign, excluded=True):
        vote = cast.vote
        time = vote.time_spent_s if vote.measured_time_s is None else vote.measured_time_s
        if time is not None:
            seconds[vote.rater_id] = seconds.get(vote.rater_id, 0.0) + min(time, LONGEST_S)
    voting = Voting(workspace)
    return [
        _payment(work, campaign, seconds.get(work.rater_id), rater_stage(voting, campaign, work))
        for work in rater_work(workspace, campaign)
    ]


def rater_stage(voting: Voting, campaign: Campaign, work: RaterWork) -> RaterStanding | None:
    """A rater's standing in a campaign; None for a rater who answered only on a sheet."""
    return None if work.sheet else voting.forecast(campaign.campaign_id, work.rater_id)[0]


def _payment(work: RaterWork, campaign: Campaign, seconds: float | None, standing: RaterStanding | None) -> Payment:
    plan = plan_of(campaign)
    outcome = None if standing is None else participation_outcome(plan, standing)
    return Payment(
        rater_id=work.rater_id,
        name=work.name,
        params=dict(work.params),
        tasks=work.votes,
        checks_passed=work.gold_right + work.repeats_same + work.test_right,
        checks_asked=work.gold_asked + work.repeats_asked + work.test_asked,
        minutes=None if seconds is None else round(seconds / 60, 1),
        outcome=outcome,
        completion_code=completion_code(plan, outcome),
        excluded=work.excluded,
    )


def payments_csv(payments: list[Payment]) -> str:
    """The payments as CSV that is safe to open in a spreadsheet."""

    def rows() -> Iterator[tuple[object, ...]]:
        for payment in payments:
            params = "; ".join(f"{name}={value}" for name, value in payment.params.items())
            yield (
                payment.rater_id, payment.name, params, payment.tasks, payment.checks_passed, payment.checks_asked,
                payment.minutes, payment.outcome, payment.completion_code, "yes" if payment.excluded else None,
            )  # fmt: skip

    return "".join(csv_rows(COLUMNS, rows()))
