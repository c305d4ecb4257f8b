"""State shared by all routes: the workspace, the voting desk, the pictures, the keys."""

from pathlib import Path

from fastapi import Request

from imarena.storage import open_workspace
from imarena.web.keys import Keys
from imarena.web.limits import Buckets
from imarena.workflows import serving
from imarena.workflows.rating import Voting, offer_missing


class ServedWorkspace:
    """One open workspace and the objects that serve it."""

    def __init__(self, settings: serving.ServeSettings) -> None:
        self.settings = settings
        self.workspace = open_workspace(Path(settings.workspace))
        offer_missing(self.workspace)
        self.voting = Voting(self.workspace)
        self.pictures = serving.Previews(self.workspace)
        self.leaderboards = serving.Leaderboards(self.workspace)
        self.traffic = serving.Traffic()
        self.warmer = serving.PreviewWarmer(self.voting.records, self.pictures, self.traffic)
        self.view_warmer = serving.ViewWarmer(self.leaderboards, self.traffic)
        self.keys = Keys(settings.secret_key)
        self.sessions = serving.SessionCache(self.workspace)
        self.buckets = Buckets()

    def close(self) -> None:
        """Close the workspace."""
        self.warmer.stop()
        self.view_warmer.stop()
        self.voting.close()
        self.workspace.close()


def arena_of(request: Request) -> ServedWorkspace:
    """The arena that serves a request."""
    arena = request.app.state.arena
    if not isinstance(arena, ServedWorkspace):
        raise TypeError("the application has no arena")
    return arena
