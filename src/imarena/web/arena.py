"""What all routes share: the workspace, the voting desk, the pictures, the keys."""

import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Lock

from fastapi import Request

from imarena.storage import Workspace, access, open_workspace
from imarena.web.keys import Keys
from imarena.web.limits import Buckets
from imarena.workflows.rating import Voting, offer_missing
from imarena.workflows.serving import Leaderboards, Previews, PreviewWarmer, ServeSettings, Traffic, ViewWarmer

_REMEMBERED_S = 2.0
"""A session that was just looked up is believed this long: revoking one takes effect within it."""
_AT_ONCE = 1_000


@dataclass
class ServedWorkspace:
    """One open workspace and what serves it."""

    settings: ServeSettings
    workspace: Workspace
    voting: Voting
    pictures: Previews
    looking: Leaderboards
    keys: Keys
    warmer: PreviewWarmer
    view_warmer: ViewWarmer
    traffic: Traffic
    buckets: Buckets = field(default_factory=Buckets)
    _known: dict[str, tuple[float, access.Visitor | None]] = field(default_factory=dict)
    _here: set[str] = field(default_factory=set)
    """Sessions that asked for something since sessions were last looked up."""
    _looking_up: Lock = field(default_factory=Lock)

    def visitor(self, secret: str, *, machine: bool) -> access.Visitor | None:
        """Whose session or token this is; asks the database at most every two seconds, about all who are here."""
        key, engine = access.hash_secret(secret), self.workspace.store.engine
        if not machine:
            self._here.add(key)  # who comes while another is looked up is looked up with all others in line
        with self._looking_up:
            known = self.remembered(secret)
            if known is not None:
                return known[1]
            moment = time.monotonic()
            if len(self._known) > 10_000:
                self._known.clear()
            if machine:
                found = {key: access.token_visitor(engine, secret)}
            else:
                here = {key, *islice(self._here.copy(), _AT_ONCE)}
                self._here.clear()
                who = access.visitors(engine, here)
                found = {one: who.get(one) for one in here}
            self._known.update({one: (moment, visitor) for one, visitor in found.items()})
            return found[key]  # what is known may be forgotten at any moment

    def remembered(self, secret: str) -> tuple[float, access.Visitor | None] | None:
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
        self._known.clear()

    def close(self) -> None:
        """Let go of the workspace."""
        self.warmer.stop()
        self.view_warmer.stop()
        self.voting.turns.close()
        self.workspace.close()


def open_arena(settings: ServeSettings) -> ServedWorkspace:
    """Open the workspace that is to be served."""
    workspace = open_workspace(Path(settings.workspace))
    offer_missing(workspace)
    voting = Voting(workspace)
    pictures = Previews(workspace)
    traffic = Traffic()
    looking = Leaderboards(workspace, voting.shelves)
    return ServedWorkspace(
        settings=settings,
        workspace=workspace,
        voting=voting,
        pictures=pictures,
        warmer=PreviewWarmer(voting.shelves, pictures, traffic),
        traffic=traffic,
        looking=looking,
        view_warmer=ViewWarmer(looking, traffic),
        keys=Keys(settings.secret_key),
    )


def arena_of(request: Request) -> ServedWorkspace:
    """The arena behind a request."""
    arena = request.app.state.arena
    if not isinstance(arena, ServedWorkspace):
        raise TypeError("the application has no arena")
    return arena
