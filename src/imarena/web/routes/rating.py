"""What a rater does: consent, take a task, answer, skip, undo."""

from typing import Annotated

from fastapi import APIRouter, Path, Request

from imarena.web.callers import RaterCaller
from imarena.web.problems import Refused
from imarena.web.wire import Ballot, Consent, Done, Next, RaterCampaign, Receipt, Segments, Skip, Task

router = APIRouter(prefix="/api", tags=["rating"])

CampaignId = Annotated[str, Path(max_length=100)]
Address = Annotated[str, Path(max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]


@router.get("/rating/campaigns")
def list_my_campaigns(request: Request, caller: RaterCaller) -> list[RaterCampaign]:
    """The campaigns that this rater takes part in."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/rating/campaigns/{campaign_id}/consent")
def give_consent(request: Request, caller: RaterCaller, campaign_id: CampaignId, body: Consent) -> Done:
    """Agree to take part."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/rating/campaigns/{campaign_id}/next")
def take_next(request: Request, caller: RaterCaller, campaign_id: CampaignId) -> Next:
    """The task that this rater holds, or a new one. Asking again gives the same task until it is answered."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/rating/campaigns/{campaign_id}/undo")
def undo_last(request: Request, caller: RaterCaller, campaign_id: CampaignId) -> Task:
    """Take the last vote back and get its task again."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/tasks/{address}")
def get_task(request: Request, caller: RaterCaller, address: Address) -> Task:
    """A task that this rater holds."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/tasks/{address}/segments")
def get_segments(request: Request, caller: RaterCaller, address: Address) -> Segments:
    """Numbered regions of the picture that is rated."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/tasks/{address}/vote")
def post_vote(request: Request, caller: RaterCaller, address: Address, body: Ballot) -> Receipt:
    """Answer a task. Posting the same key again gives the same receipt and stores nothing new."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/tasks/{address}/skip")
def skip_task(request: Request, caller: RaterCaller, address: Address, body: Skip) -> Done:
    """Leave a task to somebody else, and say why."""
    raise Refused(501, "not_ready", "Not built yet.")
