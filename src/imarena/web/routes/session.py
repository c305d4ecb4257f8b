"""Signing in and out."""

import hmac

from fastapi import APIRouter, Request, Response

from imarena.core.records import Rater
from imarena.storage import access
from imarena.web.arena import ServedWorkspace, arena_of
from imarena.web.callers import Anyone, Caller
from imarena.web.keys import drop_cookie, set_cookie
from imarena.web.problems import RequestRefused
from imarena.web.responses import me
from imarena.web.wire import Done, Invitation, Launch, Me, Password
from imarena.workflows.views import read_watermarks

router = APIRouter(prefix="/api", tags=["session"])


@router.get("/me")
def get_me(request: Request, caller: Anyone) -> Me:
    """Who is asking, and the token that requests which change something must carry."""
    return me(arena_of(request), caller)


_ASK = "Ask who sent it for a new one."
_NOT_TAKEN = {
    "unknown": ("This invitation link is not valid.", f"Was it copied whole, to its last letter? If so: {_ASK}"),
    "revoked": ("This invitation was withdrawn.", _ASK),
    "expired": ("This invitation has expired.", _ASK),
    "no_person": ("The link does not say who you are.", "Open it from the platform that sent you here."),
    "full": ("As many people as this link is for have come already.", _ASK),
}
"""Only who has the link's secret gets to know why it does not work."""


@router.get("/health")
def get_health(request: Request) -> Done:
    """Can the server answer, and reach its database?"""
    read_watermarks(arena_of(request).workspace)
    return Done()


@router.post("/session/invitation")
def sign_in_by_invitation(request: Request, response: Response, body: Invitation) -> Me:
    """Open an invitation link."""
    arena = arena_of(request)
    engine = arena.workspace.store.engine
    secret = access.accept_invitation(engine, body.token, dict(body.params), arena.settings.session_days)
    if secret is None:
        message, hint = _NOT_TAKEN[access.invitation_refusal(engine, body.token, dict(body.params))]
        raise RequestRefused(403, "invitation", message, hint=hint)
    return _signed_in(arena, request, response, secret)


@router.post("/session/password")
def sign_in_by_password(request: Request, response: Response, body: Password) -> Me:
    """Sign in as the administrator."""
    arena = arena_of(request)
    wanted = arena.settings.password
    if not wanted or not hmac.compare_digest(wanted.encode(), body.password.encode("utf-8", "replace")):
        raise RequestRefused(403, "password", "The password is not right.")
    return _administrator(arena, request, response)


@router.post("/session/launch")
def sign_in_by_launch(request: Request, response: Response, body: Launch) -> Me:
    """Sign in with the address that the server printed when it started on this machine only."""
    arena = arena_of(request)
    wanted = arena.settings.launch_token
    if not wanted or not hmac.compare_digest(wanted.encode(), body.token.encode("utf-8", "replace")):
        raise RequestRefused(
            403, "launch", "This address is not valid any more.", hint="Look at what the server printed."
        )
    return _administrator(arena, request, response)


@router.delete("/session")
def sign_out(request: Request, response: Response, caller: Anyone) -> Done:
    """End the session, here and on the server."""
    arena = arena_of(request)
    if caller.session:
        access.close_session(arena.workspace.store.engine, caller.session)
        arena.forget()
    drop_cookie(response, root=arena.settings.root_path)
    return Done()


def _administrator(arena: ServedWorkspace, request: Request, response: Response) -> Me:
    """The administrator can vote too, under an id of their own."""
    store = arena.workspace.store
    rater = store.get(Rater, "administrator")
    if rater is None:
        rater = Rater(rater_id="administrator", name="administrator", role="admin")
        store.add([rater])
    days = arena.settings.session_days
    secret = access.open_session(store.engine, role="admin", name="administrator", days=days, rater=rater)
    return _signed_in(arena, request, response, secret)


def _signed_in(arena: ServedWorkspace, request: Request, response: Response, secret: str) -> Me:
    secure = request.url.scheme == "https"
    settings = arena.settings
    sealed = arena.keys.seal(secret)
    set_cookie(response, sealed, secure=secure, days=settings.session_days, root=settings.root_path)
    found = arena.visitor(secret, machine=False)
    if found is None:
        raise RequestRefused(403, "session", "The session could not be opened.")
    role = found.role
    can_look = arena.settings.public or role in ("admin", "lead", "viewer")
    caller = Caller(
        role=role,  # type: ignore[arg-type]
        name=found.name,
        rater_id=found.rater_id,
        session=found.key,
        can_look=can_look,
    )
    return me(arena, caller)
