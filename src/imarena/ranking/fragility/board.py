"""How few votes, items or raters decide the first place, the top k and the order of neighbours on a board."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from imarena.core import UserError
from imarena.core.records import JsonDict
from imarena.ranking.battles import Battles, CodedColumn, scale_weights
from imarena.ranking.fragility.removal import FittedRemovals
from imarena.ranking.fragility.search import MARGIN, PassingSearch, Removal
from imarena.ranking.islands import islands_of
from imarena.ranking.likelihood.fit import fit_board
from imarena.ranking.likelihood.likelihoods import BradleyTerry
from imarena.ranking.likelihood.pair_counts import count_pairs, counts_by_pair
from imarena.ranking.options import Options
from imarena.tables import build_column

UNITS = ("vote", "item", "rater")
TRIED = 6
"""Number of pairs of models, most promising first, that are searched for the first place and for the top k of a larger
board; of a small one, all are.
"""
LISTED = 1000
"""Largest number of removed units, and of votes with their item and rater, that are listed."""
ROWS = 1 << 14
"""Rows that are read at once to find the first battle of each model."""
BEST_OF_2, BEST_OF_10 = 0.5641895835, 1.5387527308
"""Expected largest of 2 and of 10 independent standard normal numbers."""


@dataclass(frozen=True)
class RemovedVote:
    """The item and the rater of one removed vote, if the battles name them."""

    item: str | None
    rater: str | None


@dataclass(frozen=True)
class RemovedUnit:
    """Votes of one kind (`A over B`), an item or a rater, and how many of them are removed."""

    name: str
    count: int
    votes: tuple[RemovedVote, ...] = ()
    """The removed votes: the first ones in the table, because all votes of one kind have the same effect."""

    def to_json(self) -> JsonDict:
        """The unit as JSON, with its votes if they are known."""
        votes: JsonDict = {"votes": [asdict(vote) for vote in self.votes]} if self.votes else {}
        return {"name": self.name, "count": self.count, **votes}


@dataclass(frozen=True)
class FragileOrder:
    """The fewest units without which `behind` is above `ahead`, with both still in one group of models that met."""

    question: str
    """`first place`, `top 3` or `neighbours`."""
    unit: str
    ahead: str
    behind: str
    removed: int | None
    """None: no removal of at most half of the units was found."""
    total: int
    difference: float
    """Difference of the two in rating points on the whole board."""
    difference_without: float | None
    """The same without the removed units; below 0."""
    units: tuple[RemovedUnit, ...]


@dataclass(frozen=True)
class SharedPlace:
    """Models of one group with equal ratings, so that nothing decides their order."""

    place: int
    """Their place in the group, from 1."""
    models: tuple[str, ...]


@dataclass(frozen=True)
class CloneGain:
    """Rating points by which the best of 2 or of 10 entries of one model is ahead of it, by chance alone."""

    model: str
    best_of_2: float
    best_of_10: float


@dataclass(frozen=True)
class BoardFragility:
    """The fragile orders for each kind of unit that the battles name, shared places, and what clones would gain."""

    orders: tuple[FragileOrder, ...]
    shared: tuple[SharedPlace, ...]
    clones: tuple[CloneGain, ...]

    def to_json(self) -> JsonDict:
        """The form that `rank --json` prints."""
        return {
            "orders": [{**asdict(order), "units": [unit.to_json() for unit in order.units]} for order in self.orders],
            "shared": [{"place": one.place, "models": list(one.models)} for one in self.shared],
            "clones": [asdict(gain) for gain in self.clones],
        }


def board_fragility(battles: Battles, options: Options) -> BoardFragility:
    """Find the fragile orders for each kind of unit that the battles name, and what a clone of each model would gain.

    Models of groups that never met are not compared: each group has its own first place and top k. Models with equal
    ratings share a place, and nothing is asked about their order. Every answer is checked by fitting the board without
    the removed units. It is the smallest removal that the search found; a smaller one may exist
    (docs/design/ranking.md).
    """
    top = options.fragility or 0
    _check(battles, options, top)
    battles = _by_rating(scale_weights(battles))
    orders: list[FragileOrder] = []
    shared: tuple[SharedPlace, ...] = ()
    clones: tuple[CloneGain, ...] = ()
    for unit in UNITS:
        if (unit == "item" and battles.item is None) or (unit == "rater" and battles.rater is None):
            continue
        fits = FittedRemovals(battles, unit)
        groups = [_places(fits, group) for group in _groups_that_met(fits)]
        if fits.units.total:
            for places in groups:
                orders += _orders(battles, fits, unit, places, top, options)
        shared = shared or tuple(place for places in groups for place in _shared(battles, places))
        clones = clones or _clones(battles, fits, options)
    return BoardFragility(tuple(orders), shared, clones)


def _by_rating(battles: Battles) -> Battles:
    """The same battles with the models sorted by rating, equal ones by their first battle.

    Where a search has a choice it takes the earlier model, so that names must not decide which one that is.
    """
    cells = counts_by_pair(battles) if battles.weight is None else count_pairs(battles)
    rating = np.round(fit_board(cells, BradleyTerry()).theta, 7)
    never = 2 * len(battles)
    first = np.full(len(battles.models), never)
    for begin in range(0, len(battles), ROWS):
        sides = np.stack([side[begin : begin + ROWS] for side in (battles.left, battles.right)], axis=1).ravel()
        models, at = np.unique(sides, return_index=True)
        first[models] = np.minimum(first[models], 2 * begin + at)
        if first.max() < never:
            break
    order = np.lexsort((first, -rating))
    number = np.empty(order.size, battles.left.dtype)
    number[order] = np.arange(order.size)
    return replace(
        battles,
        models=tuple(battles.models[model] for model in order.tolist()),
        left=build_column(len(battles), number.dtype, lambda rows: number[battles.left[rows]]),
        right=build_column(len(battles), number.dtype, lambda rows: number[battles.right[rows]]),
    )


def _check(battles: Battles, options: Options, top: int) -> None:
    if options.method != "bt" or options.position or options.anchors or battles.covariates is not None:
        raise UserError(
            "--fragility works with the method bt without position, covariates or anchors.",
            hint="Leave those options out.",
        )
    if options.dimension_weight != "count":
        raise UserError("--fragility does not work with --balanced.", hint="Leave out --balanced.")
    if top < 1:
        raise UserError(f"--fragility takes the size of the top, 1 or more, not {top}.", hint="Usual: 3.")


def _groups_that_met(fits: FittedRemovals) -> list[list[int]]:
    """The models, best first, by group; only a weak prior orders models of groups that never met."""
    cells = fits.cells
    played = cells.counts.any(axis=1)
    island = islands_of(cells.left[played], cells.right[played], cells.n_models)
    groups: dict[int, list[int]] = {}
    for model in np.argsort(-fits.base, kind="stable").tolist():
        groups.setdefault(int(island[model]), []).append(model)
    return [group for group in groups.values() if len(group) > 1]


def _places(fits: FittedRemovals, group: list[int]) -> list[list[int]]:
    """The models of a group, best first; those with equal ratings share a place."""
    places = [[group[0]]]
    for better, model in pairwise(group):
        if fits.base[better] - fits.base[model] > MARGIN:
            places.append([])
        places[-1].append(model)
    return places


def _shared(battles: Battles, places: list[list[int]]) -> Iterable[SharedPlace]:
    above = 0
    for models in places:
        if len(models) > 1:
            yield SharedPlace(above + 1, tuple(battles.models[model] for model in sorted(models)))
        above += len(models)


def _orders(
    battles: Battles, fits: FittedRemovals, unit: str, places: list[list[int]], top: int, options: Options
) -> Iterable[FragileOrder]:
    """Find the fragile orders among the models of one group, by place.

    Nothing is asked about the first place or the top k if models share the place at its edge.
    """
    half = fits.units.total // 2
    searched: dict[tuple[int, int], tuple[PassingSearch, Removal | None]] = {}

    def search(ahead: int, behind: int, limit: int) -> tuple[PassingSearch, Removal | None]:
        if (ahead, behind) in searched:
            return searched[ahead, behind]
        passing = PassingSearch(fits, ahead, behind)
        answer = passing, passing.fewest(limit)
        if limit == half:
            searched[ahead, behind] = answer
        return answer

    def easiest(pairs: list[tuple[int, int]]) -> tuple[PassingSearch, Removal | None]:
        if len(pairs) == 1:
            return search(*pairs[0], half)
        by_estimate = sorted(pairs, key=lambda pair: PassingSearch(fits, *pair).estimate())
        best = search(*by_estimate[0], half)
        for pair in by_estimate[1 : None if fits.small else TRIED]:
            limit = best[1].size - 1 if fits.small and best[1] is not None else half
            answer = search(*pair, limit)
            if answer[1] is not None and (best[1] is None or answer[1].size < best[1].size):
                best = answer
        return best

    def order(question: str, answer: tuple[PassingSearch, Removal | None]) -> FragileOrder:
        passing, removal = answer
        return FragileOrder(
            question=question,
            unit=unit,
            ahead=battles.models[passing.ahead],
            behind=battles.models[passing.behind],
            removed=None if removal is None else removal.size,
            total=fits.units.total,
            difference=passing.start.lead * options.per_log,
            difference_without=None if removal is None else removal.lead * options.per_log,
            units=() if removal is None else _removed(battles, fits, removal),
        )

    ranked = [model for place in places for model in place]
    edges = set(accumulate(len(place) for place in places[:-1]))
    top = min(top, len(ranked) - 1)
    if 1 in edges:
        yield order("first place", easiest([(ranked[0], model) for model in ranked[1:]]))
    if top > 1 and top in edges:
        yield order(f"top {top}", easiest([(above, below) for above in ranked[:top] for below in ranked[top:]]))
    for upper, lower in pairwise(places):
        yield order("neighbours", easiest([(above, below) for above in upper for below in lower]))


def _removed(battles: Battles, fits: FittedRemovals, removal: Removal) -> tuple[RemovedUnit, ...]:
    """The removed units by name, with the most frequent first."""
    counts: Counter[str] = Counter()
    votes: dict[str, list[RemovedVote]] = {}
    n_listed = 0
    for kind in np.flatnonzero(removal.removed).tolist():
        number = int(removal.removed[kind])
        name = fits.units.names[kind] if fits.units.names else _vote_name(battles, fits, kind)
        counts[name] += number
        rows = fits.units.first_rows(kind, min(number, LISTED - n_listed))
        votes.setdefault(name, []).extend(
            RemovedVote(_name_in(battles.item, row), _name_in(battles.rater, row)) for row in rows.tolist()
        )
        n_listed += rows.size
    return tuple(RemovedUnit(name, count, tuple(votes[name])) for name, count in counts.most_common(LISTED))


def _vote_name(battles: Battles, fits: FittedRemovals, kind: int) -> str:
    cell, outcome = divmod(int(fits.units.matrix.indices[kind]), 3)
    left, right = battles.models[fits.cells.left[cell]], battles.models[fits.cells.right[cell]]
    return (f"{left} over {right}", f"{left} tied with {right}", f"{right} over {left}")[outcome]


def _name_in(column: CodedColumn | None, row: int) -> str | None:
    """The name in a row, or None."""
    if column is None or column.of[row] < 0 or column.of[row] == column.unnamed:
        return None
    name: str = column.names[column.of[row]]
    return name


def _clones(battles: Battles, fits: FittedRemovals, options: Options) -> tuple[CloneGain, ...]:
    """The gain from entering a model several times and keeping the best result, from the error of its rating."""
    inverse = fits.inverse(fits.cells.counts, fits.base)
    error = np.sqrt(np.maximum(np.diag(inverse), 0.0)) * options.per_log
    return tuple(
        CloneGain(battles.models[model], float(error[model] * BEST_OF_2), float(error[model] * BEST_OF_10))
        for model in np.argsort(-fits.base, kind="stable")
    )
