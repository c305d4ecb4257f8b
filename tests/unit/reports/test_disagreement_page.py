"""Tables of disagreements between judge and people."""

from imarena.reports.disagreement_page import RATED, GroupDisagreement, group_tables


def group(judge: str, task: str, shift: float) -> GroupDisagreement:
    return GroupDisagreement(RATED, judge, "task", task, 10, None, 0.2, shift)


def test_the_shift_of_a_judge_with_one_task_is_left_out() -> None:
    """It is 0 by construction; over several tasks it compares them, and the note says that it is no bias."""
    (both,) = group_tables([group("a", "edit", 0.1), group("a", "make", -0.1), group("b", "edit", 0.0)])
    assert [row[-1] for row in both.rows] == [0.1, -0.1, None]
    assert "no bias" in both.notes[0]
    (single,) = group_tables([group("b", "edit", 0.0)])
    assert [row[-1] for row in single.rows] == [None]
    assert "shift" not in {column.title for column in single.filled.columns}
    assert single.notes == ()
