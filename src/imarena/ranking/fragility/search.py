"""Search the fewest units whose removal lets one model pass another: first-order effects, then fits to check them."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.ranking.fragility.removal import FittedRemovals

MARGIN = 1e-8
"""A model is ahead if its strength is larger by more than this. Otherwise a board shows equal ratings."""
APPROACHES = 12
"""Most fits in which the units of a larger removal are chosen again, by their effects after the last fit."""
FINE = 8
"""Removals of at most this many units are chosen one by one, each by its effect after the earlier ones."""
BEAM, REACH = 12, 24
"""Partial removals that a beam search keeps, and kinds of units that it tries next for each of them."""
WIDE_BEAM = 60
"""Partial removals kept on a small board on which single steps found nothing."""
ALL_TRIED = 2000
"""On a small board, sizes of which there are at most this many removals are searched completely."""
SCREENED = 2
"""On larger boards, number of removals fitted per removal kept."""
BEAM_LIMIT = 10
"""Removals of at most this many units are also searched by a beam search."""
SORTED = 512
"""Number of kinds that are sorted at first; all kinds if these are not enough."""
SWAPS = 400
"""Fits per round of swaps."""
CAUTION = 3
"""For a unit with a share s of the information on a distance, the first-order effect may be off by this times s."""
COARSE, COARSE_SMALL = 0.25, 0.05
"""From this share on (second value: on a small board), first-order effects exclude nothing."""


@dataclass(frozen=True)
class Removal:
    """`removed` (kinds,) units of each kind, the strengths without them, and the remaining lead."""

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
    """Searches for the fewest units whose removal puts `behind` above `ahead`."""

    def __init__(self, fits: FittedRemovals, ahead: int, behind: int) -> None:
        """`ahead` and `behind` are indices into the models of the battles."""
        self.fits, self.ahead, self.behind = fits, ahead, behind
        self._last_gains: deque[tuple[Removal, FloatArray]] = deque(maxlen=4)
        kinds = fits.units.available.size
        self.start = Removal(np.zeros(kinds, np.int64), fits.cells.counts, fits.base, self._lead(fits.base))

    def estimate(self) -> float:
        """Estimated number of units needed, by first-order effects alone; inf if no unit helps."""
        units = self._most_helpful(self.fits.units.available, self.start.lead, self._gains(self.start))
        return float(units.sum()) if units is not None else np.inf

    def fewest(self, limit: int) -> Removal | None:
        """The smallest removal found, of at most `limit` units, or None."""
        removal = self._approach(limit) or self._greedy(limit)
        smallest = self._complete(limit if removal is None else removal.size - 1) if self.fits.small else None
        if smallest is not None:
            removal = smallest
        elif removal is None:
            removal = self._beam(min(limit, BEAM_LIMIT), WIDE_BEAM if self.fits.small else BEAM)
        elif removal.size <= BEAM_LIMIT:
            removal = self._beam(removal.size - 1, BEAM) or removal
        while removal is not None and removal.size > 1:
            smaller = self._smaller(removal)
            if smaller is None:
                break
            removal = smaller
        self._last_gains.clear()
        return removal

    @cached_property
    def _doubt(self) -> FloatArray:
        """(kinds,) the share by which the first-order effect of a unit may be off. Removals that cannot pass even then
        are not fitted.
        """
        share = self.fits.shares(self.ahead, self.behind)
        coarse = COARSE_SMALL if self.fits.small else COARSE
        return np.where(share < coarse, CAUTION * share / np.maximum(1 - share / coarse, 1e-9), 1e9)

    def _lead(self, theta: FloatArray) -> float:
        return float(theta[self.ahead] - theta[self.behind])

    def _without(self, removed: IntArray, near: Removal) -> Removal | None:
        """Fit the board without these units; None if the two models are then in groups that never met."""
        counts = self.fits.counts_after(near.counts, removed - near.removed)
        if not self.fits.still_met(counts, self.ahead, self.behind):
            return None
        theta = self.fits.strengths(counts, near.theta, removed)
        return Removal(removed, counts, theta, self._lead(theta))

    def _gains(self, at: Removal) -> FloatArray:
        for state, gains in self._last_gains:
            if state is at:
                return gains
        gains = self.fits.gains(at.counts, at.theta, self.ahead, self.behind)
        self._last_gains.append((at, gains))
        return gains

    def _most_helpful(self, left: IntArray, target: float, gains: FloatArray) -> IntArray | None:
        """How many units of each kind to take, the most helpful of `left` first, until their effects reach `target`."""
        helpful = np.flatnonzero((gains > 0) & (left > 0))
        best = _best(gains, helpful, SORTED)
        if float((gains[best] * left[best]).sum()) > target + MARGIN:
            helpful = best
        order = _by_gain(gains, helpful)
        reached = np.cumsum(gains[order] * left[order])
        if order.size == 0:
            return None
        units = np.zeros_like(left)
        last = int(np.searchsorted(reached, target + MARGIN))
        units[order[:last]] = left[order[:last]]
        if last < order.size:
            before = reached[last - 1] if last else 0.0
            kind = order[last]
            more = int(np.floor((target + MARGIN - before) / gains[kind])) + 1
            units[kind] = min(max(more, 1), int(left[kind]))
        return units

    def _in_all(self, at: Removal, gains: FloatArray) -> IntArray | None:
        """The most helpful of all units, by their effects on this board, until `behind` passes."""
        kinds = np.flatnonzero(at.removed)
        target = at.lead + float((gains[kinds] * at.removed[kinds]).sum())
        return self._most_helpful(self.fits.units.available, target, gains)

    def _approach(self, limit: int) -> Removal | None:
        """Find a larger removal: choose all its units at once, fit, and choose again by their effects after the fit."""
        state, short = self.start, 0
        best: Removal | None = None
        for _ in range(APPROACHES):
            gains = self._gains(state)
            units = self._in_all(state, gains)
            size = limit + 1 if units is None else max(int(units.sum()), short + 1)
            if size > limit if best is None else size >= best.size:
                break
            if state is self.start and size <= FINE:
                break
            further = self._without(_first(self.fits.units.available, gains, size), state)
            if further is None:
                break
            state = further
            if state.passed:
                best = state
            else:
                short = size
        return best

    def _greedy(self, limit: int) -> Removal | None:
        """Remove the most helpful units, half of the estimated number at a time and the last ones one by one.

        A step after which the two models are in groups that never met is made smaller. If it is a single unit, that
        unit stays: with fewer battles, the groups would still never meet.
        """
        state, part = self.start, 2
        kept = np.zeros(self.fits.units.available.size, bool)
        while not state.passed:
            gains = self._gains(state)
            left = np.where(kept, 0, self.fits.units.available - state.removed)
            units = self._most_helpful(left, max(state.lead, 0.0), gains)
            if units is None or state.size >= limit:
                return None
            size = int(units.sum())
            step = 1 if size <= FINE else max(size // part, 1)
            first = _first(units, gains, min(step, limit - state.size))
            further = self._without(state.removed + first, state)
            if further is not None:
                state = further
            elif step > 1:
                part *= 4
            else:
                kept |= first > 0
        return state

    def _smaller(self, removal: Removal) -> Removal | None:
        """A removal with fewer units that still lets `behind` pass, or None."""
        gains = self._gains(removal)
        units = self._in_all(removal, gains)
        enough = removal.size - 1 if units is None else min(int(units.sum()), removal.size - 1)
        best: Removal | None = None
        for size in sorted({enough, removal.size - 1}):
            best = None
            for candidate in self._candidates(removal, gains, size):
                if candidate.passed:
                    return candidate
                best = candidate if best is None or candidate.lead < best.lead else best
        return None if best is None else self._swapped(best)

    def _candidates(self, removal: Removal, at_crossing: FloatArray, size: int) -> Iterator[Removal]:
        """Removals of `size` units: those most helpful after `removal`, and `removal` without one of its units."""
        state, gains = removal, at_crossing
        for _ in range(3):
            removed = _first(self.fits.units.available, gains, size)
            if (removed == state.removed).all() or (state is not removal and not self._may_pass(state, gains, removed)):
                break
            candidate = self._without(removed, state)
            if candidate is None:
                break
            state = candidate
            yield state
            gains = self._gains(state)
        if size < removal.size - 1:
            return
        kinds = np.flatnonzero(removal.removed)
        for kind in _by_gain(-at_crossing, _best(-at_crossing, kinds, REACH))[:REACH]:
            fewer = removal.removed.copy()
            fewer[kind] -= 1
            if state is removal or self._may_pass(removal, at_crossing, fewer):
                candidate = self._without(fewer, removal)
                if candidate is not None:
                    yield candidate

    def _may_pass(self, at: Removal, gains: FloatArray, removed: IntArray) -> bool:
        """Can `behind` be above without these units, allowing for errors of the first-order effects on this board?"""
        change = removed - at.removed
        changed = np.flatnonzero(change)
        effect = gains[changed] * change[changed]
        doubt = self._doubt[changed] @ np.abs(change[changed]) * _scale(gains)
        return bool(at.lead - float(effect.sum()) - doubt < 0)

    def _swapped(self, state: Removal) -> Removal | None:
        """Exchange single units while that lowers the lead, until `behind` passes; None if it does not."""
        for more in range(BEAM_LIMIT, 0, -1):
            better = state
            for removed in self._exchanges(state, more):
                candidate = self._without(removed, state)
                if candidate is not None and candidate.lead < better.lead - MARGIN:
                    better = candidate
                    if better.passed:
                        return better
            if better is state:
                return None
            state = better
        return None

    def _exchanges(self, state: Removal, more: int) -> Iterator[IntArray]:
        """Removals with one unit exchanged that can lower the lead; none if `more` exchanges cannot be enough."""
        gains = self._gains(state)
        kinds = np.flatnonzero(state.removed)
        kinds = _by_gain(-gains, _best(-gains, kinds, SWAPS // REACH))[: SWAPS // REACH]
        spare = np.flatnonzero(self.fits.units.available > state.removed)
        spare = _by_gain(gains, _best(gains, spare, REACH))[:REACH]
        if spare.size == 0:
            return
        doubt = (self._doubt[kinds][:, None] + self._doubt[spare][None, :]) * _scale(gains)
        lowers = gains[spare][None, :] - gains[kinds][:, None] + doubt
        if more * float(lowers.max()) < state.lead:
            return
        for row, column in np.argwhere(lowers > 0):
            if kinds[row] != spare[column]:
                removed = state.removed.copy()
                removed[kinds[row]] -= 1
                removed[spare[column]] += 1
                yield removed

    def _complete(self, limit: int) -> Removal | None:
        """Try all removals of sizes with few removals: first-order effects say little if few votes link two models."""
        available = self.fits.units.available
        for size in range(1, limit + 1):
            if comb(available.size + size - 1, size) > ALL_TRIED:
                return None
            for kinds in combinations_with_replacement(range(available.size), size):
                removed = np.bincount(kinds, minlength=available.size)
                if (removed <= available).all():
                    candidate = self._without(removed, self.start)
                    if candidate is not None and candidate.passed:
                        return candidate
        return None

    def _beam(self, limit: int, width: int) -> Removal | None:
        """Beam search: extend the best removals of each size by one unit. It finds removals that single steps miss."""
        states = [self.start]
        for size in range(limit):
            grown: list[Removal] = []
            for removed, near in self._longer(states, limit - size, width):
                candidate = self._without(removed, near)
                if candidate is not None and candidate.passed:
                    return candidate
                grown += [] if candidate is None else [candidate]
            states = sorted(grown, key=lambda removal: removal.lead)[:width]
            if not states:
                return None
        return None

    def _longer(self, states: list[Removal], more: int, width: int) -> list[tuple[IntArray, Removal]]:
        """Removals with one more unit that can pass within `more` units, and the removal that each one extends.

        On larger boards, only those with the smallest remaining leads by first-order effects.
        """
        leads: dict[bytes, float] = {}
        grown: list[tuple[IntArray, Removal]] = []
        for state in states:
            gains = self._gains(state)
            for kind in self._promising(state, gains, more):
                removed = state.removed.copy()
                removed[kind] += 1
                if removed.tobytes() not in leads:
                    leads[removed.tobytes()] = state.lead - gains[kind]
                    grown.append((removed, state))
        if self.fits.small:
            return grown
        return [grown[index] for index in np.argsort(list(leads.values()), kind="stable")[: SCREENED * width]]

    def _promising(self, at: Removal, gains: FloatArray, more: int) -> IntArray:
        """Kinds of which one more unit, with the most helpful others, can pass within `more` units; best first."""
        left = self.fits.units.available - at.removed
        most = _first(left, gains, more)
        taken_kinds = np.flatnonzero(most)
        if taken_kinds.size == 0 or not self._may_pass(at, gains, at.removed + most):
            return np.empty(0, np.int64)
        kinds = _by_gain(gains, np.flatnonzero(left))[:REACH]
        hope = gains + self._doubt * _scale(gains)
        gain = float(hope[taken_kinds] @ most[taken_kinds]) - float(hope[_by_gain(gains, taken_kinds)[-1]])
        return np.asarray(kinds[(most[kinds] > 0) | (at.lead - gain - hope[kinds] < 0)], np.int64)


def _scale(gains: FloatArray) -> float:
    """The largest effect of a unit."""
    return max(float(np.abs(gains).max(initial=0.0)), 1e-6)


def _by_gain(gains: FloatArray, kinds: IntArray) -> IntArray:
    """Sort these kinds, the most helpful first."""
    return kinds[np.argsort(-gains[kinds], kind="stable")]


def _best(gains: FloatArray, kinds: IntArray, number: int) -> IntArray:
    """The `number` most helpful of these kinds and any ties with the last one, in the given order."""
    if number >= kinds.size:
        return kinds
    least = -np.partition(-gains[kinds], number - 1)[number - 1]
    return np.asarray(kinds[gains[kinds] >= least], np.int64)


def _first(units: IntArray, gains: FloatArray, size: int) -> IntArray:
    """The `size` most helpful units of `units`."""
    order = _by_gain(gains, _best(gains, np.flatnonzero(units), size))  # each of these kinds has at least one unit
    first = np.zeros_like(units)
    first[order] = np.diff(np.minimum(np.cumsum(units[order]), size), prepend=0)
    return first
