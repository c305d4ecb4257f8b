"""Edit regions of a workspace's items, stored as evidence: campaigns outline them, `inside-boxes` measures in them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.core import VERSION, Detection, Mask, Progress, content_id
from imarena.core.records import Evidence, ImageRef, Item, Output
from imarena.images import EDIT_BOXES, boxes_value, components
from imarena.preferences import EditRegion, task_rules
from imarena.storage import Workspace
from imarena.workflows.preferences.measuring import (
    LEFT_TO_A_JUDGE,
    NO_SOURCE,
    RegionFinder,
    RegionOptions,
    load_group,
    shared_source,
    task_of,
)
from imarena.workflows.questions import load_outputs
from imarena.workflows.views import instruction_of

TOOL = "edit-region"
_SMALLEST_PART = 0.0005
"""Parts of a region below this fraction of the image get no box."""


@dataclass(frozen=True)
class EditRegionReport:
    """How many items have an edit region, how the regions were found, and why other items have none."""

    items: int
    regions: int
    found_by: Mapping[str, int]
    skipped: Mapping[str, int]


def write_edit_regions(
    workspace: Workspace,
    options: RegionOptions,
    *,
    datasets: Sequence[str] = (),
    tasks: Sequence[str] = (),
    progress: Progress | None = None,
) -> EditRegionReport:
    """Find the edit region of every item from its source and all of its outputs, and store its boxes.

    There is one region per item and instruction: the union over the outputs, so that it favours no editor.
    """
    board = load_outputs(workspace, datasets=datasets or None, tasks=tasks or None)
    finder = RegionFinder(options)
    counts: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    slots = sorted(board.slots.items())
    for at, ((item_id, _, _), outputs) in enumerate(slots, start=1):
        item = board.items[item_id]
        source = shared_source(item, outputs, board.parents)
        evidence = NO_SOURCE if source is None else _region_of(workspace, item, source, outputs, finder)
        if isinstance(evidence, str):
            skipped[evidence] += 1
        else:
            workspace.store.add([evidence])
            counts[str(evidence.params["how"])] += 1
        if progress is not None:
            progress("items", at, len(slots))
    return EditRegionReport(len(slots), sum(counts.values()), dict(counts), dict(skipped))


def _region_of(
    workspace: Workspace,
    item: Item,
    source: ImageRef,
    outputs: Sequence[Output],
    finder: RegionFinder,
) -> Evidence | str:
    """Return the evidence, or the reason why there is none."""
    rule = task_rules().tasks.get(task_of(item, outputs[0]))
    if rule is not None and rule.pipeline == "judge":
        return LEFT_TO_A_JUDGE
    before, fitted_outputs, _ = load_group(workspace, source, outputs)
    if before is None or not fitted_outputs:
        return "invalid_image"
    instruction = instruction_of(item, outputs[0].turn, outputs[0].mode)
    regions = finder.find(instruction, before, [fitted for _, fitted, _ in fitted_outputs], rule)
    parts = [region.mask for region in regions if region.mask is not None]
    if not parts:
        return f"region_{regions[0].status}"
    height, width = before.shape[:2]
    boxes = _boxes(np.logical_or.reduce(parts))
    return Evidence(
        image_sha256=source.sha256,
        tool=TOOL,
        tool_version=VERSION,
        kind=EDIT_BOXES,
        params={"instruction": instruction, **_how(regions, finder.options), "outputs": _hash_of(outputs)},
        value=boxes_value([Detection(box, "edit", 1.0) for box in boxes], width, height),
    )


def _boxes(mask: Mask) -> list[tuple[float, float, float, float]]:
    """Return boxes of the region's parts, except parts that are too small to see."""
    large = components(mask, min_area=max(1, round(_SMALLEST_PART * mask.size)))
    return [box.as_tuple() for box in large or components(mask)[:1]]


def _hash_of(outputs: Sequence[Output]) -> str:
    """Return one hash of the images that determined a region: other outputs make other evidence."""
    return content_id("outputs", *sorted(output.image.sha256 for output in outputs if output.image is not None))


def _how(regions: Sequence[EditRegion], options: RegionOptions) -> dict[str, Any]:
    how = next(region.how for region in regions if region.is_ok)
    if how != "objects":
        return {"how": how}
    return {"how": how, "detector": options.detector, "segmenter": options.segmenter, "grounding": options.grounding}
