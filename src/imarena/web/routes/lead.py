"""What a rating lead does: campaigns, progress, agreement, raters with their pages and payments, export."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from imarena.core.notices import sentences
from imarena.core.records import Campaign
from imarena.routing import CampaignPlan, forms
from imarena.web import wire_lead
from imarena.web.arena import ServedWorkspace, arena_of
from imarena.web.callers import LeadCaller
from imarena.web.requests import Cursor, Limit, PathId
from imarena.web.responses import notices_out, rater_out
from imarena.web.wire import NO_NUL
from imarena.web.wire_raters import (
    CampaignForecastOut,
    PaymentList,
    PaymentOut,
    RaterDetail,
    ReinvitationIn,
)
from imarena.workflows import rating
from imarena.workflows.rating import change_campaign as change
from imarena.workflows.rating import create_campaign as make_campaign

router = APIRouter(prefix="/api/lead", tags=["lead"])

RaterId = Annotated[str, Path(max_length=200, pattern=NO_NUL)]
CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}


@router.get("/campaigns")
def list_campaigns(
    request: Request, _caller: LeadCaller, cursor: Cursor = None, limit: Limit = 50
) -> wire_lead.CampaignPage:
    """Campaigns with their progress."""
    arena = arena_of(request)
    rows = rating.all_campaigns(arena.workspace, before=int(cursor) if cursor else None, limit=limit)
    more = str(rows[-1][0]) if len(rows) == limit else None
    campaigns = [_out(arena, campaign) for _, campaign in rows]
    return wire_lead.CampaignPage(campaigns=campaigns, total=rating.count_campaigns(arena.workspace), next_cursor=more)


@router.post("/campaigns")
def create_campaign(request: Request, _caller: LeadCaller, body: wire_lead.CampaignIn) -> wire_lead.CampaignOut:
    """Create a campaign and its assignments."""
    arena = arena_of(request)
    campaign = make_campaign(arena.workspace, CampaignPlan.model_validate(body.model_dump()))
    return _out(arena, campaign)


@router.post("/campaigns/forecast")
def preview_campaign(request: Request, _caller: LeadCaller, body: wire_lead.CampaignIn) -> CampaignForecastOut:
    """The number of tasks of a new campaign, and why there are not more. Nothing is stored."""
    plan = CampaignPlan.model_validate(body.model_dump())
    return CampaignForecastOut.model_validate(rating.forecast_campaign(arena_of(request).workspace, plan))


@router.post("/known-tasks")
def find_known_tasks(request: Request, _caller: LeadCaller, body: wire_lead.KnownIn) -> wire_lead.KnownPage:
    """Tasks with known answers, for gold, practice and tests of a new campaign. Nothing is stored."""
    workspace = arena_of(request).workspace
    if body.table:
        proposals = rating.known_tasks_from_table(workspace, body.kind, body.table)
    else:
        least = (body.least_votes, body.least_share)
        proposals = rating.known_tasks_from_votes(workspace, body.kind, tuple(body.datasets), *least)
    return wire_lead.KnownPage(
        tasks=[wire_lead.KnownOut.of(proposal, task=proposal.known) for proposal in proposals.tasks],
        problems=sentences(proposals.notices[:50], "page"),
    )


@router.get("/campaigns/{campaign_id}")
def get_campaign(request: Request, _caller: LeadCaller, campaign_id: PathId) -> wire_lead.CampaignOut:
    """One campaign with its progress, its history and the raters with warnings."""
    arena = arena_of(request)
    return _details(arena, arena.voting.campaign(campaign_id))


@router.patch("/campaigns/{campaign_id}")
def change_campaign(
    request: Request, caller: LeadCaller, campaign_id: PathId, body: wire_lead.CampaignChange
) -> wire_lead.CampaignOut:
    """Change a campaign's settings; open, close, pause or resume it. The author of the change is stored."""
    arena = arena_of(request)
    arena.voting.campaign(campaign_id)
    changed = change(arena.workspace, campaign_id, body, caller.name or caller.role or "")
    arena.voting.records.forget_plans()
    return _details(arena, changed)


@router.get("/campaigns/{campaign_id}/raters")
def list_raters(
    request: Request, _caller: LeadCaller, campaign_id: PathId, cursor: Cursor = None, limit: Limit = 50
) -> wire_lead.RaterPage:
    """Each rater's work, with warnings."""
    arena = arena_of(request)
    campaign, pace = arena.voting.campaign(campaign_id), forms().pace
    page = rating.rater_work_page(arena.workspace, campaign, limit, after=int(cursor) if cursor else 0)
    return wire_lead.RaterPage(
        raters=[rater_out(work) for work in page.raters],
        total=page.total,
        least_look_s=pace.least_s.get(campaign.kind, 0.0),
        least_answers=pace.least_answers,
        next_cursor=None if page.after is None else str(page.after),
    )


@router.patch("/campaigns/{campaign_id}/raters/{rater_id}")
def change_rater(
    request: Request, _caller: LeadCaller, campaign_id: PathId, rater_id: RaterId, body: wire_lead.RaterChange
) -> wire_lead.RaterOut:
    """Pause or resume a rater."""
    arena = arena_of(request)
    campaign = arena.voting.campaign(campaign_id)
    return rater_out(rating.pause_rater(arena.workspace, campaign, rater_id, active=body.active))


@router.put("/raters/{rater_id}/exclusion")
def exclude(
    request: Request, caller: LeadCaller, rater_id: RaterId, body: wire_lead.ExclusionIn
) -> wire_lead.ExclusionOut:
    """Exclude a rater's votes, all or from a time on. Nothing is deleted."""
    who = caller.name or caller.role or ""
    workspace = arena_of(request).workspace
    change = rating.exclude_rater(workspace, rater_id, since=body.since, reason=body.reason, by=who)
    return wire_lead.ExclusionOut.model_validate(change)


@router.delete("/raters/{rater_id}/exclusion")
def include(request: Request, caller: LeadCaller, rater_id: RaterId) -> wire_lead.ExclusionOut:
    """Include a rater's votes again."""
    who = caller.name or caller.role or ""
    return wire_lead.ExclusionOut.model_validate(
        rating.include_rater(arena_of(request).workspace, rater_id, reason="", by=who)
    )


@router.get("/campaigns/{campaign_id}/agreement")
def get_agreement(request: Request, _caller: LeadCaller, campaign_id: PathId) -> wire_lead.AgreementReport:
    """Measure agreement among raters."""
    arena = arena_of(request)
    criteria = rating.agreement(arena.workspace, arena.voting.campaign(campaign_id), "page")
    return wire_lead.AgreementReport(
        criteria=[wire_lead.AgreementOut.model_validate(criterion) for criterion in criteria]
    )


@router.get("/campaigns/{campaign_id}/skips")
def get_skips(request: Request, _caller: LeadCaller, campaign_id: PathId) -> wire_lead.SkipReport:
    """The reasons why tasks were skipped."""
    arena = arena_of(request)
    skipped = rating.skip_reasons(arena.workspace, arena.voting.campaign(campaign_id))
    return wire_lead.SkipReport(reasons=[wire_lead.SkipReason.model_validate(tasks) for tasks in skipped])


@router.get("/campaigns/{campaign_id}/export.csv", response_class=Response, responses=CSV)
def export_campaign(request: Request, _caller: LeadCaller, campaign_id: PathId) -> Response:
    """All live votes of a campaign, as a table that is safe to open in a spreadsheet."""
    arena = arena_of(request)
    text = rating.export_csv(arena.workspace, arena.voting.campaign(campaign_id))
    headers = {"content-disposition": 'attachment; filename="votes.csv"'}
    return Response(text.encode("utf-8", "replace"), media_type="text/csv; charset=utf-8", headers=headers)


def _out(arena: ServedWorkspace, campaign: Campaign) -> wire_lead.CampaignOut:
    """A campaign for a list: without its history and notices, which would need all votes."""
    return wire_lead.CampaignOut.of(rating.campaign_progress(arena.workspace, campaign), history=[], notices=[])


def _details(arena: ServedWorkspace, campaign: Campaign) -> wire_lead.CampaignOut:
    changed = [
        wire_lead.CampaignChanged.model_validate(edit) for edit in rating.campaign_history(arena.workspace, campaign)
    ]
    notices = arena.leaderboards.get_or_compute(
        ("rater notices", campaign.campaign_id),
        lambda: [notice for work in rating.rater_work(arena.workspace, campaign) for notice in work.notices],
    )
    return _out(arena, campaign).model_copy(update={"history": changed, "notices": notices_out(notices)})


@router.get("/campaigns/{campaign_id}/payments")
def list_payments(request: Request, _caller: LeadCaller, campaign_id: PathId) -> PaymentList:
    """The payment list of a campaign."""
    arena = arena_of(request)
    payments = rating.payment_list(arena.workspace, arena.voting.campaign(campaign_id))
    return PaymentList(rows=[PaymentOut.model_validate(payment) for payment in payments])


@router.get("/campaigns/{campaign_id}/payments.csv", response_class=Response, responses=CSV)
def export_payments(request: Request, _caller: LeadCaller, campaign_id: PathId) -> Response:
    """The same data as a table that is safe to open in a spreadsheet."""
    arena = arena_of(request)
    text = rating.payments_csv(rating.payment_list(arena.workspace, arena.voting.campaign(campaign_id)))
    headers = {"content-disposition": 'attachment; filename="payments.csv"'}
    return Response(text.encode("utf-8", "replace"), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/campaigns/{campaign_id}/raters/{rater_id}")
def get_rater(request: Request, _caller: LeadCaller, campaign_id: PathId, rater_id: RaterId) -> RaterDetail:
    """One rater's answers."""
    arena = arena_of(request)
    details = rating.rater_details(arena.workspace, arena.voting.campaign(campaign_id), rater_id)
    return RaterDetail.of(details, rater=rater_out(details.work))


@router.post("/raters/{rater_id}/invitations")
def invite_again(
    request: Request, caller: LeadCaller, rater_id: RaterId, body: ReinvitationIn
) -> wire_lead.InvitationMade:
    """A new link for an existing rater: whoever opens it continues as that rater."""
    invited = rating.reinvite_rater(
        arena_of(request).workspace, rater_id, campaign=body.campaign_id, days=body.days, by_role=caller.role
    )
    return wire_lead.InvitationMade.of(invited, token=invited.secret)
