"""The fewest units without which one model passes another: a greedy path, then improvements, each checked by a fit."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from imarena.ranking.battles import FloatArray, IntArray
from imarena.ranking.fragility.removal import FittedRemovals

MARGIN = 1e-9
"""A model is ahead when its strength is larger by more than this."""
FINE = 8
"""The last removals of a greedy path go one by one, each chosen at the strengths that the earlier ones left."""
BEAM, REACH = 12, 24
"""Partial removals that are kept, and kinds of units that each of them tries next, in a search of few removals."""
BEAM_LIMIT = 10
"""Removals of up to this many units are also searched by a beam."""
SWAPS = 400
"""Fits per round of swaps."""
LINEAR_SHARE = 0.005
"""Removals of a smaller share of the units act one by one, as first-order effects say: nothing is left to exchange."""


@dataclass(frozen=True)
class Removal:
    """`removed` (kinds,) units of each kind, the strengths without them, and the lead that is left."""

    removed: IntArray
    counts: FloatArray
    theta: FloatArray
    lead: float

    @property
    def size(self) -> int:
        return int(self.removed.sum())

    @property
    def passed(self) -> bool:
        return self.lead < -MARGIN


class PassingSearch:
    """Searches the fewest units whose removal puts `behind` above `ahead`."""

    def __init__(self, fits: FittedRemovals, ahead: int, behind: int) -> None:
        """`ahead` and `behind` are places in the models of the battles."""
        self.fits, self.ahead, self.behind = fits, ahead, behind
        kinds = fits.units.available.size
        self.start = Removal(np.zeros(kinds, np.int64), fits.cells.counts, fits.base, self._lead(fits.base))

    def estimate(self) -> float:
        """About how many units it takes, by first-order effects alone; inf where no unit helps."""
        taken = self._most_helpful(self.start, self.start.lead, self._gains(self.start))
        return float(taken.sum()) if taken is not None else np.inf

    def fewest(self, limit: int) -> Removal | None:
        """The smallest removal found, of at most `limit` units; None where none was found."""
        found = self._greedy(limit)
        if found is None or (found.size <= BEAM_LIMIT and not self._linear(found)):
            found = self._beam(min(limit, BEAM_LIMIT if found is None else found.size - 1)) or found
        if found is None:
            return None
        while found.size > 1:
            smaller = self._smaller(found)
            if smaller is None:
                return found
            found = smaller
        return found

    def _linear(self, removal: Removal) -> bool:
        return removal.size < LINEAR_SHARE * self.fits.units.total

    def _lead(self, theta: FloatArray) -> float:
        return float(theta[self.ahead] - theta[self.behind])

    def _without(self, removed: IntArray, near: Removal) -> Removal | None:
        """The board without these units; None where one of the two models has no battle left."""
        counts = self.fits.counts_without(removed)
        if not self.fits.still_ranked(counts, self.ahead, self.behind):
            return None
        theta = self.fits.strengths(counts, near.theta)
        return Removal(removed, counts, theta, self._lead(theta))

    def _gains(self, at: Removal) -> FloatArray:
        return self.fits.gains(at.counts, at.theta, self.ahead, self.behind)

    def _most_helpful(self, at: Removal, needed: float, gains: FloatArray) -> IntArray | None:
        """How many units of each kind, the most helpful first, until their effects add up to `needed`."""
        left = self.fits.units.available - at.removed
        order = _by_gain(gains, np.flatnonzero((gains > 0) & (left > 0)))
        reached = np.cumsum(gains[order] * left[order])
        if order.size == 0:
            return None
        taken = np.zeros_like(left)
        last = int(np.searchsorted(reached, needed + MARGIN))
        taken[order[:last]] = left[order[:last]]
        if last < order.size:
            before = reached[last - 1] if last else 0.0
            kind = order[last]
            taken[kind] = min(int(np.floor((needed + MARGIN - before) / gains[kind])) + 1, int(left[kind]))
        return taken

    def _greedy(self, limit: int) -> Removal | None:
        """Remove the most helpful units: half of what seems to be needed at a time, the last ones singly."""
        state = self.start
        while not state.passed:
            gains = self._gains(state)
            taken = self._most_helpful(state, max(state.lead, 0.0), gains)
            if taken is None or state.size >= limit:
                return None
            size = int(taken.sum())
            step = 1 if size <= FINE else size // 2
            first = _first(taken, gains, min(step, limit - state.size))
            further = self._without(state.removed + first, state)
            if further is None:
                return None
            state = further
        return state

    def _smaller(self, found: Removal) -> Removal | None:
        """A removal with fewer units that is enough, or None. A large one is first cut in larger steps."""
        for size in _sizes_below(found.size):
            best: Removal | None = None
            for candidate in self._candidates(found, size):
                if candidate.passed:
                    return candidate
                best = candidate if best is None or candidate.lead < best.lead else best
            if size == found.size - 1 and best is not None and not self._linear(found):
                return self._swapped(best)
        return None

    def _candidates(self, found: Removal, size: int) -> Iterator[Removal]:
        """Removals of `size` units: the most helpful ones at the crossing, and `found` without some of its own."""
        state = found
        for _ in range(3):
            chosen = _first(self.fits.units.available, self._gains(state), size)
            if (chosen == state.removed).all():
                break
            made = self._without(chosen, state)
            if made is None:
                break
            state = made
            yield state
        if size < found.size - 1:
            return
        gains = self._gains(found)
        used = np.flatnonzero(found.removed)
        for kind in _by_gain(-gains, used)[:REACH]:
            fewer = found.removed.copy()
            fewer[kind] -= 1
            made = self._without(fewer, found)
            if made is not None:
                yield made

    def _swapped(self, state: Removal) -> Removal | None:
        """Exchange one unit for another while that lowers the lead, until `behind` passes; None where it does not."""
        for _ in range(BEAM_LIMIT):
            better = state
            for removed in self._exchanges(state):
                made = self._without(removed, state)
                if made is not None and made.lead < better.lead - MARGIN:
                    better = made
                    if better.passed:
                        return better
            if better is state:
                return None
            state = better
        return None

    def _exchanges(self, state: Removal) -> Iterator[IntArray]:
        gains = self._gains(state)
        used = np.flatnonzero(state.removed)
        used = _by_gain(-gains, used)[: max(SWAPS // REACH, 1)]
        spare = np.flatnonzero(self.fits.units.available > state.removed)
        spare = _by_gain(gains, spare)[:REACH]
        for out in used:
            for kind in spare:
                if kind != out:
                    removed = state.removed.copy()
                    removed[out] -= 1
                    removed[kind] += 1
                    yield removed

    def _beam(self, limit: int) -> Removal | None:
        """Removals of 1, 2, ... units from the best few of the size before: finds what single steps do not see."""
        states = [self.start]
        for _ in range(limit):
            grown: dict[bytes, Removal] = {}
            for state in states:
                gains = self._gains(state)
                open_kinds = np.flatnonzero(self.fits.units.available > state.removed)
                for kind in _by_gain(gains, open_kinds)[:REACH]:
                    removed = state.removed.copy()
                    removed[kind] += 1
                    key = removed.tobytes()
                    if key in grown:
                        continue
                    made = self._without(removed, state)
                    if made is None:
                        continue
                    if made.passed:
                        return made
                    grown[key] = made
            states = sorted(grown.values(), key=lambda one: one.lead)[:BEAM]
            if not states:
                return None
        return None


def _by_gain(gains: FloatArray, kinds: IntArray) -> IntArray:
    """These kinds, the most helpful first."""
    return kinds[np.argsort(-gains[kinds], kind="stable")]


def _first(taken: IntArray, gains: FloatArray, size: int) -> IntArray:
    """The `size` most helpful units of `taken`."""
    kinds = np.flatnonzero(taken)
    if size < kinds.size:  # each of them has a unit or more: those after the first `size` are not needed
        least = -np.partition(-gains[kinds], size - 1)[size - 1]
        kinds = kinds[gains[kinds] >= least]
    order = _by_gain(gains, kinds)
    kept = np.zeros_like(taken)
    kept[order] = np.diff(np.minimum(np.cumsum(taken[order]), size), prepend=0)
    return kept


def _sizes_below(size: int) -> Iterator[int]:
    """Sizes to try: large cuts first, then one less."""
    cut = size // 2
    while cut > 1:
        yield size - cut
        cut //= 2
    yield size - 1
