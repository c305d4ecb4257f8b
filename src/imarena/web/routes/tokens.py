"""Tokens for machines, and who is signed in.

The administrator handles all tokens. A lead handles tokens that may only look: one with more rights would outlast the
lead's own.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from imarena.storage import access
from imarena.web.arena import arena_of
from imarena.web.callers import AdminCaller, Caller, LeadCaller
from imarena.web.problems import RequestRefused
from imarena.web.requests import Cursor, Limit
from imarena.web.wire import NO_NUL, Done
from imarena.web.wire_lead import SessionOut, SessionPage, TokenIn, TokenMade, TokenOut, TokenPage

router = APIRouter(prefix="/api", tags=["access"])

Identity = Annotated[str, Path(max_length=100, pattern=NO_NUL)]
SessionCursor = Annotated[str | None, Query(max_length=120, pattern=r"^[0-9TZ:.+-]{10,40} [0-9a-f]{64}$")]


def _roles(caller: Caller) -> tuple[str, ...]:
    """Roles of the tokens that a caller may handle; empty: all."""
    return () if caller.role == "admin" else ("viewer",)


@router.get("/tokens")
def list_tokens(request: Request, caller: LeadCaller, cursor: Cursor = None, limit: Limit = 50) -> TokenPage:
    """Tokens, newest first."""
    engine = arena_of(request).workspace.store.engine
    before = int(cursor) if cursor else None
    rows = access.token_rows(engine, before=before, limit=limit, roles=_roles(caller))
    more = str(rows[-1]["seq"]) if len(rows) == limit else None
    return TokenPage(tokens=[_token(row) for row in rows], next_cursor=more)


@router.post("/tokens")
def create_token(request: Request, caller: LeadCaller, body: TokenIn) -> TokenMade:
    """Make a token for a machine; it goes into the header ``Authorization: Bearer``."""
    roles = _roles(caller)
    if roles and body.role not in roles:
        raise RequestRefused(403, "not_allowed", "Only the administrator may make a token with this role.")
    engine = arena_of(request).workspace.store.engine
    identity, secret = access.make_token(engine, **body.model_dump())
    (row,) = access.token_rows(engine, before=None, limit=1, identity=identity)
    return TokenMade(token=_token(row), secret=secret)


@router.delete("/tokens/{token_id}")
def revoke_token(request: Request, caller: LeadCaller, token_id: Identity) -> Done:
    """End a token."""
    arena = arena_of(request)
    engine = arena.workspace.store.engine
    known = access.token_rows(engine, before=None, limit=1, identity=token_id, roles=_roles(caller))
    if not known or not access.revoke_token(engine, token_id):
        raise RequestRefused(404, "not_found", "There is no such token.")
    arena.forget()
    return Done()


@router.get("/sessions")
def list_sessions(
    request: Request, caller: AdminCaller, cursor: SessionCursor = None, limit: Limit = 50
) -> SessionPage:
    """Who is signed in, newest first."""
    rows = access.session_rows(arena_of(request).workspace.store.engine, before=cursor, limit=limit)
    names = ("role", "name", "campaign_id", "created_at", "expires_at")
    found = [
        SessionOut(session_id=row["id"], mine=row["id"] == caller.session, **{name: row[name] for name in names})
        for row in rows
    ]
    return SessionPage(sessions=found, next_cursor=rows[-1]["place"] if len(rows) == limit else None)


@router.delete("/sessions/{session_id}")
def end_session(request: Request, _caller: AdminCaller, session_id: Identity) -> Done:
    """Sign somebody out."""
    arena = arena_of(request)
    if not access.end_session(arena.workspace.store.engine, session_id):
        raise RequestRefused(404, "not_found", "There is no such session.")
    arena.forget()
    return Done()


def _token(row: dict[str, Any]) -> TokenOut:
    known = {name: row[name] for name in ("name", "role", "created_at", "expires_at", "last_used_at")}
    return TokenOut(token_id=row["id"], revoked=row["revoked_at"] is not None, **known)
