"""State shared by all routes: the workspace, the voting desk, the pictures, the keys."""

from dataclasses import dataclass, field
from pathlib import Path

from fastapi import Request

from imarena.storage import Workspace, open_workspace
from imarena.web.keys import Keys
from imarena.web.limits import Buckets
from imarena.workflows import serving
from imarena.workflows.rating import Voting, offer_missing


@dataclass
class ServedWorkspace:
    """One open workspace and the objects that serve it."""

    settings: serving.ServeSettings
    workspace: Workspace
    voting: Voting
    pictures: serving.Previews
    leaderboards: serving.Leaderboards
    keys: Keys
    sessions: serving.SessionCache
    warmer: serving.PreviewWarmer
    view_warmer: serving.ViewWarmer
    traffic: serving.Traffic
    buckets: Buckets = field(default_factory=Buckets)

    def close(self) -> None:
        """Close the workspace."""
        self.warmer.stop()
        self.view_warmer.stop()
        self.voting.close()
        self.workspace.close()


def open_arena(settings: serving.ServeSettings) -> ServedWorkspace:
    """Open the workspace to serve."""
    workspace = open_workspace(Path(settings.workspace))
    offer_missing(workspace)
    voting = Voting(workspace)
    pictures = serving.Previews(workspace)
    traffic = serving.Traffic()
    leaderboards = serving.Leaderboards(workspace)
    return ServedWorkspace(
        settings=settings,
        workspace=workspace,
        voting=voting,
        pictures=pictures,
        warmer=serving.PreviewWarmer(voting.records, pictures, traffic),
        traffic=traffic,
        leaderboards=leaderboards,
        view_warmer=serving.ViewWarmer(leaderboards, traffic),
        keys=Keys(settings.secret_key),
        sessions=serving.SessionCache(workspace),
    )


def arena_of(request: Request) -> ServedWorkspace:
    """The arena that serves a request."""
    arena = request.app.state.arena
    if not isinstance(arena, ServedWorkspace):
        raise TypeError("the application has no arena")
    return arena
