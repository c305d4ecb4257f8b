"""What a rating lead does: campaigns, progress, agreement, raters, export."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from imarena.web.callers import LeadCaller
from imarena.web.problems import Refused
from imarena.web.wire_lead import (
    AgreementReport,
    CampaignChange,
    CampaignIn,
    CampaignOut,
    CampaignPage,
    RaterChange,
    RaterOut,
    RaterPage,
)

router = APIRouter(prefix="/api/lead", tags=["lead"])

CampaignId = Annotated[str, Path(max_length=100)]
RaterId = Annotated[str, Path(max_length=200)]
Cursor = Annotated[str | None, Query(max_length=100, pattern=r"^[0-9]{1,15}$")]
Limit = Annotated[int, Query(ge=1, le=200)]
CSV = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}


@router.get("/campaigns")
def list_campaigns(request: Request, caller: LeadCaller, cursor: Cursor = None, limit: Limit = 50) -> CampaignPage:
    """Campaigns with how far they are."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/campaigns")
def create_campaign(request: Request, caller: LeadCaller, body: CampaignIn) -> CampaignOut:
    """Make a campaign and its assignments."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/campaigns/{campaign_id}")
def get_campaign(request: Request, caller: LeadCaller, campaign_id: CampaignId) -> CampaignOut:
    """One campaign with how far it is."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.patch("/campaigns/{campaign_id}")
def change_campaign(request: Request, caller: LeadCaller, campaign_id: CampaignId, body: CampaignChange) -> CampaignOut:
    """Open or close a campaign."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/campaigns/{campaign_id}/raters")
def list_raters(
    request: Request, caller: LeadCaller, campaign_id: CampaignId, cursor: Cursor = None, limit: Limit = 50
) -> RaterPage:
    """Each rater's work, and who stands out."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.patch("/campaigns/{campaign_id}/raters/{rater_id}")
def change_rater(
    request: Request, caller: LeadCaller, campaign_id: CampaignId, rater_id: RaterId, body: RaterChange
) -> RaterOut:
    """Pause a rater, or let them go on."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/campaigns/{campaign_id}/agreement")
def get_agreement(request: Request, caller: LeadCaller, campaign_id: CampaignId) -> AgreementReport:
    """Agreement among raters."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/campaigns/{campaign_id}/export.csv", response_class=Response, responses=CSV)
def export_campaign(request: Request, caller: LeadCaller, campaign_id: CampaignId) -> Response:
    """All live votes of a campaign as a table that a spreadsheet opens safely."""
    raise Refused(501, "not_ready", "Not built yet.")
