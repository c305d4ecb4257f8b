"""Data that say little: only ties, half-filled columns, weights on another scale, a single item."""

from typing import Any

import numpy as np
import pytest

from imarena.core.notices import Notice
from imarena.core.records import Ranking
from imarena.ranking import Options
from imarena.ranking.boards.from_tables import load_battles, rank, rank_by

STRENGTHS = {"a": 0.8, "b": 0.2, "c": 0.0, "d": -0.6}


def rows(n: int = 300, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    table: dict[str, list[Any]] = {"left": [], "right": [], "winner": []}
    for _ in range(n):
        left, right = rng.choice(list(STRENGTHS), 2, replace=False)
        won = rng.random() < 1 / (1 + np.exp(STRENGTHS[right] - STRENGTHS[left]))
        table["left"].append(str(left))
        table["right"].append(str(right))
        table["winner"].append("tie" if rng.random() < 0.15 else "left" if won else "right")
    return table


def widths(board: Ranking) -> dict[str, float]:
    return {s.model: (s.high or 0.0) - (s.low or 0.0) for s in board.models}


@pytest.mark.parametrize("interval", ["bootstrap", "sandwich"])
@pytest.mark.parametrize("method", ["bt", "davidson"])
def test_a_newcomer_that_only_tied_is_not_as_sure_as_its_opponent(method: str, interval: str) -> None:
    """Its rating follows the opponent's in every resampled round, so that resampling says nothing about it."""
    table = rows()
    for name, value in (("left", "new"), ("right", "a"), ("winner", "tie")):
        table[name].append(value)
    board = rank(table, method=method, interval=interval)
    assert widths(board)["new"] > 600
    assert max(widths(board)[model] for model in STRENGTHS) < 150
    assert Notice(code="intervals_from_model", values={"models": 1, "of": 5, "names": ["new"]}) in board.notices


@pytest.mark.parametrize("method", ["bt", "elo"])
@pytest.mark.parametrize("column", ["item", "rater"])
def test_battles_without_a_cluster_are_resampled_on_their_own(method: str, column: str) -> None:
    """Twenty named battles of 300, each its own cluster: the rest must not be one giant cluster."""
    table = rows()
    plain = widths(rank(table, method=method))
    table[column] = [f"n{row}" if row < 20 else None for row in range(300)]
    board = rank(table, method=method, cluster=column)
    assert board.settings["cluster"] == column
    for model, width in widths(board).items():
        assert width == pytest.approx(plain[model], rel=0.2)
    assert Notice(code="unnamed_units", values={"battles": 280, "cluster": column}) in board.notices


def test_a_column_without_a_single_name_is_as_good_as_none() -> None:
    table = rows()
    plain = rank(table)
    board = rank({**table, "item": [None] * 300, "rater": [""] * 300})
    assert board.settings["cluster"] == "battle"
    assert board.models == plain.models


@pytest.mark.parametrize("method", ["bt", "davidson", "elo"])
def test_a_board_of_one_item_has_no_intervals_unless_its_battles_are_to_be_resampled(method: str) -> None:
    table = {**rows(), "item": ["only"] * 300}
    board = rank(table, method=method)
    assert {(standing.low, standing.high, standing.note) for standing in board.models} == {
        (None, None, "only one item")
    }
    assert any("only one item to resample" in text for text in board.warnings)
    battles = rank(table, method=method, cluster="battle")
    assert all(standing.low is not None for standing in battles.models)


def test_few_items_are_told() -> None:
    table = rows()
    few = rank({**table, "item": [str(row % 4) for row in range(300)]})
    assert "There are only 4 items to resample: the intervals are too narrow." in few.warnings
    ties = {"left": ["a"] * 4, "right": ["b"] * 4, "winner": ["tie"] * 4, "item": ["1", "2", "3", "4"]}
    assert [notice.code for notice in rank(ties).notices] == ["intervals_from_model"]


@pytest.mark.parametrize("interval", ["bootstrap", "sandwich"])
@pytest.mark.parametrize("scale", [1e-12, 1 / 300, 57.0, 1e300])
def test_only_the_ratio_of_weights_matters(scale: float, interval: str) -> None:
    """An unbeaten model is placed by a prior that counts in battles; that must not see the weights' unit either."""
    table = rows()
    for name, value in (("left", "top"), ("right", "a"), ("winner", "left")):
        table[name] += [value] * 3
    weights = np.random.default_rng(1).uniform(0.5, 1.5, 303)
    boards = [
        rank({**table, "weight": (weights * factor).tolist()}, interval=interval, rounds=200) for factor in (1, scale)
    ]
    ratings, scaled = ({s.model: s.rating for s in board.models} for board in boards)
    assert scaled == pytest.approx(ratings, abs=1e-6)
    assert widths(boards[1]) == pytest.approx(widths(boards[0]), rel=1e-3)
    spread = [np.sqrt(np.diag(np.array(board.covariance))) for board in boards]  # of the unbeaten model too
    assert spread[1] == pytest.approx(spread[0], rel=1e-3)


def test_very_uneven_weights_are_told() -> None:
    told = "The weights are very uneven: 300 battles carry as much information as 1 with equal weights."
    table = rows()
    assert told in rank({**table, "weight": [1e15] + [1.0] * 299}).warnings
    assert not rank({**table, "weight": [2.0] * 150 + [1.0] * 150}).warnings


def test_by_reports_battles_that_are_on_no_board() -> None:
    table = {**rows(), "task": ["x"] * 100 + ["y"] * 100 + [None] * 100}
    boards = list(rank_by(load_battles(table), "task", Options(interval="none")))
    assert [board.scope["task"] for board in boards] == ["x", "y"]
    assert sum(board.n_battles for board in boards) == 200
    assert all("100 battles have no task and are on no board." in board.warnings for board in boards)


def test_options_hold_unless_named_beside_them() -> None:
    table = rows()
    chosen = Options(method="davidson", rounds=50, seed=9, interval="sandwich", cluster="battle")
    board = rank(table, options=chosen)
    assert (board.method, board.settings["seed"], board.settings["interval"]) == ("davidson", 9, "sandwich")
    assert rank(table, options=chosen, method="bt", interval="bootstrap").settings["rounds"] == 50


def test_accuracy_is_measured_on_people_where_they_are_known_apart() -> None:
    table = rows()
    people = rank(table, interval="none")
    turned = [{"left": "right", "right": "left"}.get(word, word) for word in table["winner"]]
    both = {name: [*table[name], *table[name]] for name in ("left", "right")}
    mixed = rank(
        {**both, "winner": table["winner"] + turned, "weight": [3.0] * 300 + [1.0] * 300,
         "source": ["human"] * 300 + ["judge"] * 300}, interval="none",
    )  # fmt: skip
    assert [s.model for s in mixed.models] == [s.model for s in people.models]
    assert mixed.details["stability"]["accuracy"] == people.details["stability"]["accuracy"]  # type: ignore[index,call-overload]
    assert mixed.details["stability"]["accuracy_battles"] == 300  # type: ignore[index,call-overload]
