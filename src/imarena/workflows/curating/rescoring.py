"""curate rescore: score the stored candidates of a data set by new criteria, without a new search or download."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from imarena.core import (
    FoundImage,
    ImageQuery,
    ImageSource,
    Progress,
    SourceFailure,
    StoreError,
    UserError,
    command_line,
)
from imarena.core.records import Evidence, ImageRef
from imarena.curation import CurationRequest, CurationSettings
from imarena.storage import Workspace
from imarena.workflows.curating.decisions import REQUEST, STEPS
from imarena.workflows.curating.report import CurationReport
from imarena.workflows.curating.run import curate
from imarena.workflows.curating.setup import CurationSetup
from imarena.workflows.curating.sources import CurationChat

STORED = "stored"
"""The name of the source that returns stored candidates."""


@dataclass(frozen=True)
class StoredCandidates:
    """The candidates of every instruction of a data set, the requests that find them, and the settings."""

    requests: tuple[CurationRequest, ...]
    candidates: dict[str, list[tuple[FoundImage, ImageRef]]]
    settings: CurationSettings

    @property
    def images(self) -> dict[str, list[ImageRef]]:
        """The images of each instruction, by key."""
        return {key: [image for _, image in found] for key, found in self.candidates.items()}


def stored_candidates(workspace: Workspace, dataset: str, target: str, settings: CurationSettings) -> StoredCandidates:
    """Return every candidate of `dataset` that passed the checks, for `rescore`.

    Candidates that were rejected before they were stored (no licence, too small, no image) stay rejected.
    """
    works = list(_works(workspace, dataset))
    if not works:
        raise UserError(
            f"No curation run wrote to the data set '{dataset}'.", hint=f"`{command_line('curate run')}` makes one."
        )
    if target == dataset:
        raise UserError("The new pools need a data set of their own.", hint="Add --to NAME.")
    candidates = {request.key: _candidates(workspace, work) for work, request in works}
    requests = tuple(replace(request, keywords=(request.key,)) for _, request in works)
    return StoredCandidates(requests, candidates, settings.model_copy(update={"results_per_query": 200}))


def rescore(
    workspace: Workspace,
    stored: StoredCandidates,
    target: str,
    chosen: CurationChat,
    *,
    progress: Progress | None = None,
) -> CurationReport:
    """Score all stored candidates again, and write the new pools to the data set `target`."""
    source = _stored_source(workspace, stored.candidates)
    setup = CurationSetup(
        target, [source], chosen.planner, stored.settings, opened=chosen.opened, concurrency=chosen.concurrency
    )
    return curate(workspace, stored.requests, setup, progress=progress)


def _works(workspace: Workspace, dataset: str) -> Iterator[tuple[str, CurationRequest]]:
    """Yield the newest run of each instruction that has begun: the name of its steps, and its request."""
    newest: dict[str, tuple[str, CurationRequest]] = {}
    for stored in workspace.store.records(Evidence, kind=REQUEST):
        value: Any = stored.value
        if value["dataset"] == dataset:
            data = value["request"]
            request = CurationRequest(data["key"], data["instruction"], data["task"], value.get("topic"))
            begun = workspace.store.rows(Evidence, image_sha256=stored.image_sha256, kind=STEPS, limit=1)
            if request.key not in newest or any(begun):
                newest[request.key] = (stored.image_sha256, request)
    yield from newest.values()


def _candidates(workspace: Workspace, work: str) -> list[tuple[FoundImage, ImageRef]]:
    images = []
    for step in workspace.store.records(Evidence, image_sha256=work, kind=STEPS):
        value: Any = step.value
        if value.get("step") == "image" and "failed" not in value:
            image = ImageRef(
                sha256=value["sha256"], size_bytes=0, media_type="", width=value["width"], height=value["height"]
            )
            images.append((FoundImage.from_json(value["found"]), image))
    return images


def _stored_source(workspace: Workspace, stored: dict[str, list[tuple[FoundImage, ImageRef]]]) -> ImageSource:
    hashes = {f"{found.source}/{found.key}": image.sha256 for images in stored.values() for found, image in images}

    async def search(query: ImageQuery, limit: int) -> Sequence[FoundImage]:  # noqa: ARG001
        return [
            replace(image, source=STORED, key=f"{image.source}/{image.key}") for image, _ in stored.get(query.text, ())
        ]

    async def load(found: FoundImage) -> bytes:
        try:
            return workspace.blobs.get(hashes[found.key])
        except StoreError as error:
            raise SourceFailure(f"{found.key}: {error}") from error

    return ImageSource(STORED, search, load, f"{STORED}-{sorted(hashes.values())}")
