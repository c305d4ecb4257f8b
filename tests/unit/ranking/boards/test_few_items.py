"""Boards of so few items that no difference can be significant: ranks stay open, and odd intervals are explained."""

from dataclasses import replace

import pytest

from imarena.core.notices import sentence
from imarena.core.records import Ranking
from imarena.ranking import rank
from imarena.ranking.boards.board_gate import BelowRule, gate_board
from imarena.reports.conclusion import board_conclusion
from imarena.reports.gate_report import gate_text
from imarena.reports.rank_tables import standings_table


def board(items: int) -> Ranking:
    """On every item, a beats b and b beats c two times of three."""
    duels = [
        ("a", "b", "left"),
        ("a", "b", "left"),
        ("b", "a", "left"),
        ("b", "c", "left"),
        ("b", "c", "left"),
        ("c", "b", "left"),
    ]
    rows = [{"left": x, "right": y, "winner": w, "item": f"i{n}"} for n in range(items) for x, y, w in duels]
    rows += [{"left": "a", "right": "c", "winner": "left" if n else "right", "item": f"i{n}"} for n in range(items)]
    return rank(rows, rounds=300)


def test_ranks_are_open_where_no_difference_can_be_significant() -> None:
    few, enough = board(5), board(6)
    assert "5 items are not enough evidence" in board_conclusion(few)
    assert [(one.rank, one.rank_low, one.rank_high) for one in few.models] == [(1, 1, 3), (2, 1, 3), (3, 1, 3)]
    ranks = [str(row[4]) for row in standings_table(few).rows]
    assert all("low=1" in text and "high=3" in text for text in ranks)
    assert [one.rank_high for one in enough.models] == [1, 2, 3]


def test_an_interval_that_ends_at_the_rating_is_explained() -> None:
    """With two items, every resample is one item twice or both: the estimate may be the most extreme of the three."""
    words = ["cbi", "abj", "cai", "abj", "abi", "acj", "bai", "cbj", "cai", "abj", "bci", "caj"]  # winner, loser, item
    rows = [{"left": word[0], "right": word[1], "winner": "left", "item": word[2]} for word in words]
    made = rank(rows, rounds=300)
    ended = [
        one
        for one in made.models
        if one.low is not None and min(one.rating - one.low, (one.high or 0) - one.rating) < 1e-6
    ]
    assert ended
    (notice,) = (one for one in made.notices if one.code == "interval_ends_at_rating")
    assert notice.values["models"] == len(ended)
    assert "the true rating may" in sentence(notice)


@pytest.mark.parametrize(("estimate", "word"), [(-351.0, "smaller"), (-263.0, "larger")])
def test_a_gate_explains_an_interval_that_ends_at_the_estimate(estimate: float, word: str) -> None:
    made = gate_board(board(8), BelowRule("c", "a"))
    inside = replace(made, outcome="failed", difference=-300.0, low=-351.0, high=-263.0, reason=None)
    text = gate_text(replace(inside, difference=estimate))
    assert f"it ends at the estimate because no resampled board has a {word} difference" in text
    assert "ends at" not in gate_text(inside)
