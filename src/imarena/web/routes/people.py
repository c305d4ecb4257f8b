"""Invitation links for people."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from imarena.storage import StoredInvitation
from imarena.web.arena import arena_of
from imarena.web.callers import LeadCaller
from imarena.web.wire import NO_NUL, Done
from imarena.web.wire_lead import InvitationIn, InvitationMade, InvitationOut, InvitationPage
from imarena.workflows.rating import InvitationRequest, end_link, list_links, make_link

router = APIRouter(prefix="/api", tags=["people"])

Identity = Annotated[str, Path(max_length=100, pattern=NO_NUL)]
Cursor = Annotated[str | None, Query(max_length=100, pattern=r"^[0-9]{1,15}$")]
Limit = Annotated[int, Query(ge=1, le=200)]


@router.get("/lead/invitations")
def list_invitations(
    request: Request,
    _caller: LeadCaller,
    campaign_id: Annotated[str | None, Query(max_length=100, pattern=NO_NUL)] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> InvitationPage:
    """Invitations, newest first."""
    before = int(cursor) if cursor else None
    found = list_links(arena_of(request).workspace, campaign_id=campaign_id, before=before, limit=limit)
    more = str(found.invitations[-1].seq) if len(found.invitations) == limit else None
    shown = [_invitation(one) for one in found.invitations]
    return InvitationPage(invitations=shown, total=found.total, next_cursor=more)


@router.post("/lead/invitations")
def create_invitation(request: Request, caller: LeadCaller, body: InvitationIn) -> InvitationMade:
    """Make a link. Only an administrator may invite a lead."""
    arena = arena_of(request)
    campaign = arena.voting.campaign(body.campaign_id) if body.campaign_id is not None else None
    made = make_link(arena.workspace, campaign, InvitationRequest(**body.model_dump()), by_role=caller.role)
    return InvitationMade(invitation=_invitation(made.invitation), token=made.secret, path=f"/join#{made.secret}")


@router.delete("/lead/invitations/{invitation_id}")
def revoke_invitation(request: Request, caller: LeadCaller, invitation_id: Identity) -> Done:
    """End a link and the sessions that came from it. Only an administrator may end a lead's."""
    arena = arena_of(request)
    end_link(arena.workspace, invitation_id, by_role=caller.role)
    arena.sessions.forget()
    return Done()


def _invitation(found: StoredInvitation) -> InvitationOut:
    return InvitationOut(**{name: getattr(found, name) for name in InvitationOut.model_fields})
