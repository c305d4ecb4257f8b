"""Invitation links for people."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from imarena.web.arena import arena_of
from imarena.web.callers import LeadCaller
from imarena.web.requests import Cursor, Limit, PathId
from imarena.web.wire import NO_NUL, Done
from imarena.web.wire_lead import InvitationIn, InvitationMade, InvitationOut, InvitationPage
from imarena.workflows.rating import InvitationRequest, end_link, list_links, make_link, restore_link

router = APIRouter(prefix="/api", tags=["people"])


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
    links = list_links(arena_of(request).workspace, campaign_id=campaign_id, before=before, limit=limit)
    more = str(links.invitations[-1].seq) if len(links.invitations) == limit else None
    return InvitationPage.of(links, next_cursor=more)


@router.post("/lead/invitations")
def create_invitation(request: Request, caller: LeadCaller, body: InvitationIn) -> InvitationMade:
    """Create a link. Only an administrator may invite a lead."""
    arena = arena_of(request)
    campaign = arena.voting.campaign(body.campaign_id) if body.campaign_id is not None else None
    link = make_link(arena.workspace, campaign, InvitationRequest(**body.model_dump()), by_role=caller.role)
    return InvitationMade.of(link, token=link.secret)


@router.delete("/lead/invitations/{invitation_id}")
def revoke_invitation(request: Request, caller: LeadCaller, invitation_id: PathId) -> Done:
    """Revoke a link and its sessions. Only an administrator may revoke a lead's link."""
    arena = arena_of(request)
    end_link(arena.workspace, invitation_id, by_role=caller.role)
    arena.sessions.forget()
    return Done()


@router.post("/lead/invitations/{invitation_id}/restore")
def restore_invitation(request: Request, caller: LeadCaller, invitation_id: PathId) -> InvitationOut:
    """Undo the revocation of a link: the link and its sessions are valid again."""
    arena = arena_of(request)
    restored = restore_link(arena.workspace, invitation_id, by_role=caller.role)
    arena.sessions.forget()
    return InvitationOut.model_validate(restored)
