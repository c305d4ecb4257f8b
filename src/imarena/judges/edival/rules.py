"""EdiVal-IF: the rules of the nine edit types (algorithms 3 to 11 of the paper) as pure functions.

They turn boxes, answers and texts into a decision. `None` means that a tool cannot decide: a detector of 80 kinds
asked about a fence, or a yes-or-no question without an answer. If the missing result could not change the outcome,
the rule still decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from imarena.core import Detection, PositionName
from imarena.vision import TextLine, text_match

FoundBoxes = tuple[Detection, ...] | None
"""Boxes of one phrase as shares of the image's sides, best score first; None if the detector cannot search for it."""
ReplaceRule = Literal["algorithm-3", "pre-check", "old-gone"]


@dataclass(frozen=True)
class Decision:
    """Whether an edit was carried out; `passed` is None if the tools cannot decide. `reason` is a fixed keyword."""

    passed: bool | None
    reason: str

    @property
    def decided(self) -> bool:
        """Could the rule decide?"""
        return self.passed is not None


@dataclass(frozen=True)
class Tolerances:
    """`across`, `down`: minimum distance of two centres to count as left/right or above/below (epsilon, as shares)."""

    across: float = 0.0
    down: float = 0.0


def filter_boxes(
    detections: Sequence[Detection], threshold: float, largest_side: float | None
) -> tuple[Detection, ...]:
    """Keep boxes above the threshold, unless both sides exceed `largest_side`: such a box covers the whole image.

    The boxes are shares of the image's sides.
    """
    return tuple(
        detection
        for detection in detections
        if detection.score > threshold
        and (
            largest_side is None
            or not (
                detection.box[2] - detection.box[0] > largest_side
                and detection.box[3] - detection.box[1] > largest_side
            )
        )
    )


def overlap(first: Detection, second: Detection) -> float:
    """Intersection over union of two boxes."""
    left, top = max(first.box[0], second.box[0]), max(first.box[1], second.box[1])
    right, bottom = min(first.box[2], second.box[2]), min(first.box[3], second.box[3])
    common = max(0.0, right - left) * max(0.0, bottom - top)
    together = _area(first) + _area(second) - common
    return common / together if together > 0 else 0.0


def _area(detection: Detection) -> float:
    return (detection.box[2] - detection.box[0]) * (detection.box[3] - detection.box[1])


def subject_replace(before_old: FoundBoxes, after_new: FoundBoxes) -> Decision:
    """Algorithm 3: the new object is where the old one was. It does not check that the old one is gone."""
    if before_old == ():
        return Decision(False, "old_object_not_in_source")
    if after_new == ():
        return Decision(False, "new_object_not_found")
    if before_old is None or after_new is None:
        return Decision(None, "object_unknown_to_detector")
    meets = max(overlap(old, new) for old in before_old for new in after_new) > 0
    return Decision(meets, "new_object_in_place" if meets else "new_object_elsewhere")


def replace_with_pre_check(before_old: FoundBoxes, after_new: FoundBoxes, replaced: bool | None) -> Decision:
    """Algorithm 3 after a yes-or-no question that rejects obvious failures (section O.3)."""
    if replaced is False:
        return Decision(False, "pre_check_says_no")
    decision = subject_replace(before_old, after_new)
    if replaced is None and decision.passed is not False:
        return Decision(None, "question_without_answer")
    return decision


def replace_old_gone(after_old: FoundBoxes, after_new: FoundBoxes) -> Decision:
    """Appendix K: the edited image has the new object and not the old one."""
    if after_new == ():
        return Decision(False, "new_object_not_found")
    if after_old:
        return Decision(False, "old_object_still_there")
    if after_old is None or after_new is None:
        return Decision(None, "object_unknown_to_detector")
    return Decision(True, "old_object_gone")


def subject_remove(before: FoundBoxes, after: FoundBoxes) -> Decision:
    """Algorithm 4: found before, not found after."""
    if before == ():
        return Decision(False, "object_not_in_source")
    if after:
        return Decision(False, "object_still_there")
    if before is None or after is None:
        return Decision(None, "object_unknown_to_detector")
    return Decision(True, "object_gone")


def subject_add(
    before: FoundBoxes,
    after: FoundBoxes,
    *,
    position: PositionName | None = None,
    reference: FoundBoxes = (),
    tolerances: Tolerances | None = None,
) -> Decision:
    """Algorithm 5: not found before, found after and, if a reference is named, in the right position."""
    if after == ():
        return Decision(False, "new_object_not_found")
    if before:
        return Decision(False, "new_object_there_before")
    if position is not None and reference == ():
        return Decision(False, "reference_not_found")
    if before is None or after is None or (position is not None and reference is None):
        return Decision(None, "object_unknown_to_detector")
    if position is None:
        return Decision(True, "new_object_found")
    return _compare_centres(after, reference or (), position, tolerances or Tolerances())


def position_change(
    before: FoundBoxes,
    after: FoundBoxes,
    reference: FoundBoxes,
    position: PositionName,
    tolerances: Tolerances | None = None,
) -> Decision:
    """Algorithm 6: no more objects than before, and the best box in the right position to the best reference box."""
    if after == ():
        return Decision(False, "object_not_found")
    if reference == ():
        return Decision(False, "reference_not_found")
    if after is None or reference is None or before is None:
        return Decision(None, "object_unknown_to_detector")
    if len(after) > len(before):
        return Decision(False, "more_objects_than_before")
    return _compare_centres(after, reference, position, tolerances or Tolerances())


def _compare_centres(
    moved: Sequence[Detection], reference: Sequence[Detection], position: PositionName, tolerances: Tolerances
) -> Decision:
    """Compare the centres of the best box of each."""
    (x, y), (other_x, other_y) = _centre(_surest(moved)), _centre(_surest(reference))
    right = {
        "left": x < other_x - tolerances.across,
        "right": x > other_x + tolerances.across,
        "above": y < other_y - tolerances.down,
        "below": y > other_y + tolerances.down,
    }[position]
    return Decision(right, "in_position" if right else "not_in_position")


def _surest(detections: Sequence[Detection]) -> Detection:
    return max(detections, key=lambda detection: detection.score)


def _centre(detection: Detection) -> tuple[float, float]:
    return (detection.box[0] + detection.box[2]) / 2, (detection.box[1] + detection.box[3]) / 2


def count_change(after: FoundBoxes, count: int, perhaps: int = 0) -> Decision:
    """Algorithm 7: as many boxes as requested objects.

    `perhaps`: number of further uncertain boxes; too few boxes are undecided if these could make up the count.
    """
    if after is None:
        return Decision(None, "object_unknown_to_detector")
    if len(after) < count <= len(after) + perhaps:
        return Decision(None, "count_not_sure")
    return Decision(len(after) == count, "count_right" if len(after) == count else "count_wrong")


def answer_decision(answer: bool | None) -> Decision:
    """Algorithms 8, 9 and 11 (colour, material, background): the answer to a yes-or-no question decides."""
    if answer is None:
        return Decision(None, "question_without_answer")
    return Decision(answer, "answered_yes" if answer else "answered_no")


def text_change(lines: Sequence[TextLine] | None, text: str) -> Decision:
    """Algorithm 10: the requested text is legible, ignoring case, punctuation and spaces."""
    if lines is None:
        return Decision(None, "text_not_read")
    reads = text_match(text, lines) >= 1.0
    return Decision(reads, "text_read" if reads else "text_not_found")


def enlarge(box: tuple[float, float, float, float], smallest: float) -> tuple[float, float, float, float]:
    """Grow a box from its centre until no side is shorter than `smallest`, keeping it inside the image (shares)."""
    left, right = _grown(box[0], box[2], smallest)
    top, bottom = _grown(box[1], box[3], smallest)
    return left, top, right, bottom


def _grown(low: float, high: float, smallest: float) -> tuple[float, float]:
    if high - low >= smallest:
        return low, high
    start = min(max((low + high - smallest) / 2, 0.0), 1.0 - smallest)
    return start, start + smallest
