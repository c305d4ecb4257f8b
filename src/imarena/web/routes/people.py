"""Invitation links for people, tokens for machines."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from imarena.storage import access
from imarena.web.arena import arena_of
from imarena.web.callers import AdminCaller, LeadCaller
from imarena.web.problems import Refused
from imarena.web.wire import NO_NUL, Done
from imarena.web.wire_lead import (
    InvitationIn,
    InvitationMade,
    InvitationOut,
    InvitationPage,
    TokenIn,
    TokenMade,
    TokenOut,
    TokenPage,
)

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
    engine = arena_of(request).workspace.store.engine
    before = int(cursor) if cursor else None
    rows = access.invitation_rows(engine, campaign_id=campaign_id, before=before, limit=limit)
    more = str(rows[-1]["seq"]) if len(rows) == limit else None
    return InvitationPage(invitations=[_invitation(row) for row in rows], next_cursor=more)


@router.post("/lead/invitations")
def create_invitation(request: Request, caller: LeadCaller, body: InvitationIn) -> InvitationMade:
    """Make a link. Only an administrator may invite a lead."""
    arena = arena_of(request)
    engine = arena.workspace.store.engine
    if body.role == "lead" and caller.role != "admin":
        raise Refused(403, "not_allowed", "Only the administrator may invite a lead.")
    if body.campaign_id is not None:
        arena.voting.campaign(body.campaign_id)
    elif body.role == "rater":
        raise Refused(400, "cannot_do", "A rater is invited to a campaign.", hint="Give campaign_id.")
    identity, secret = access.invite(engine, **body.model_dump())
    (row,) = access.invitation_rows(engine, campaign_id=None, before=None, limit=1, identity=identity)
    return InvitationMade(invitation=_invitation(row), token=secret, path=f"/join#{secret}")


@router.delete("/lead/invitations/{invitation_id}")
def revoke_invitation(request: Request, _caller: LeadCaller, invitation_id: Identity) -> Done:
    """End a link and the sessions that came from it."""
    arena = arena_of(request)
    if not access.revoke_invitation(arena.workspace.store.engine, invitation_id):
        raise Refused(404, "not_found", "There is no such invitation.")
    arena.forget()
    return Done()


@router.get("/admin/tokens")
def list_tokens(request: Request, _caller: AdminCaller, cursor: Cursor = None, limit: Limit = 50) -> TokenPage:
    """Tokens, newest first."""
    engine = arena_of(request).workspace.store.engine
    rows = access.token_rows(engine, before=int(cursor) if cursor else None, limit=limit)
    more = str(rows[-1]["seq"]) if len(rows) == limit else None
    return TokenPage(tokens=[_token(row) for row in rows], next_cursor=more)


@router.post("/admin/tokens")
def create_token(request: Request, _caller: AdminCaller, body: TokenIn) -> TokenMade:
    """Make a token for a machine; it goes into the header ``Authorization: Bearer``."""
    engine = arena_of(request).workspace.store.engine
    identity, secret = access.make_token(engine, **body.model_dump())
    (row,) = access.token_rows(engine, before=None, limit=1, identity=identity)
    return TokenMade(token=_token(row), secret=secret)


@router.delete("/admin/tokens/{token_id}")
def revoke_token(request: Request, _caller: AdminCaller, token_id: Identity) -> Done:
    """End a token."""
    arena = arena_of(request)
    if not access.revoke_token(arena.workspace.store.engine, token_id):
        raise Refused(404, "not_found", "There is no such token.")
    arena.forget()
    return Done()


def _invitation(row: dict[str, Any]) -> InvitationOut:
    names = ("campaign_id", "role", "name", "created_at", "expires_at", "max_people", "people")
    known = {name: row[name] for name in names}
    return InvitationOut(invitation_id=row["id"], revoked=row["revoked_at"] is not None, **known)


def _token(row: dict[str, Any]) -> TokenOut:
    known = {name: row[name] for name in ("name", "role", "created_at", "expires_at")}
    return TokenOut(token_id=row["id"], revoked=row["revoked_at"] is not None, **known)
