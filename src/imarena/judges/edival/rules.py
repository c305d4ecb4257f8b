"""EdiVal-IF: the rules of the nine edit types (algorithms 3 to 11 of the paper) as pure functions.

Boxes, answers and texts in; a decision out. `None` means that a tool cannot decide: a detector of 80 kinds that is
asked about a fence, a yes-or-no question without an answer. A rule that comes out the same whatever a tool would have
said is decided all the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from imarena.core import Detection, PositionName
from imarena.vision import TextLine, text_match

FoundBoxes = tuple[Detection, ...] | None
"""Boxes of one phrase as shares of the image's sides, the surest first; None where the detector cannot look for it."""
ReplaceRule = Literal["algorithm-3", "pre-check", "old-gone"]


@dataclass(frozen=True)
class Decision:
    """Whether an edit was carried out; `passed` is None where the tools cannot tell. `reason` is one of a few words."""

    passed: bool | None
    reason: str

    @property
    def decided(self) -> bool:
        """Is it a verdict?"""
        return self.passed is not None


@dataclass(frozen=True)
class Tolerances:
    """`across`, `down`: how far two centres have to be apart to be beside each other (epsilon, shares of the sides)."""

    across: float = 0.0
    down: float = 0.0


def filter_boxes(found: Sequence[Detection], threshold: float, largest_side: float | None) -> tuple[Detection, ...]:
    """Boxes above the threshold. One whose sides are both longer than `largest_side` covers the image and is no object.

    The boxes are shares of the image's sides.
    """
    return tuple(
        one
        for one in found
        if one.score > threshold
        and (
            largest_side is None
            or not (one.box[2] - one.box[0] > largest_side and one.box[3] - one.box[1] > largest_side)
        )
    )


def overlap(first: Detection, second: Detection) -> float:
    """Intersection over union of two boxes."""
    left, top = max(first.box[0], second.box[0]), max(first.box[1], second.box[1])
    right, bottom = min(first.box[2], second.box[2]), min(first.box[3], second.box[3])
    common = max(0.0, right - left) * max(0.0, bottom - top)
    together = _area(first) + _area(second) - common
    return common / together if together > 0 else 0.0


def _area(one: Detection) -> float:
    return (one.box[2] - one.box[0]) * (one.box[3] - one.box[1])


def subject_replace(before_old: FoundBoxes, after_new: FoundBoxes) -> Decision:
    """Algorithm 3: the new object is where the old one was. That the old one has gone is not asked."""
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
    """Appendix K: in the edited image the new object is found and the old one is not."""
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
    """Algorithm 5: not there before, there now, and on the right side of the reference where one is named."""
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
    return _placed(after, reference or (), position, tolerances or Tolerances())


def position_change(
    before: FoundBoxes,
    after: FoundBoxes,
    reference: FoundBoxes,
    position: PositionName,
    tolerances: Tolerances | None = None,
) -> Decision:
    """Algorithm 6: no more objects than before, and the surest one on the right side of the surest reference."""
    if after == ():
        return Decision(False, "object_not_found")
    if reference == ():
        return Decision(False, "reference_not_found")
    if after is None or reference is None or before is None:
        return Decision(None, "object_unknown_to_detector")
    if len(after) > len(before):
        return Decision(False, "more_objects_than_before")
    return _placed(after, reference, position, tolerances or Tolerances())


def _placed(
    moved: Sequence[Detection], reference: Sequence[Detection], position: PositionName, tolerances: Tolerances
) -> Decision:
    """The surest box of each, by their centres."""
    (x, y), (other_x, other_y) = _centre(_surest(moved)), _centre(_surest(reference))
    right = {
        "left": x < other_x - tolerances.across,
        "right": x > other_x + tolerances.across,
        "above": y < other_y - tolerances.down,
        "below": y > other_y + tolerances.down,
    }[position]
    return Decision(right, "in_position" if right else "not_in_position")


def _surest(found: Sequence[Detection]) -> Detection:
    return max(found, key=lambda one: one.score)


def _centre(one: Detection) -> tuple[float, float]:
    return (one.box[0] + one.box[2]) / 2, (one.box[1] + one.box[3]) / 2


def count_change(after: FoundBoxes, count: int, perhaps: int = 0) -> Decision:
    """Algorithm 7: as many boxes as objects were asked for.

    `perhaps`: how many more there may be that the detector is not sure of; too few is undecided where they would do.
    """
    if after is None:
        return Decision(None, "object_unknown_to_detector")
    if len(after) < count <= len(after) + perhaps:
        return Decision(None, "count_not_sure")
    return Decision(len(after) == count, "count_right" if len(after) == count else "count_wrong")


def answer_decision(answer: bool | None) -> Decision:
    """Algorithms 8, 9 and 11 (colour, material, background): what a yes-or-no question was answered."""
    if answer is None:
        return Decision(None, "question_without_answer")
    return Decision(answer, "answered_yes" if answer else "answered_no")


def text_change(lines: Sequence[TextLine] | None, wanted: str, similarity: float = 1.0) -> Decision:
    """Algorithm 10: the wanted text can be read, without regard to case, punctuation and blanks."""
    if lines is None:
        return Decision(None, "text_not_read")
    reads = text_match(wanted, lines) >= similarity
    return Decision(reads, "text_read" if reads else "text_not_found")


def enlarge(box: tuple[float, float, float, float], smallest: float) -> tuple[float, float, float, float]:
    """A box whose sides are no shorter than `smallest`, grown about its middle and kept inside the image (shares)."""
    left, right = _grown(box[0], box[2], smallest)
    top, bottom = _grown(box[1], box[3], smallest)
    return left, top, right, bottom


def _grown(low: float, high: float, smallest: float) -> tuple[float, float]:
    if high - low >= smallest:
        return low, high
    start = min(max((low + high - smallest) / 2, 0.0), 1.0 - smallest)
    return start, start + smallest
