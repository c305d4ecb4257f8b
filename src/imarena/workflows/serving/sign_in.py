"""Signing in and out: by an invitation, as the administrator; who is signed in, and what machines' tokens allow.

The administrator handles all tokens. A lead handles tokens that may only look: one with more rights would outlast the
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
"""A session that was just looked up is believed this long. Revoking it on this server takes effect at once; by another
server or by the command line, within this time."""
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
"""Only who has the link's secret gets to know why it does not work."""


class SessionCache:
    """Whose sessions and tokens these are; asks the database at most twice per second, about all who are here."""

    def __init__(self, workspace: Workspace) -> None:
        self._engine = workspace.store.engine
        self._known: dict[str, tuple[float, Visitor | None]] = {}
        self._here: set[str] = set()
        """Sessions that asked for something since sessions were last looked up."""
        self._looking_up = Lock()
        self._forgotten = 0
        """How often everything was forgotten: what was looked up before that is not kept."""

    def visitor(self, secret: str, *, machine: bool) -> Visitor | None:
        """Whose session or token this is."""
        key = access.hash_secret(secret)
        if not machine:
            self._here.add(key)  # who comes while another is looked up is looked up with all others in line
        with self._looking_up:
            known = self.remembered(secret)
            if known is not None:
                return known[1]
            moment, forgotten = time.monotonic(), self._forgotten
            if len(self._known) > _MOST_KEPT:
                self._known.clear()
            if machine:
                visitors = {key: access.token_visitor(self._engine, secret)}
            else:
                here = {key, *islice(self._here.copy(), _AT_ONCE)}
                self._here.clear()
                who = access.visitors(self._engine, here)
                visitors = {session: who.get(session) for session in here}
            if forgotten == self._forgotten:
                self._known.update({session: (moment, visitor) for session, visitor in visitors.items()})
            return visitors[key]  # what is known may be forgotten at any moment

    def remembered(self, secret: str) -> tuple[float, Visitor | None] | None:
        """What was found a moment ago."""
        key = access.hash_secret(secret)
        known = self._known.get(key)
        if known is None or time.monotonic() - known[0] >= _REMEMBERED_S:
            return None
        if known[1] is not None and known[1].key == key:  # not a machine's
            self._here.add(key)
        return known

    def forget(self) -> None:
        """Somebody signed in or out, or was shut out: look everybody up again."""
        self._forgotten += 1
        self._known.clear()


def sign_in_invited(workspace: Workspace, token: str, params: Mapping[str, str], days: float) -> str:
    """Open an invitation link; returns the secret of a new session."""
    engine = workspace.store.engine
    secret = access.accept_invitation(engine, token, dict(params), days)
    if secret is None:
        message, hint = _NOT_TAKEN[access.invitation_refusal(engine, token, dict(params))]
        raise Refusal("invitation", message, hint=hint)
    return secret


def is_own_link(workspace: Workspace, session_id: str, token: str) -> bool:
    """Did the person with this session come by this very link?"""
    return access.came_by_invitation(workspace.store.engine, session_id, token)


def sign_in_administrator(workspace: Workspace, days: float) -> str:
    """The secret of a new session. The administrator can vote too, under an id of their own."""
    store = workspace.store
    rater = store.get(Rater, _ADMINISTRATOR)
    if rater is None:
        rater = Rater(rater_id=_ADMINISTRATOR, name=_ADMINISTRATOR, role="admin")
        store.add([rater])
    return access.open_session(store.engine, role="admin", name=_ADMINISTRATOR, days=days, rater=rater)


def same_secret(wanted: str, presented: str) -> bool:
    """Is this the secret that is wanted? Where none is, no answer is right."""
    return bool(wanted) and hmac.compare_digest(wanted.encode(), presented.encode("utf-8", "replace"))


def open_sessions(workspace: Workspace, *, before: str | None, limit: int) -> list[StoredSession]:
    """Who is signed in, newest first; `before` is the `place` of the last one seen."""
    return access.session_rows(workspace.store.engine, before=before, limit=limit)


def end_other_session(workspace: Workspace, session_id: str) -> None:
    """Sign somebody out from elsewhere."""
    if not access.end_session(workspace.store.engine, session_id):
        raise Refusal("not_found", "There is no such session.")


def end_own_session(workspace: Workspace, session_id: str) -> None:
    """Sign out."""
    access.close_session(workspace.store.engine, session_id)


# ---------------------------------------------------------------- tokens of machines


@dataclass(frozen=True)
class NewToken:
    """A token that was just made. Its secret is not kept."""

    token: StoredToken
    secret: str


def machine_tokens(workspace: Workspace, *, by_role: str | None, before: int | None, limit: int) -> list[StoredToken]:
    """The tokens that a caller may handle, newest first."""
    return access.token_rows(workspace.store.engine, before=before, limit=limit, roles=_handled(by_role))


def new_token(workspace: Workspace, *, by_role: str | None, name: str, role: str, days: float) -> NewToken:
    """Make a token for a machine."""
    allowed = _handled(by_role)
    if allowed and role not in allowed:
        raise Refusal("not_allowed", "Only the administrator may make a token with this role.")
    engine = workspace.store.engine
    identity, secret = access.make_token(engine, name=name, role=role, days=days)
    (made,) = access.token_rows(engine, before=None, limit=1, identity=identity)
    return NewToken(made, secret)


def end_token(workspace: Workspace, token_id: str, *, by_role: str | None) -> None:
    """End a token that a caller may handle."""
    engine = workspace.store.engine
    known = access.token_rows(engine, before=None, limit=1, identity=token_id, roles=_handled(by_role))
    if not known or not access.revoke_token(engine, token_id):
        raise Refusal("not_found", "There is no such token.")


def _handled(role: str | None) -> tuple[str, ...]:
    """Roles of the tokens that a caller may handle; empty: all."""
    return () if role == "admin" else ("viewer",)
