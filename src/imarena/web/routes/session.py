"""Signing in and out."""

from fastapi import APIRouter, Request, Response

from imarena.web.callers import Anyone
from imarena.web.problems import Refused
from imarena.web.wire import Done, Invitation, Launch, Me, Password

router = APIRouter(prefix="/api", tags=["session"])


@router.get("/me")
def get_me(request: Request, response: Response, caller: Anyone) -> Me:
    """Who is asking, and the token that requests which change something must carry."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/session/invitation")
def sign_in_by_invitation(request: Request, response: Response, body: Invitation) -> Me:
    """Open an invitation link."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/session/password")
def sign_in_by_password(request: Request, response: Response, body: Password) -> Me:
    """Sign in as the administrator."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.post("/session/launch")
def sign_in_by_launch(request: Request, response: Response, body: Launch) -> Me:
    """Sign in with the address that the server printed when it started on this machine only."""
    raise Refused(501, "not_ready", "Not built yet.")


@router.delete("/session")
def sign_out(request: Request, response: Response, caller: Anyone) -> Done:
    """End the session, here and on the server."""
    raise Refused(501, "not_ready", "Not built yet.")
