"""EdiVal-CC of one image (equation 3): consistency of the background and of the objects that no edit concerns."""

from dataclasses import dataclass, field

import numpy as np

from imarena.core import ObjectPlan, Pixels, ShareBox
from imarena.images import shrink_pixels
from imarena.judges.edival import rules
from imarena.judges.edival.following import EvaluationContext, find_boxes, plan_boxes
from imarena.judges.edival.measurement_cache import EncodedImage, MeasuredBy
from imarena.judges.edival.tools import crop
from imarena.vision import scale_to

LIKENESS = "likeness"
_GREY = 127
_SIDE = 512
"""Image size at which the paper compares."""
_LEAST_BACKGROUND = 0.01
"""Smallest share of the image for which the background is compared."""


@dataclass(frozen=True)
class ContentConsistency:
    """Similarity of the background and of the unchanged objects, 0 to 1; None if there is nothing to compare."""

    background: float | None = None
    objects: float | None = None
    background_l1: float | None = None
    objects_l1: float | None = None
    by_object: dict[str, float] = field(default_factory=dict)
    not_found: tuple[str, ...] = ()
    """Unchanged objects without a box in the base image."""
    resized: bool = False
    """The image had another size than the base image and was scaled to it."""

    @property
    def score(self) -> float | None:
        """The mean of the background's and the objects' similarity, or the one that exists."""
        return _mean([self.background, self.objects])

    @property
    def l1(self) -> float | None:
        """The same with 1 minus the mean absolute difference of pixels."""
        return _mean([self.background_l1, self.objects_l1])


def _mean(halves: list[float | None]) -> float | None:
    values = [half for half in halves if half is not None]
    return sum(values) / len(values) if values else None


def content_consistency(
    context: EvaluationContext, plan: ObjectPlan, at: int, base: EncodedImage, now: EncodedImage
) -> ContentConsistency:
    """Compare the image after turn number `at` with the base image."""
    turn = plan.turns[at]
    background = _background(context, plan, at, base, now) if turn.score_background else (None, None)
    by_object: dict[str, float] = {}
    l1: list[float] = []
    not_found: list[str] = []
    for name in turn.unchanged:
        boxes = base_boxes(context, plan, name, base)
        pairs = [_compare(context, base, now, {"box": list(box)}, [box], inside=True) for box in boxes]
        likenesses = [likeness for likeness, _ in pairs if likeness is not None]
        if not likenesses:
            not_found.append(name)
            continue
        by_object[name] = float(np.mean(likenesses))
        l1.append(float(np.mean([closeness for _, closeness in pairs if closeness is not None])))
    return ContentConsistency(
        background[0],
        float(np.mean(list(by_object.values()))) if by_object else None,
        background[1],
        float(np.mean(l1)) if l1 else None,
        by_object,
        tuple(not_found),
        base.pixels.shape != now.pixels.shape,
    )


def base_boxes(context: EvaluationContext, plan: ObjectPlan, name: str, base: EncodedImage) -> list[ShareBox]:
    """The boxes of an object in the base image: the plan's if it has any, else the detector's."""
    return plan_boxes(context, plan, name) or [
        detection.box for detection in find_boxes(context, base, name, None) or ()
    ]


def _background(
    context: EvaluationContext, plan: ObjectPlan, at: int, base: EncodedImage, now: EncodedImage
) -> tuple[float | None, float | None]:
    """Compare the images outside the boxes of all objects found in the base image or in this one."""
    names = dict.fromkeys([*(entry.name for entry in plan.objects), *objects_so_far(plan, at)])
    boxes: list[ShareBox] = []
    for name in names:
        boxes += base_boxes(context, plan, name, base)
        boxes += [detection.box for detection in find_boxes(context, now, name, None) or ()]
    boxes = sorted(set(boxes))
    return _compare(context, base, now, {"without": [list(box) for box in boxes]}, boxes, inside=False)


def objects_so_far(plan: ObjectPlan, at: int) -> tuple[str, ...]:
    """The names of all objects up to a turn: those of the object pool and those that edits added."""
    brought = [step.new_object for step in plan.turns[: at + 1] if step.new_object]
    return tuple(dict.fromkeys([*plan.turns[at].all_objects, *brought]))


def _compare(
    context: EvaluationContext,
    base: EncodedImage,
    now: EncodedImage,
    params: dict[str, object],
    boxes: list[ShareBox],
    *,
    inside: bool,
) -> tuple[float | None, float | None]:
    """Return similarity and 1 - L1, inside the one box or outside all boxes."""
    tool = context.tools.comparer
    by = MeasuredBy(tool.name, tool.version, LIKENESS)

    def measure() -> dict[str, float | None]:
        left, right = base.pixels, scale_to(now.pixels, base.pixels)
        if inside:
            left, right = cut(left, boxes[0], context), cut(right, boxes[0], context)
            share, l1 = 1.0, _l1(left, right, None)
        else:
            covered = cover_mask(left, boxes)
            share, l1 = 1.0 - float(covered.mean()), _l1(left, right, ~covered)
            left, right = _covered(left, covered), _covered(right, covered)
            if share < _LEAST_BACKGROUND:
                return {"likeness": None, "l1": None}
        likeness = tool.likeness(shrink_pixels(left, _SIDE), shrink_pixels(right, _SIDE), share)
        return {
            "likeness": None if likeness is None else round(likeness, 6),
            "l1": None if l1 is None else round(l1, 6),
        }

    value = context.measurements.measure(by, now, dict(params), measure, base)  # type: ignore[arg-type]
    return value["likeness"], value["l1"]


def cut(pixels: Pixels, box: ShareBox, context: EvaluationContext) -> Pixels:
    """Cut a box out of an image; small boxes are enlarged first."""
    return crop(pixels, rules.enlarge(box, context.settings.smallest_crop))


def cover_mask(pixels: Pixels, boxes: list[ShareBox]) -> "np.ndarray[tuple[int, int], np.dtype[np.bool_]]":
    """(height, width): true inside any of the boxes."""
    height, width = pixels.shape[:2]
    covered = np.zeros((height, width), np.bool_)
    for left, top, right, bottom in boxes:
        covered[int(top * height) : int(np.ceil(bottom * height)), int(left * width) : int(np.ceil(right * width))] = (
            True
        )
    return covered


def _covered(pixels: Pixels, covered: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]") -> Pixels:
    out = pixels.copy()
    out[covered] = _GREY
    return out


def _l1(left: Pixels, right: Pixels, mask: "np.ndarray[tuple[int, int], np.dtype[np.bool_]] | None") -> float | None:
    distance = np.abs(left.astype(np.int16) - right.astype(np.int16))
    distances = distance if mask is None else distance[mask]
    return None if distances.size == 0 else 1.0 - float(distances.mean()) / 255.0
