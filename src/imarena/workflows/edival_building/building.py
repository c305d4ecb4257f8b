"""build: turn a folder of images into a benchmark of chains; existing decompositions and chains are kept."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imarena.core import (
    Cause,
    CauseTally,
    Document,
    ExecutorKind,
    InvalidImage,
    ObjectPlan,
    Progress,
    UserError,
    error_message,
    object_plan,
    plan_provenance,
)
from imarena.core.records import ImageRef, Item, JsonDict, Turn
from imarena.datasets import load_taxonomy
from imarena.images import SUFFIXES, read_image_file
from imarena.instructions import (
    DECOMPOSITION_OUTCOMES,
    WRITER_VERSION,
    ChainSettings,
    Decomposition,
    SceneContents,
    SceneStatistics,
    scene_statistics,
)
from imarena.storage import Workspace
from imarena.workflows.edival_building.chain_writing import ChainWriter, ScenePlan
from imarena.workflows.edival_building.decomposers import OFFLINE, WiredDecomposer
from imarena.workflows.edival_building.scene_evidence import SceneTally, decompose_images
from imarena.workflows.exchange import WorkspaceIntake
from imarena.workflows.wiring import JudgeChat, record_run

TAXONOMY = "edival"


@dataclass(frozen=True)
class BuildSettings:
    """How to build a benchmark."""

    dataset: str
    chain: ChainSettings = field(default_factory=ChainSettings)
    detector: str = "efficientdet"
    licence: str | None = None
    limit: int | None = None
    """Only the first images, in order of their names."""
    keep_empty: bool = False
    """Write chains for images without objects too: they begin with an addition."""
    concurrency: int | None = None
    executor: ExecutorKind = "threads"
    """The executor for decomposing images, if no endpoint does it."""


@dataclass(frozen=True)
class BuildReport(Document):
    """The result of a build. Every image of the folder is counted once in `outcomes`."""

    dataset: str
    images: int
    outcomes: Counter[str]
    """By result of the decomposition; `invalid_image` for files that are not images, `same_image` for repeated ones."""
    reasons: tuple[Cause, ...]
    """Why images have no item, and why objects were dropped."""
    items: int
    items_before: int
    decomposed_before: int
    refused_words: Counter[str]
    """Why words from a model were rejected; vocabulary words replaced them."""
    statistics: SceneStatistics
    stopped: str
    cost_usd: float

    @property
    def failed(self) -> int:
        """Number of images whose decomposition failed: the next build retries them."""
        return self.outcomes["failed"]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**super().to_json(), "failed": self.failed}


def build_benchmark(
    workspace: Workspace,
    folder: Path,
    settings: BuildSettings,
    wired: WiredDecomposer,
    writer: JudgeChat | None = None,
    *,
    progress: Progress | None = None,
) -> BuildReport:
    """Decompose the images of a folder, write a chain for each, add the items. A second build adds the missing ones."""
    files = image_files(folder)[: settings.limit]
    tools = {
        "objects": f"{wired.decomposer.name} {wired.decomposer.version}",
        "detector": settings.detector,
        "instructions": f"{OFFLINE if writer is None else writer.endpoint.model} {WRITER_VERSION}",
    }
    old_items = _known_items(workspace, settings, tools)
    build = _Build(workspace, settings, folder)
    noted: JsonDict = {
        "dataset": settings.dataset, "turns": settings.chain.turns, "seed": settings.chain.seed, "tools": {**tools},
    }  # fmt: skip
    with record_run(workspace, "edival build", noted) as ongoing:
        images = build.keep(files)
        scenes = decompose_images(
            workspace, wired, [image.sha256 for image in images.values()], concurrency=settings.concurrency,
            executor=settings.executor, progress=progress,
        )  # fmt: skip
        todo = {key: image for key, image in build.usable(images, scenes).items() if key not in old_items}
        unwritten = [
            ScenePlan(key, image, scenes.scenes[image.sha256].contents or _empty(image)) for key, image in todo.items()
        ]
        chains = ChainWriter(workspace, settings.chain, tools, writer)
        stopped = scenes.stopped or asyncio.run(
            chains.write_all(unwritten, lambda plan, chain: build.add(plan, chain, scenes), progress)
        )
        ongoing.cost_usd = scenes.cost_usd + chains.cost_usd
        ongoing.counts = {**build.outcomes, "items": build.added}
        ongoing.partial = bool(stopped) or build.outcomes["failed"] > 0
    present = {item.key: item for item in workspace.store.records(Item, dataset=settings.dataset)}
    pairs = [(present[key], scenes.scenes[image.sha256]) for key, image in images.items() if key in present]
    plans = [plan for item, _ in pairs if (plan := object_plan(item)) is not None]
    statistics = scene_statistics(plans, [scene.facts or {} for _, scene in pairs])
    return BuildReport(
        settings.dataset, len(files), build.outcomes, build.causes.causes(), build.added, len(old_items),
        scenes.done_before, chains.refused, statistics, stopped, scenes.cost_usd + chains.cost_usd,
    )  # fmt: skip


def image_files(folder: Path) -> list[Path]:
    """Return the images below a folder, by name."""
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}.", hint="Give the path of a folder of images.")
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix.lower() in _suffixes())
    if not paths:
        raise UserError(f"{folder} holds no images.", hint=f"Known endings: {', '.join(sorted(_suffixes()))}.")
    return paths


def _suffixes() -> frozenset[str]:
    return frozenset({*SUFFIXES.values(), ".jpeg", ".tif", ".tiff", ".bmp"})


def _known_items(workspace: Workspace, settings: BuildSettings, tools: dict[str, str]) -> dict[str, Item]:
    """Return the data set's items if the same settings made them; raise if others did."""
    old_items: dict[str, Item] = {}
    for item in workspace.store.records(Item, dataset=settings.dataset):
        plan = object_plan(item)
        is_same = plan is not None and (plan.tools, plan.seed, len(plan.turns)) == (
            tools, settings.chain.seed, settings.chain.turns,
        )  # fmt: skip
        if not is_same:
            raise UserError(
                f"The data set '{settings.dataset}' has items that were made in another way, such as '{item.key}'.",
                hint="Choose another name with --dataset, or build with the settings of before.",
            )
        old_items[item.key] = item
    return old_items


def _empty(image: ImageRef) -> SceneContents:
    return SceneContents((), image.width or 1, image.height or 1)


@dataclass
class _Build:
    """Stores images, counts the outcome of each, and adds items."""

    workspace: Workspace
    settings: BuildSettings
    folder: Path
    outcomes: Counter[str] = field(default_factory=Counter)
    causes: CauseTally = field(default_factory=CauseTally)
    added: int = 0

    def keep(self, files: Sequence[Path]) -> dict[str, ImageRef]:
        """Store the images, each once; return them by the key of their item."""
        intake, images, hashes = WorkspaceIntake(self.workspace), dict[str, ImageRef](), set[str]()
        for path in files:
            key = path.relative_to(self.folder).as_posix()
            try:
                image = intake.keep(read_image_file(path), name=key)
            except (InvalidImage, OSError) as error:
                self._leave_out("invalid_image", f"invalid_image: {error_message(error)}", key)
                continue
            if image.sha256 in hashes:
                self._leave_out("same_image", "same_image: another file has the same bytes", key)
                continue
            hashes.add(image.sha256)
            images[key] = image
        intake.flush()
        return images

    def usable(self, images: dict[str, ImageRef], scenes: SceneTally) -> dict[str, ImageRef]:
        """Return the images that get a chain."""
        result: dict[str, ImageRef] = {}
        for key, image in images.items():
            scene = scenes.scenes.get(image.sha256)
            if scene is None:
                continue  # not asked: the run was stopped
            for left_out in scene.dropped:
                self.causes.add(f"object left out: {_kind_of_reason(left_out.reason)}", f"{key}: {left_out.name}")
            if scene.outcome == "ok" or (self.settings.keep_empty and scene.outcome in ("no_objects", "nothing_found")):
                self.outcomes[scene.outcome] += 1
                result[key] = image
            else:
                status = scene.status.value if scene.outcome == "failed" else scene.outcome
                self._leave_out(
                    scene.outcome, f"{status}: {scene.reason or DECOMPOSITION_OUTCOMES[scene.outcome]}", key
                )
        return result

    def add(self, plan: ScenePlan, chain: tuple[ObjectPlan, tuple[str, ...]], scenes: SceneTally) -> None:
        """Store an item."""
        self.workspace.store.add([_item(plan, chain, self.settings, scenes.scenes[plan.image.sha256])])
        self.added += 1

    def _leave_out(self, outcome: str, reason: str, key: str) -> None:
        self.outcomes[outcome] += 1
        self.causes.add(reason, key)


def _kind_of_reason(reason: str) -> str:
    """Return a reason without its measurements, so that similar reasons are counted together."""
    if "of the image (" in reason:
        return "a box is too large"
    return reason


def _item(
    plan: ScenePlan, chain: tuple[ObjectPlan, tuple[str, ...]], settings: BuildSettings, scene: Decomposition
) -> Item:
    written, instructions = chain
    first = written.turns[0].type
    task = load_taxonomy(TAXONOMY).task(first)
    facts = scene.facts or {}
    return Item(
        dataset=settings.dataset,
        key=plan.key,
        turns=tuple(Turn(instruction=i, task=t.type) for i, t in zip(instructions, written.turns, strict=True)),
        sources=(plan.image,),
        taxonomy=TAXONOMY,
        task=first,
        family=None if task is None else task.family,
        topic=str(facts["kind"]) if facts.get("kind") else None,
        track="multi_turn" if len(instructions) > 1 else "single_turn",
        licence=settings.licence,
        provenance={"file": plan.key, "facts": facts, **plan_provenance(written)},
    )
