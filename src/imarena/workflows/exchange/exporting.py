"""export: write a workspace's records in a file format."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar, cast

from imarena.core import Progress, Skip, UserError, WriteFormat
from imarena.core.records import Exclusion, ImageRef, Record
from imarena.storage import Workspace, read_exclusions, reading
from imarena.workflows.views import View, uncounted_judgments, uncounted_votes

R = TypeVar("R", bound=Record)


class WorkspaceArchive:
    """The workspace as exporters see it (the `Archive` port)."""

    def __init__(self, workspace: Workspace, progress: Progress | None) -> None:
        self._workspace = workspace
        self._progress = progress

    def records(self, kind: type[R]) -> Iterator[R]:
        """Yield all records of a kind, oldest first."""
        if issubclass(kind, Exclusion):
            with reading(self._workspace.store.engine) as connection:
                exclusions = read_exclusions(connection)
            yield from cast("list[R]", exclusions)
            return
        total = self._workspace.store.count(kind).get((), 0)
        for done, record in enumerate(self._workspace.store.records(kind)):
            if self._progress and done % 200 == 0:
                self._progress(kind.__name__.lower(), done, total)
            yield record

    def uncounted_judgments(self) -> Mapping[str, str]:
        """Return the ids of judgments that do not count, each with the reason."""
        return uncounted_judgments(View(self._workspace))

    def uncounted_votes(self) -> Mapping[str, str]:
        """Return the ids of votes that do not count, each with the reason."""
        return uncounted_votes(View(self._workspace))

    def load(self, image: ImageRef) -> bytes:
        """Return the original bytes of an image."""
        return self._workspace.load(image)


def export_records(
    workspace: Workspace,
    write: WriteFormat,
    directory: Path,
    *,
    options: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> list[Skip]:
    """Write everything into a new or empty folder. Return what could not be written, and why."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UserError(f"{directory} is not empty.", hint="Export into a new folder.")
    return list(write(directory, WorkspaceArchive(workspace, progress), dict(options or {})))
