"""Invitation links for people."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from imarena.storage import access
from imarena.web.arena import arena_of
from imarena.web.callers import LeadCaller
from imarena.web.problems import RequestRefused
from imarena.web.wire import NO_NUL, Done
from imarena.web.wire_lead import InvitationIn, InvitationMade, InvitationOut, InvitationPage
from imarena.workflows.rating import need_named

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
    total = access.count_invitations(engine, campaign_id=campaign_id)
    return InvitationPage(invitations=[_invitation(row) for row in rows], total=total, next_cursor=more)


@router.post("/lead/invitations")
def create_invitation(request: Request, caller: LeadCaller, body: InvitationIn) -> InvitationMade:
    """Make a link. Only an administrator may invite a lead."""
    arena = arena_of(request)
    engine = arena.workspace.store.engine
    if body.role == "lead" and caller.role != "admin":
        raise RequestRefused(403, "not_allowed", "Only the administrator may invite a lead.")
    if body.campaign_id is not None:
        campaign = arena.voting.campaign(body.campaign_id)
        if body.rater_id is not None:
            _check_bound(body)
            need_named(arena.workspace, campaign, body.rater_id)
    elif body.role == "rater":
        raise RequestRefused(400, "cannot_do", "A rater is invited to a campaign.", hint="Give campaign_id.")
    elif body.rater_id is not None:
        _check_bound(body)
    identity, secret = access.invite(engine, **body.model_dump())
    (row,) = access.invitation_rows(engine, campaign_id=None, before=None, limit=1, identity=identity)
    return InvitationMade(invitation=_invitation(row), token=secret, path=f"/join#{secret}")


@router.delete("/lead/invitations/{invitation_id}")
def revoke_invitation(request: Request, caller: LeadCaller, invitation_id: Identity) -> Done:
    """End a link and the sessions that came from it. Only an administrator may end a lead's."""
    arena = arena_of(request)
    engine = arena.workspace.store.engine
    found = access.invitation_rows(engine, campaign_id=None, before=None, limit=1, identity=invitation_id)
    if found and found[0]["role"] == "lead" and caller.role != "admin":
        raise RequestRefused(403, "not_allowed", "Only the administrator may end a lead's invitation.")
    if not access.revoke_invitation(engine, invitation_id):
        raise RequestRefused(404, "not_found", "There is no such invitation.")
    arena.forget()
    return Done()


def _check_bound(body: InvitationIn) -> None:
    if body.role != "rater" or body.max_people != 1:
        raise RequestRefused(400, "cannot_do", "A link for a named rater is for one person, as a rater.")


def _invitation(row: dict[str, Any]) -> InvitationOut:
    names = ("campaign_id", "role", "name", "created_at", "expires_at", "max_people", "people", "rater_id")
    known = {name: row[name] for name in names}
    return InvitationOut(invitation_id=row["id"], revoked=row["revoked_at"] is not None, **known)
