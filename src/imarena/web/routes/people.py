"""Invitation links for people, tokens for machines."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from imarena.web.callers import AdminCaller, LeadCaller
from imarena.web.problems import Refused
from imarena.web.wire import Done
from imarena.web.wire_lead import InvitationIn, InvitationMade, InvitationPage, TokenIn, TokenMade, TokenPage

router = APIRouter(prefix="/api", tags=["people"])

Identity = Annotated[str, Path(max_length=100)]
Cursor = Annotated[str | None, Query(max_length=100, pattern=r"^[0-9]{1,15}$")]
Limit = Annotated[int, Query(ge=1, le=200)]


@router.get("/lead/invitations")
def list_invitations(
    request: Request,
    caller: LeadCaller,
    campaign_id: Annotated[str | None, Query(max_length=100)] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> InvitationPage:
    """Invitations, newest first."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/lead/invitations")
def create_invitation(request: Request, caller: LeadCaller, body: InvitationIn) -> InvitationMade:
    """Make a link. Only an administrator may invite a lead."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.delete("/lead/invitations/{invitation_id}")
def revoke_invitation(request: Request, caller: LeadCaller, invitation_id: Identity) -> Done:
    """End a link and the sessions that came from it."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.get("/admin/tokens")
def list_tokens(request: Request, caller: AdminCaller, cursor: Cursor = None, limit: Limit = 50) -> TokenPage:
    """Tokens, newest first."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/admin/tokens")
def create_token(request: Request, caller: AdminCaller, body: TokenIn) -> TokenMade:
    """Make a token for a machine; it goes into the header ``Authorization: Bearer``."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.delete("/admin/tokens/{token_id}")
def revoke_token(request: Request, caller: AdminCaller, token_id: Identity) -> Done:
    """End a token."""
    raise Refused(501, "not_ready", "Not built yet.")
