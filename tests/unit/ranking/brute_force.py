"""The fewest removals that change an order, found by trying all: own questions, groups and fit, all boards at once."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, pairwise

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray
from imarena.ranking import Battles, CodedColumn, Options
from imarena.ranking.fragility.board import BoardFragility, FragileOrder, board_fragility

EQUAL = 1e-8
"""Strengths (natural log) that differ by less are equal."""
AT_ONCE = 2048

Bools = NDArray[np.bool_]
Pair = tuple[str, str]


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


def with_raters(battles: Battles, raters: int, rng: np.random.Generator) -> Battles:
    of = rng.integers(0, raters, len(battles)).astype(np.int32)
    return replace(battles, rater=CodedColumn(of, tuple(f"rater {k}" for k in range(raters))))


def small_board(seed: int, largest: int) -> Battles:
    """3 to 5 models, 8 battles or more on half as many items by 2/3 as many raters."""
    rng = np.random.default_rng(seed)
    models, n = int(rng.integers(3, 6)), int(rng.integers(8, largest + 1))
    return with_raters(arena(seed, models, n, items=n // 2), 2 * n // 3, rng)


@dataclass(frozen=True)
class Boards:
    """R fitted boards: `theta` (R, m) strengths, `together` (R, m, m) are two models in one group?"""

    theta: FloatArray
    together: Bools


def closure(linked: Bools) -> Bools:
    """(R, m, m) can the column be reached from the row?"""
    reached: Bools = np.logical_or(linked, np.eye(linked.shape[-1], dtype=bool))
    for middle in range(linked.shape[-1]):
        reached |= reached[:, :, middle, None] & reached[:, None, middle, :]
    return reached


def fit_all(points: FloatArray) -> Boards:
    """Fit boards by the points (R, m, m) of the row model against the column model (a tie: half a point for both).

    Models that beat or tied each other, also through others, are fitted by maximum likelihood. Such blocks are then
    placed with one win and one loss against 0 each, except the largest block of a group if there is one.
    """
    boards, m, _ = points.shape
    together = closure(points + points.swapaxes(1, 2) > 0)
    beat = closure(points > 0)
    block = beat & beat.swapaxes(1, 2)
    within = _newton(points * block, np.zeros((boards, m)), np.broadcast_to(np.eye(m), points.shape), block, None)
    size = block.sum(axis=2)
    largest = size == np.where(together, size[:, None, :], 0).max(axis=2)
    number = np.where(together & largest[:, None, :], 1 / size[:, None, :], 0.0).sum(axis=2)
    free = ~(largest & (np.abs(number - 1) < 1e-6))
    moved = np.eye(m)[block.argmax(axis=2)]
    return Boards(_newton(points * ~block, within, moved, None, free), together)


def _newton(
    points: FloatArray, start: FloatArray, moved: FloatArray, gauge: Bools | None, free: Bools | None
) -> FloatArray:
    """(R, m) the most likely strengths. `moved` (R, m, m): model by the parameter that moves it."""
    played, m = points + points.swapaxes(1, 2), points.shape[1]
    is_free = np.zeros(start.shape, bool)  # by parameter
    if free is not None:
        is_free = (moved * free[:, :, None]).any(axis=1)
    parameters = np.zeros(start.shape)
    for _ in range(200):
        theta = start + np.einsum("rmp,rp->rm", moved, parameters)
        chance = 1 / (1 + np.exp(theta[:, None, :] - theta[:, :, None]))
        weight = played * chance * (1 - chance)
        gradient = np.einsum("rmp,rm->rp", moved, (points - played * chance).sum(axis=2))
        laplacian = np.eye(m) * weight.sum(axis=2)[:, :, None] - weight
        curvature = moved.swapaxes(1, 2) @ laplacian @ moved
        if gauge is not None:
            curvature = curvature + gauge
        else:
            even = 1 / (1 + np.exp(-parameters))
            gradient = np.where(is_free, gradient + 1 - 2 * even, 0.0)
            curvature = np.where(is_free[:, :, None] & is_free[:, None, :], curvature, 0.0)
            curvature += np.eye(m) * np.where(is_free, 2 * even * (1 - even), 1.0)[:, :, None]
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        size = np.abs(step).max(axis=1, keepdims=True)
        parameters = parameters + step * np.minimum(1.0, 1.0 / np.maximum(size, 1e-300))
        if size.max() < 1e-11:
            return np.asarray(start + np.einsum("rmp,rp->rm", moved, parameters), np.float64)
    raise AssertionError("the fit did not converge")


def row_points(battles: Battles) -> FloatArray:
    """(n, m m) the points of each battle, by winner and loser."""
    n, m = len(battles), len(battles.models)
    table = np.zeros((n, m, m))
    table[np.arange(n), battles.left, battles.right] = battles.points
    table[np.arange(n), battles.right, battles.left] = 1 - battles.points
    return table.reshape(n, m * m)


def unit_of_rows(battles: Battles, unit: str) -> IntArray:
    """(n,) the vote, item or rater of each battle."""
    if unit == "vote":
        return np.arange(len(battles))
    column = battles.item if unit == "item" else battles.rater
    assert column is not None
    return column.of.astype(np.int64)


def removals(battles: Battles, unit: str, size: int) -> Iterator[Boards]:
    """All boards without `size` units, in parts."""
    units, of = np.unique(unit_of_rows(battles, unit), return_inverse=True)
    table, m = row_points(battles), len(battles.models)
    points = np.stack([table[of == number].sum(axis=0) for number in range(units.size)])
    every = combinations(range(units.size), size)
    while part := list(islice(every, AT_ONCE)):
        left = points.sum(axis=0) - points[np.array(part)].sum(axis=1)
        yield fit_all(left.reshape(-1, m, m))


def questions(battles: Battles, top: int) -> tuple[list[tuple[str, set[Pair]]], set[tuple[int, frozenset[str]]]]:
    """The questions with the pairs that answer each one, and the shared places."""
    m = len(battles.models)
    board = fit_all(row_points(battles).sum(axis=0).reshape(1, m, m))
    asked: list[tuple[str, set[Pair]]] = []
    shared: set[tuple[int, frozenset[str]]] = set()
    for members in {tuple(np.flatnonzero(row).tolist()) for row in board.together[0]}:
        theta = board.theta[0]
        above = {one: sum(theta[other] > theta[one] + EQUAL for other in members) for one in members}
        level = {
            place: [battles.models[one] for one in members if above[one] == place] for place in set(above.values())
        }
        shared |= {(place + 1, frozenset(names)) for place, names in level.items() if len(names) > 1}
        starts = sorted(level)
        for name, size in (("first place", 1), (f"top {min(top, len(members) - 1)}", min(top, len(members) - 1))):
            if size in starts and (size > 1 or name == "first place"):
                upper = [one for start in starts if start < size for one in level[start]]
                lower = [one for start in starts if start >= size for one in level[start]]
                asked.append((name, {(a, b) for a in upper for b in lower}))
        for place, following in pairwise(starts):
            asked.append(("neighbours", {(a, b) for a in level[place] for b in level[following]}))
    return asked, shared


def fewest(battles: Battles, unit: str, asked: list[set[Pair]], upto: int) -> list[int | None]:
    """The true minimum for each set of pairs; None if it is more than `upto`."""
    place = {model: number for number, model in enumerate(battles.models)}
    found: list[int | None] = [None] * len(asked)
    for size in range(1, upto + 1):
        for boards in removals(battles, unit, size):
            for number, pairs in enumerate(asked):
                for ahead, behind in pairs if found[number] is None else ():
                    a, b = place[ahead], place[behind]
                    changed = boards.together[:, a, b] & (boards.theta[:, b] > boards.theta[:, a] + EQUAL)
                    found[number] = size if changed.any() else found[number]
        if None not in found:
            break
    return found


def all_points(battles: Battles, rows: Bools | None = None) -> FloatArray:
    """(m, m) points of some of the battles."""
    m = len(battles.models)
    left, right, points = battles.left, battles.right, battles.points
    if rows is not None:
        left, right, points = left[rows], right[rows], points[rows]
    pair = left.astype(np.int64) * m + right
    won, lost = np.bincount(pair, points, m * m), np.bincount(pair, 1 - points, m * m)
    return np.asarray(won.reshape(m, m) + lost.reshape(m, m).T, np.float64)


def rows_removed(battles: Battles, order: FragileOrder) -> Bools:
    """(n,) the battles of the named units."""
    assert sum(unit.count for unit in order.units) == order.removed
    gone = np.zeros(len(battles), bool)
    if order.unit != "vote":
        column = battles.item if order.unit == "item" else battles.rater
        assert column is not None
        names = {unit.name for unit in order.units}
        return np.asarray(np.array([name in names for name in column.names])[column.of])
    for unit in order.units:
        tied = " tied with " in unit.name
        one, other = (battles.models.index(name) for name in unit.name.split(" tied with " if tied else " over "))
        straight = (battles.left == one) & (battles.right == other) & (battles.outcome == (1 if tied else 0))
        turned = (battles.left == other) & (battles.right == one) & (battles.outcome == (1 if tied else 2))
        rows = np.flatnonzero(straight | turned)[: unit.count]
        assert rows.size == unit.count
        gone[rows] = True
    return gone


def changes(battles: Battles, order: FragileOrder, points: FloatArray | None = None) -> bool:
    """Are the two models in one group and in the new order without the named units? `points`: those of all battles."""
    left = (all_points(battles) if points is None else points) - all_points(battles, rows_removed(battles, order))
    board = fit_all(left[None])
    a, b = battles.models.index(order.ahead), battles.models.index(order.behind)
    return bool(board.together[0, a, b] and board.theta[0, b] > board.theta[0, a] + EQUAL)


@dataclass
class Comparison:
    """Answers beside the true minimum; `above` counts them by how much larger they are."""

    above: Counter[int] = field(default_factory=Counter)
    beyond: int = 0
    """Answers so large that not all smaller removals were tried. None of those that were tried is enough."""

    def holds(self) -> bool:
        """Never below, equal on 95%, otherwise one above."""
        return self.above.keys() <= {0, 1} and self.above[0] >= 0.95 * self.above.total() > 0


def compare_with_all(battles: Battles, upto: int, compared: dict[str, Comparison], top: int = 2) -> None:
    """Add the answers to all questions about one board. A removal that does not change the order fails here."""
    answer: BoardFragility = board_fragility(battles, Options(fragility=top))
    asked, shared = questions(battles, top)
    assert {(place.place, frozenset(place.models)) for place in answer.shared} == shared
    for unit, comparison in compared.items():
        orders = [order for order in answer.orders if order.unit == unit]
        assert Counter(order.question for order in orders) == Counter(question for question, _ in asked)
        pairs = [
            next(pairs for name, pairs in asked if name == one.question and (one.ahead, one.behind) in pairs)
            for one in orders
        ]
        half = np.unique(unit_of_rows(battles, unit)).size // 2
        tried = min(upto, max((half if one.removed is None else one.removed - 1 for one in orders), default=0))
        for order, least in zip(orders, fewest(battles, unit, pairs, tried), strict=True):
            assert order.removed is None or changes(battles, order)
            removed = half + 1 if order.removed is None else order.removed
            if least is not None and least < removed:
                comparison.above[removed - least] += 1
            elif order.removed is None or removed > tried + 1:
                comparison.beyond += 1
            else:
                comparison.above[0] += 1
