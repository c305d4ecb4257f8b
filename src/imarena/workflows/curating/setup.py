"""The inputs of a curation run."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from imarena import curation
from imarena.core import ImageSource, canonical_json, sha256_hex
from imarena.core.records import Evidence, JsonDict
from imarena.workflows.curating.decisions import REQUEST
from imarena.workflows.curating.journal import TOOL

TAXONOMY = "cv_arena"


@dataclass(frozen=True)
class CurationSetup:
    """The inputs of a run."""

    dataset: str
    sources: Sequence[ImageSource]
    planner: curation.CurationPlanner
    settings: curation.CurationSettings
    taxonomy: str = TAXONOMY
    opened: Callable[[], AbstractAsyncContextManager[None]] | None = None
    """Opens the model's client for the duration of the run."""
    concurrency: int | None = None
    """Number of instructions at once, each with one question at a time; None: a default."""

    def work(self, request: curation.CurationRequest) -> str:
        """Return the name for the steps of one instruction: a hash of everything that its result depends on."""
        work = {
            "dataset": self.dataset, "request": request.to_json(), "mind": self.planner.name,
            "settings": self.settings.model_dump(), "sources": [source.identity for source in self.sources],
        }  # fmt: skip
        return sha256_hex(canonical_json(work).encode())

    def evidence(self, request: curation.CurationRequest) -> Evidence:
        """Return the record of a request, stored under the name of its steps."""
        value: JsonDict = {
            "dataset": self.dataset, "request": request.to_json(), "topic": request.topic,
            "taxonomy": self.taxonomy, "settings": self.settings.model_dump(mode="json"),
        }  # fmt: skip
        return Evidence(image_sha256=self.work(request), tool=TOOL, kind=REQUEST, value=value)
