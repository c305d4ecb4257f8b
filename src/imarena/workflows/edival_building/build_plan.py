"""build --dry-run: what a build would read, ask and write, with an estimate of its time and cost. Nothing is stored."""

import asyncio
import os
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from imarena.core import InvalidImage, sha256_hex
from imarena.core.records import Evidence, Item, Status
from imarena.images import pixels, read_image_file
from imarena.judges import CHARACTERS_PER_TOKEN, OUTPUT_TOKENS, PIXELS_PER_TOKEN
from imarena.storage import Workspace
from imarena.workflows.edival_building.building import BuildSettings, image_files
from imarena.workflows.edival_building.decomposers import WiredDecomposer
from imarena.workflows.edival_building.scene_evidence import KIND
from imarena.workflows.wiring import JudgeChat

_LATENCY_S = 8.0
_SCENE_QUESTIONS, _PROMPT_CHARACTERS = 2, 2400
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
    questions_at_most: int
    seconds: float | None
    cost_usd: float | None
    basis: tuple[str, ...]
    """Which figures are measured and which are assumed."""


def plan_build(
    workspace: Workspace, folder: Path, settings: BuildSettings, wired: WiredDecomposer, writer: JudgeChat | None = None
) -> BuildPlan:
    """Count the images by the work that they need; time one decomposition if it is computed locally."""
    files = image_files(folder)[: settings.limit]
    counts: Counter[str] = Counter()
    images: dict[str, bytes] = {}
    pixel_counts: dict[str, int] = {}
    present_keys = {row["key"] for row in workspace.store.rows(Item, dataset=settings.dataset)}
    chains = 0
    for path in files:
        try:
            data = read_image_file(path)
            size = pixels(data).shape
        except (InvalidImage, OSError):
            counts["unreadable"] += 1
            continue
        sha256 = sha256_hex(data)
        counts["same"] += sha256 in images
        if sha256 not in images:
            images[sha256], pixel_counts[sha256] = data, size[0] * size[1]
            chains += path.relative_to(folder).as_posix() not in present_keys
    done = _decomposed_images(workspace, wired) & set(images)
    todo = [data for sha256, data in images.items() if sha256 not in done]
    plan = BuildPlan(
        settings.dataset, len(files), counts["unreadable"], counts["same"], len(done), len(todo), len(present_keys),
        chains, 0, None, None, (),
    )  # fmt: skip
    pixels_shown = sum(count for sha256, count in pixel_counts.items() if sha256 not in done)
    return _estimate(plan, todo, pixels_shown, settings, wired, writer)


def _decomposed_images(workspace: Workspace, wired: WiredDecomposer) -> set[str]:
    records = workspace.store.records(Evidence, kind=KIND, tool=wired.decomposer.name, status=Status.OK.value)
    return {record.image_sha256 for record in records if record.tool_version == wired.decomposer.version}


def _estimate(
    plan: BuildPlan,
    todo: list[bytes],
    pixels_shown: int,
    settings: BuildSettings,
    wired: WiredDecomposer,
    writer: JudgeChat | None,
) -> BuildPlan:
    seconds, cost, questions, basis = 0.0, 0.0, 0, list[str]()
    priced = True
    if todo and wired.client is None:
        started = time.monotonic()
        asyncio.run(wired.decomposer(todo[0]))
        duration_s = time.monotonic() - started
        at_once = min(settings.concurrency or os.cpu_count() or 1, len(todo))
        seconds += duration_s * len(todo) / at_once
        basis.append(f"one image measured: {duration_s:.1f} s, models loaded; {at_once} at once")
    for client, number, tokens_in, tokens_out in _questions_by_client(plan, pixels_shown, settings, wired, writer):
        questions += number
        seconds += number * _LATENCY_S / max(1, min(settings.concurrency or client.endpoint.max_concurrency, number))
        prices = client.endpoint.input_usd_per_million, client.endpoint.output_usd_per_million
        priced = priced and None not in prices
        cost += (tokens_in * (prices[0] or 0.0) + tokens_out * (prices[1] or 0.0)) / 1e6
        basis.append(f"{client.endpoint.model}: {_LATENCY_S:g} s per question assumed")
    if questions and not priced:
        basis.append("no prices are set: input_usd_per_million, output_usd_per_million")
    return replace(
        plan, questions_at_most=questions, seconds=seconds, cost_usd=cost if priced else None, basis=tuple(basis)
    )


def _questions_by_client(
    plan: BuildPlan, pixels_shown: int, settings: BuildSettings, wired: WiredDecomposer, writer: JudgeChat | None
) -> list[tuple[JudgeChat, int, float, float]]:
    """Return each endpoint with its maximum number of questions, input tokens and output tokens."""
    planned: list[tuple[JudgeChat, int, float, float]] = []
    words = _PROMPT_CHARACTERS / CHARACTERS_PER_TOKEN
    if plan.to_decompose and wired.client is not None:
        number = _SCENE_QUESTIONS * plan.to_decompose
        image_tokens = _SCENE_QUESTIONS * pixels_shown / PIXELS_PER_TOKEN
        planned.append((wired.client, number, image_tokens + number * words, number * OUTPUT_TOKENS))
    number = plan.chains_at_most * settings.chain.turns
    if number and writer is not None:
        planned.append((writer, number, number * words, number * _WORD_TOKENS))
    return planned
