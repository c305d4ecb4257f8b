"""The conclusion of a board and what is significant: groups, models that lost everything, a shared first place."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from imarena.core.records import Ranking
from imarena.ranking.boards.from_tables import rank
from imarena.reports.conclusion import board_conclusion
from imarena.reports.page import Page, write_html
from imarena.reports.significance import _points, significance_section
from imarena.reports.tables.table import number_text

Row = tuple[str, str, str, str]


def board(rows: Sequence[Row]) -> Ranking:
    columns = zip(*rows, strict=True)
    return rank({name: list(cells) for name, cells in zip(("left", "right", "winner", "item"), columns, strict=True)})


def duel(left: str, right: str, wins: int, losses: int) -> list[Row]:
    """One battle per item."""
    return [(left, right, "left" if item < wins else "right", f"i{item}") for item in range(wins + losses)]


GROUPS = [*duel("a", "b", 30, 10), *duel("b", "c", 30, 10), *duel("a", "c", 36, 4), *duel("x", "y", 11, 9)]


def test_groups_that_never_met_have_a_sentence_each() -> None:
    ranking = board(GROUPS)
    said = board_conclusion(ranking, "people")
    assert said.startswith(
        "By the verdicts of people, the 5 models form 2 groups that never met. Group 1 (a, b and c): "
    )
    assert "Group 1 (a, b and c): a is the best of 3 models: " in said
    assert said.endswith(
        "Group 2 (x and y): There is no single best model among 2: the lead of x over y is not significant (95% confidence)."
    )
    section = significance_section(ranking)
    assert section is not None
    assert section.points[0].startswith("3 of 4 pairs of models differ significantly")
    assert "Group 1 (a, b and c): 3 of 3 pairs differ significantly." in section.points
    assert "Group 2 (x and y): 0 of 1 pair differs significantly." in section.points
    assert "Among 4 pairs" in section.points[-1]
    assert not any({"x", "y"} & {*row[:2]} and {"a", "b", "c"} & {*row[:2]} for row in section.tables[0].rows)


def test_a_model_that_lost_everything_is_not_beside_the_first() -> None:
    names = ["first", "second", "third", "fourth"]
    rows = []
    for item in range(8):
        for number, left in enumerate(names):
            rows += [
                (left, right, "right" if (item + number) % 4 == 3 else "left", f"i{item}")
                for right in names[number + 1 :]
            ]
            if (item + number) % 2:  # four items: a sweep of one pair over them is no evidence
                rows.append((left, "loser", "left", f"i{item}"))
    ranking = board(rows)
    pairs: Any = ranking.details["pairs"]
    last = ranking.models[-1]
    assert (last.model, last.losses, last.battles) == ("loser", 16, 16)
    assert pairs["difference_low"][0][-1] < 0, "four items settle nothing about one pair"
    assert (last.rank_low or 0) > 1
    assert "loser" not in board_conclusion(ranking)
    section = significance_section(ranking)
    assert section is not None
    assert next(row[-1] for row in section.tables[0].rows if row[:2] == (ranking.models[0].model, "loser")) == "yes"


def test_all_models_of_a_shared_first_place_are_named() -> None:
    names = ["a", "b", "c"]
    alike = [(left, right, "tie", "one") for left in names for right in names if left < right]
    lost = [(name, "z", "left", "one") for name in names]
    assert board_conclusion(board([*alike, *lost])) == (
        "a, b and c share first place among 4 models; their lead has no interval."
    )
    rows: list[Row] = []
    others = ["d", "e", "f", "g", "h"]
    for item in range(6):
        rows += [(left, right, "tie", f"i{item}") for left in names for right in names if left < right]
        rows += [(name, other, "right" if item % 3 == 0 else "left", f"i{item}") for name in names for other in others]
    said = board_conclusion(board(rows))
    assert said.startswith("a, b and c share first place among 8 models; ")
    assert said.endswith("not every lead over d, e, f and 2 more is significant (95% confidence).")
    many = [(f"m{left}", f"m{right}", "tie", "one") for left in range(8) for right in range(left)]
    assert board_conclusion(board(many)) == "m0, m1, m2, m3, m4 and 3 more share first place among 8 models."


def voted(shares: Sequence[tuple[int, int]]) -> Ranking:
    """Votes for and against `a`, by item, in its battles against b and c."""
    return board(
        [
            ("a", other, winner, f"i{item}")
            for item, (won, lost) in enumerate(shares)
            for other in ("b", "c")
            for winner in ["left"] * won + ["right"] * lost
        ]
    )


def test_fewer_than_six_items_show_no_difference() -> None:
    """Without a real difference, all of five items favour the same model with a probability of 1 in 16."""
    for items in (2, 3, 5):
        ranking = voted(((4, 1), (3, 1), (3, 2), (4, 1), (3, 1))[:items])
        pairs: Any = ranking.details["pairs"]
        assert pairs["difference_low"][0][1] > 0, "the interval alone would settle the pair"
        assert board_conclusion(ranking).startswith("a has the highest rating of 3 models, ")
        assert board_conclusion(ranking).endswith(
            f" rating points ahead of b; {items} items are not enough evidence to say which is better."
        )
        section = significance_section(ranking)
        assert section is not None
        assert section.points == (
            f"No difference can be significant: the board has only {items} items, and 95% intervals need at least 6.",
        )
        assert {row[-1] for row in section.tables[0].rows} == {"too few data"}
    shared = [("a", "b", "tie", f"i{item}") for item in range(5) for _ in range(3)]
    lost = [(name, "c", winner, item) for name, _, _, item in shared for winner in ("left", "left", "right")]
    assert board_conclusion(board([*shared, *lost, *(("b", *row[1:]) for row in lost)])) == (
        "a and b share first place among 3 models; 5 items are not enough evidence to separate them from the others."
    )


def test_few_items_do_not_make_a_best_model() -> None:
    """Six to nine items give intervals that are too narrow: without a real difference, one pair in ten looks settled."""
    ranking = voted([(4, 1), (3, 1), (3, 2)] * 2)
    assert "few_units" in {notice.code for notice in ranking.notices}
    said = board_conclusion(ranking)
    assert said.startswith("a has the highest rating of 3 models: ")
    assert said.endswith("Only 6 items: the intervals are too narrow, and the lead may be chance.")
    for items in (9, 10):
        best = board_conclusion(board([*duel("a", "b", items, 0), *duel("b", "a", 0, items)]))
        assert ("is the best" in best, "has the highest rating" in best) == (items == 10, items == 9)
    section = significance_section(ranking)
    assert section is not None
    assert (
        section.points[1] == "Only 6 items: the intervals are too narrow, and some of these differences may be chance."
    )
    enough = board(duel("a", "b", 19, 1))
    assert "chance" not in board_conclusion(enough)


def test_a_lead_without_bounds_is_named_beside_the_one_that_is_not_separated() -> None:
    """`half` met only `bad`, on five items: nothing is known about its lead over `good`, which is above `bad`."""
    rows = [*duel("good", "bad", 13, 7), *duel("half", "bad", 5, 0)]
    assert board_conclusion(board(rows)) == (
        "There is no single best model among 3: the lead of half over bad is not significant (95% confidence), "
        "and the data do not bound its lead over good."
    )


def test_models_of_the_same_rank_are_not_called_below() -> None:
    names = ["a", "b", "c"]
    ranking = board([(x, y, "tie", f"i{n}") for n in range(12) for x in names for y in names if x < y])
    section = significance_section(ranking)
    assert section is not None
    assert section.points[1:3] == (
        "a is not significantly better than b and c.",
        "b is not significantly better than c.",
    )
    assert section.points[3].endswith("fewer than 1 would appear significant by chance.")


def test_the_table_of_all_pairs_has_what_the_sentences_leave_out(tmp_path: Path) -> None:
    names = [f"m{number:02d}" for number in range(12)]
    rows = [row for place, left in enumerate(names) for right in names[place + 1 :] for row in duel(left, right, 7, 5)]
    section = significance_section(board(rows))
    assert section is not None
    assert any(point.startswith("The other 4 models: the table “All pairs” lists") for point in section.points)
    assert len(section.tables[0].rows) == 12 * 11 // 2
    short = significance_section(board(GROUPS))
    assert short is not None
    text = write_html(Page("t", "", (section, short)), tmp_path).read_text()
    assert "<summary>All pairs (66 rows)</summary>" in text
    assert "<summary>All pairs (4 rows)</summary>" in text


def test_the_warning_of_few_items_belongs_to_its_group() -> None:
    small = [*duel("a", "b", 30, 10), *duel("x", "y", 8, 0), *duel("y", "z", 6, 2), *duel("x", "z", 7, 1)]
    section = significance_section(board(small))
    assert section is not None
    group_1 = next(place for place, text in enumerate(section.points) if text.startswith("Group 1 "))
    group_2 = next(place for place, text in enumerate(section.points) if text.startswith("Group 2 "))
    warnings = [place for place, text in enumerate(section.points) if text.startswith("Only 8 items")]
    assert len(warnings) == 1
    few = group_1 if "x" in section.points[group_1].partition(")")[0] else group_2
    assert warnings[0] == few + 1


def test_the_end_of_an_interval_next_to_zero_is_not_printed_as_zero() -> None:
    values = (0.004, -0.04, 12.34, 0.0)
    cells = [_points(value) for value in values]
    assert [number_text(cell.value, cell.spec) for cell in cells if cell] == ["0.004", "-0.04", "12.3", "0.0"]
    assert _points(None) is None


def test_one_battle_has_its_verb() -> None:
    said = board_conclusion(rank({"left": ["a"], "right": ["b"], "winner": ["left"]}))
    assert "1 battle is not enough evidence" in said
    unknown = board_conclusion(rank({"left": ["a"] * 9, "right": ["b"] * 9, "winner": ["left"] * 9}, interval="none"))
    assert "the board has no intervals, so it cannot show whether this lead is chance" in unknown
