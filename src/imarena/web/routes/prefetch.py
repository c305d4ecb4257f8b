"""The task after the one in hand: kept ready, and given back."""

from asyncio import wrap_future

from fastapi import APIRouter, Request

from imarena.web.arena import arena_of
from imarena.web.callers import RaterCaller, the_rater
from imarena.web.responses import task_out_soon
from imarena.web.routes.rating import Address, CampaignId, rater_of
from imarena.web.wire import Ahead, Done
from imarena.workflows.rating import release_task, submit_prefetch

router = APIRouter(prefix="/api", tags=["rating"])


@router.post("/rating/campaigns/{campaign_id}/ahead")
async def look_ahead(request: Request, campaign_id: CampaignId) -> Ahead:
    """The next task, for fetching its images. It is reserved for two minutes after each request."""
    arena, rater_id = arena_of(request), rater_of(await the_rater(request))
    held = await wrap_future(submit_prefetch(arena.voting, campaign_id, rater_id))
    return Ahead(task=await task_out_soon(arena, held) if held is not None else None)


@router.post("/tasks/{address}/give-back")
def give_task_back(request: Request, caller: RaterCaller, address: Address) -> Done:
    """Release a reserved task for other raters. The current task is not changed."""
    release_task(arena_of(request).voting, address, rater_of(caller))
    return Done()
