"""curate run and curate base: collect items for instructions, with every step in the journal."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from imarena import curation
from imarena.core import (
    Cause,
    CauseTally,
    ImageSource,
    Progress,
    UserError,
    canonical_json,
    sha256_hex,
)
from imarena.core.records import Evidence, Item, JsonDict, Run
from imarena.storage import Workspace
from imarena.workflows.curating.decisions import REQUEST, STEPS
from imarena.workflows.curating.image_memory import BenchmarkImages, ImageAnalysisCache
from imarena.workflows.curating.items import make_item, name_tasks
from imarena.workflows.wiring import WorkJournal, exclusive_run, record_run

COMMAND = "curate"
TOOL = "cogretriever"
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


@dataclass(frozen=True)
class ChosenImage:
    """An image that became an item."""

    item: str
    """The item's key, which `curate log` takes."""
    source: str
    file: str
    """The file in a folder, or the image's key in another source."""
    score: float | None


@dataclass(frozen=True)
class RequestOutcome:
    """One instruction: its items, the number of candidates by outcome, and why a person has to take over."""

    key: str
    chosen: tuple[ChosenImage, ...]
    """Sorted by score, highest first."""
    rounds: int
    outcomes: dict[str, int]
    review: str = ""
    flags: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    too_small: int = 0
    """Number of candidates whose long side is below the limit."""

    @property
    def items(self) -> tuple[str, ...]:
        """Keys of its items."""
        return tuple(image.item for image in self.chosen)

    @property
    def complete(self) -> bool:
        """Whether its pool is full."""
        return not self.review


@dataclass(frozen=True)
class CurationReport:
    """The result of a run."""

    dataset: str
    requests: tuple[RequestOutcome, ...]
    new_items: int
    cost_usd: float
    causes: tuple[Cause, ...]
    """Why candidates were left out, with counts."""
    failures: tuple[Cause, ...]
    earlier: tuple[str, ...] = ()
    """Keys of items for the same instructions from earlier runs that this one did not choose."""
    warnings: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every instruction has its images."""
        return all(outcome.complete for outcome in self.requests)

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        requests: list[Any] = [
            {
                "key": entry.key, "items": list(entry.items), "rounds": entry.rounds, "candidates": {**entry.outcomes},
                "chosen": [asdict(image) for image in entry.chosen], "review": entry.review or None,
                "flags": list(entry.flags), "failures": list(entry.failures),
            }
            for entry in self.requests
        ]  # fmt: skip
        causes: list[Any] = [cause.to_json() for cause in self.causes]
        failures: list[Any] = [cause.to_json() for cause in self.failures]
        return {
            "dataset": self.dataset, "new_items": self.new_items, "complete": self.complete, "cost_usd": self.cost_usd,
            "requests": requests, "left_out": causes, "failures": failures, "earlier": list(self.earlier),
            "warnings": list(self.warnings),
        }  # fmt: skip


@dataclass
class _Tally:
    outcomes: list[RequestOutcome] = field(default_factory=list)
    new: int = 0
    cost_usd: float = 0.0
    causes: CauseTally = field(default_factory=CauseTally)
    left_out: set[tuple[str, str]] = field(default_factory=set)
    """Reason and image of each candidate in `causes`: an image found for several instructions counts once."""
    failures: CauseTally = field(default_factory=CauseTally)


def curation_work(setup: CurationSetup, request: curation.CurationRequest) -> str:
    """Return the name for the steps of one instruction: a hash of everything that its result depends on."""
    work = {
        "dataset": setup.dataset, "request": request.to_json(), "mind": setup.planner.name,
        "settings": setup.settings.model_dump(), "sources": [source.identity for source in setup.sources],
    }  # fmt: skip
    return sha256_hex(canonical_json(work).encode())


def curate(
    workspace: Workspace,
    requests: Sequence[curation.CurationRequest],
    setup: CurationSetup,
    *,
    progress: Progress | None = None,
) -> CurationReport:
    """Collect images for every instruction. The same command resumes after a kill, and retries failures."""
    if not setup.sources:
        raise UserError("No source was named.", hint="Add --source FOLDER, or --source openverse.")
    if not requests:
        raise UserError("There are no instructions.", hint="Name a table with the columns key, instruction and task.")
    requests, warnings = name_tasks(requests, setup.taxonomy)
    refuse_changed_items(workspace, setup.dataset, requests)
    tally = _Tally()
    settings: JsonDict = {"dataset": setup.dataset, "requests": len(requests), "mind": setup.planner.name}
    attempt = sum(workspace.store.count(Run, command=COMMAND).values())
    with exclusive_run(workspace, COMMAND, setup.dataset), record_run(workspace, COMMAND, settings) as run:
        run.plan(len(requests))
        asyncio.run(_curate_all(workspace, requests, setup, tally, attempt, progress))
        run.counts = {"items": tally.new, "requests": len(requests)}
        run.cost_usd = tally.cost_usd
        run.partial = not all(outcome.complete for outcome in tally.outcomes)
    new_keys = frozenset(key for outcome in tally.outcomes for key in outcome.items)
    return CurationReport(
        setup.dataset, tuple(tally.outcomes), tally.new, tally.cost_usd, tally.causes.causes(), tally.failures.causes(),
        earlier_items(workspace, setup.dataset, requests, new_keys), warnings,
    )  # fmt: skip


async def _curate_all(
    workspace: Workspace,
    requests: Sequence[curation.CurationRequest],
    setup: CurationSetup,
    tally: _Tally,
    attempt: int,
    progress: Progress | None,
) -> None:
    memory = ImageAnalysisCache(workspace)
    benchmark = BenchmarkImages(workspace, setup.dataset, memory, setup.settings)
    async with (setup.opened or _nothing)():
        for at, request in enumerate(requests):
            work = curation_work(setup, request)
            value: JsonDict = {
                "dataset": setup.dataset, "request": request.to_json(), "topic": request.topic,
                "taxonomy": setup.taxonomy, "settings": setup.settings.model_dump(mode="json"),
            }  # fmt: skip
            workspace.store.add([Evidence(image_sha256=work, tool=TOOL, kind=REQUEST, value=value)])
            journal = WorkJournal(workspace, work, attempt, kind=STEPS, tool=TOOL, tool_version="1")
            tools = curation.CurationTools(
                setup.sources, setup.planner, memory.look, partial(benchmark.near, request.key)
            )
            result = await curation.CurationLoop(curation.read_brief(request), tools, setup.settings, journal).run()
            items = [
                make_item(workspace, setup.dataset, setup.taxonomy, request, work, record) for record in result.pool
            ]
            added = workspace.store.add(items)
            for item in items:
                benchmark.add(item)
            _count(tally, request, result, [item.key for item in items], added.new)
            if progress:
                progress("instructions", at + 1, len(requests))


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def _count(
    tally: _Tally, request: curation.CurationRequest, result: curation.CurationResult, keys: list[str], new: int
) -> None:
    pool = {record.sha256 for record in result.pool}
    outcomes = Counter("chosen" if record.sha256 in pool and record.outcome == "pooled" else record.outcome
                       for record in result.candidates)  # fmt: skip
    flags = tuple(sorted({flag for record in result.pool for flag in record.flags}))
    images = tuple(ChosenImage(key, record.found.source, record.found.key, record.score)
                   for key, record in zip(keys, result.pool, strict=True))  # fmt: skip
    small = sum(record.code == "small" for record in result.candidates)
    tally.outcomes.append(
        RequestOutcome(request.key, images, result.rounds, dict(outcomes), result.review, flags, result.failures, small)
    )
    tally.new += new
    tally.cost_usd += result.cost_usd
    for record in result.candidates:
        if record.outcome in ("refused", "duplicate"):
            reason, example = _cause(record)
            if (reason, example) not in tally.left_out:
                tally.left_out.add((reason, example))
                tally.causes.add(reason, example)
    for failure in result.failures:
        tally.failures.add(failure, request.key)


def _cause(record: curation.CandidateRecord) -> tuple[str, str]:
    """Return the reason for leaving out a candidate, in uniform words; its own figures go to the example."""
    image = f"{record.found.source}/{record.found.key}"
    if record.outcome == "duplicate" and record.score is not None:
        return "a near-duplicate of an image that was chosen", f"{image} ({record.reason})"
    if record.code in curation.MEASURED:
        measured, _, reason = record.reason.partition(": ")
        return reason, f"{image} ({measured})"
    return record.reason, image


_NAMED = 5


def refuse_changed_items(workspace: Workspace, dataset: str, requests: Sequence[curation.CurationRequest]) -> None:
    """Raise if the data set has items with the same key and another instruction, task or topic."""
    meaning = {request.key: (request.instruction, request.task, request.topic) for request in requests}
    other = {
        key: item.key for item in workspace.store.records(Item, dataset=dataset)
        if (key := str(item.provenance.get("request"))) in meaning
        and (item.instruction, item.task, item.topic) != meaning[key]
    }  # fmt: skip
    if other:
        names = ", ".join([*other][:_NAMED]) + (f" and {len(other) - _NAMED} more" if len(other) > _NAMED else "")
        raise UserError(
            f"The data set '{dataset}' has items with another instruction, task or topic for: {names}.",
            hint="Items are not changed. Collect the new table into another data set (--dataset NAME), or give the"
            " changed rows new keys.",
        )


def earlier_items(
    workspace: Workspace, dataset: str, requests: Sequence[curation.CurationRequest], new_keys: frozenset[str]
) -> tuple[str, ...]:
    """Return keys of the data set's items for these instructions that this run did not choose."""
    keys = {request.key for request in requests}
    return tuple(
        item.key for item in workspace.store.records(Item, dataset=dataset)
        if str(item.provenance.get("request")) in keys and item.key not in new_keys
    )  # fmt: skip
