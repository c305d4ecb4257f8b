"""Decompositions as evidence: one question per image and decomposer, stored with the reasons."""

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from imarena.clients import CostLimitReached
from imarena.core import ExecutorKind, ImarenaError, Progress, content_id, error_message
from imarena.core.records import Evidence, JsonDict, Status, Usage
from imarena.engine import WorkerTask
from imarena.instructions import Decomposer, Decomposition, DroppedObject, contents_from_json
from imarena.storage import Workspace
from imarena.workflows.edival_building.decomposers import WiredDecomposer
from imarena.workflows.questions import Questions, RunOptions, SharedWork, ask

KIND = "edival.scene"


@dataclass
class SceneTally:
    """The decompositions of a run, by image hash."""

    scenes: dict[str, Decomposition] = field(default_factory=dict)
    done_before: int = 0
    cost_usd: float = 0.0
    stopped: str = ""


@dataclass(frozen=True)
class _Decompose:
    """Answers one question: takes the bytes of an image, returns its decomposition."""

    decomposer: Decomposer

    async def __call__(self, image: bytes) -> Decomposition:
        return await self.decomposer(image)


def decompose_images(
    workspace: Workspace,
    wired: WiredDecomposer,
    images: list[str],
    *,
    concurrency: int | None = None,
    executor: ExecutorKind = "threads",
    progress: Progress | None = None,
) -> SceneTally:
    """Decompose every image without an answer from this decomposer. Results are stored as they arrive."""
    name, version = wired.decomposer.name, wired.decomposer.version
    tally = SceneTally()
    hashes = set(images)

    def stored(**where: Any) -> Counter[str]:
        attempts = Counter[str]()
        for evidence in workspace.store.records(Evidence, kind=KIND, tool=name, **where):
            if evidence.tool_version == version and evidence.image_sha256 in hashes:
                attempts[evidence.image_sha256] += 1
                if evidence.status is Status.OK:
                    tally.scenes[evidence.image_sha256] = _decomposition(evidence)
        return attempts

    attempts = stored()
    tally.done_before = len(tally.scenes)
    work = [sha256 for sha256 in dict.fromkeys(images) if sha256 not in tally.scenes]

    def on_answer(sha256: str, scene: Decomposition) -> Decomposition:
        tally.scenes[sha256] = scene
        tally.cost_usd += scene.usage.cost_usd or 0.0
        return scene

    def write(batch: list[tuple[str, Decomposition]]) -> None:
        workspace.store.add([_evidence(sha256, scene, name, version, attempts[sha256]) for sha256, scene in batch])

    def key(sha256: str) -> str:
        return content_id("work", KIND, name, version, sha256)

    def asked_elsewhere(hashes: Sequence[str]) -> set[str]:
        now = stored(image_sha256=list(hashes))
        return {key(sha256) for sha256 in hashes if now[sha256] > attempts[sha256]}

    shared = SharedWork(workspace.claims(), key, asked_elsewhere)
    task = WorkerTask(_Decompose(wired.decomposer), _failed_work)
    questions = Questions(work, workspace.blobs.get, task, _not_asked, on_answer, write, shared=shared, stage="images")
    client = wired.client
    if client is None:
        # `auto`: networks compute outside Python's lock, and every separate process would load all of them.
        in_process = executor in ("auto", "threads")
        at_once = concurrency or ((os.cpu_count() or 1) if in_process else None)
        run_options = RunOptions("threads" if in_process else executor, at_once, gpus=wired.gpus, progress=progress)
    else:
        at_once = concurrency or client.endpoint.max_concurrency
        run_options = RunOptions("threads", at_once, opening=client.opened, progress=progress)
    tally.stopped = asyncio.run(ask(questions, run_options)).stopped
    return tally


def _not_asked(_: object, error: Exception) -> Decomposition:
    """The result for an image that could not be read or asked about."""
    if isinstance(error, CostLimitReached):
        raise error
    status = Status.INVALID_IMAGE if isinstance(error, ImarenaError) else Status.API_ERROR
    return Decomposition("failed", status, f"{type(error).__name__}: {error_message(error)}")


def _failed_work(_: object, error: Exception) -> Decomposition:
    return Decomposition("failed", Status.API_ERROR, f"{type(error).__name__}: {error_message(error)}")


def scene_document(scene: Decomposition) -> JsonDict:
    """Return a decomposition as it is stored and printed."""
    return {
        "outcome": scene.outcome,
        "reason": scene.reason,
        "contents": None if scene.contents is None else scene.contents.to_json(),
        "dropped": [{"name": left_out.name, "reason": left_out.reason} for left_out in scene.dropped],
        "facts": scene.facts,
        "usage": scene.usage.model_dump(mode="json", exclude_defaults=True),
        "raw": list(scene.raw),
    }


def _evidence(sha256: str, scene: Decomposition, tool: str, version: str, attempt: int) -> Evidence:
    return Evidence(
        image_sha256=sha256,
        tool=tool,
        tool_version=version,
        kind=KIND,
        value=scene_document(scene),
        status=scene.status,
        error="" if scene.status is Status.OK else scene.reason,
        params={"attempt": attempt} if attempt else {},
    )


def _decomposition(evidence: Evidence) -> Decomposition:
    stored: Mapping[str, Any] = evidence.value if isinstance(evidence.value, dict) else {}
    contents = stored.get("contents")
    return Decomposition(
        stored["outcome"],
        evidence.status,
        stored["reason"],
        None if contents is None else contents_from_json(contents),
        tuple(DroppedObject(entry["name"], entry["reason"]) for entry in stored["dropped"]),
        stored["facts"],
        Usage.model_validate(stored["usage"]),
        tuple(stored["raw"]),
    )
