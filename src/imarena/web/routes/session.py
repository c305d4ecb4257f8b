"""Signing in and out."""

from typing import cast

from fastapi import APIRouter, Request, Response

from imarena.web.arena import ServedWorkspace, arena_of
from imarena.web.callers import Anyone, Role, as_caller
from imarena.web.keys import ROLES, cookie_name, drop_cookies, port_of, set_cookie
from imarena.web.problems import RequestRefused
from imarena.web.responses import me_out
from imarena.web.wire import Done, Invitation, Launch, Me, Password
from imarena.workflows.serving import end_own_session, is_own_link, same_secret, sign_in_administrator, sign_in_invited
from imarena.workflows.views import read_watermarks

router = APIRouter(prefix="/api", tags=["session"])


@router.get("/me")
def get_me(request: Request, caller: Anyone) -> Me:
    """The current user, and the token that requests with changes must send."""
    rater = next((visitor.name for visitor in caller.others if visitor.role == "rater"), None)
    return me_out(arena_of(request), caller, rater)


@router.get("/health")
def get_health(request: Request) -> Done:
    """Check that the server responds and can reach its database."""
    read_watermarks(arena_of(request).workspace)
    return Done()


@router.post("/session/invitation")
def sign_in_by_invitation(request: Request, response: Response, caller: Anyone, body: Invitation) -> Me:
    """Open an invitation link. A lead who opens the same link again continues the same session."""
    arena = arena_of(request)
    if caller.leads and is_own_link(arena.workspace, caller.session, body.token):
        return me_out(arena, caller)
    secret = sign_in_invited(arena.workspace, body.token, body.params, arena.settings.session_days)
    return _signed_in(arena, request, response, secret)


@router.post("/session/password")
def sign_in_by_password(request: Request, response: Response, body: Password) -> Me:
    """Sign in as the administrator."""
    arena = arena_of(request)
    if not same_secret(arena.settings.password, body.password):
        raise RequestRefused(403, "password", "The password is not right.")
    return _signed_in(arena, request, response, sign_in_administrator(arena.workspace, arena.settings.session_days))


@router.post("/session/launch")
def sign_in_by_launch(request: Request, response: Response, body: Launch) -> Me:
    """Sign in with the address that the server printed at its start on this machine."""
    arena = arena_of(request)
    if not same_secret(arena.settings.launch_token, body.token):
        raise RequestRefused(
            403, "launch", "This address is not valid any more.", hint="Look at what the server printed."
        )
    return _signed_in(arena, request, response, sign_in_administrator(arena.workspace, arena.settings.session_days))


@router.delete("/session")
def sign_out(request: Request, response: Response, caller: Anyone, role: Role | None = None) -> Done:
    """End the session, in the browser and on the server. `role` selects one if the browser has several."""
    arena = arena_of(request)
    keys = {caller.role: caller.session} if caller.session else {}
    keys.update({cast(Role, visitor.role): visitor.key for visitor in caller.others if visitor.role not in keys})
    ended_role = role or caller.role
    if ended_role in keys:
        end_own_session(arena.workspace, keys[ended_role])
        arena.sessions.forget()
    port = port_of(request.headers.get("host", ""))
    for ended in (ended_role,) if ended_role else ROLES:
        drop_cookies(response, ended, port, root=arena.settings.root_path)
    return Done()


def _signed_in(arena: ServedWorkspace, request: Request, response: Response, secret: str) -> Me:
    secure = request.url.scheme == "https"
    settings = arena.settings
    sealed = arena.keys.seal(secret)
    visitor = arena.sessions.visitor(secret, machine=False)
    if visitor is None:
        raise RequestRefused(403, "session", "The session could not be opened.")
    name = cookie_name(visitor.role, port_of(request.headers.get("host", "")))
    set_cookie(response, name, sealed, secure=secure, days=settings.session_days, root=settings.root_path)
    return me_out(arena, as_caller(visitor, machine=False, public=settings.public))
