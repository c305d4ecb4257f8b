"""Routes for raters: consent, get a task, answer, skip, undo; reserve the next task and give it back."""

from asyncio import wrap_future
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.concurrency import run_in_threadpool

from imarena.web import wire
from imarena.web.arena import ServedWorkspace, arena_of
from imarena.web.callers import Caller, RaterCaller, the_rater
from imarena.web.problems import RequestRefused
from imarena.web.requests import Cursor, Limit, PathId
from imarena.web.responses import answer_of, nothing_left, rater_campaign, task_out, task_out_soon
from imarena.workflows import rating
from imarena.workflows.rating import HeldTask, campaigns_of_rater, raise_refusal, release_task, submit_prefetch
from imarena.workflows.serving import check_marked_places

router = APIRouter(prefix="/api", tags=["rating"])

TaskAddress = Annotated[str, Path(max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]


def rater_of(caller: Caller) -> str:
    """The rater's id; the route has already checked that there is one."""
    if caller.rater_id is None:
        raise RequestRefused(403, "not_allowed", "Only raters may do this.")
    return caller.rater_id


def _joined(arena: ServedWorkspace, caller: Caller, campaign_id: str) -> str:
    """The rater's id; leads, who need no invitation, join the campaign first."""
    rater_id = rater_of(caller)
    if caller.leads:
        arena.voting.join(campaign_id, rater_id)
    return rater_id


@router.get("/rating/campaigns")
def list_my_campaigns(
    request: Request, caller: RaterCaller, cursor: Cursor = None, limit: Limit = 50
) -> wire.RaterCampaignPage:
    """The campaigns of this rater; for leads, all open campaigns."""
    arena, rater_id = arena_of(request), rater_of(caller)
    after = int(cursor) if cursor else 0
    joined = campaigns_of_rater(arena.workspace, rater_id, leads=caller.leads, after=after, limit=limit)
    campaigns = (rater_campaign(arena, key, rater_id, leads=caller.leads) for _, key in joined.campaigns)
    more = str(joined.campaigns[-1][0]) if len(joined.campaigns) == limit else None
    return wire.RaterCampaignPage(
        campaigns=[campaign for campaign in campaigns if campaign is not None], total=joined.total, next_cursor=more
    )


@router.post("/rating/campaigns/{campaign_id}/consent")
def give_consent(request: Request, caller: RaterCaller, campaign_id: PathId, body: wire.Consent) -> wire.Done:  # noqa: ARG001
    """Give consent to take part."""
    arena = arena_of(request)
    arena.voting.consent(campaign_id, _joined(arena, caller, campaign_id))
    return wire.Done()


@router.post("/rating/campaigns/{campaign_id}/next")
async def take_next(request: Request, campaign_id: PathId) -> wire.Next:
    """The rater's current task, or a new one. Repeated requests return the same task until it is answered."""
    arena, caller = arena_of(request), await the_rater(request)
    joined = await run_in_threadpool(_joined, arena, caller, campaign_id) if caller.leads else rater_of(caller)
    result = await wrap_future(arena.voting.next_soon(campaign_id, joined, leads=caller.leads))
    if isinstance(result, HeldTask):
        return wire.Next(stage=result.standing.stage, task=await task_out_soon(arena, result))
    if result.stage == "not_invited":
        raise RequestRefused(403, "not_invited", "You do not take part in this campaign.")
    return nothing_left(arena, campaign_id, result)


@router.post("/rating/campaigns/{campaign_id}/undo")
def undo_last(request: Request, caller: RaterCaller, campaign_id: PathId) -> wire.TaskOut:
    """Undo the last vote and return its task."""
    arena = arena_of(request)
    return task_out(arena, rating.undo_vote(arena.voting, campaign_id, rater_of(caller)))


@router.get("/tasks/{address}")
def get_task(request: Request, caller: RaterCaller, address: TaskAddress) -> wire.TaskOut:
    """The rater's current task."""
    arena = arena_of(request)
    return task_out(arena, arena.voting.task(address, rater_of(caller)))


@router.get("/tasks/{address}/segments")
def get_segments(request: Request, caller: RaterCaller, address: TaskAddress) -> wire.Segments:
    """Numbered regions of the rated image."""
    arena = arena_of(request)
    assignment = arena.voting.shown(address, rater_of(caller))
    image = arena.voting.records.picture(assignment, "left")
    if image is None or assignment.kind != "rating":
        raise RequestRefused(404, "not_found", "This task has no regions.")
    shape = arena.pictures.shape(image)
    regions = [
        wire.SegmentOut(
            number=region.number,
            outlines=[list(outline) for outline in region.outlines],
            label_x=region.label[0],
            label_y=region.label[1],
            box=region.box,
        )
        for region in arena.pictures.regions(image)
    ]
    return wire.Segments(width=shape.width, height=shape.height, segments=regions)


@router.post("/tasks/{address}/vote")
async def post_vote(request: Request, address: TaskAddress, body: wire.Ballot) -> wire.Receipt:
    """Answer a task. Posting the same key with the same answer again gives the same receipt and stores nothing new.

    A browser's answer is accepted after each image of the task was requested, and after the minimum time.
    """
    arena, caller, answer = arena_of(request), await the_rater(request), answer_of(body)
    rater_id = rater_of(caller)
    if answer.issues:
        await run_in_threadpool(check_marked_places, arena.voting, arena.pictures, address, rater_id, answer)
    voting, key = arena.voting, body.idempotency_key
    if caller.machine:
        counted = await wrap_future(voting.vote_soon(address, rater_id, key, answer))
    else:
        counted = await voting.vote_of_browser(address, rater_id, key, answer)
    return wire.Receipt.model_validate(raise_refusal(counted))


@router.post("/tasks/{address}/skip")
def skip_task(request: Request, caller: RaterCaller, address: TaskAddress, body: wire.SkipIn) -> wire.Done:
    """Skip a task, with a reason."""
    arena = arena_of(request)
    rating.skip_task(
        arena.voting, address, rater_of(caller), f"{body.reason}: {body.note}" if body.note else body.reason
    )
    return wire.Done()


@router.post("/tasks/{address}/unskip")
def unskip_task(request: Request, caller: RaterCaller, address: TaskAddress) -> wire.TaskOut:
    """Undo a skip. The task returns under a new address, unless another rater has taken it."""
    arena = arena_of(request)
    return task_out(arena, rating.unskip_task(arena.voting, address, rater_of(caller)))


@router.post("/rating/campaigns/{campaign_id}/ahead")
async def look_ahead(request: Request, campaign_id: PathId) -> wire.Ahead:
    """The next task, for fetching its images. It is reserved for two minutes after each request."""
    arena, rater_id = arena_of(request), rater_of(await the_rater(request))
    task = await wrap_future(submit_prefetch(arena.voting, campaign_id, rater_id))
    return wire.Ahead(task=await task_out_soon(arena, task) if task is not None else None)


@router.post("/tasks/{address}/give-back")
def give_task_back(request: Request, caller: RaterCaller, address: TaskAddress) -> wire.Done:
    """Release a reserved task for other raters. The current task is not changed."""
    release_task(arena_of(request).voting, address, rater_of(caller))
    return wire.Done()
