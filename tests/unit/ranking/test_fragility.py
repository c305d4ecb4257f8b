"""Fragility: the fewest removals are never below the true minimum and almost always equal to it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from imarena.core import UserError
from imarena.ranking import Battles, CodedColumn, Options, rank_battles
from imarena.ranking.fragility.board import UNITS, FragileOrder, RemovedUnit, RemovedVote, board_fragility
from imarena.ranking.fragility.removal import FittedRemovals
from imarena.ranking.likelihood.fit import fit_board
from imarena.ranking.likelihood.likelihoods import BradleyTerry
from imarena.ranking.likelihood.pair_counts import PairCells, count_pairs


def arena(seed: int, models: int, n: int, items: int = 0) -> Battles:
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 0.9, models)
    left = rng.integers(0, models, n)
    right = (left + 1 + rng.integers(0, models - 1, n)) % models
    won = rng.random(n) < 1 / (1 + np.exp(strength[right] - strength[left]))
    outcome = np.where(rng.random(n) < 0.15, 1, np.where(won, 0, 2))
    names = tuple(f"item {k}" for k in range(items))
    item = CodedColumn(rng.integers(0, items, n).astype(np.int32), names) if items else None
    return Battles(
        tuple(f"m{k}" for k in range(models)), left.astype(np.int32), right.astype(np.int32), outcome.astype(np.int8),
        item=item,
    )  # fmt: skip


def removals(available: list[int], size: int, first: int = 0) -> Iterator[dict[int, int]]:
    """Every way to take `size` units."""
    if size == 0:
        yield {}
        return
    for kind in range(first, len(available)):
        for count in range(1, min(available[kind], size) + 1):
            for rest in removals(available, size - count, kind + 1):
                yield {kind: count, **rest}


def smallest(fits: FittedRemovals, pairs: set[tuple[int, int]], upto: int) -> dict[tuple[int, int], int]:
    """For each pair the size of the smallest removal that puts the second above the first, found by trying all.

    Pairs that need more than `upto` units are left out.
    """
    available = fits.units.available
    found: dict[tuple[int, int], int] = {}
    for size in range(1, upto + 1):
        for taken in removals(available.tolist(), size):
            removed = np.zeros_like(available)
            removed[list(taken)] = list(taken.values())
            counts = fits.counts_after(fits.cells.counts, removed)
            theta = fit_board(replace(fits.cells, counts=counts), BradleyTerry()).theta
            for ahead, behind in pairs - found.keys():
                if theta[behind] > theta[ahead] + 1e-9 and fits.still_ranked(counts, ahead, behind):
                    found[ahead, behind] = size
        if len(found) == len(pairs):
            break
    return found


def cells_without(battles: Battles, order: FragileOrder) -> PairCells:
    """The battles that are left without the named units, counted anew."""
    if order.unit != "vote":
        column = battles.item if order.unit == "item" else battles.rater
        assert column is not None
        gone = {unit.name for unit in order.units}
        kept = ~np.array([name in gone for name in column.names])[column.of]
        return count_pairs(Battles(battles.models, battles.left[kept], battles.right[kept], battles.outcome[kept]))
    cells = count_pairs(battles)
    counts = cells.counts.copy()
    for unit in order.units:
        tied = " tied with " in unit.name
        winner, loser = (battles.models.index(name) for name in unit.name.split(" tied with " if tied else " over "))
        [cell] = np.flatnonzero((cells.left == min(winner, loser)) & (cells.right == max(winner, loser)))
        counts[cell, 1 if tied else 0 if winner < loser else 2] -= unit.count
    assert counts.min() >= 0
    return replace(cells, counts=counts)


def strengths_without(battles: Battles, order: FragileOrder) -> dict[str, float]:
    """The board without the named units, by the fit of the board."""
    assert sum(unit.count for unit in order.units) == order.removed
    theta = fit_board(cells_without(battles, order), BradleyTerry()).theta
    return dict(zip(battles.models, theta.tolist(), strict=True))


@dataclass
class Comparison:
    """Answers beside the true minimum; `above` counts them by how much larger they are."""

    above: Counter[int] = field(default_factory=Counter)
    beyond: int = 0
    """Answers so large that not all smaller removals were tried. None of those that were tried is enough."""

    def holds(self) -> bool:
        """Never below, equal on 95%, otherwise one above."""
        return self.above.keys() <= {0, 1} and self.above[0] >= 0.95 * self.above.total() > 0


def pairs_of(order: FragileOrder, ranked: list[str]) -> set[tuple[str, str]]:
    """The pairs that answer the question: all challengers of the first place, all across the edge of the top k."""
    if order.question == "neighbours":
        return {(order.ahead, order.behind)}
    top = 1 if order.question == "first place" else int(order.question.removeprefix("top "))
    return {(above, below) for above in ranked[:top] for below in ranked[top:]}


def group_of(battles: Battles, model: str) -> set[str]:
    """The models that met this one, or one of those, and so on."""
    group: set[int] = {battles.models.index(model)}
    met = list(zip(battles.left.tolist(), battles.right.tolist(), strict=True))
    for _ in battles.models:
        group |= {one for pair in met if group & {*pair} for one in pair}
    return {battles.models[one] for one in group}


def compare_with_all(battles: Battles, upto: int, compared: dict[str, Comparison]) -> None:
    """Add the answers to all questions about one board. A removal that does not change the order fails here."""
    answers = board_fragility(battles, Options(fragility=2)).orders
    for unit, comparison in compared.items():
        _compare(battles, [one for one in answers if one.unit == unit], unit, upto, comparison)


def _compare(battles: Battles, orders: list[FragileOrder], unit: str, upto: int, compared: Comparison) -> None:
    fits = FittedRemovals(battles, unit)
    ranked = [battles.models[model] for model in np.argsort(-fits.base, kind="stable")]
    place = {model: number for number, model in enumerate(battles.models)}
    asked: dict[FragileOrder, set[tuple[int, int]]] = {}
    for order in orders:
        group = group_of(battles, order.ahead)
        named = pairs_of(order, [model for model in ranked if model in group])
        asked[order] = {(place[a], place[b]) for a, b in named}
    limit = fits.units.total // 2
    largest = max(limit if order.removed is None else order.removed - 1 for order in orders)
    tried = min(upto, largest)
    found = smallest(fits, set().union(*asked.values()), tried)
    for order, pairs in asked.items():
        removed = limit + 1 if order.removed is None else order.removed
        if order.removed is not None:
            theta = strengths_without(battles, order)
            assert theta[order.behind] > theta[order.ahead]
        least = min(found.get(pair, removed) for pair in pairs)
        if least < removed:
            compared.above[removed - least] += 1
        elif order.removed is None or removed > tried + 1:
            compared.beyond += 1
        else:
            compared.above[0] += 1


def with_raters(battles: Battles, raters: int, rng: np.random.Generator) -> Battles:
    of = rng.integers(0, raters, len(battles)).astype(np.int32)
    return replace(battles, rater=CodedColumn(of, tuple(f"rater {k}" for k in range(raters))))


def small_board(seed: int, largest: int) -> Battles:
    """3 to 5 models, 8 battles or more on half as many items by 2/3 as many raters, no two models equally strong."""
    rng = np.random.default_rng(seed)
    models, n = int(rng.integers(3, 6)), int(rng.integers(8, largest + 1))
    battles = with_raters(arena(seed, models, n, items=n // 2), 2 * n // 3, rng)
    base = np.sort(FittedRemovals(battles, "vote").base)
    return battles if np.diff(base).min() > 1e-6 else small_board(seed + 100_000, largest)


def test_the_answers_are_the_minimum_of_small_boards() -> None:
    compared = {unit: Comparison() for unit in UNITS}
    for seed in range(8):
        compare_with_all(small_board(seed, 12), 3, compared)
    for unit, one in compared.items():
        assert one.holds(), (unit, one)
        assert one.above.total() > one.beyond


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
        battles = with_raters(arena(seed, 9, 2000), 10, np.random.default_rng(seed))
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
            counts = fits.counts_after(
                fits.cells.counts, rng.integers(0, fits.units.available + 1) * (rng.random() < 0.5)
            )
            theta = fit_board(replace(fits.cells, counts=counts), BradleyTerry()).theta
            assert fits.strengths(counts, fits.base) == pytest.approx(theta, abs=1e-6)


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
