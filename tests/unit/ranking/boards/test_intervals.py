"""An interval is there with a width, or absent with its reason; never of zero width."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from imarena.core.records import Ranking
from imarena.ranking import Battles, CodedColumn, Options, rank_battles
from imarena.ranking.boards.board import assemble
from imarena.ranking.boards.calibrated import calibrated_board
from imarena.ranking.boards.from_tables import rank
from imarena.ranking.boards.intervals import FIXED
from imarena.ranking.options import METHODS, MixtureOptions

MODELS = "abcd"


@st.composite
def boards(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Small boards: few battles, few items, people and a judge with scores, all outcomes."""
    models = MODELS[: draw(st.integers(2, 4))]
    pair = st.permutations(list(models)).map(lambda names: (names[0], names[1]))
    battle = st.tuples(
        pair, st.sampled_from(["left", "right", "tie"]), st.integers(0, 3), st.sampled_from(["human", "judge"]),
        st.integers(0, 4), st.integers(0, 4),
    )  # fmt: skip
    rows = draw(st.lists(battle, min_size=1, max_size=12))
    rows.append((rows[0][0], rows[0][1], 0, "human", 1, 2))  # the corrected board needs a vote
    return {
        "left": [row[0][0] for row in rows],
        "right": [row[0][1] for row in rows],
        "winner": [row[1] for row in rows],
        "item": [f"i{row[2]}" for row in rows],
        "source": [row[3] for row in rows],
        "rater": [row[3] for row in rows],
        "score_left": [100.0 * row[4] for row in rows],
        "score_right": [100.0 * row[5] for row in rows],
    }


def groups_of(table: dict[str, list[Any]]) -> dict[str, int]:
    """The group of each model: inside a group every model can be reached from every other by wins and ties."""
    names = sorted({*table["left"], *table["right"]})
    beaten = np.zeros((len(names), len(names)))
    for left, right, winner in zip(table["left"], table["right"], table["winner"], strict=True):
        first, second = names.index(left), names.index(right)
        beaten[first, second] += winner != "right"
        beaten[second, first] += winner != "left"
    return dict(zip(names, connected_components(beaten, connection="strong")[1].tolist(), strict=True))


def check(board: Ranking, slack: float, groups: dict[str, int]) -> None:
    """Low < high around the rating, or neither with a reason; the same of everything else with two ends."""
    for standing in board.models:
        if standing.low is None or standing.high is None:
            assert standing.low is None
            assert standing.high is None
            assert standing.note
        else:
            assert standing.low + 1e-6 < standing.high
            assert standing.low - slack <= standing.rating <= standing.high + slack
            assert standing.note == ""
        assert (standing.rank_low is None) == (standing.rank_high is None)
    table: Any = board.details.get("pairs", {})
    notes = {standing.model: standing.note for standing in board.models}
    names = table.get("models", ())
    for name, lows, highs in zip(
        names if "difference_low" in table else (), table.get("difference_low", ()), table.get("difference_high", ()),
        strict=True,
    ):  # fmt: skip
        for other, low, high in zip(names, lows, highs, strict=True):
            if low is None or high is None:  # one end alone: of a sweep, whose winner or loser has no bound
                assert (low is None and high is None) or notes[name] or notes[other]
            else:
                assert low < high
                # both are placed among all models, or both belong to one group that swept or was swept by the others
                assert {notes[name], notes[other]} <= {"", FIXED} or groups.get(name, name) == groups.get(other, other)
    figures: Any = [*board.details.get("ties", ()), *board.details.get("reliability", ())]  # type: ignore[misc]
    figures += board.details.get("coefficients", ())
    assert all((one["low"] is None) == (one["high"] is None) for one in figures)
    assert all(one["low"] is None or one["low"] < one["high"] for one in figures)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(table=boards(), cluster=st.sampled_from([None, "battle"]), seed=st.integers(0, 3))
def test_no_interval_has_zero_width(method: str, table: dict[str, list[Any]], cluster: str | None, seed: int) -> None:
    # Percentiles of rounds need not hold the rating: with so few battles only roughly.
    check(rank(table, method=method, rounds=39, seed=seed, cluster=cluster), 400.0, groups_of(table))


@pytest.mark.parametrize("method", ["bt", "davidson", "mixture"])
@settings(max_examples=25, deadline=None)
@given(table=boards(), anchored=st.integers(1, 2), interval=st.sampled_from(["bootstrap", "sandwich"]))
def test_nor_with_anchors_a_position_term_or_the_sandwich(
    method: str, table: dict[str, list[Any]], anchored: int, interval: str
) -> None:
    anchors = {model: 1000.0 + 50 * place for place, model in enumerate(sorted(set(table["left"]))[:anchored])}
    options = Options(
        method=method, anchors=anchors, position=True, interval=interval, rounds=39, cluster="battle",
        mixture=MixtureOptions(reliability="source"),
    )  # fmt: skip
    board = rank(table, options=options)
    check(board, 2000.0, groups_of(table))
    assert {s.model: s.note for s in board.models if s.model in anchors} == dict.fromkeys(anchors, "fixed")


def of_one_item(winners: list[int], items: list[int]) -> Battles:
    n = len(winners)
    return Battles(
        models=("a", "b", "c"),
        left=np.array([0, 1, 0] * n, np.int32)[:n],
        right=np.array([1, 2, 2] * n, np.int32)[:n],
        outcome=np.array(winners, np.int8),
        item=CodedColumn(np.array(items, np.int32), tuple(f"i{item}" for item in range(max(items) + 1))),
        judged=np.arange(n) % 2 == 1,
        score_left=np.full(n, 300.0),
        score_right=np.full(n, 200.0),
    )


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_nor_has_a_board_with_a_calibrated_judge(rows: list[tuple[int, int]]) -> None:
    items = np.unique([item for _, item in rows], return_inverse=True)[1].tolist()
    battles = of_one_item([winner for winner, _ in rows], items)
    options = Options(method="mixture", rounds=39)
    board = assemble(battles, calibrated_board(battles, lambda gap: np.full(gap.shape, 0.6), options), options, None)
    check(board, 400.0, {})


def test_one_item_is_the_reason_on_a_board_with_a_calibrated_judge() -> None:
    """Each family of one item: every round draws the same item."""
    battles = of_one_item([0, 2, 1, 2, 0, 1, 0, 0, 2], [0] * 9)
    options = Options(method="mixture", rounds=39)
    board = assemble(battles, calibrated_board(battles, lambda gap: np.full(gap.shape, 0.6), options), options, None)
    assert [(s.low, s.high, s.rank_low, s.rank_high, s.note) for s in board.models] == [
        (None,) * 4 + ("only one item",)
    ] * 3
    assert [notice.code for notice in board.notices] == ["no_interval"]
    assert board.warnings == ("No interval for 3 of 3 models: only one item to resample.",)


def test_without_intervals_there_is_no_reason_to_give() -> None:
    battles = of_one_item([0, 2, 1], [0, 1, 2])
    board = rank_battles(battles, Options(interval="none"))
    assert [(s.low, s.high, s.note) for s in board.models] == [(None, None, "")] * 3
