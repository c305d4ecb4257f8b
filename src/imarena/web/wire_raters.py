"""What goes over the wire to leads about single raters, payments, and campaigns before they are made."""

from typing import Annotated

from pydantic import Field

from imarena.routing import ParticipationOutcome
from imarena.web.wire import Wire
from imarena.web.wire_lead import Name, RaterOut
from imarena.workflows.rating import Payment, RaterAnswer


class LeftOutReason(Wire):
    """A reason why units are left out, with a count."""

    reason: str
    text: str
    count: int


class CampaignForecastOut(Wire):
    """A preview of a campaign's tasks. Nothing is stored."""

    units: int
    raters_per_unit: int
    tasks: int
    checks: int
    """Practice, test and gold tasks."""
    repeats: int
    """About how many tasks are shown again, if as few raters as possible answer all units."""
    reasons: list[LeftOutReason]
    """Why there are fewer units than there could be."""


class PaymentOut(Payment, Wire):
    """One rater's entry in the payment list."""


class PaymentList(Wire):
    """All raters of a campaign, in the order in which they joined."""

    rows: list[PaymentOut]


class RaterAnswerOut(RaterAnswer, Wire):
    """One answer of a rater."""


class RaterDetail(Wire):
    """A rater's page: the work in a campaign and the newest answers, at most 200."""

    rater: RaterOut
    stage: str
    """Where the rater is in the campaign; "sheet" for who answered on a sheet only."""
    outcome: ParticipationOutcome | None
    answers: list[RaterAnswerOut]
    total: int
    """How many answers there are."""


class ReinvitationIn(Wire):
    """A new link for an existing rater."""

    campaign_id: Name | None = None
    """None: the campaign that the rater joined last."""
    days: Annotated[float, Field(gt=0, le=365)] = 14
