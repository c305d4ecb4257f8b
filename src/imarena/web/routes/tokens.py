"""Tokens for machines, and the list of sessions."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from imarena.web.arena import arena_of
from imarena.web.callers import AdminCaller, LeadCaller
from imarena.web.requests import Cursor, Limit, PathId
from imarena.web.wire import Done
from imarena.web.wire_lead import SessionOut, SessionPage, TokenIn, TokenMade, TokenOut, TokenPage
from imarena.workflows.serving import end_other_session, end_token, machine_tokens, new_token, open_sessions

router = APIRouter(prefix="/api", tags=["access"])

SessionCursor = Annotated[str | None, Query(max_length=120, pattern=r"^[0-9TZ:.+-]{10,40} [0-9a-f]{64}$")]


@router.get("/tokens")
def list_tokens(request: Request, caller: LeadCaller, cursor: Cursor = None, limit: Limit = 50) -> TokenPage:
    """Tokens, newest first."""
    before = int(cursor) if cursor else None
    tokens = machine_tokens(arena_of(request).workspace, by_role=caller.role, before=before, limit=limit)
    more = str(tokens[-1].seq) if len(tokens) == limit else None
    return TokenPage(tokens=[TokenOut.model_validate(token) for token in tokens], next_cursor=more)


@router.post("/tokens")
def create_token(request: Request, caller: LeadCaller, body: TokenIn) -> TokenMade:
    """Create a token for a program; send it in the header ``Authorization: Bearer``."""
    return TokenMade.of(new_token(arena_of(request).workspace, by_role=caller.role, **body.model_dump()))


@router.delete("/tokens/{token_id}")
def revoke_token(request: Request, caller: LeadCaller, token_id: PathId) -> Done:
    """Revoke a token."""
    arena = arena_of(request)
    end_token(arena.workspace, token_id, by_role=caller.role)
    arena.sessions.forget()
    return Done()


@router.get("/sessions")
def list_sessions(
    request: Request, caller: AdminCaller, cursor: SessionCursor = None, limit: Limit = 50
) -> SessionPage:
    """Open sessions, newest first."""
    sessions = open_sessions(arena_of(request).workspace, before=cursor, limit=limit)
    rows = [SessionOut.of(session, mine=session.session_id == caller.session) for session in sessions]
    return SessionPage(sessions=rows, next_cursor=sessions[-1].cursor if len(sessions) == limit else None)


@router.delete("/sessions/{session_id}")
def end_session(request: Request, _caller: AdminCaller, session_id: PathId) -> Done:
    """Sign a user out."""
    arena = arena_of(request)
    end_other_session(arena.workspace, session_id)
    arena.sessions.forget()
    return Done()
