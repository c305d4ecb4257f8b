"""EdiVal-IF of one edit: run the tools that the rule of its type needs, and let the rule decide."""

from dataclasses import dataclass, field, replace
from typing import Any

from imarena.core import Detection, EditType, ObjectPlan, ObjectTurn, ShareBox
from imarena.images import BOXES
from imarena.judges.edival import rules
from imarena.judges.edival.measurement_cache import EncodedImage, MeasuredBy, MeasurementCache
from imarena.judges.edival.rules import Decision, FoundBoxes
from imarena.judges.edival.same_look import (
    LIKE,
    PERHAPS_LIKE,
    SAME_LOOK,
    SAME_LOOK_VERSION,
    common_share,
    find_same_look,
)
from imarena.judges.edival.settings import EdiValSettings
from imarena.judges.edival.tools import FLOOR, Toolbox, YesNoQuestion
from imarena.vision import TextLine

ANSWER = "yes_no"
TEXT = "text"


@dataclass(frozen=True)
class EvaluationContext:
    """What the scores are computed with."""

    tools: Toolbox
    measurements: MeasurementCache
    settings: EdiValSettings
    base: EncodedImage
    """The base image; the plan's boxes are in its pixel coordinates."""


@dataclass(frozen=True)
class FollowedEdit:
    """The decision about one edit and, for a replacement, the result of each of the paper's three rules."""

    turn: ObjectTurn
    decision: Decision
    replace_rules: dict[str, bool | None] = field(default_factory=dict)


def find_boxes(
    context: EvaluationContext, image: EncodedImage, phrase: str, edit_type: EditType | None, above: float | None = None
) -> FoundBoxes:
    """The boxes of a phrase that count for an edit of this type, as shares; None if the detector cannot find it.

    `above`: use this threshold if it is lower than that of the type.
    """
    finder, settings = context.tools.finder, context.settings
    params = finder.params(phrase)
    if params is None:
        return None

    def search() -> list[Any]:
        height, width = image.pixels.shape[:2]
        sides = (width, height, width, height)
        return [
            [
                [round(end / side, 5) for end, side in zip(detection.box, sides, strict=True)],
                detection.label,
                round(detection.score, 4),
            ]
            for detection in finder.search(image.pixels, phrase)
        ]

    by = MeasuredBy(finder.name, finder.version, BOXES)
    stored = context.measurements.measure(by, image, params, lambda: {"shares": search()})
    detections = [Detection((box[0], box[1], box[2], box[3]), label, score) for box, label, score in stored["shares"]]
    threshold = settings.threshold if settings.threshold is not None else finder.thresholds.for_type(edit_type)
    threshold = threshold if above is None else min(above, threshold)
    boxes = rules.filter_boxes(finder.chosen(detections, phrase), threshold, settings.largest_side)
    return tuple(sorted(boxes, key=lambda detection: -detection.score))


async def follow_edit(
    context: EvaluationContext, plan: ObjectPlan, turn: ObjectTurn, before: EncodedImage, after: EncodedImage
) -> FollowedEdit:
    """Was the edit of this turn carried out between the two images?"""
    if turn.type == "subject_replace":
        return await _replaced(context, turn, before, after)
    return FollowedEdit(turn, await _decide(context, plan, turn, before, after))


def locate_object(
    context: EvaluationContext, plan: ObjectPlan, turn: ObjectTurn, name: str, before: EncodedImage, after: EncodedImage
) -> tuple[FoundBoxes, FoundBoxes]:
    """The boxes of an object before and after the edit; None where its position cannot be determined.

    For a detector that often misses objects: an object of a known kind that it misses is searched by its look in the
    base image.
    """
    then, now = find_boxes(context, before, name, turn.type), find_boxes(context, after, name, turn.type)
    if context.tools.finder.missed_source_fails or then is None or now is None:
        return then, now
    if then:
        return then, now or (_alike(context, plan, name, after) if turn.type == "position_change" else ())
    then = _alike(context, plan, name, before)
    return (then, _alike(context, plan, name, after)) if then else (None, now or None)


def count_objects(
    context: EvaluationContext, plan: ObjectPlan, turn: ObjectTurn, before: EncodedImage, after: EncodedImage
) -> tuple[FoundBoxes, int]:
    """The boxes of a turn's object after the edit, and how many more there may be.

    For a detector that often misses objects, copies are also found by their look. Boxes below the threshold and places
    that may look the same do not count as objects, but they may be some.
    """
    name = turn.object or ""
    then, now = locate_object(context, plan, turn, name, before, after)
    if context.tools.finder.missed_source_fails or then is None or now is None:
        return now, 0
    counted = _apart(now, _alike(context, plan, name, after))
    weak = _apart((), find_boxes(context, after, name, turn.type, FLOOR) or ())
    weak = _apart(weak, _alike(context, plan, name, after, PERHAPS_LIKE))
    return counted, len(_apart(counted, weak)) - len(counted)


def _apart(boxes: tuple[Detection, ...], more: tuple[Detection, ...]) -> tuple[Detection, ...]:
    """The boxes in `boxes`, plus those of `more` in other places."""
    for extra in more:
        if all(common_share(extra.box, other.box) < 0.5 for other in boxes):
            boxes = (*boxes, extra)
    return boxes


def _alike(
    context: EvaluationContext, plan: ObjectPlan, name: str, image: EncodedImage, least: float = LIKE
) -> tuple[Detection, ...]:
    """Find an object of the plan in another image by its look in the base image."""
    detections: list[Detection] = []
    by = MeasuredBy(SAME_LOOK, SAME_LOOK_VERSION, BOXES)
    for box in plan_boxes(context, plan, name)[:1]:
        params: dict[str, Any] = {"box": [round(end, 4) for end in box]}

        def search(box: ShareBox = box) -> dict[str, Any]:
            return {
                "shares": [
                    [list(place), name, like] for place, like in find_same_look(context.base.pixels, box, image.pixels)
                ]
            }

        stored = context.measurements.measure(by, image, params, search, context.base)
        detections += [
            Detection((at[0], at[1], at[2], at[3]), label, like)
            for at, label, like in stored["shares"]
            if like >= least
        ]
    return tuple(detections)


def _excused(context: EvaluationContext, decision: Decision) -> Decision:
    """Leave a failure undecided if it only means that an unreliable detector missed the object before the edit."""
    if (
        decision.passed is False
        and decision.reason == "old_object_not_in_source"
        and not context.tools.finder.missed_source_fails
    ):
        return replace(decision, passed=None)
    return decision


async def _decide(
    context: EvaluationContext, plan: ObjectPlan, turn: ObjectTurn, before: EncodedImage, after: EncodedImage
) -> Decision:
    if turn.type in ("color_alter", "material_alter"):
        return await _attribute(context, plan, turn, before, after)
    if turn.type == "text_change":
        return await _text(context, plan, turn, before, after)
    if turn.type == "background_change":
        return await _background(context, plan, turn, before, after)
    tolerances = rules.Tolerances(context.settings.epsilon, context.settings.epsilon)
    if turn.type == "subject_add":
        new = turn.new_object or turn.object or ""
        reference = locate_object(context, plan, turn, turn.reference, before, after)[1] if turn.reference else ()
        return rules.subject_add(
            find_boxes(context, before, new, turn.type), find_boxes(context, after, new, turn.type),
            position=turn.position if turn.reference else None, reference=reference, tolerances=tolerances,
        )  # fmt: skip
    if turn.type == "count_change":
        counted, perhaps = count_objects(context, plan, turn, before, after)
        return rules.count_change(counted, turn.count or 0, perhaps)
    then, now = locate_object(context, plan, turn, turn.object or "", before, after)
    if turn.type == "subject_remove":
        return rules.subject_remove(then, now)
    _, reference = locate_object(context, plan, turn, turn.reference or "", before, after)
    return rules.position_change(then, now, reference, turn.position or "left", tolerances)


async def _replaced(
    context: EvaluationContext, turn: ObjectTurn, before: EncodedImage, after: EncodedImage
) -> FollowedEdit:
    """Apply all three rules; the one named in the settings decides."""
    old, new = turn.object or "", turn.new_object or ""
    before_old = find_boxes(context, before, old, turn.type)
    after_old, after_new = find_boxes(context, after, old, turn.type), find_boxes(context, after, new, turn.type)
    question = YesNoQuestion("replaced", f"Was the {old} replaced with the {new}?", new)
    says = await _ask(context, question, before, after)
    decisions = {
        "algorithm-3": _excused(context, rules.subject_replace(before_old, after_new)),
        "pre-check": _excused(context, rules.replace_with_pre_check(before_old, after_new, says)),
        "old-gone": rules.replace_old_gone(after_old, after_new),
    }
    passed = {name: decision.passed for name, decision in decisions.items()}
    return FollowedEdit(turn, decisions[context.settings.replace_rule], passed)


async def _attribute(
    context: EvaluationContext, plan: ObjectPlan, turn: ObjectTurn, before: EncodedImage, after: EncodedImage
) -> Decision:
    """Algorithms 8 and 9: ask about the crop of the object."""
    name = turn.object or ""
    box, before_box = crop_box(context, plan, turn, before, after)
    if turn.type == "color_alter":
        value = turn.color or ""
        question = YesNoQuestion("color", f"Is the {name} {value}?", value, box, before_box=before_box)
    else:
        value = turn.material or ""
        question = YesNoQuestion("material", f"Is the {name} made of {value}?", value, box, before_box=before_box)
    return rules.answer_decision(await _ask(context, question, before, after))


async def _text(
    context: EvaluationContext, plan: ObjectPlan, turn: ObjectTurn, before: EncodedImage, after: EncodedImage
) -> Decision:
    """Algorithm 10: read text on an object in its crop, and added text anywhere in the image."""
    box = crop_box(context, plan, turn, before, after)[0] if turn.object else None
    return rules.text_change(await _read(context, after, box), turn.text or "")


async def _background(
    context: EvaluationContext, plan: ObjectPlan, turn: ObjectTurn, before: EncodedImage, after: EncodedImage
) -> Decision:
    """Algorithm 11. Tools that only look at pixels also get the objects' boxes, to know the background."""
    object_boxes: list[ShareBox] = []
    if context.tools.answerer.compares:
        for name in turn.all_objects or tuple(entry.name for entry in plan.objects):
            for image in (before, after):
                object_boxes += [detection.box for detection in find_boxes(context, image, name, turn.type) or ()]
        object_boxes += [box for entry in plan.objects for box in plan_boxes(context, plan, entry.name)]
    scene = turn.background or ""
    question = YesNoQuestion(
        "background", f"Does the background show {scene}?", scene, others=tuple(dict.fromkeys(object_boxes))
    )
    return rules.answer_decision(await _ask(context, question, before, after))


def crop_box(
    context: EvaluationContext, plan: ObjectPlan, turn: ObjectTurn, before: EncodedImage, after: EncodedImage
) -> tuple[ShareBox | None, ShareBox | None]:
    """The box of a turn's object in the edited image and its box before, both enlarged if small.

    If the object is not found, its box before the edit is used, then its box in the base image. None: use the whole
    image.
    """
    name = turn.object or ""
    then, now = find_boxes(context, before, name, turn.type), find_boxes(context, after, name, turn.type)
    planned = plan_boxes(context, plan, name)
    was = then[0].box if then else (planned[0] if planned else None)
    box = now[0].box if now else was
    smallest = context.settings.smallest_crop
    return (
        None if box is None else rules.enlarge(box, smallest),
        None if was is None else rules.enlarge(was, smallest),
    )


def plan_boxes(context: EvaluationContext, plan: ObjectPlan, name: str) -> list[ShareBox]:
    """The plan's boxes of an object, as shares of the base image's sides."""
    boxes = [box for entry in plan.objects if entry.name == name for box in entry.boxes]
    if not boxes:
        return []
    height, width = context.base.pixels.shape[:2]
    return [(left / width, top / height, right / width, bottom / height) for left, top, right, bottom in boxes]


async def _ask(
    context: EvaluationContext, question: YesNoQuestion, before: EncodedImage, after: EncodedImage
) -> bool | None:
    tool = context.tools.answerer
    params: dict[str, Any] = {
        "question": question.text,
        **({"box": list(question.box)} if question.box else {}),
        **({"before_box": list(question.before_box)} if question.before_box and tool.compares else {}),
        **({"others": [list(box) for box in question.others]} if question.others else {}),
    }
    against = before if tool.compares or question.kind == "replaced" else None
    evidence, stored = context.measurements.find(MeasuredBy(tool.name, tool.version, ANSWER), after, params, against)
    if not stored:
        says = await tool.answer(question, after.pixels, before.pixels)
        evidence = context.measurements.note(evidence, {"yes": says})
    value: Any = evidence.value
    says = value["yes"]
    return None if says is None else bool(says)


async def _read(context: EvaluationContext, image: EncodedImage, box: ShareBox | None) -> tuple[TextLine, ...]:
    reader = context.tools.reader
    params: dict[str, Any] = {"box": list(box)} if box is not None else {}
    evidence, is_stored = context.measurements.find(MeasuredBy(reader.name, reader.version, TEXT), image, params)
    if not is_stored:
        lines = await reader.read(image.pixels, box)
        rows = [[line.text, round(line.confidence, 3), [round(end, 4) for end in line.box]] for line in lines]
        evidence = context.measurements.note(evidence, {"lines": rows})
    stored: Any = evidence.value
    return tuple(TextLine(str(text), float(sure), tuple(corners)) for text, sure, corners in stored["lines"])
