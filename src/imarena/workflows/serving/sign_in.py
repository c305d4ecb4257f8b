"""Sign in by invitation or as the administrator, sign out, list who is signed in, and manage tokens for machines.

The administrator manages all tokens. A lead manages only viewer tokens: one with more rights would outlast the
lead's own.
"""

import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from threading import Lock

from imarena.core.records import Rater
from imarena.storage import StoredSession, StoredToken, Visitor, Workspace, access
from imarena.workflows.rating import Refusal

_REMEMBERED_S = 0.5
"""Seconds for which a looked-up session is cached. Revoking it on this server takes effect at once; by another server
or by the command line, within this time."""
_AT_ONCE = 1_000
_MOST_KEPT = 10_000
_ADMINISTRATOR = "administrator"
_ASK = "Ask the person who sent it for a new one."
_NOT_TAKEN = {
    "unknown": ("This invitation link is not valid.", f"Was it copied whole, to its last letter? If so: {_ASK}"),
    "revoked": ("This invitation was withdrawn.", _ASK),
    "expired": ("This invitation has expired.", _ASK),
    "used": ("This link was used already. A lead's link opens once.", _ASK),
    "no_person": ("The link does not say who you are.", "Open it from the platform that sent you here."),
    "full": ("As many people as this link is for have come already.", _ASK),
}
"""Only somebody who has the link's secret learns why it does not work."""


class SessionCache:
    """Owners of sessions and tokens; queries the database at most twice per second, for all active sessions."""

    def __init__(self, workspace: Workspace) -> None:
        self._engine = workspace.store.engine
        self._visitors: dict[str, tuple[float, Visitor | None]] = {}
        self._active: set[str] = set()
        """Sessions with a request since sessions were last looked up."""
        self._looking_up = Lock()
        self._forgotten = 0
        """How often the cache was cleared: results looked up before that are not kept."""

    def visitor(self, secret: str, *, machine: bool) -> Visitor | None:
        """The owner of a session or token."""
        key = access.hash_secret(secret)
        if not machine:
            self._active.add(key)  # sessions that arrive during a lookup are looked up together
        with self._looking_up:
            cached = self.cached_visitor(secret)
            if cached is not None:
                return cached[1]
            moment, forgotten = time.monotonic(), self._forgotten
            if len(self._visitors) > _MOST_KEPT:
                self._visitors.clear()
            if machine:
                visitors = {key: access.token_visitor(self._engine, secret)}
            else:
                active = {key, *islice(self._active.copy(), _AT_ONCE)}
                self._active.clear()
                found_visitors = access.visitors(self._engine, active)
                visitors = {session: found_visitors.get(session) for session in active}
            if forgotten == self._forgotten:
                self._visitors.update({session: (moment, visitor) for session, visitor in visitors.items()})
            return visitors[key]  # the cache may be cleared at any moment

    def cached_visitor(self, secret: str) -> tuple[float, Visitor | None] | None:
        """The cached result, if it is recent enough."""
        key = access.hash_secret(secret)
        cached = self._visitors.get(key)
        if cached is None or time.monotonic() - cached[0] >= _REMEMBERED_S:
            return None
        if cached[1] is not None and cached[1].key == key:  # not a machine's
            self._active.add(key)
        return cached

    def forget(self) -> None:
        """Clear the cache after somebody signed in or out, or was shut out."""
        self._forgotten += 1
        self._visitors.clear()


def sign_in_invited(workspace: Workspace, token: str, params: Mapping[str, str], days: float) -> str:
    """Open an invitation link; returns the secret of a new session."""
    engine = workspace.store.engine
    secret = access.accept_invitation(engine, token, dict(params), days)
    if secret is None:
        message, hint = _NOT_TAKEN[access.invitation_refusal(engine, token, dict(params))]
        raise Refusal("invitation", message, hint=hint)
    return secret


def is_own_link(workspace: Workspace, session_id: str, token: str) -> bool:
    """Whether the person with this session came by this link."""
    return access.came_by_invitation(workspace.store.engine, session_id, token)


def sign_in_administrator(workspace: Workspace, days: float) -> str:
    """Open a session and return its secret. The administrator can vote too, under a separate id."""
    store = workspace.store
    rater = store.get(Rater, _ADMINISTRATOR)
    if rater is None:
        rater = Rater(rater_id=_ADMINISTRATOR, name=_ADMINISTRATOR, role="admin")
        store.add([rater])
    return access.open_session(store.engine, role="admin", name=_ADMINISTRATOR, days=days, rater=rater)


def same_secret(expected: str, presented: str) -> bool:
    """Whether the presented secret is the wanted one; False if none is set."""
    return bool(expected) and hmac.compare_digest(expected.encode(), presented.encode("utf-8", "replace"))


def open_sessions(workspace: Workspace, *, before: str | None, limit: int) -> list[StoredSession]:
    """The open sessions, newest first; `before` is the `place` of the last one seen."""
    return access.session_rows(workspace.store.engine, before=before, limit=limit)


def end_other_session(workspace: Workspace, session_id: str) -> None:
    """Sign somebody else out."""
    if not access.end_session(workspace.store.engine, session_id):
        raise Refusal("not_found", "There is no such session.")


def end_own_session(workspace: Workspace, session_id: str) -> None:
    """Sign out."""
    access.close_session(workspace.store.engine, session_id)


# ---------------------------------------------------------------- tokens of machines


@dataclass(frozen=True)
class NewToken:
    """A newly created token. Its secret is not stored."""

    token: StoredToken
    secret: str


def machine_tokens(workspace: Workspace, *, by_role: str | None, before: int | None, limit: int) -> list[StoredToken]:
    """The tokens that a caller may manage, newest first."""
    return access.token_rows(workspace.store.engine, before=before, limit=limit, roles=_manageable_roles(by_role))


def new_token(workspace: Workspace, *, by_role: str | None, name: str, role: str, days: float) -> NewToken:
    """Create a token for a machine."""
    allowed = _manageable_roles(by_role)
    if allowed and role not in allowed:
        raise Refusal("not_allowed", "Only the administrator may make a token with this role.")
    engine = workspace.store.engine
    identity, secret = access.make_token(engine, name=name, role=role, days=days)
    (token,) = access.token_rows(engine, before=None, limit=1, identity=identity)
    return NewToken(token, secret)


def end_token(workspace: Workspace, token_id: str, *, by_role: str | None) -> None:
    """Revoke a token that a caller may manage."""
    engine = workspace.store.engine
    rows = access.token_rows(engine, before=None, limit=1, identity=token_id, roles=_manageable_roles(by_role))
    if not rows or not access.revoke_token(engine, token_id):
        raise Refusal("not_found", "There is no such token.")


def _manageable_roles(role: str | None) -> tuple[str, ...]:
    """Roles of the tokens that a caller may manage; empty: all."""
    return () if role == "admin" else ("viewer",)
