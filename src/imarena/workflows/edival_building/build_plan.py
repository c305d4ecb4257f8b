"""build --dry-run: what a build would read, ask and write, with an estimate of its time and cost. Nothing is stored."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from imarena.core import InvalidImage
from imarena.core.records import Evidence, ImageRef, Item, Status, Usage
from imarena.images import describe_image, read_image_file
from imarena.instructions import QUESTIONS, prompt_file
from imarena.judges import CHARACTERS_PER_TOKEN, Size, endpoint_tokens, estimate_sizes
from imarena.storage import Workspace
from imarena.workflows.edival_building.building import BuildSettings, image_files
from imarena.workflows.edival_building.decomposers import WiredDecomposer
from imarena.workflows.edival_building.scene_evidence import KIND
from imarena.workflows.wiring import ChatTask, JudgeChat

_WORD_TOKENS = 30
"""Assumed tokens of a reply with one word."""


@dataclass(frozen=True)
class BuildPlan:
    """What a build would do. None for unknown figures."""

    dataset: str
    images: int
    unreadable: int
    same: int
    decomposed_before: int
    to_decompose: int
    items_before: int
    chains_at_most: int
    """Number of items, if every image without an item turns out to have objects."""
    questions_at_most: int = 0
    seconds: float = 0.0
    cost_usd: float | None = 0.0
    basis: tuple[str, ...] = ()
    """Which figures are measured and which are assumed."""

    @property
    def spends(self) -> bool:
        """Can the build cost money? False if the prices are 0; True if they are unknown."""
        return self.questions_at_most > 0 and self.cost_usd != 0


def plan_build(
    workspace: Workspace, folder: Path, settings: BuildSettings, wired: WiredDecomposer, writer: JudgeChat | None = None
) -> BuildPlan:
    """Count the images by the work that they need; time one decomposition if it is computed locally."""
    files = image_files(folder)[: settings.limit]
    counts: Counter[str] = Counter()
    images: dict[str, tuple[Path, ImageRef]] = {}
    present_keys = {row["key"] for row in workspace.store.rows(Item, dataset=settings.dataset)}
    unwritten: list[ImageRef] = []
    for path in files:
        try:
            image = describe_image(read_image_file(path))
        except (InvalidImage, OSError):
            counts["unreadable"] += 1
            continue
        counts["same"] += image.sha256 in images
        if image.sha256 not in images:
            images[image.sha256] = path, image
            if path.relative_to(folder).as_posix() not in present_keys:
                unwritten.append(image)
    name, version = wired.decomposer.name, wired.decomposer.version
    records = workspace.store.records(Evidence, kind=KIND, tool=name, status=Status.OK.value)
    stored = [record for record in records if record.tool_version == version and record.image_sha256 in images]
    done = {record.image_sha256 for record in stored}
    todo = [found for sha256, found in images.items() if sha256 not in done]
    plan = BuildPlan(
        settings.dataset, len(files), counts["unreadable"], counts["same"], len(done), len(todo), len(present_keys),
        len(unwritten),
    )  # fmt: skip
    if todo and wired.client is None:
        plan = _timed(plan, todo[0][0], settings, wired)
    if wired.client is not None:
        task = ChatTask(wired.client.endpoint.model, wired.client)
        sizes = [size for _, image in todo for size in _sizes(wired.client, image, QUESTIONS)]
        past = [pair for record in stored for pair in _past(wired.client, images[record.image_sha256][1], record)]
        plan = _with_estimate(plan, task, sizes, past, settings)
    if writer is not None:
        task = ChatTask(writer.endpoint.model, writer, _WORD_TOKENS)
        words = ("suggest_word",) * settings.chain.turns
        sizes = [size for image in unwritten for size in _sizes(writer, image, words)]
        plan = _with_estimate(plan, task, sizes, [], settings)
    return plan


def _timed(plan: BuildPlan, path: Path, settings: BuildSettings, wired: WiredDecomposer) -> BuildPlan:
    """Add the time of decompositions that are computed locally, measured with one image."""
    image = read_image_file(path)
    started = time.monotonic()
    asyncio.run(wired.decomposer(image))
    duration_s = time.monotonic() - started
    at_once = min(settings.concurrency or os.cpu_count() or 1, plan.to_decompose)
    basis = f"one image measured: {duration_s:.1f} s, models loaded; {at_once} at once"
    return replace(plan, seconds=duration_s * plan.to_decompose / at_once, basis=(basis,))


def _sizes(client: JudgeChat, image: ImageRef, prompts: tuple[str, ...]) -> list[Size]:
    tokens = endpoint_tokens(client.endpoint, image)
    return [Size(len(prompt_file(name).text) / CHARACTERS_PER_TOKEN, tokens, 1) for name in prompts]


def _past(client: JudgeChat, image: ImageRef, record: Evidence) -> Iterator[tuple[Size, Usage]]:
    """Yield the questions of an earlier decomposition, each with its share of the usage."""
    value: Any = record.value
    sizes = _sizes(client, image, QUESTIONS[: len(value["raw"])])
    usage = {name: total / len(sizes) for name, total in value["usage"].items()} if sizes else {}
    tokens = {name: round(usage[name]) for name in ("input_tokens", "output_tokens") if name in usage}
    yield from ((size, Usage(**tokens, latency_s=usage.get("latency_s"))) for size in sizes)


def _with_estimate(
    plan: BuildPlan, task: ChatTask, sizes: list[Size], past: list[tuple[Size, Usage]], settings: BuildSettings
) -> BuildPlan:
    if not sizes:
        return plan
    found = estimate_sizes(task, sizes, past, 0, concurrency=settings.concurrency or task.concurrency)
    cost = None if plan.cost_usd is None or found.cost_usd is None else plan.cost_usd + found.cost_usd
    return replace(
        plan, questions_at_most=plan.questions_at_most + found.new, cost_usd=cost,
        seconds=plan.seconds + (found.seconds or 0.0), basis=(*plan.basis, f"{task.name}: {'; '.join(found.basis)}"),
    )  # fmt: skip
