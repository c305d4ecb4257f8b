"""What a lead does with single raters: their page, payments, a new link."""

from fastapi import APIRouter, Request, Response

from imarena.web.arena import arena_of
from imarena.web.callers import LeadCaller
from imarena.web.responses import rater_out
from imarena.web.routes.lead import CSV, CampaignId, RaterId
from imarena.web.wire_lead import InvitationMade, InvitationOut
from imarena.web.wire_raters import PaymentList, PaymentOut, RaterAnswerOut, RaterDetail, ReinvitationIn
from imarena.workflows.rating import payment_list, payments_csv, rater_details, reinvite_rater

router = APIRouter(prefix="/api/lead", tags=["lead"])


@router.get("/campaigns/{campaign_id}/payments")
def list_payments(request: Request, _caller: LeadCaller, campaign_id: CampaignId) -> PaymentList:
    """The payment list of a campaign."""
    arena = arena_of(request)
    payments = payment_list(arena.workspace, arena.voting.campaign(campaign_id))
    return PaymentList(rows=[PaymentOut.model_validate(payment) for payment in payments])


@router.get("/campaigns/{campaign_id}/payments.csv", response_class=Response, responses=CSV)
def export_payments(request: Request, _caller: LeadCaller, campaign_id: CampaignId) -> Response:
    """The same data as a table that is safe to open in a spreadsheet."""
    arena = arena_of(request)
    text = payments_csv(payment_list(arena.workspace, arena.voting.campaign(campaign_id)))
    headers = {"content-disposition": 'attachment; filename="payments.csv"'}
    return Response(text.encode("utf-8", "replace"), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/campaigns/{campaign_id}/raters/{rater_id}")
def get_rater(request: Request, _caller: LeadCaller, campaign_id: CampaignId, rater_id: RaterId) -> RaterDetail:
    """One rater's answers."""
    arena = arena_of(request)
    details = rater_details(arena.workspace, arena.voting.campaign(campaign_id), rater_id)
    answers = [RaterAnswerOut.model_validate(answer) for answer in details.answers]
    return RaterDetail.of(details, rater=rater_out(details.work), answers=answers)


@router.post("/raters/{rater_id}/invitations")
def invite_again(request: Request, caller: LeadCaller, rater_id: RaterId, body: ReinvitationIn) -> InvitationMade:
    """A new link for an existing rater: whoever opens it continues as that rater."""
    made = reinvite_rater(
        arena_of(request).workspace, rater_id, campaign=body.campaign_id, days=body.days, by_role=caller.role
    )
    shown = InvitationOut.model_validate(made.invitation)
    return InvitationMade(invitation=shown, token=made.secret, path=f"/join#{made.secret}")
