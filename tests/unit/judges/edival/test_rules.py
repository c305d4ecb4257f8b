"""Algorithms 3 to 11: what passes, what fails, what the thresholds do, and what cannot be decided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core import Detection, EditType, PositionName
from imarena.judges.edival import rules
from imarena.judges.edival.rules import Decision, FoundBoxes, Tolerances
from imarena.judges.edival.tools import Thresholds
from imarena.vision import TextLine


def at(x: float, y: float, size: float = 0.1, score: float = 0.9) -> Detection:
    """A square box about a centre."""
    return Detection((x - size / 2, y - size / 2, x + size / 2, y + size / 2), "thing", score)


LEFT, RIGHT = (at(0.2, 0.5),), (at(0.8, 0.5),)
NONE: FoundBoxes = ()
UNKNOWN: FoundBoxes = None


def lines(*texts: str) -> tuple[TextLine, ...]:
    return tuple(TextLine(text, 0.9, (0, 0, 1, 1)) for text in texts)


# ---------------------------------------------------------------- thresholds and the filter


def test_the_thresholds_are_the_papers() -> None:
    thresholds = Thresholds()
    assert thresholds.for_type("subject_remove") == 0.30
    assert thresholds.for_type("position_change") == 0.40
    assert {thresholds.for_type(kind) for kind in ("subject_add", "count_change", "color_alter")} == {0.35}


@pytest.mark.parametrize("kind", ["subject_remove", "position_change", "subject_add", "count_change"])
@pytest.mark.parametrize(("above", "stays"), [(-0.0001, False), (0.0, False), (0.0001, True)])
def test_a_box_has_to_be_above_the_threshold_of_its_type(kind: EditType, above: float, stays: bool) -> None:
    threshold = Thresholds().for_type(kind)
    assert bool(rules.filter_boxes([at(0.5, 0.5, score=threshold + above)], threshold, 0.98)) is stays


@pytest.mark.parametrize(
    ("box", "stays"),
    [
        ((0.0, 0.0, 0.99, 0.99), False),
        ((0.0, 0.0, 0.99, 0.5), True),
        ((0.0, 0.0, 0.5, 0.99), True),
        ((0.0, 0.0, 0.98, 0.98), True),
        ((0.0, 0.0, 0.9801, 0.98), True),
        ((0.0, 0.0, 0.98, 0.9801), True),
        ((0.0, 0.0, 1.0, 0.9801), False),
    ],
)
def test_the_large_box_filter_needs_both_sides(box: tuple[float, float, float, float], stays: bool) -> None:
    found = [Detection(box, "wall", 0.9)]
    assert bool(rules.filter_boxes(found, 0.35, 0.98)) is stays
    assert rules.filter_boxes(found, 0.35, None) == tuple(found)


# ---------------------------------------------------------------- 3, replace


@pytest.mark.parametrize(
    ("old", "new", "passed", "reason"),
    [
        (LEFT, (at(0.25, 0.5),), True, "new_object_in_place"),
        (LEFT, RIGHT, False, "new_object_elsewhere"),
        (NONE, RIGHT, False, "old_object_not_in_source"),
        (LEFT, NONE, False, "new_object_not_found"),
        (UNKNOWN, NONE, False, "new_object_not_found"),
        (NONE, UNKNOWN, False, "old_object_not_in_source"),
        (UNKNOWN, RIGHT, None, "object_unknown_to_detector"),
        (LEFT, UNKNOWN, None, "object_unknown_to_detector"),
    ],
)
def test_replace(old: FoundBoxes, new: FoundBoxes, passed: bool | None, reason: str) -> None:
    assert rules.subject_replace(old, new) == Decision(passed, reason)


def test_replace_needs_an_overlap_above_zero() -> None:
    touching = Detection((0.25, 0.45, 0.35, 0.55), "thing", 0.9)
    inside = Detection((0.2499, 0.45, 0.35, 0.55), "thing", 0.9)
    assert rules.subject_replace(LEFT, (touching,)).passed is False
    assert rules.subject_replace(LEFT, (inside,)).passed is True


def test_any_pair_of_boxes_may_overlap() -> None:
    assert rules.subject_replace((*LEFT, *RIGHT), (at(0.5, 0.5), at(0.81, 0.5))).passed is True


def test_replace_does_not_ask_whether_the_old_object_has_gone() -> None:
    """Where the paper's algorithm and the intent differ: docs/design/edival.md."""
    both = (at(0.22, 0.5),)
    assert rules.subject_replace(LEFT, both).passed is True
    assert rules.replace_old_gone(LEFT, both) == Decision(False, "old_object_still_there")
    assert rules.replace_old_gone(NONE, both) == Decision(True, "old_object_gone")
    assert rules.replace_old_gone(NONE, NONE).passed is False
    assert rules.replace_old_gone(UNKNOWN, both).passed is None
    assert rules.replace_old_gone(LEFT, UNKNOWN).passed is False


@pytest.mark.parametrize(("says", "passed"), [(True, True), (False, False), (None, None)])
def test_the_pre_check_rejects_and_does_not_accept(says: bool | None, passed: bool | None) -> None:
    assert rules.replace_with_pre_check(LEFT, LEFT, says).passed is passed
    assert rules.replace_with_pre_check(LEFT, RIGHT, says).passed is False


# ---------------------------------------------------------------- 4, remove


@pytest.mark.parametrize(
    ("before", "after", "passed"),
    [
        (LEFT, NONE, True), (LEFT, LEFT, False), (NONE, NONE, False), (NONE, LEFT, False),
        (UNKNOWN, NONE, None), (UNKNOWN, LEFT, False), (LEFT, UNKNOWN, None), (NONE, UNKNOWN, False),
    ],
)  # fmt: skip
def test_remove(before: FoundBoxes, after: FoundBoxes, passed: bool | None) -> None:
    assert rules.subject_remove(before, after).passed is passed


def test_one_of_two_removed_is_not_removed() -> None:
    assert rules.subject_remove((*LEFT, *RIGHT), LEFT).passed is False


# ---------------------------------------------------------------- 5, add


@pytest.mark.parametrize(
    ("before", "after", "passed"),
    [(NONE, LEFT, True), (NONE, NONE, False), (LEFT, LEFT, False), (UNKNOWN, LEFT, None), (NONE, UNKNOWN, None),
     (LEFT, UNKNOWN, False), (UNKNOWN, NONE, False)],
)  # fmt: skip
def test_add(before: FoundBoxes, after: FoundBoxes, passed: bool | None) -> None:
    assert rules.subject_add(before, after).passed is passed


def test_a_class_that_was_there_cannot_be_added() -> None:
    """Where the paper's algorithm and the intent differ: docs/design/edival.md."""
    assert rules.subject_add(LEFT, (*LEFT, *RIGHT)) == Decision(False, "new_object_there_before")


@pytest.mark.parametrize(("position", "passed"), [("left", True), ("right", False), ("above", False), ("below", False)])
def test_add_beside_something(position: PositionName, passed: bool) -> None:
    assert rules.subject_add(NONE, LEFT, position=position, reference=RIGHT).passed is passed


def test_add_beside_something_that_is_not_there_fails() -> None:
    assert rules.subject_add(NONE, LEFT, position="left", reference=NONE) == Decision(False, "reference_not_found")
    assert rules.subject_add(NONE, LEFT, position="left", reference=UNKNOWN).passed is None


# ---------------------------------------------------------------- 6, position


@pytest.mark.parametrize(
    ("position", "x", "y", "passed"),
    [
        ("left", 0.4, 0.5, True), ("left", 0.6, 0.5, False), ("right", 0.6, 0.5, True), ("right", 0.4, 0.5, False),
        ("above", 0.5, 0.4, True), ("above", 0.5, 0.6, False), ("below", 0.5, 0.6, True), ("below", 0.5, 0.4, False),
    ],
)  # fmt: skip
def test_position(position: PositionName, x: float, y: float, passed: bool) -> None:
    moved, reference = (at(x, y),), (at(0.5, 0.5),)
    assert rules.position_change(LEFT, moved, reference, position).passed is passed


def test_the_same_centre_is_beside_nothing() -> None:
    same = (at(0.5, 0.5),)
    positions: tuple[PositionName, ...] = ("left", "right", "above", "below")
    for position in positions:
        assert rules.position_change(same, same, same, position).passed is False


def test_epsilon_keeps_a_distance() -> None:
    moved, reference = (at(0.25, 0.5),), (at(0.5, 0.5),)
    assert rules.position_change(LEFT, moved, reference, "left", Tolerances(0.25, 0)).passed is False
    assert rules.position_change(LEFT, moved, reference, "left", Tolerances(0.24, 0)).passed is True


def test_position_takes_the_surest_boxes_and_forbids_more_of_them() -> None:
    moved = (at(0.8, 0.5, score=0.5), at(0.2, 0.5, score=0.9))
    reference = (at(0.5, 0.5),)
    assert rules.position_change(moved, moved, reference, "left").passed is True
    assert rules.position_change(LEFT, moved, reference, "left") == Decision(False, "more_objects_than_before")
    assert rules.position_change(moved, LEFT, reference, "left").passed is True, "fewer is no inflation"


def test_position_without_a_box() -> None:
    assert rules.position_change(LEFT, NONE, RIGHT, "left").passed is False
    assert rules.position_change(LEFT, LEFT, NONE, "left").passed is False
    assert rules.position_change(NONE, LEFT, RIGHT, "left").reason == "more_objects_than_before"
    assert rules.position_change(UNKNOWN, LEFT, RIGHT, "left").passed is None
    assert rules.position_change(LEFT, LEFT, UNKNOWN, "left").passed is None


# ---------------------------------------------------------------- 7, count


@pytest.mark.parametrize(("count", "passed"), [(1, False), (2, True), (3, False)])
def test_count(count: int, passed: bool) -> None:
    assert rules.count_change((*LEFT, *RIGHT), count).passed is passed
    assert rules.count_change(UNKNOWN, count).passed is None


@pytest.mark.parametrize(
    ("count", "perhaps", "passed"),
    [(2, 0, True), (2, 5, True), (3, 0, False), (3, 1, None), (4, 1, False), (4, 2, None), (1, 3, False)],
)
def test_too_few_is_undecided_where_weak_boxes_would_make_up_for_it(
    count: int, perhaps: int, passed: bool | None
) -> None:
    decision = rules.count_change((*LEFT, *RIGHT), count, perhaps)
    assert decision.passed is passed
    assert (decision.reason == "count_not_sure") is (passed is None)


# ---------------------------------------------------------------- 8, 9, 11, and 10


@pytest.mark.parametrize("answer", [True, False, None])
def test_answers(answer: bool | None) -> None:
    assert rules.answer_decision(answer).passed is answer


@pytest.mark.parametrize(
    ("read", "wanted", "passed"),
    [
        (("OPEN",), "OPEN", True),
        (("open!",), "Open", True),
        (("WILD", "PATH"), "wild path", True),
        (("WILDPATH",), "Wild Path", True),
        (("出口",), "出口", True),
        (("CLOSED",), "OPEN", False),
        ((), "OPEN", False),
        (("OPE",), "OPEN", False),
        (("café",), "CAFE", True),
    ],
)
def test_text(read: tuple[str, ...], wanted: str, passed: bool) -> None:
    assert rules.text_change(lines(*read), wanted).passed is passed


def test_text_that_was_not_read_is_undecided() -> None:
    assert rules.text_change(None, "OPEN").passed is None


# ---------------------------------------------------------------- crops


@pytest.mark.parametrize(
    ("box", "grown"),
    [
        ((0.5, 0.5, 0.52, 0.7), (0.485, 0.5, 0.535, 0.7)),
        ((0.0, 0.0, 0.01, 0.01), (0.0, 0.0, 0.05, 0.05)),
        ((0.99, 0.99, 1.0, 1.0), (0.95, 0.95, 1.0, 1.0)),
        ((0.1, 0.1, 0.15, 0.15), (0.1, 0.1, 0.15, 0.15)),
        ((0.1, 0.1, 0.1499, 0.1501), (0.09995, 0.1, 0.14995, 0.1501)),
    ],
)
def test_small_crops_are_enlarged(
    box: tuple[float, float, float, float], grown: tuple[float, float, float, float]
) -> None:
    assert rules.enlarge(box, 0.05) == pytest.approx(grown, abs=1e-9)


ENDS = st.floats(0, 1).flatmap(lambda low: st.tuples(st.just(low), st.floats(low, 1)))


@given(ENDS, ENDS, st.floats(0, 0.5))
def test_an_enlarged_crop_holds_the_box_and_stays_inside(
    across: tuple[float, float], down: tuple[float, float], smallest: float
) -> None:
    left, top, right, bottom = rules.enlarge((across[0], down[0], across[1], down[1]), smallest)
    assert -1e-9 <= left <= across[0] + 1e-9
    assert across[1] - 1e-9 <= right <= 1 + 1e-9
    assert -1e-9 <= top <= down[0] + 1e-9
    assert down[1] - 1e-9 <= bottom <= 1 + 1e-9
    assert right - left >= smallest - 1e-9
    assert bottom - top >= smallest - 1e-9
