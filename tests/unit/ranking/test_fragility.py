"""Fragility: the fewest removals are never below the true minimum and almost always equal to it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from imarena.core import UserError
from imarena.ranking import Battles, CodedColumn, Options, rank_battles
from imarena.ranking.fragility.board import RemovedUnit, board_fragility
from imarena.ranking.fragility.removal import FittedRemovals
from imarena.ranking.fragility.search import PassingSearch
from imarena.ranking.likelihood.fit import fit_board
from imarena.ranking.likelihood.likelihoods import BradleyTerry
from imarena.ranking.likelihood.pair_counts import count_pairs


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


def true_minimum(fits: FittedRemovals, ahead: int, behind: int, below: int) -> int:
    """The smallest removal of fewer than `below` units, found by trying all; `below` where there is none."""
    available = fits.units.available
    for size in range(1, below):
        for taken in removals(available.tolist(), size):
            removed = np.zeros_like(available)
            removed[list(taken)] = list(taken.values())
            counts = fits.counts_without(removed)
            if not fits.still_ranked(counts, ahead, behind):
                continue
            theta = fits._whole_fit(counts)
            if theta[behind] > theta[ahead] + 1e-9:
                return size
    return below


def compare_with_all(seeds: range, unit: str = "vote") -> list[int]:
    """By how much each search misses the true minimum. A removal that does not change the order fails here."""
    missed = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        models, n = int(rng.integers(3, 6)), int(rng.integers(8, 17))
        fits = FittedRemovals(arena(seed, models, n, items=n // 2), unit)
        ahead, behind = (int(model) for model in np.argsort(-fits.base, kind="stable")[:2])
        if fits.base[ahead] - fits.base[behind] < 1e-9:
            continue
        limit = fits.units.total // 2
        removal = PassingSearch(fits, ahead, behind).fewest(limit)
        if removal is None:
            below = min(limit + 1, 4)
            assert true_minimum(fits, ahead, behind, below) == below
            continue
        theta = fit_board(replace(fits.cells, counts=removal.counts), BradleyTerry()).theta
        assert theta[behind] > theta[ahead]
        if removal.size <= 6:
            missed.append(removal.size - true_minimum(fits, ahead, behind, removal.size))
    return missed


def test_the_fewest_votes_are_the_minimum_of_small_boards() -> None:
    missed = compare_with_all(range(15))
    assert min(missed) == 0
    assert np.mean(np.array(missed) == 0) >= 0.95
    assert max(missed) <= 1


@pytest.mark.slow
def test_the_fewest_votes_are_the_minimum_of_many_boards() -> None:
    missed = compare_with_all(range(1000, 1150))
    assert np.mean(np.array(missed) == 0) >= 0.95
    assert max(missed) <= 1


def test_the_fewest_items_are_the_minimum_of_small_boards() -> None:
    missed = compare_with_all(range(15), "item")
    assert np.mean(np.array(missed) == 0) >= 0.95
    assert max(missed) <= 1


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
