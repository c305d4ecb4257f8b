"""Wire types for leads: single raters, payments, and previews of campaigns."""

from typing import Annotated

from pydantic import Field

from imarena.routing import ParticipationOutcome
from imarena.web.wire import Wire
from imarena.web.wire_lead import Name, RaterOut
from imarena.workflows.rating import CampaignForecast, Payment, RaterAnswer


class CampaignForecastOut(CampaignForecast, Wire):
    """A preview of a campaign's tasks. Nothing is stored."""


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
    """The rater's stage in the campaign; "sheet" for a rater who only answered on a sheet."""
    outcome: ParticipationOutcome | None
    answers: list[RaterAnswerOut]
    total: int
    """Total number of answers."""


class ReinvitationIn(Wire):
    """A new link for an existing rater."""

    campaign_id: Name | None = None
    """None: the campaign that the rater joined last."""
    days: Annotated[float, Field(gt=0, le=365)] = 14
