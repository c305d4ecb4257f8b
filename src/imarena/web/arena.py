"""What all routes share: the workspace, the voting desk, the pictures, the keys."""

from dataclasses import dataclass, field
from pathlib import Path

from fastapi import Request

from imarena.storage import Workspace, open_workspace
from imarena.web.keys import Keys
from imarena.web.limits import Buckets
from imarena.workflows.rating import Voting, offer_missing
from imarena.workflows.serving import (
    Leaderboards,
    Previews,
    PreviewWarmer,
    ServeSettings,
    SessionCache,
    Traffic,
    ViewWarmer,
)


@dataclass
class ServedWorkspace:
    """One open workspace and what serves it."""

    settings: ServeSettings
    workspace: Workspace
    voting: Voting
    pictures: Previews
    leaderboards: Leaderboards
    keys: Keys
    sessions: SessionCache
    warmer: PreviewWarmer
    view_warmer: ViewWarmer
    traffic: Traffic
    buckets: Buckets = field(default_factory=Buckets)

    def close(self) -> None:
        """Let go of the workspace."""
        self.warmer.stop()
        self.view_warmer.stop()
        self.voting.close()
        self.workspace.close()


def open_arena(settings: ServeSettings) -> ServedWorkspace:
    """Open the workspace that is to be served."""
    workspace = open_workspace(Path(settings.workspace))
    offer_missing(workspace)
    voting = Voting(workspace)
    pictures = Previews(workspace)
    traffic = Traffic()
    leaderboards = Leaderboards(workspace)
    return ServedWorkspace(
        settings=settings,
        workspace=workspace,
        voting=voting,
        pictures=pictures,
        warmer=PreviewWarmer(voting.records, pictures, traffic),
        traffic=traffic,
        leaderboards=leaderboards,
        view_warmer=ViewWarmer(leaderboards, traffic),
        keys=Keys(settings.secret_key),
        sessions=SessionCache(workspace),
    )


def arena_of(request: Request) -> ServedWorkspace:
    """The arena behind a request."""
    arena = request.app.state.arena
    if not isinstance(arena, ServedWorkspace):
        raise TypeError("the application has no arena")
    return arena
