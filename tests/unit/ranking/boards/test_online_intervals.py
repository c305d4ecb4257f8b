"""A rating that moves battle by battle lies within its bootstrap interval."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.core.records import Ranking
from imarena.ranking import Options, rank_battles
from imarena.ranking.battles import Battles, CodedColumn
from imarena.ranking.boards.online import online_board
from imarena.ranking.boards.pairs import percentile_ends
from imarena.ranking.elo import elo_ratings
from imarena.ranking.options import EloOptions

Row = tuple[int, int, int]


def table(rows: list[Row], items: list[int] | None = None) -> Battles:
    left, right, outcome = (np.array(column) for column in zip(*rows, strict=True))
    names = tuple(f"m{number}" for number in range(int(max(left.max(), right.max())) + 1))
    of = None if items is None else CodedColumn(np.array(items, np.int32), tuple(map(str, range(max(items) + 1))))
    return Battles(
        models=names,
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        outcome=outcome.astype(np.int8),
        item=of,
    )


@st.composite
def any_rows(draw: st.DrawFn) -> list[Row]:
    side = st.integers(0, draw(st.integers(1, 7)))
    row = st.tuples(side, side, st.integers(0, 2)).filter(lambda one: one[0] != one[1])
    return draw(st.lists(row, min_size=1, max_size=40))


@st.composite
def tournaments(draw: st.DrawFn) -> list[Row]:
    """Some models meet all others once, and mostly the one with the lower number wins."""
    models, champions = draw(st.integers(6, 20)), draw(st.integers(1, 4))
    pairs = [(one, other) for one in range(champions) for other in range(one + 1, models)]
    upsets = draw(st.sets(st.sampled_from(range(len(pairs))), max_size=3))
    rows = [(one, other, 2 * (number in upsets)) for number, (one, other) in enumerate(pairs)]
    return draw(st.permutations(rows))


@st.composite
def battles(draw: st.DrawFn) -> Battles:
    rows = draw(any_rows() | tournaments())
    items = draw(st.none() | st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows)))
    used = sorted({model for left, right, _ in rows for model in (left, right)})
    place = {model: number for number, model in enumerate(used)}
    codes = None if items is None else [sorted(set(items)).index(one) for one in items]
    return table([(place[left], place[right], outcome) for left, right, outcome in rows], codes)


def check(board: Ranking) -> None:
    for model in board.models:
        if model.low is None or model.high is None:
            assert model.note
        else:
            assert model.low <= model.rating <= model.high


@settings(max_examples=60, deadline=None)
@given(
    battles(), st.sampled_from(["elo", "active-elo"]), st.sampled_from(["given", "shuffled"]), st.floats(1, 200),
    st.sampled_from([0.5, 0.95]),
)  # fmt: skip
def test_every_rating_is_within_its_interval(found: Battles, method: str, order: str, k: float, level: float) -> None:
    options = Options(method=method, rounds=40, seed=3, level=level, elo=EloOptions(k=k, order=order))
    check(rank_battles(found, options))


@pytest.mark.parametrize("method", ["elo", "active-elo"])
def test_a_model_that_beats_many_others_once_each(method: str) -> None:
    """No round has 20 different opponents, so that all of them lie below the rating before they are moved."""
    found = table([(0, other, 0) for other in range(1, 21)])
    board = rank_battles(found, Options(method=method, rounds=200, elo=EloOptions(k=32)))
    check(board)
    best = board.models[0]
    assert best.model == "m0"
    assert best.low is not None
    assert best.high is not None
    assert best.low < best.rating < best.high


def test_the_rating_is_that_of_the_battles_as_they_came() -> None:
    """Intervals do not move ratings: they are Elo's, worked out by hand."""
    found = table([(0, 1, 0), (0, 2, 0), (1, 2, 1)])
    board = rank_battles(found, Options(method="elo", rounds=50, elo=EloOptions(k=4)))
    ratings = {model.model: model.rating for model in board.models}
    first = 1000 + 4 * 0.5
    second = first + 4 * (1 - 1 / (1 + 10 ** ((1000 - first) / 400)))
    assert ratings["m0"] == pytest.approx(second)


@pytest.mark.slow
@pytest.mark.parametrize("k", [4.0, 32.0])
def test_intervals_hold_the_expected_rating_as_often_as_they_say(k: float) -> None:
    rng = np.random.default_rng(5)
    strength = np.linspace(-1.5, 1.5, 6)
    options = Options(method="elo", rounds=200, matrices=False, elo=EloOptions(k=k))

    def sample() -> Battles:
        left = rng.integers(0, 6, 200)
        right = (left + rng.integers(1, 6, 200)) % 6
        won = rng.random(200) < 1 / (1 + np.exp(strength[right] - strength[left]))
        return table(list(zip(left.tolist(), right.tolist(), np.where(won, 0, 2).tolist(), strict=True)))

    start = np.full(6, 1000.0)
    expected = np.mean([elo_ratings(sample(), options, start)[0] for _ in range(4000)], axis=0)
    held = []
    for _ in range(500):
        board = rank_battles(sample(), options)
        for model in board.models:
            assert model.low is not None
            assert model.high is not None
            held.append(model.low <= expected[int(model.model[1:])] <= model.high)
    assert 0.925 < np.mean(held) < 0.975


def test_differences_of_pairs_are_centred_as_ratings_are() -> None:
    """The median of a difference is not the difference of two medians."""
    rng = np.random.default_rng(3)
    sides = [rng.choice(5, 2, replace=False) for _ in range(40)]
    played = table([(int(one), int(other), 0 if one < other else 2) for one, other in sides])
    options = Options(method="elo", rounds=400, seed=5)
    found = rank_battles(played, options)
    pairs: Any = found.details["pairs"]
    ratings = {standing.model: standing.rating for standing in found.models}
    result = online_board(played, options)
    assert result.draws is not None
    place = {model: at for at, model in enumerate(played.models)}
    off_before = 0.0
    for row, one in enumerate(pairs["models"]):
        for column, other in enumerate(pairs["models"]):
            if one == other:
                assert pairs["difference_low"][row][column] is None
                assert pairs["probability_above"][row][column] == 0.5
                continue
            difference = ratings[one] - ratings[other]
            lead = result.draws[:, place[one]] - result.draws[:, place[other]]
            off = float(np.median(lead)) - difference
            off_before = max(off_before, abs(off))
            low, high = percentile_ends(lead - off, 0.95)
            assert pairs["difference_low"][row][column] == pytest.approx(low)
            assert pairs["difference_high"][row][column] == pytest.approx(high)
            assert low <= difference <= high
            assert pairs["probability_above"][row][column] == pytest.approx((lead - off > 0).mean(), abs=0.003)
    assert off_before > 1  # rating points: centring each model alone leaves the differences off their middle
    neighbours: Any = found.details["neighbours"]
    for one, other in itertools.pairwise(found.models):
        beside = next(n for n in neighbours if n["above"] == one.model)
        at = pairs["models"].index(one.model), pairs["models"].index(other.model)
        assert beside["probability_above"] == pairs["probability_above"][at[0]][at[1]]
