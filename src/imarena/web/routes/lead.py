"""What a rating lead does: campaigns, progress, agreement, raters, export."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from imarena.core.notices import sentences
from imarena.core.records import Campaign
from imarena.routing import CampaignPlan, forms
from imarena.web.arena import ServedWorkspace, arena_of
from imarena.web.callers import LeadCaller
from imarena.web.responses_lead import rater_line
from imarena.web.wire import NO_NUL
from imarena.web.wire_lead import (
    AgreementOut,
    AgreementReport,
    CampaignChange,
    CampaignChanged,
    CampaignIn,
    CampaignOut,
    CampaignPage,
    GoldIn,
    KnownIn,
    KnownOut,
    KnownPage,
    RaterChange,
    RaterOut,
    RaterPage,
    SkipReason,
    SkipReport,
)
from imarena.workflows.rating import (
    KnownTaskProposal,
    agreement,
    all_campaigns,
    campaign_progress,
    count_campaigns,
    export_csv,
    history,
    known_tasks_from_table,
    known_tasks_from_votes,
    pause_rater,
    rater_work,
    skip_reasons,
)
from imarena.workflows.rating import change_campaign as change
from imarena.workflows.rating import create_campaign as make_campaign

router = APIRouter(prefix="/api/lead", tags=["lead"])

CampaignId = Annotated[str, Path(max_length=100, pattern=NO_NUL)]
RaterId = Annotated[str, Path(max_length=200, pattern=NO_NUL)]
Cursor = Annotated[str | None, Query(max_length=100, pattern=r"^[0-9]{1,15}$")]
Limit = Annotated[int, Query(ge=1, le=200)]
CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}


@router.get("/campaigns")
def list_campaigns(request: Request, _caller: LeadCaller, cursor: Cursor = None, limit: Limit = 50) -> CampaignPage:
    """Campaigns with how far they are."""
    arena = arena_of(request)
    rows = all_campaigns(arena.workspace, before=int(cursor) if cursor else None, limit=limit)
    more = str(rows[-1][0]) if len(rows) == limit else None
    found = [_out(arena, campaign) for _, campaign in rows]
    return CampaignPage(campaigns=found, total=count_campaigns(arena.workspace), next_cursor=more)


@router.post("/campaigns")
def create_campaign(request: Request, _caller: LeadCaller, body: CampaignIn) -> CampaignOut:
    """Make a campaign and its assignments."""
    arena = arena_of(request)
    campaign = make_campaign(arena.workspace, CampaignPlan.model_validate(body.model_dump()))
    return _out(arena, campaign)


@router.post("/known-tasks")
def find_known_tasks(request: Request, _caller: LeadCaller, body: KnownIn) -> KnownPage:
    """Tasks whose answer is known, for gold, practice and tests of a new campaign. Nothing is stored."""
    workspace = arena_of(request).workspace
    if body.table:
        found = known_tasks_from_table(workspace, body.kind, body.table)
    else:
        least = (body.least_votes, body.least_share)
        found = known_tasks_from_votes(workspace, body.kind, tuple(body.datasets), *least)
    return KnownPage(tasks=[_known(one) for one in found.tasks], problems=sentences(found.notices[:50], "page"))


@router.get("/campaigns/{campaign_id}")
def get_campaign(request: Request, _caller: LeadCaller, campaign_id: CampaignId) -> CampaignOut:
    """One campaign with how far it is."""
    arena = arena_of(request)
    return _out(arena, arena.voting.campaign(campaign_id))


@router.patch("/campaigns/{campaign_id}")
def change_campaign(request: Request, caller: LeadCaller, campaign_id: CampaignId, body: CampaignChange) -> CampaignOut:
    """Change a campaign's settings; open, close, pause it or let it go on. Who did is kept with it."""
    arena = arena_of(request)
    arena.voting.campaign(campaign_id)
    changed = change(arena.workspace, campaign_id, body, caller.name or caller.role or "")
    arena.voting.shelves.forget_plans()
    return _out(arena, changed)


@router.get("/campaigns/{campaign_id}/raters")
def list_raters(
    request: Request, _caller: LeadCaller, campaign_id: CampaignId, cursor: Cursor = None, limit: Limit = 50
) -> RaterPage:
    """Each rater's work, and who stands out."""
    arena = arena_of(request)
    after = int(cursor) if cursor else 0
    campaign, pace = arena.voting.campaign(campaign_id), forms().pace
    everybody = rater_work(arena.workspace, campaign)
    found = [work for work in everybody if work.seq > after]
    return RaterPage(
        raters=[rater_line(work) for work in found[:limit]],
        total=len(everybody),
        least_look_s=pace.least_s.get(campaign.kind, 0.0),
        least_answers=pace.least_answers,
        next_cursor=str(found[limit - 1].seq) if len(found) > limit else None,
    )


@router.patch("/campaigns/{campaign_id}/raters/{rater_id}")
def change_rater(
    request: Request, _caller: LeadCaller, campaign_id: CampaignId, rater_id: RaterId, body: RaterChange
) -> RaterOut:
    """Pause a rater, or let them go on."""
    arena = arena_of(request)
    campaign = arena.voting.campaign(campaign_id)
    return rater_line(pause_rater(arena.workspace, campaign, rater_id, active=body.active))


@router.get("/campaigns/{campaign_id}/agreement")
def get_agreement(request: Request, _caller: LeadCaller, campaign_id: CampaignId) -> AgreementReport:
    """Agreement among raters."""
    arena = arena_of(request)
    found = agreement(arena.workspace, arena.voting.campaign(campaign_id), "page")
    return AgreementReport(criteria=[AgreementOut(**asdict(one)) for one in found])


@router.get("/campaigns/{campaign_id}/skips")
def get_skips(request: Request, _caller: LeadCaller, campaign_id: CampaignId) -> SkipReport:
    """Why tasks were skipped."""
    arena = arena_of(request)
    found = skip_reasons(arena.workspace, arena.voting.campaign(campaign_id))
    some = [
        SkipReason(
            reason=one.reason, count=one.count, n_items=len(one.items),
            items=list(one.items[:20]), words=list(one.words[:20]),
        )
        for one in found
    ]  # fmt: skip
    return SkipReport(reasons=some)


@router.get("/campaigns/{campaign_id}/export.csv", response_class=Response, responses=CSV)
def export_campaign(request: Request, _caller: LeadCaller, campaign_id: CampaignId) -> Response:
    """All live votes of a campaign as a table that a spreadsheet opens safely."""
    arena = arena_of(request)
    text = export_csv(arena.workspace, arena.voting.campaign(campaign_id))
    return csv_response(text, "votes.csv")


def csv_response(text: str, name: str) -> Response:
    """A table to be saved, never shown by the browser as a page."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8", "replace"), media_type="text/csv; charset=utf-8", headers=headers)


def _known(found: KnownTaskProposal) -> KnownOut:
    told = {name: getattr(found, name) for name in ("item", "instruction", "left", "right", "votes", "use")}
    return KnownOut(task=GoldIn(**found.known.model_dump()), **told)


def _out(arena: ServedWorkspace, campaign: Campaign) -> CampaignOut:
    settings: dict[str, object] = {name: value for name, value in campaign.settings.items() if name != "history"}
    changed = [CampaignChanged(**asdict(one)) for one in history(campaign)]
    found = campaign_progress(arena.workspace, campaign).to_json()
    return CampaignOut(**found, settings=settings, history=changed)
