"""Regions and metrics of a workspace's outputs, per item, and the region tools by name."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from imarena import preferences
from imarena.core import BoxSegmenter, Detection, InvalidImage, PhraseDetector, Pixels, Progress
from imarena.core.records import ImageRef, Item, Output
from imarena.images import pixels
from imarena.storage import Workspace
from imarena.vision import DETECTORS, PHRASE_DETECTORS, box_segmenter, labels_in_phrase, phrase_detector, scale_to
from imarena.workflows.questions import load_outputs
from imarena.workflows.views import common_turn, instruction_of, sources_of

NO_SOURCE = "no_common_source"
LEFT_TO_A_JUDGE = "left_to_a_judge"


@dataclass(frozen=True)
class RegionOptions:
    """How regions are found."""

    method: preferences.RegionMethod = "auto"
    detector: str = "efficientdet"
    segmenter: str = ""
    grounding: Literal["paper", "public"] = "paper"


class RegionFinder:
    """Finds the edit regions of an item's outputs with the tools of the options, which are loaded once."""

    def __init__(self, options: RegionOptions) -> None:
        self.options = options
        self._detector = None if options.method == "changes" else find_detector(options.detector)
        self._segmenter = find_segmenter(options.segmenter)

    def find(
        self, instruction: str, before: Pixels, outputs: Sequence[Pixels], rule: preferences.TaskRule | None
    ) -> tuple[preferences.EditRegion, ...]:
        """Return the region of each output. `rule`: of the item's task; without one, objects are sought in both."""
        ground = "both" if rule is None else rule.grounded_in(public=self.options.grounding == "public")
        return preferences.find_regions(
            instruction, before, outputs, ground, self._detector, method=self.options.method, segmenter=self._segmenter
        )


def measure_workspace(
    workspace: Workspace,
    rules: preferences.TaskRules,
    options: RegionOptions,
    *,
    datasets: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    editors: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> tuple[list[preferences.MeasuredGroup], Counter[str]]:
    """Return measured groups, and the number of items left out before measuring, by reason."""
    board = load_outputs(workspace, datasets=datasets, tasks=tasks, editors=editors)
    finder = RegionFinder(options)
    groups: list[preferences.MeasuredGroup] = []
    skipped: Counter[str] = Counter()
    slots = sorted(board.slots.items())
    for at, ((item_id, _, _), outputs) in enumerate(slots, start=1):
        item = board.items[item_id]
        task = task_of(item, outputs[0])
        if task not in rules.tasks:
            skipped[f"task_without_rule: {task or 'none'}"] += 1
        elif rules.tasks[task].pipeline == "judge":
            skipped[LEFT_TO_A_JUDGE] += 1
        elif (source := shared_source(item, outputs, board.parents)) is None:
            skipped[NO_SOURCE] += 1
        else:
            groups.append(_measure(workspace, item, source, outputs, task, rules.tasks[task], finder))
        if progress is not None:
            progress("items", at, len(slots))
    return groups, skipped


def shared_source(item: Item, outputs: Sequence[Output], parents: dict[str, Output]) -> ImageRef | None:
    """Return the one source of all outputs, or None; later turns of a chain have one per editor, and so none."""
    if any(common_turn(outputs[0], output, parents) < output.turn for output in outputs[1:]):
        return None
    sources = {image.sha256: image for output in outputs for image in sources_of(item, output, parents)}
    return next(iter(sources.values())) if len(sources) == 1 else None


def task_of(item: Item, output: Output) -> str:
    """Return the task of the output's turn, else of the item; empty if none is stated."""
    return item.turns[output.turn].task or item.task or ""


def _measure(
    workspace: Workspace,
    item: Item,
    source: ImageRef,
    outputs: Sequence[Output],
    task: str,
    rule: preferences.TaskRule,
    finder: RegionFinder,
) -> preferences.MeasuredGroup:
    """Measure one item. Outputs of another size are scaled to the source's size, which the pair's record notes."""
    instruction = instruction_of(item, outputs[0].turn, outputs[0].mode)
    before, fitted_outputs, failures = load_group(workspace, source, outputs)
    if before is None or not fitted_outputs:
        return preferences.MeasuredGroup(item.item_id, instruction, task, source, (), failures)
    regions = finder.find(instruction, before, [fitted for _, fitted, _ in fitted_outputs], rule)
    candidates = []
    for (output, fitted, resized), region in zip(fitted_outputs, regions, strict=True):
        if region.mask is None or output.image is None:
            failures[f"region_{region.status}"] += 1
            continue
        measured = {
            name: preferences.measure_region(
                before, fitted, region.mask if name == "inside" else ~region.mask, region,
                (*metrics.primary, *metrics.secondary),
            )
            for name, metrics in rule.regions().items()
        }  # fmt: skip
        details = {
            "output": output.output_id, "editor": output.editor, "resized": resized,
            "region": region_record(region, finder.options),
            "missing": {name: dict(result.missing) for name, result in measured.items() if result.missing},
        }  # fmt: skip
        values = {name: result.values for name, result in measured.items()}
        candidates.append(preferences.MeasuredCandidate(output.image, values, details))
    return preferences.MeasuredGroup(item.item_id, instruction, task, source, tuple(candidates), failures)


def load_group(
    workspace: Workspace, source: ImageRef, outputs: Sequence[Output]
) -> tuple[Pixels | None, list[tuple[Output, Pixels, bool]], Counter[str]]:
    """Load the source; each output at the source's size, with whether it was resized; and the failures."""
    failures: Counter[str] = Counter()
    fitted_outputs: list[tuple[Output, Pixels, bool]] = []
    try:
        before = pixels(workspace.load(source))
    except InvalidImage:
        return None, [], Counter({"invalid_image": len(outputs)})
    for output in sorted(outputs, key=lambda output: output.output_id):
        if output.image is None:
            continue
        try:
            after = pixels(workspace.load(output.image))
        except InvalidImage:
            failures["invalid_image"] += 1
            continue
        fitted_outputs.append((output, scale_to(after, before), after.shape != before.shape))
    return before, fitted_outputs, failures


def region_record(region: preferences.EditRegion, options: RegionOptions) -> dict[str, Any]:
    """Return how a region was found, for the record of a pair."""
    record: dict[str, Any] = {"how": region.how, "share": round(region.share, 6), "names": list(region.names)}
    if region.how == "objects":
        record |= {
            "detector": options.detector, "segmenter": options.segmenter, "grounding": options.grounding,
            "source_boxes": [list(box) for box in region.source_boxes],
            "output_boxes": [list(box) for box in region.output_boxes],
        }  # fmt: skip
    return record


def find_detector(name: str) -> PhraseDetector:
    """Return a detector for the objects in phrases. Open-vocabulary detectors search for the phrases; others search for
    everything that they know, and detections that match no phrase are dropped.
    """
    if name in PHRASE_DETECTORS:
        return phrase_detector(name)
    detect = DETECTORS.get(name)

    def by_kind(pixels: Pixels, phrases: Sequence[str]) -> tuple[Detection, ...]:
        meant = {label for phrase in phrases for label in labels_in_phrase(phrase)}
        return tuple(detection for detection in detect(pixels) if detection.label in meant) if meant else ()

    return by_kind


def find_segmenter(name: str) -> BoxSegmenter | None:
    """Return the segmenter of this name; with an empty name, the boxes themselves are the region."""
    return box_segmenter(name) if name else None
