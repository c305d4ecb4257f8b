"""curate rescore: score the stored candidates of a data set by new criteria, without a new search or download."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from imarena.core import FoundImage, ImageQuery, ImageSource, SourceFailure, StoreError, UserError
from imarena.core.records import Evidence
from imarena.curation import CurationPlanner, CurationRequest, CurationSettings
from imarena.storage import Workspace
from imarena.workflows.curating.decisions import STEPS
from imarena.workflows.curating.run import REQUEST, CurationReport, CurationSetup, curate

STORED = "stored"
"""The name of the source that returns stored candidates."""


def rescore(
    workspace: Workspace,
    dataset: str,
    target: str,
    planner: CurationPlanner,
    settings: CurationSettings,
    opened: Callable[[], AbstractAsyncContextManager[None]] | None = None,
) -> CurationReport:
    """Score every candidate of `dataset` that passed the checks again, and write the new pools to `target`.

    Candidates that were rejected before they were stored (no licence, too small, no image) stay rejected.
    """
    works = list(_works(workspace, dataset))
    if not works:
        raise UserError(f"No curation run wrote to the data set '{dataset}'.", hint="`imarena curate run` makes one.")
    if target == dataset:
        raise UserError("The new pools need a data set of their own.", hint="Add --to NAME.")
    candidates = {request.key: _candidates(workspace, work) for work, request in works}
    requests = [replace(request, keywords=(request.key,)) for _, request in works]
    source = _stored_source(workspace, candidates)
    wide = settings.model_copy(update={"results_per_query": 200})
    return curate(workspace, requests, CurationSetup(target, [source], planner, wide, opened=opened))


def _works(workspace: Workspace, dataset: str) -> Iterator[tuple[str, CurationRequest]]:
    """Yield the newest run of each instruction: the name of its steps, and its request."""
    newest: dict[str, tuple[str, CurationRequest]] = {}
    for stored in workspace.store.records(Evidence, kind=REQUEST):
        value: Any = stored.value
        if value["dataset"] == dataset:
            data = value["request"]
            request = CurationRequest(data["key"], data["instruction"], data["task"], value.get("topic"))
            newest[request.key] = (stored.image_sha256, request)
    yield from newest.values()


def _candidates(workspace: Workspace, work: str) -> list[tuple[FoundImage, str]]:
    images = []
    for step in workspace.store.records(Evidence, image_sha256=work, kind=STEPS):
        value: Any = step.value
        if value.get("step") == "image" and "failed" not in value:
            images.append((FoundImage.from_json(value["found"]), str(value["sha256"])))
    return images


def _stored_source(workspace: Workspace, stored: dict[str, list[tuple[FoundImage, str]]]) -> ImageSource:
    hashes = {f"{image.source}/{image.key}": sha256 for images in stored.values() for image, sha256 in images}

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
