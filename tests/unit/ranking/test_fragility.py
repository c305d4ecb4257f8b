"""Fragility: the fewest removals are never below the true minimum and almost always equal to it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from imarena.core import UserError
from imarena.core.records import never_met_groups
from imarena.ranking import Battles, CodedColumn, Options, rank_battles
from imarena.ranking.fragility.board import (
    UNITS,
    BoardFragility,
    FragileOrder,
    RemovedUnit,
    RemovedVote,
    SharedPlace,
    board_fragility,
)
from imarena.ranking.fragility.removal import FittedRemovals
from imarena.ranking.likelihood.fit import fit_board
from imarena.ranking.likelihood.likelihoods import BradleyTerry
from imarena.ranking.likelihood.pair_counts import count_pairs
from tests.unit.ranking.brute_force import (
    Comparison,
    all_points,
    arena,
    compare_with_all,
    fit_all,
    rows_removed,
    small_board,
    with_raters,
)


def test_the_answers_are_the_minimum_of_small_boards() -> None:
    compared = {unit: Comparison() for unit in UNITS}
    for seed in range(8):
        compare_with_all(small_board(seed, 12), 3, compared)
    for unit, one in compared.items():
        assert one.holds(), (unit, one)
        assert one.above.total() > one.beyond


def test_pairs_of_units_on_a_sparse_board() -> None:
    """Few votes link two models, so that first-order effects say little."""
    compared = {unit: Comparison() for unit in UNITS}
    for seed in (4, 5):
        battles = with_raters(arena(seed, 16, 45, items=15), 10, np.random.default_rng(seed))
        compare_with_all(battles, 2, compared)
    assert [one.above.keys() for one in compared.values()] == [{0}, {0}, {0}]


@pytest.mark.slow
def test_the_answers_are_the_minimum_of_many_boards() -> None:
    compared = {unit: Comparison() for unit in UNITS}
    for seed in range(1000, 1040):
        compare_with_all(small_board(seed, 16), 4, compared)
    for unit, one in compared.items():
        assert one.holds(), (unit, one)


def test_few_raters_of_a_larger_board() -> None:
    """Each rater voted on most pairs: units are rows of a table, and first-order effects exclude most candidates."""
    compared = {"rater": Comparison()}
    for seed in range(2):
        battles = with_raters(arena(seed, 22, 8000), 10, np.random.default_rng(seed))
        fits = FittedRemovals(battles, "rater")
        assert isinstance(fits.units.matrix, np.ndarray)
        assert not fits.small
        compare_with_all(battles, 4, compared)
    assert compared["rater"].above.keys() == {0}
    assert compared["rater"].above.total() > 10


def test_a_fit_after_a_removal_is_the_fit_of_the_board() -> None:
    for seed in range(10):
        fits = FittedRemovals(small_board(seed, 16), "vote")
        rng = np.random.default_rng(seed)
        for _ in range(10):
            removed = rng.integers(0, fits.units.available + 1) * (rng.random() < 0.5)
            counts = fits.counts_after(fits.cells.counts, removed)
            theta = fit_board(replace(fits.cells, counts=counts), BradleyTerry()).theta
            assert fits.strengths(counts, fits.base, removed) == pytest.approx(theta, abs=1e-6)


def test_the_fit_of_the_brute_force_is_the_fit_of_the_board() -> None:
    for seed in range(40):
        battles = arena(seed, 6, 9)
        board = fit_all(all_points(battles)[None])
        fits = fit_board(count_pairs(battles), BradleyTerry())
        assert (board.together[0] == (fits.blocks.island[:, None] == fits.blocks.island)).all()
        leads, expected = (theta[:, None] - theta[None, :] for theta in (board.theta[0], fits.theta))
        assert leads[board.together[0]] == pytest.approx(expected[board.together[0]], abs=1e-8)


def renamed(battles: Battles, order: list[int]) -> Battles:
    """The same rows; the k-th model gets a name at another place of the alphabet."""
    number = np.array(order, np.int32)
    names = tuple(battles.models[order.index(place)] + " renamed" for place in range(len(order)))
    return replace(battles, models=names, left=number[battles.left], right=number[battles.right])


def test_names_of_models_change_no_answer() -> None:
    """Half of these boards have models with equal ratings."""
    shared = 0
    for seed in range(20):
        battles = small_board(seed, 12) if seed % 2 else arena(seed, 4, 6, items=3)
        answer = board_fragility(battles, Options(fragility=2))
        shared += len(answer.shared) > 0
        order = np.random.default_rng(seed).permutation(len(battles.models)).tolist()
        other = board_fragility(renamed(battles, order), Options(fragility=2))
        assert str(other).replace(" renamed", "") == str(answer)
    assert shared > 2


def without(battles: Battles, rows: NDArray[np.bool_]) -> Battles:
    """The other rows, with the models that still have battles."""
    left, right = battles.left[~rows], battles.right[~rows]
    played = np.isin(np.arange(len(battles.models)), [left, right])
    number = np.cumsum(played).astype(np.int32) - 1
    names = tuple(name for name, kept in zip(battles.models, played, strict=True) if kept)
    weight = None if battles.weight is None else battles.weight[~rows]
    return Battles(names, number[left], number[right], battles.outcome[~rows], weight=weight)


def shows_new_order(battles: Battles, order: FragileOrder) -> bool:
    """Does `rank` without the removed units show both models in one group and in the new order?"""
    board = rank_battles(without(battles, rows_removed(battles, order)), Options(rounds=0))
    standing = {model.model: model for model in board.models}
    groups = never_met_groups(board.notices, tuple(standing))
    ahead, behind = standing[order.ahead], standing[order.behind]
    assert ahead.rating - behind.rating == pytest.approx(order.difference_without, abs=1e-4)
    return behind.rank < ahead.rank and any({order.ahead, order.behind} <= {*group} for group in groups)


def test_rank_without_the_removed_units_shows_the_new_order_in_one_group() -> None:
    checked = 0
    for seed in range(15):
        battles = small_board(seed, 12)
        orders = [one for one in board_fragility(battles, Options(fragility=2)).orders if one.removed is not None]
        assert all(shows_new_order(battles, order) for order in orders)
        checked += len(orders)
    assert checked > 50


def test_rank_of_weighted_battles_shows_the_new_order() -> None:
    """`rank` scales the weights that are left, and where it needs a prior, the ratings depend on that scale."""
    checked = 0
    for seed in range(50, 60):
        battles = small_board(seed, 12)
        weight = np.random.default_rng(seed).choice([0.5, 1, 2, 5], len(battles)) / 100
        battles = replace(battles, weight=weight)
        rating = {model.model: model.rating for model in rank_battles(battles, Options(rounds=0)).models}
        for order in board_fragility(battles, Options(fragility=2)).orders:
            assert rating[order.ahead] - rating[order.behind] == pytest.approx(order.difference, abs=1e-4)
            if order.removed is not None and order.unit != "vote":  # votes of one kind may have several weights
                assert shows_new_order(battles, order)
                checked += 1
    assert checked > 20


def by_two_raters(rows: list[tuple[str, str, str]]) -> BoardFragility:
    """The answers for rows of winner, loser and rater."""
    models, raters = sorted({name for row in rows for name in row[:2]}), sorted({row[2] for row in rows})
    left, right = (np.array([models.index(row[side]) for row in rows], np.int32) for side in (0, 1))
    rater = CodedColumn(np.array([raters.index(row[2]) for row in rows], np.int32), tuple(raters))
    battles = Battles(tuple(models), left, right, np.zeros(len(rows), np.int8), rater=rater)
    return board_fragility(battles, Options(fragility=1))


def test_a_removal_after_which_the_two_never_met_is_no_change_of_order() -> None:
    """Only r0 compared a and b with c and d; without r0, nothing orders the two groups."""
    inside = [
        ("a", "b", "r1"),
        ("a", "b", "r1"),
        ("b", "a", "r1"),
        ("c", "d", "r2"),
        ("c", "d", "r2"),
        ("d", "c", "r2"),
    ]
    across = [("a", "c", "r0"), ("a", "d", "r0"), ("b", "c", "r0"), ("c", "b", "r0")]
    answer = by_two_raters([*inside, *across])
    of_raters = {(one.ahead, one.behind): one.removed for one in answer.orders if one.unit == "rater"}
    assert of_raters.keys() >= {("a", "b"), ("c", "d")}
    assert all(removed is None for (a, b), removed in of_raters.items() if (a in "ab") != (b in "ab"))


def test_models_with_equal_ratings_share_a_place() -> None:
    ring = [("a", "b", "r0"), ("b", "c", "r0"), ("c", "d", "r1"), ("d", "a", "r1")]
    answer = by_two_raters(ring)
    assert answer.orders == ()
    assert [(place.place, {*place.models}) for place in answer.shared] == [(1, {*"abcd"})]
    lost = [(winner, "e", f"r{number}") for number, winner in enumerate("abcd")]
    below = by_two_raters([*ring, *lost, ("e", "a", "r9"), ("e", "b", "r9"), ("e", "c", "r9")])
    assert {order.question for order in below.orders} <= {"first place", "neighbours"}
    pair = by_two_raters(
        [
            ("a", "b", "r0"),
            ("b", "a", "r0"),
            ("a", "c", "r0"),
            ("b", "c", "r1"),
            ("c", "a", "r2"),
            ("c", "b", "r3"),
            ("a", "c", "r4"),
            ("b", "c", "r5"),
        ]
    )
    assert pair.shared == (SharedPlace(1, ("a", "b")),)
    assert {(order.question, order.behind) for order in pair.orders} == {("neighbours", "c")}
    assert {order.removed for order in pair.orders if order.unit == "vote"} == {2}


def test_groups_that_never_met_are_not_compared() -> None:
    """A leads b, c leads d and e: only a weak prior orders a and c."""
    duels = (("a", "b", 4, 3), ("c", "d", 9, 4), ("d", "e", 5, 3))
    names = ("a", "b", "c", "d", "e")
    rows = [
        (names.index(x), names.index(y), 0 if k < won else 2) for x, y, won, lost in duels for k in range(won + lost)
    ]
    left, right, outcome = (np.array(column) for column in zip(*rows, strict=True))
    battles = Battles(names, left.astype(np.int32), right.astype(np.int32), outcome.astype(np.int8))
    orders = board_fragility(battles, Options(fragility=9)).orders
    asked = {(order.question, order.ahead, order.behind) for order in orders}
    assert all((ahead in "ab") == (behind in "ab") for _, ahead, behind in asked)
    assert sorted(ahead for question, ahead, _ in asked if question == "first place") == ["a", "c"]
    assert {(a, b) for question, a, b in asked if question == "neighbours"} == {("a", "b"), ("c", "d"), ("d", "e")}
    assert {question for question, *_ in asked} == {"first place", "neighbours", "top 2"}


def test_one_vote_that_decides_is_named() -> None:
    left = np.array([0] * 4 + [1] * 3, np.int32)
    right = np.array([1] * 4 + [0] * 3, np.int32)
    battles = Battles(("a", "b"), left, right, np.zeros(7, np.int8))
    first = board_fragility(battles, Options(fragility=1)).orders[0]
    assert (first.ahead, first.behind, first.removed) == ("a", "b", 2)  # 4 wins to 3: one less is even
    assert first.units == (RemovedUnit("a over b", 2),)
    assert first.difference_without is not None
    assert first.difference > 0 > first.difference_without


def test_a_board_without_the_named_items_has_the_other_order() -> None:
    battles = arena(3, 6, 400, items=60)
    answers = board_fragility(battles, Options(fragility=3)).orders
    [order] = [one for one in answers if one.question == "first place" and one.unit == "item"]
    assert order.removed == sum(unit.count for unit in order.units)
    gone = {unit.name for unit in order.units}
    assert battles.item is not None
    kept = np.array([battles.item.names[code] not in gone for code in battles.item.of])
    without = Battles(battles.models, battles.left[kept], battles.right[kept], battles.outcome[kept])
    rating = {model.model: model.rating for model in rank_battles(without, Options(rounds=0)).models}
    assert rating[order.behind] > rating[order.ahead]
    assert rating[order.ahead] - rating[order.behind] == pytest.approx(order.difference_without, abs=1e-4)


def test_votes_come_with_their_item_and_rater() -> None:
    left, right = np.zeros(7, np.int32), np.ones(7, np.int32)
    outcome = np.array([2, 0, 2, 0, 0, 2, 0], np.int8)
    item = CodedColumn(np.arange(7, dtype=np.int32), tuple(f"item {k}" for k in range(7)))
    rater = CodedColumn(np.array([0, 1, 1, 2, 1, 0, 0], np.int32), ("ann", "bob", "(none)"), unnamed=2)
    battles = Battles(("a", "b"), left, right, outcome, item=item, rater=rater)
    first = board_fragility(battles, Options(fragility=1)).orders[0]
    [unit] = first.units
    assert (unit.name, unit.count) == ("a over b", 2)
    assert unit.votes == (RemovedVote("item 1", "bob"), RemovedVote("item 3", None))


def test_votes_of_several_weights_are_not_mixed_up() -> None:
    left, right = np.zeros(7, np.int32), np.ones(7, np.int32)
    weight = np.array([1.0, 1.0, 3.0, 1.0, 2.0, 1.0, 1.0])  # 6 points for a, 4 for b
    battles = Battles(("a", "b"), left, right, np.array([0, 0, 0, 0, 2, 2, 2], np.int8), weight=weight)
    first = board_fragility(battles, Options(fragility=1)).orders[0]
    assert (first.total, first.removed) == (7, 1)  # the vote that counts three times
    assert first.difference_without == pytest.approx(400 * np.log10(3 / 4), abs=1e-6)


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(UserError, match="method bt"):
        rank_battles(arena(1, 4, 50), Options(fragility=3, method="elo"))
    with pytest.raises(UserError, match="1 or more"):
        rank_battles(arena(1, 4, 50), Options(fragility=0))


def test_a_fit_does_not_depend_on_where_it_starts() -> None:
    for seed in range(20):
        cells = count_pairs(arena(seed, 5, 9))
        start = np.random.default_rng(seed).normal(1, 1, 5)
        here, there = fit_board(cells, BradleyTerry()), fit_board(cells, BradleyTerry(), start=start)
        assert here.theta == pytest.approx(there.theta, abs=1e-9)
