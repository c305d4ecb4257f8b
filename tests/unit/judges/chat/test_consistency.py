"""The pointwise baselines of visual consistency."""

import pytest

from imarena.judges.chat.consistency import NC_MARKS, SC_MARKS, read_consistency
from imarena.judges.replies.reply_text import Unreadable


def test_the_mark_for_restraint_is_the_score() -> None:
    verdict = read_consistency('{"reasoning": "x", "editing_success": 25, "over_editing": 5}', SC_MARKS, 25.0)
    assert verdict.score == pytest.approx(2.0)
    assert verdict.scores["editing_success"] == pytest.approx(10.0)
    assert read_consistency('{"non_edit_consistency": 7}', NC_MARKS, 10.0).score == 7.0


@pytest.mark.parametrize("reply", ["", "very consistent", '{"non_edit_consistency": 11}'])
def test_a_reply_without_a_mark_is_no_score(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_consistency(reply, NC_MARKS, 10.0)
